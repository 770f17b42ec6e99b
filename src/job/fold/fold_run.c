/* Keeps what is known of a job's runs, as events tell it. */
#include "job/fold/fold_private.h"
#include "job/table/jobs_private.h"

/* Requests about a run end with the run. */
enum { RUN_FLAGS = JOB_FLAG_PREEMPT | JOB_FLAG_LOST };

/* Whether the run ended by what was done to its pod, and not by itself. */
static bool is_not_of_the_program(const struct event_error *error)
{
    return error->cause == CAUSE_EVICTED ||
           str_equal(error->subcategory, STR("pod-missing")) ||
           str_equal(error->subcategory, STR("externally-deleted"));
}

/* Keep what the job's outcome will be decided by. */
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

uint32_t fold_find_run(const struct jobs *jobs, const struct event *event)
{
    uint32_t job = jobs_find_run(jobs, event->run);

    return job != JOBS_NONE && jobs_has_id(jobs, job, event->job) ? job
                                                                  : JOBS_NONE;
}

bool fold_names_run(enum job_happening happening)
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

void fold_on_enter(struct jobs *jobs, uint32_t job,
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
    /* The run has ended, and stays until the job's outcome is decided. */
    ASSERT(row->run != JOBS_NONE && jobs->runs.items[row->run].job == job);
    run_unlist(jobs, row->run);
    if (event->type == EVENT_RUN_ERRORS) {
        keep_error(jobs, job, &event->error);
    }
    jobs_mark_dirty(jobs, job);
}

struct str fold_failure(const struct event *event)
{
    return event->type == EVENT_FAILED ? event->error.message : STR("");
}
