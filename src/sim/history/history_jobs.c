/* Reads the jobs of a history, and how they fared, from a log. */
#include "sim/history/history_reading.h"

static int64_t at(const struct reading *reading, const struct event *event)
{
    int64_t at_ms = event->created_ms - reading->history->began_ms;

    /* Executors' clocks may differ from the server's. */
    return at_ms < 0 ? 0 : at_ms < reading->now_ms ? at_ms : reading->now_ms;
}

static uint32_t kind_of(struct reading *reading,
                        const struct event_scope *scope,
                        const struct job_digest *digest, uint32_t priority)
{
    struct history *history = reading->history;
    auto_strbuf key = {0};

    pack_str(&key, scope->queue);
    pack_str(&key, scope->job_set);
    pack_str(&key, digest->class_key);
    pack_str(&key, digest->gang_uniformity);
    pack_str(&key, digest->application_id);
    pack_str(&key, digest->pool);
    pack_u64(&key, priority);
    pack_u64(&key, digest->on_preemption);
    pack_u64(&key, digest->on_executor_lost);
    uint32_t index = intern_find(&reading->kinds, strbuf_str(&key));
    if (index != INTERN_NONE) {
        return index;
    }
    struct arena *arena = &history->arena;
    struct world_kind kind = {
        .queue = arena_str(arena, scope->queue),
        .job_set = arena_str(arena, scope->job_set),
        .priority = priority,
        .gang_uniformity = arena_str(arena, digest->gang_uniformity),
        .application = arena_str(arena, digest->application_id),
        .pool = arena_str(arena, digest->pool),
        .on_preemption = digest->on_preemption,
        .on_executor_lost = digest->on_executor_lost,
    };
    if (requirement_unpack(arena_str(arena, digest->class_key), arena,
                           &kind.requirement) < 0) {
        return INTERN_NONE;
    }
    VEC_PUSH(&history->kinds, kind);
    return intern_add(&reading->kinds, strbuf_str(&key));
}

void history_add_job(struct reading *reading, const struct log_item *item)
{
    struct history *history = reading->history;
    const struct event *event = &item->event;
    uint64_t request_key = reading->seq << 24 | item->sequence_index;
    struct job_digest digest;

    if (history->jobs.count == HISTORY_JOBS_MAX ||
        digest_unpack(event->submit.digest, &digest) < 0) {
        return;
    }
    uint32_t kind =
        kind_of(reading, &item->scope, &digest, event->submit.priority);
    if (kind == INTERN_NONE) {
        return; /* of a class that fits nowhere */
    }
    reading->request += request_key != reading->request_key;
    reading->request_key = request_key;
    struct history_job job = {
        .submitted_ms = reading->now_ms,
        .started_ms = -1,
        .ended_ms = -1,
        .run_ms = -1,
        .kind = kind,
        .queue = history_queue_of(reading, item->scope.queue),
        .request = reading->request,
        .gang_id = arena_str(&history->arena, digest.gang_id),
        .gang_terms = arena_str(&history->arena, digest.gang_terms),
        .gang_cardinality = digest.gang_cardinality,
        .gang_minimum = digest.gang_minimum,
        .sub_group = digest.sub_group,
    };
    (void)map_put(&reading->job_by_id, event->job.v,
                  (uint32_t)history->jobs.count);
    VEC_PUSH(&history->jobs, job);
    VEC_PUSH(&reading->runs, (struct reading_job){-1, -1});
}

/* A run was whole: it ended by itself. */
static void end_run(struct history_job *job, struct reading_job *run,
                    int64_t at_ms, bool is_failing)
{
    if (run->began_ms >= 0) {
        job->run_ms = at_ms - run->began_ms;
        job->is_failing = is_failing;
        run->began_ms = -1;
    }
}

static bool is_by_itself(const struct event_error *error)
{
    return error->kind == ERROR_POD || error->kind == ERROR_CONTAINER ||
           error->kind == ERROR_KUBERNETES;
}

static void begin_run(struct reading *reading, struct history_job *job,
                      struct reading_job *run, int64_t at_ms)
{
    run->began_ms = at_ms;
    if (job->started_ms < 0) {
        job->started_ms = at_ms;
    }
    if (run->leased_ms >= 0) {
        reading->start_ms_sum += (double)(at_ms - run->leased_ms);
        reading->start_count++;
        run->leased_ms = -1;
    }
}

void history_note_job(struct reading *reading, const struct event *event)
{
    uint32_t index = map_find(&reading->job_by_id, event->job.v);

    if (index == MAP_NONE) {
        return;
    }
    struct history_job *job = &reading->history->jobs.items[index];
    struct reading_job *run = &reading->runs.items[index];
    int64_t at_ms = at(reading, event);
    switch ((int)event->type) {
    case EVENT_LEASED:
        run->leased_ms = at_ms;
        run->began_ms = -1;
        break;
    case EVENT_RUN_RUNNING:
        begin_run(reading, job, run, at_ms);
        break;
    case EVENT_RUN_SUCCEEDED:
        end_run(job, run, at_ms, false);
        break;
    case EVENT_RUN_ERRORS:
        if (is_by_itself(&event->error)) {
            end_run(job, run, at_ms, true);
        }
        break;
    case EVENT_RUN_PREEMPTED:
        job->preempted_count++;
        run->began_ms = -1;
        break;
    case EVENT_RUN_CANCELLED:
    case EVENT_CANCELLED:
        job->is_left_out = job->started_ms < 0;
        end_run(job, run, at_ms, false); /* a user had what was wanted */
        job->ended_ms = at_ms;
        break;
    case EVENT_SUCCEEDED:
    case EVENT_FAILED:
        job->ended_ms = at_ms;
        run->began_ms = -1;
        break;
    default:
        break;
    }
}
