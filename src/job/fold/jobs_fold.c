/* The fold: what each event does to the table. */
#include "job/table/jobs_private.h"

enum {
    PERMANENT_FLAGS = JOB_FLAG_FAIL_FAST | JOB_FLAG_REQUEUE_PREEMPTED |
                      JOB_FLAG_REQUEUE_LOST | ROW_DIRTY
};

/* What was asked of the run goes with the run. */
enum { RUN_FLAGS = JOB_FLAG_PREEMPT | JOB_FLAG_LOST };

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

/* Whether the run ended by what was done to its pod, and not by itself. */
static bool is_not_of_the_program(const struct event_error *error)
{
    return error->cause == CAUSE_EVICTED ||
           str_equal(error->subcategory, STR("pod-missing")) ||
           str_equal(error->subcategory, STR("externally-deleted"));
}

/* Keep what the job's fate will be decided by. */
static void keep_error(struct jobs *jobs, uint32_t job,
                       const struct event_error *error)
{
    struct extra_row *extra = extra_of(jobs, job);
    struct str message = error->message;
    struct str encoded = error->encoded;

    if (message.byte_count > JOBS_MESSAGE_BYTES_MAX) {
        message.byte_count = JOBS_MESSAGE_BYTES_MAX;
    }
    if (encoded.byte_count > JOBS_ERROR_BYTES_MAX) {
        encoded = (struct str){0};
    }
    extra->error_kind = error->kind;
    extra->error_attempted = error->is_run_attempted;
    extra->error_is_foreign = is_not_of_the_program(error);
    extra_set(jobs, &extra->error, encoded);
    extra_set(jobs, &extra->error_message, message);
    extra_set(jobs, &extra->error_category, error->category);
    extra_set(jobs, &extra->error_subcategory, error->subcategory);
    extra->error_exit_code = error->exit_code;
}

static void keep_tried(struct jobs *jobs, uint32_t job)
{
    struct extra_row *extra = extra_of(jobs, job);
    const struct run_row *run = &jobs->runs.items[jobs->rows.items[job].run];
    struct tried_pair *tried = extra->tried;

    ASSERT(extra->tried_count <= JOBS_TRIED_MAX);
    ASSERT(jobs->runs.items[jobs->rows.items[job].run].job == job);
    if (!tried) {
        tried = mem_alloc_array(JOBS_TRIED_MAX, sizeof(*tried));
        extra->tried = tried;
    }
    if (extra->tried_count == JOBS_TRIED_MAX) {
        intern_unref(&jobs->strings, tried[0].executor);
        intern_unref(&jobs->strings, tried[0].node);
        memmove(tried, tried + 1, (JOBS_TRIED_MAX - 1) * sizeof(*tried));
        extra->tried_count--;
    }
    struct str executor = intern_get(&jobs->executors, run->executor);
    tried[extra->tried_count++] = (struct tried_pair){
        .executor = intern_add(&jobs->strings, executor),
        .node = intern_ref(&jobs->strings, run->node),
    };
}

/* The job that an event about a run is of, if it has that run now.  The run
 * alone leads there: one look-up, and what was judged by the run is near. */
static uint32_t find_of_run(const struct jobs *jobs, const struct event *event)
{
    uint32_t job = jobs_find_run(jobs, event->run);

    return job != JOBS_NONE && jobs_has_id(jobs, job, event->job) ? job
                                                                  : JOBS_NONE;
}

static bool names_a_run(enum job_happening happening)
{
    return happening >= JOB_ON_ASSIGNED && happening <= JOB_ON_RUN_CANCELLED;
}

static void begin_run(struct jobs *jobs, uint32_t job,
                      const struct event *event)
{
    struct job_run run = {
        .id = event->run,
        .executor_id = event->leased.executor_id,
        .node_name = event->leased.node_name,
        .pool = event->leased.pool,
        .priority = event->leased.priority,
        .leased_ms = event->created_ms,
        .started_ms = event->leased.is_backfilled ? event->created_ms : 0,
    };

    run_create(jobs, job, &run);
    jobs->rows.items[job].run_count++;
}

static void count_attempt(struct job_row *row)
{
    row->attempted_count =
        (uint8_t)(row->attempted_count + (row->attempted_count < UINT8_MAX));
    ASSERT(row->attempted_count <= row->run_count); /* each run at most once */
}

/* What the way into a state does beside the state itself. */
static void on_enter(struct jobs *jobs, uint32_t job,
                     enum job_happening happening, const struct event *event)
{
    struct job_row *row = &jobs->rows.items[job];

    switch ((int)happening) {
    case JOB_ON_LEASED:
        begin_run(jobs, job, event);
        return;
    case JOB_ON_RUN_RETURNED:
        if (event->error.is_run_attempted) {
            count_attempt(row);
            keep_tried(jobs, job);
        }
        break;
    case JOB_ON_RUN_EXPIRED:
        count_attempt(row);
        break;
    case JOB_ON_REQUEUED:
        if (row->state == JOB_RUN_FAILED) {
            count_attempt(row); /* it ended badly, and is replaced */
        }
        if (event->requeued.avoids_node) {
            keep_tried(jobs, job);
        }
        run_free(jobs, job);
        row->flags &= (uint16_t)~RUN_FLAGS;
        return;
    case JOB_ON_ASSIGNED:
    case JOB_ON_RUNNING:
        return;
    default:
        break;
    }
    /* The run has ended, and stays until the job's fate is decided. */
    ASSERT(row->run != JOBS_NONE && jobs->runs.items[row->run].job == job);
    run_unlist(jobs, row->run);
    if (event->type == EVENT_RUN_ERRORS) {
        keep_error(jobs, job, &event->error);
    }
    jobs_mark_dirty(jobs, job);
}

/* What an event says of a failure. */
static struct str failure_of(const struct event *event)
{
    return event->type == EVENT_FAILED ? event->error.message : STR("");
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
        group_ended(jobs, job, after, failure_of(event));
        row_free(jobs, job);
        waits_end(jobs, id, after);
    } else {
        on_enter(jobs, job, happening, event);
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
    uint32_t job = names_a_run(happening) ? find_of_run(jobs, event)
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
