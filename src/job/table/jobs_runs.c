/* The runs of the table: one of a job at a time, listed by executor. */
#include "job/table/jobs_private.h"

static void run_list(struct jobs *jobs, uint32_t run)
{
    struct run_row *row = &jobs->runs.items[run];

    while (jobs->executor_lists.count <= row->executor) {
        VEC_PUSH(&jobs->executor_lists, (struct list_row){0});
    }
    struct list_row *list = &jobs->executor_lists.items[row->executor];
    if (list->count == 0) {
        *list = (struct list_row){JOBS_NONE, JOBS_NONE, 0};
    }
    ASSERT(list->count == 0 ||
           jobs->runs.items[list->last].executor == row->executor);
    row->prev = list->last;
    row->next = JOBS_NONE;
    if (list->last != JOBS_NONE) {
        jobs->runs.items[list->last].next = run;
    } else {
        list->first = run;
    }
    list->last = run;
    list->count++;
    row->is_listed = true;
}

/* Whether a run's neighbours, or its executor's ends, lead back to it. */
static bool is_linked(const struct jobs *jobs, uint32_t run)
{
    const struct run_row *row = &jobs->runs.items[run];
    const struct list_row *list = &jobs->executor_lists.items[row->executor];
    uint32_t to =
        row->prev == JOBS_NONE ? list->first : jobs->runs.items[row->prev].next;
    uint32_t back =
        row->next == JOBS_NONE ? list->last : jobs->runs.items[row->next].prev;

    return to == run && back == run;
}

void run_unlist(struct jobs *jobs, uint32_t run)
{
    struct run_row *row = &jobs->runs.items[run];

    if (!row->is_listed) {
        return;
    }
    struct list_row *list = &jobs->executor_lists.items[row->executor];
    ASSERT(list->count > 0 && is_linked(jobs, run));
    if (row->prev != JOBS_NONE) {
        jobs->runs.items[row->prev].next = row->next;
    } else {
        list->first = row->next;
    }
    if (row->next != JOBS_NONE) {
        jobs->runs.items[row->next].prev = row->prev;
    } else {
        list->last = row->prev;
    }
    list->count--;
    row->is_listed = false;
}

void run_create(struct jobs *jobs, uint32_t job, const struct job_run *run)
{
    uint32_t index = SLOTS_TAKE(&jobs->runs);
    struct run_row *row = &jobs->runs.items[index];

    /* One run of a job at a time. */
    ASSERT(jobs->rows.items[job].run == JOBS_NONE);
    *row = (struct run_row){
        .id = run->id,
        .job = job,
        .executor = intern_add(&jobs->executors, run->executor_id),
        .node = intern_add(&jobs->strings, run->node_name),
        .pool = intern_add(&jobs->strings, run->pool),
        .priority = run->priority,
        .leased_ms = run->leased_ms,
        .started_ms = run->started_ms,
    };
    jobs->rows.items[job].run = index;
    id_index_add(&jobs->by_run, jobs->runs.items, sizeof(*row), index);
    run_list(jobs, index);
    tally_enter(jobs, index);
}

void jobs_run_moved(struct jobs *jobs, uint32_t job, struct str node_name)
{
    uint32_t run = jobs->rows.items[job].run;

    if (run != JOBS_NONE) {
        row_will_change(jobs, job);
        uint32_t was = jobs->runs.items[run].node;
        jobs->runs.items[run].node = intern_add(&jobs->strings, node_name);
        intern_unref(&jobs->strings, was);
    }
}

void jobs_run_started(struct jobs *jobs, uint32_t job, int64_t started_ms)
{
    uint32_t run = jobs->rows.items[job].run;

    if (run != JOBS_NONE && jobs->runs.items[run].started_ms == 0) {
        row_will_change(jobs, job);
        jobs->runs.items[run].started_ms = started_ms;
    }
}

static int32_t priority_of(const struct jobs *jobs, struct str class_key)
{
    uint32_t index =
        policy_class_index(jobs->policy, class_priority_class(class_key));

    return jobs->policy->classes[index].priority;
}

void run_reclass(struct jobs *jobs, uint32_t job, struct str from,
                 struct str to)
{
    struct run_row *run = &jobs->runs.items[jobs->rows.items[job].run];

    if (run->priority == priority_of(jobs, from)) {
        run->priority = priority_of(jobs, to);
    }
}

void run_free(struct jobs *jobs, uint32_t job)
{
    uint32_t index = jobs->rows.items[job].run;
    struct run_row *row = &jobs->runs.items[index];

    ASSERT(row->job == job);
    tally_leave(jobs, index);
    run_unlist(jobs, index);
    id_index_remove(&jobs->by_run, jobs->runs.items, sizeof(*row), row->id.v);
    intern_unref(&jobs->executors, row->executor);
    intern_unref(&jobs->strings, row->node);
    intern_unref(&jobs->strings, row->pool);
    *row = (struct run_row){.job = JOBS_NONE};
    SLOTS_GIVE(&jobs->runs, index);
    jobs->rows.items[job].run = JOBS_NONE;
}

uint32_t jobs_next_on_executor(const struct jobs *jobs, struct str executor_id,
                               uint32_t job)
{
    uint32_t run;

    if (job == JOBS_NONE) {
        uint32_t executor = intern_find(&jobs->executors, executor_id);
        bool has_list = executor < jobs->executor_lists.count &&
                        jobs->executor_lists.items[executor].count > 0;
        run = has_list ? jobs->executor_lists.items[executor].first : JOBS_NONE;
    } else {
        ASSERT(jobs_is_live(jobs, job));
        /* A run that has ended is on no list, and leads nowhere. */
        ASSERT(jobs->runs.items[jobs->rows.items[job].run].is_listed);
        run = jobs->runs.items[jobs->rows.items[job].run].next;
    }
    if (run == JOBS_NONE) {
        return JOBS_NONE;
    }
    uint32_t next = jobs->runs.items[run].job;
    ASSERT(job_state_has_run((enum job_state)jobs->rows.items[next].state));
    return next;
}
