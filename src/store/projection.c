#include "store/projection.h"

#include "store/projection_private.h"

bool stored_job_has_ended(enum stored_job_state state)
{
    return state == STORED_JOB_SUCCEEDED || state == STORED_JOB_FAILED ||
           state == STORED_JOB_CANCELLED || state == STORED_JOB_PREEMPTED ||
           state == STORED_JOB_REJECTED;
}

bool stored_job_is_active(enum stored_job_state state)
{
    return state == STORED_JOB_LEASED || state == STORED_JOB_PENDING ||
           state == STORED_JOB_RUNNING;
}

void projection_init(struct projection *projection,
                     const struct projection_source *source)
{
    *projection =
        (struct projection){.source = source, .set_names = intern_create()};
}

static void fini_maps(struct projection *projection)
{
    map_fini(&projection->job_indexes);
    map_fini(&projection->run_indexes);
    projection->job_indexes = (struct map){0};
    projection->run_indexes = (struct map){0};
}

void projection_fini(struct projection *projection)
{
    VEC_FREE(&projection->jobs);
    VEC_FREE(&projection->runs);
    VEC_FREE(&projection->specs);
    VEC_FREE(&projection->client_ids);
    VEC_FREE(&projection->objects);
    VEC_FREE(&projection->set_records);
    VEC_FREE(&projection->sets);
    VEC_FREE(&projection->usage);
    fini_maps(projection);
    intern_destroy(projection->set_names);
    strbuf_fini(&projection->scratch);
    usage_class_fini(&projection->usage_class);
    arena_fini(&projection->arena);
}

void projection_reset(struct projection *projection, int64_t next_job_number)
{
    projection->jobs.count = 0;
    projection->runs.count = 0;
    projection->specs.count = 0;
    projection->client_ids.count = 0;
    projection->objects.count = 0;
    projection->set_records.count = 0;
    projection->sets.count = 0;
    projection->usage.count = 0;
    fini_maps(projection);
    intern_destroy(projection->set_names);
    projection->set_names = intern_create();
    arena_reset(&projection->arena);
    projection->next_job_number = next_job_number;
}

int projection_find_job(struct projection *projection, struct job_id id,
                        struct job_row **ret_row)
{
    uint32_t index = map_find(&projection->job_indexes, id.v);

    if (index != MAP_NONE) {
        *ret_row = projection->jobs.items[index];
        return 1;
    }
    struct job_row loaded = {0};
    const struct projection_source *source = projection->source;
    int rc = source->job(source->ctx, id, &projection->arena, &loaded,
                         projection->err);
    if (rc <= 0) {
        return rc;
    }
    struct job_row *row = arena_alloc(&projection->arena, sizeof(*row));
    *row = loaded;
    row->old_state = row->job.state;
    row->old_pool = row->pool;
    map_put(&projection->job_indexes, id.v, (uint32_t)projection->jobs.count);
    VEC_PUSH(&projection->jobs, row);
    *ret_row = row;
    return 1;
}

int projection_find_run(struct projection *projection,
                        const struct event *event, struct job_row **ret_job,
                        struct run_row **ret_run)
{
    int rc = projection_find_job(projection, event->job, ret_job);
    uint32_t index = map_find(&projection->run_indexes, event->run.v);

    if (rc <= 0) {
        return rc;
    }
    if (index != MAP_NONE) {
        *ret_run = projection->runs.items[index];
        return (*ret_run)->job_number == (*ret_job)->number;
    }
    struct run_row loaded = {0};
    const struct projection_source *source = projection->source;
    rc = source->run(source->ctx, *ret_job, event->run, &projection->arena,
                     &loaded, projection->err);
    if (rc <= 0) {
        return rc;
    }
    struct run_row *row = arena_alloc(&projection->arena, sizeof(*row));
    *row = loaded;
    map_put(&projection->run_indexes, event->run.v,
            (uint32_t)projection->runs.count);
    VEC_PUSH(&projection->runs, row);
    *ret_run = row;
    return 1;
}

/* The current scope's job set is touched by the current record. */
static int note_set(struct projection *projection,
                    const struct event_scope *scope)
{
    strbuf_clear(&projection->scratch);
    strbuf_add_str(&projection->scratch, scope->queue);
    strbuf_add_char(&projection->scratch, '\0');
    strbuf_add_str(&projection->scratch, scope->job_set);
    uint32_t index =
        intern_add(projection->set_names, strbuf_str(&projection->scratch));
    if (index == projection->sets.count) {
        struct set_row row = {.queue = scope->queue, .name = scope->job_set};
        const struct projection_source *source = projection->source;
        int rc = source->set(source->ctx, row.queue, row.name, &row.key,
                             projection->err);
        if (rc < 0) {
            return rc;
        }
        VEC_PUSH(&projection->sets, row);
    }
    struct set_row *set = &projection->sets.items[index];
    projection->set_current = index;
    if (set->seq != projection->seq) {
        struct set_record_row record = {set->key, projection->seq};
        set->seq = projection->seq;
        VEC_PUSH(&projection->set_records, record);
    }
    return 0;
}

static int add_event(struct projection *projection,
                     const struct event_scope *scope, const struct event *event)
{
    switch (event->type) {
    case EVENT_SUBMIT:
        return projection_submit(projection, scope, event);
    case EVENT_CANCEL:
    case EVENT_REPRIORITISED:
    case EVENT_CANCELLED:
    case EVENT_SUCCEEDED:
    case EVENT_REQUEUED:
    case EVENT_FAILED:
        return projection_job_event(projection, scope, event);
    case EVENT_LEASED:
        return projection_leased(projection, event);
    case EVENT_RUN_ASSIGNED:
    case EVENT_RUN_RUNNING:
    case EVENT_RUN_SUCCEEDED:
    case EVENT_RUN_ERRORS:
    case EVENT_RUN_PREEMPTED:
    case EVENT_RUN_CANCELLED:
    case EVENT_DEBUG_INFO:
    case EVENT_INGRESS_INFO:
        return projection_run_event(projection, event);
    /* Requests whose results follow as events of their own, and facts about
     * queues and executors: of jobs they change nothing. */
    case EVENT_NONE:
    case EVENT_REPRIORITISE:
    case EVENT_REPRIORITISE_SET:
    case EVENT_CANCEL_SET:
    case EVENT_PREEMPT:
    case EVENT_VALIDATED:
    case EVENT_UTILISATION:
    case EVENT_QUEUE_SET:
    case EVENT_QUEUE_DELETED:
    case EVENT_RETRY_POLICY_SET:
    case EVENT_RETRY_POLICY_DELETED:
    case EVENT_EXECUTOR_NODES:
    case EVENT_EXECUTOR_SETTINGS:
    case EVENT_EXECUTOR_DELETED:
    case EVENT_EXECUTOR_STATE:
    case EVENT_ROUND_DONE:
    case EVENT_POLICY_SET:
    case EVENT_LEADER_STARTED:
    case EVENT_SELECTION:
    case EVENT_ADMITTED:
    case EVENT_DISMISSED:
    case EVENT_NODE_HEALTH:
    case EVENT_POOL_SET:
    case EVENT_POOL_DELETED:
    case EVENT_WINDOW_SET:
    case EVENT_WINDOW_DELETED:
    case EVENT_PERIODIC_SET:
    case EVENT_PERIODIC_DELETED:
    case EVENT_PERIODIC_RUN:
    case EVENT_TRAINING_JOB_SET:
    case EVENT_TRAINING_JOB_DELETED:
    case EVENT_RECLASSIFIED:
    case EVENT_ROUND_BEGUN:
    case EVENT_ROUND_BACK:
    case EVENT_ROUND_DROPPED:
    case EVENT_HOLD_CHANGED:
        return 0;
    }
    return 0;
}

int projection_add_item(struct projection *projection, uint64_t seq,
                        const struct log_item *item, struct err *err)
{
    const struct event_scope *scope = &item->scope;

    projection->seq = seq;
    projection->err = err;
    if (scope->queue.byte_count > 0 && scope->job_set.byte_count > 0) {
        int rc = note_set(projection, scope);
        if (rc < 0) {
            return rc;
        }
    }
    struct object_row object;
    if (object_row_of(item, seq, &object)) {
        VEC_PUSH(&projection->objects, object);
    }
    return add_event(projection, scope, &item->event);
}

static int add_decoded(const struct log_item *item, void *ctx)
{
    struct projection *projection = (struct projection *)ctx;

    return projection_add_item(projection, projection->seq, item,
                               projection->err);
}

int projection_add(struct projection *projection,
                   const struct elog_record *record, struct err *err)
{
    projection->seq = record->seq;
    projection->err = err;
    return log_decode(record->payload, &projection->arena, add_decoded,
                      projection, err);
}
