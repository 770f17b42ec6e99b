/* The fold: what each event does to the table. */
#include "job/fold/fold_private.h"
#include "job/table/jobs_private.h"

enum {
    PERMANENT_FLAGS = JOB_FLAG_FAIL_FAST | JOB_FLAG_REQUEUE_PREEMPTED |
                      JOB_FLAG_REQUEUE_LOST | ROW_DIRTY
};

static enum jobs_answer on_submit(struct jobs *jobs,
                                  const struct event_scope *scope,
                                  const struct event *event,
                                  struct jobs_change *change)
{
    struct job_digest digest = {.gang_cardinality = 1, .gang_minimum = 1};

    if (jobs_find(jobs, event->job) != JOBS_NONE) {
        return JOBS_LATE;
    }
    if (digest_unpack(event->submit.digest, &digest) < 0) {
        /* A foreign log: the job is here, of a class that fits nowhere. */
        digest = (struct job_digest){.gang_cardinality = 1, .gang_minimum = 1};
    }
    change->job = row_create(jobs, event->job, scope->queue, scope->job_set,
                             scope->user, &digest);
    jobs->rows.items[change->job].priority = event->submit.priority;
    held_begin(jobs, change->job, &digest, event->created_ms);
    change->after = JOB_QUEUED;
    return JOBS_APPLIED;
}

static enum jobs_answer on_reprioritised(struct jobs *jobs,
                                         const struct event *event,
                                         struct jobs_change *change)
{
    uint32_t job = jobs_find(jobs, event->job);

    if (job == JOBS_NONE) {
        return JOBS_LATE;
    }
    struct job_row *row = &jobs->rows.items[job];
    row_will_change(jobs, job);
    row->priority = event->reprioritise.priority;
    row->flags &= (uint16_t)~JOB_FLAG_PRIORITY;
    change->job = job;
    change->before = change->after = (enum job_state)row->state;
    return JOBS_APPLIED;
}

static enum jobs_answer on_reclassified(struct jobs *jobs,
                                        const struct event *event,
                                        struct jobs_change *change)
{
    uint32_t job = jobs_find(jobs, event->job);

    if (job == JOBS_NONE) {
        return JOBS_LATE;
    }
    struct job_row *row = &jobs->rows.items[job];
    uint32_t before = row->class_index;
    row_will_change(jobs, job);
    if (row->run != JOBS_NONE && jobs->policy) {
        run_reclass(jobs, job, intern_get(&jobs->classes, before),
                    event->reclassified.class_key);
    }
    row->class_index =
        intern_add(&jobs->classes, event->reclassified.class_key);
    intern_unref(&jobs->classes, before);
    change->job = job;
    change->before = change->after = (enum job_state)row->state;
    return JOBS_APPLIED;
}

/* Of a job that has started since, or of a gang, it means nothing. */
static enum jobs_answer on_hold(struct jobs *jobs,
                                const struct event_scope *scope,
                                const struct event *event,
                                struct jobs_change *change)
{
    uint32_t job = jobs_find(jobs, event->job);
    struct str queue, job_set;

    if (job == JOBS_NONE || jobs->rows.items[job].state != JOB_QUEUED ||
        jobs->rows.items[job].gang != JOBS_NONE) {
        return JOBS_LATE;
    }
    /* The right to ask for it was checked for these. */
    set_get(jobs, jobs->rows.items[job].set, &queue, &job_set);
    if (!str_equal(queue, scope->queue) ||
        !str_equal(job_set, scope->job_set)) {
        return JOBS_LATE;
    }
    held_change(jobs, job, event);
    change->job = job;
    change->before = change->after = JOB_QUEUED;
    return JOBS_APPLIED;
}

static void move(struct jobs *jobs, uint32_t job, enum job_happening happening,
                 const struct event *event, enum job_state after)
{
    uint32_t gang = jobs->rows.items[job].gang;

    if (gang != JOBS_NONE) {
        group_will_change(jobs, gang);
        if (happening == JOB_ON_LEASED && event->leased.is_growth) {
            named_group_scaled(jobs, gang);
        }
    }
    row_will_change(jobs, job);
    if (job_state_is_ended(after)) {
        struct job_id id = jobs->rows.items[job].id;
        group_ended(jobs, job, after, fold_failure(event));
        turns_leave(jobs, job);
        row_free(jobs, job);
        waits_end(jobs, id, after);
    } else {
        fold_on_enter(jobs, job, happening, event);
        row_set_state(jobs, job, after);
        /* It waits without a run, and has one in each other state. */
        ASSERT((after == JOB_QUEUED) ==
               (jobs->rows.items[job].run == JOBS_NONE));
    }
    if (gang != JOBS_NONE) {
        group_refresh(jobs, gang, event->created_ms);
    }
}

static enum jobs_answer on_happening(struct jobs *jobs,
                                     enum job_happening happening,
                                     const struct event *event,
                                     struct jobs_change *change)
{
    uint32_t job = fold_names_run(happening) ? fold_find_run(jobs, event)
                                             : jobs_find(jobs, event->job);

    if (job == JOBS_NONE) {
        return JOBS_LATE;
    }
    enum job_state before = (enum job_state)jobs->rows.items[job].state;
    enum job_state after = job_state_next(before, happening);
    if (after == JOB_NONE || (happening == JOB_ON_LEASED &&
                              (jobs_is_held(jobs, job) ||
                               jobs_find_run(jobs, event->run) != JOBS_NONE))) {
        return JOBS_LATE;
    }
    *change =
        (struct jobs_change){job, before, after, jobs->rows.items[job].run};
    move(jobs, job, happening, event, after);
    if (happening == JOB_ON_LEASED) {
        change->run = jobs->rows.items[job].run;
    }
    return JOBS_APPLIED;
}

static enum jobs_answer fold(struct jobs *jobs, const struct event_scope *scope,
                             const struct event *event,
                             struct jobs_change *ret_change)
{
    switch ((int)event->type) {
    case EVENT_SUBMIT:
        return on_submit(jobs, scope, event, ret_change);
    case EVENT_REPRIORITISE:
    case EVENT_CANCEL:
    case EVENT_PREEMPT:
    case EVENT_REPRIORITISE_SET:
    case EVENT_CANCEL_SET:
    case EVENT_SELECTION:
    case EVENT_EXECUTOR_STATE:
        return jobs_ask(jobs, scope, event);
    case EVENT_REPRIORITISED:
        return on_reprioritised(jobs, event, ret_change);
    case EVENT_RECLASSIFIED:
        return on_reclassified(jobs, event, ret_change);
    case EVENT_HOLD_CHANGED:
        return on_hold(jobs, scope, event, ret_change);
    default:
        break;
    }
    enum job_happening happening = job_happening_of(event);
    return happening == JOB_ON_OTHER
               ? JOBS_OTHER
               : on_happening(jobs, happening, event, ret_change);
}

/* The jobs of all states. */
static uint32_t counted_jobs(const struct jobs *jobs)
{
    uint32_t count = 0;

    for (int state = JOB_QUEUED; state < JOB_STATE_COUNT; state++) {
        count += jobs->counts.by_state[state];
    }
    return count;
}

enum jobs_answer jobs_apply(struct jobs *jobs, const struct event_scope *scope,
                            const struct event *event,
                            struct jobs_change *ret_change)
{
    *ret_change =
        (struct jobs_change){JOBS_NONE, JOB_NONE, JOB_NONE, JOBS_NONE};
    enum jobs_answer answer = fold(jobs, scope, event, ret_change);
    /* What is late changes no job, and each job is counted in one state. */
    ASSERT(ret_change->job == JOBS_NONE || answer == JOBS_APPLIED);
    ASSERT_SLOW(counted_jobs(jobs) == jobs->count);
    jobs->counts.late_count += answer == JOBS_LATE;
    return answer;
}
