/* What the table answers about jobs and their runs. */
#include "job/table/jobs.h"
#include "job/table/jobs_private.h"

/* The table as a whole. */

void jobs_set_policy(struct jobs *jobs, const struct policy *policy)
{
    jobs->policy = policy;
}

uint32_t jobs_count(const struct jobs *jobs)
{
    return jobs->count;
}

uint32_t jobs_index_end(const struct jobs *jobs)
{
    return (uint32_t)jobs->rows.count;
}

bool jobs_is_live(const struct jobs *jobs, uint32_t job)
{
    return job < jobs->rows.count && jobs->rows.items[job].state != JOB_NONE;
}

struct jobs_counts jobs_counts(const struct jobs *jobs)
{
    return jobs->counts;
}

uint32_t jobs_find(const struct jobs *jobs, struct job_id id)
{
    uint32_t job = id_index_find(&jobs->by_id, jobs->rows.items,
                                 sizeof(struct job_row), id.v);

    /* The index knows the jobs that are there, and no others. */
    ASSERT_SLOW(job == JOBS_NONE || jobs_is_live(jobs, job));
    return job;
}

bool jobs_has_id(const struct jobs *jobs, uint32_t job, struct job_id id)
{
    ASSERT(jobs_is_live(jobs, job));
    return key128_compare(jobs->rows.items[job].id.v, id.v) == 0;
}

uint32_t jobs_run_index(const struct jobs *jobs, struct run_id id)
{
    return id_index_find(&jobs->by_run, jobs->runs.items,
                         sizeof(struct run_row), id.v);
}

uint32_t jobs_find_run(const struct jobs *jobs, struct run_id id)
{
    uint32_t run = jobs_run_index(jobs, id);

    /* The job of a run has that run. */
    ASSERT(run == JOBS_NONE ||
           jobs->rows.items[jobs->runs.items[run].job].run == run);
    return run == JOBS_NONE ? JOBS_NONE : jobs->runs.items[run].job;
}

static void get_run(const struct jobs *jobs, uint32_t run,
                    struct job_run *ret_run)
{
    const struct run_row *row = &jobs->runs.items[run];

    *ret_run = (struct job_run){
        .index = run,
        .id = row->id,
        .executor_id = intern_get(&jobs->executors, row->executor),
        .node_name = intern_get(&jobs->strings, row->node),
        .pool = intern_get(&jobs->strings, row->pool),
        .priority = row->priority,
        .leased_ms = row->leased_ms,
        .started_ms = row->started_ms,
    };
}

void jobs_get(const struct jobs *jobs, uint32_t job, struct job_view *ret_view)
{
    ASSERT(jobs_is_live(jobs, job));
    const struct job_row *row = &jobs->rows.items[job];
    struct job_view view = {
        .id = row->id,
        .user = intern_get(&jobs->strings, row->user),
        .class_key = intern_get(&jobs->classes, row->class_index),
        .class_index = row->class_index,
        .gang_index = row->gang,
        .state = (enum job_state)row->state,
        .priority = row->priority,
        .flags = row->flags & (uint32_t)~ROW_DIRTY,
        .run_count = row->run_count,
        .attempted_count = row->attempted_count,
        .has_run = row->run != JOBS_NONE,
    };

    /* A job that waits has no run; all others have one. */
    ASSERT(view.has_run == (view.state != JOB_QUEUED));
    set_get(jobs, row->set, &view.queue, &view.job_set);
    if (view.has_run) {
        get_run(jobs, row->run, &view.run);
    }
    *ret_view = view;
}

void jobs_get_run(const struct jobs *jobs, uint32_t job,
                  struct job_run *ret_run)
{
    ASSERT(jobs_is_live(jobs, job));
    ASSERT(jobs->rows.items[job].run != JOBS_NONE);
    get_run(jobs, jobs->rows.items[job].run, ret_run);
}

enum job_state jobs_state(const struct jobs *jobs, uint32_t job)
{
    ASSERT(jobs_is_live(jobs, job));
    return (enum job_state)jobs->rows.items[job].state;
}

bool jobs_is_error_foreign(const struct jobs *jobs, uint32_t job)
{
    ASSERT(jobs_is_live(jobs, job));
    uint32_t extra_index = jobs->rows.items[job].extra;

    return extra_index != JOBS_NONE &&
           jobs->extras.items[extra_index].error_is_foreign;
}

uint32_t jobs_tried(const struct jobs *jobs, uint32_t job,
                    struct job_tried ret_tried[JOBS_TRIED_MAX])
{
    ASSERT(jobs_is_live(jobs, job));
    uint32_t extra_index = jobs->rows.items[job].extra;

    if (extra_index == JOBS_NONE) {
        return 0;
    }
    const struct extra_row *extra = &jobs->extras.items[extra_index];
    ASSERT(extra->tried_count <= JOBS_TRIED_MAX);
    for (uint32_t i = 0; i < extra->tried_count; i++) {
        ret_tried[i] = (struct job_tried){
            intern_get(&jobs->strings, extra->tried[i].executor),
            intern_get(&jobs->strings, extra->tried[i].node)};
    }
    return extra->tried_count;
}

struct str class_priority_class(struct str class_key)
{
    struct pack_reader reader = {.rest = class_key};

    /* The first two parts of a packed requirement, whatever its version. */
    unpack_u64(&reader);
    return unpack_str(&reader);
}

struct str jobs_priority_class(const struct jobs *jobs, uint32_t job)
{
    ASSERT(jobs_is_live(jobs, job));
    return class_priority_class(
        intern_get(&jobs->classes, jobs->rows.items[job].class_index));
}

bool jobs_is_preemptible(const struct jobs *jobs, uint32_t job)
{
    ASSERT(jobs_is_live(jobs, job) && jobs->policy);
    struct str key =
        intern_get(&jobs->classes, jobs->rows.items[job].class_index);
    uint32_t index =
        policy_class_index(jobs->policy, class_priority_class(key));

    return jobs->policy->classes[index].is_preemptible;
}
