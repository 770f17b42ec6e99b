#include "store/projection.h"

#include "wire/field.h"

enum { SUBMIT_JOB_DEDUPLICATION_ID = 2 }; /* its field number */

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

static bool run_has_ended(enum stored_run_state state)
{
    return state != STORED_RUN_LEASED && state != STORED_RUN_PENDING &&
           state != STORED_RUN_RUNNING;
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
    VEC_FREE(&projection->set_records);
    VEC_FREE(&projection->sets);
    fini_maps(projection);
    intern_destroy(projection->set_names);
    strbuf_fini(&projection->scratch);
    arena_fini(&projection->arena);
}

void projection_reset(struct projection *projection, int64_t next_job_number)
{
    projection->jobs.count = 0;
    projection->runs.count = 0;
    projection->specs.count = 0;
    projection->client_ids.count = 0;
    projection->set_records.count = 0;
    projection->sets.count = 0;
    fini_maps(projection);
    intern_destroy(projection->set_names);
    projection->set_names = intern_create();
    arena_reset(&projection->arena);
    projection->next_job_number = next_job_number;
}

/* At most STORE_TEXT_BYTES_MAX of a text, without half a character. */
static struct str cut(struct str text)
{
    if (text.byte_count > STORE_TEXT_BYTES_MAX) {
        text.byte_count = STORE_TEXT_BYTES_MAX;
        while (text.byte_count > 0 &&
               ((unsigned char)text.p[text.byte_count] & 0xc0) == 0x80) {
            text.byte_count--;
        }
    }
    return text;
}

/* The row of a job: 1; 0 if the store does not know it. */
static int find_job(struct projection *projection, struct job_id id,
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

/* The rows of a run and of its job: 1; 0 if either is not known. */
static int find_run(struct projection *projection, const struct event *event,
                    struct job_row **ret_job, struct run_row **ret_run)
{
    int rc = find_job(projection, event->job, ret_job);
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

/* A job that has ended stays as it ended, whatever comes late. */
static void set_job_state(struct job_row *row, enum stored_job_state state,
                          int64_t now_ms)
{
    if (stored_job_has_ended(row->job.state) || row->job.state == state) {
        return;
    }
    row->job.state = state;
    row->job.last_transition_ms = now_ms;
    row->is_changed = true;
    if (stored_job_has_ended(state)) {
        row->ended_ms = now_ms;
    }
}

static bool is_latest(const struct job_row *job, const struct run_row *run)
{
    return key128_compare(job->job.latest_run.v, run->run.id.v) == 0;
}

/* The same for a run. */
static void end_run(struct run_row *row, enum stored_run_state state,
                    int64_t now_ms)
{
    if (run_has_ended(row->run.state)) {
        return;
    }
    row->run.state = state;
    row->run.finished_ms = now_ms;
    row->is_changed = true;
}

static struct str client_id_of(struct str submit_job)
{
    struct field_cursor cursor = field_cursor_make(submit_job);
    struct field field;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == SUBMIT_JOB_DEDUPLICATION_ID &&
            field.type == FIELD_BYTES) {
            return field.bytes;
        }
    }
    return (struct str){0};
}

static void add_job(struct projection *projection,
                    const struct event_scope *scope, const struct event *event)
{
    struct job_row *row = arena_alloc(&projection->arena, sizeof(*row));

    *row = (struct job_row){
        .job =
            {
                .id = event->job,
                .queue = scope->queue,
                .job_set = scope->job_set,
                .namespace_ = event->submit.namespace_,
                .owner = scope->user,
                .state = STORED_JOB_QUEUED,
                .priority = event->submit.priority,
                .submitted_ms = event->created_ms,
                .last_transition_ms = event->created_ms,
                .external_job_uri = event->submit.external_job_uri,
            },
        .number = projection->next_job_number++,
        .set_key = projection->sets.items[projection->set_current].key,
        .is_new = true,
    };
    map_put(&projection->job_indexes, event->job.v,
            (uint32_t)projection->jobs.count);
    VEC_PUSH(&projection->jobs, row);
    struct spec_row spec = {row->number, event->submit.encoded};
    VEC_PUSH(&projection->specs, spec);
}

static int on_submit(struct projection *projection,
                     const struct event_scope *scope, const struct event *event)
{
    struct job_row *row;

    if (scope->queue.byte_count == 0 || scope->job_set.byte_count == 0) {
        return 0;
    }
    int rc = find_job(projection, event->job, &row);
    if (rc != 0) {
        return rc < 0 ? rc : 0;
    }
    add_job(projection, scope, event);
    struct client_id_row client = {scope->queue,
                                   client_id_of(event->submit.encoded),
                                   event->job, event->created_ms};
    if (client.client_id.byte_count > 0) {
        VEC_PUSH(&projection->client_ids, client);
    }
    return 0;
}

/* The wish to cancel may say why, and so may the deed; the deed wins. */
static void on_cancel(struct job_row *row, const struct event_scope *scope,
                      const struct event *event)
{
    if (event->cancel.reason.byte_count > 0) {
        row->job.cancel_reason = cut(event->cancel.reason);
    }
    if (event->cancel.requestor.byte_count > 0) {
        row->job.cancel_user = event->cancel.requestor;
    } else if (row->job.cancel_user.byte_count == 0) {
        row->job.cancel_user = scope->user;
    }
    if (event->type == EVENT_CANCELLED) {
        row->job.cancelled_ms = event->created_ms;
        set_job_state(row, STORED_JOB_CANCELLED, event->created_ms);
    }
}

/* Events about a job, whose row is known. */
static void on_job_event(struct job_row *row, const struct event_scope *scope,
                         const struct event *event)
{
    if (stored_job_has_ended(row->job.state)) {
        return;
    }
    row->is_changed = true;
    if (event->type == EVENT_REPRIORITISED) {
        row->job.priority = event->reprioritise.priority;
    } else if (event->type == EVENT_REQUEUED) {
        set_job_state(row, STORED_JOB_QUEUED, event->created_ms);
    } else if (event->type == EVENT_SUCCEEDED) {
        set_job_state(row, STORED_JOB_SUCCEEDED, event->created_ms);
    } else {
        on_cancel(row, scope, event);
    }
}

static struct str error_text(const struct event_error *error)
{
    if (error->kind == ERROR_LEASE_EXPIRED && error->message.byte_count == 0) {
        return STR("Lease expired");
    }
    return cut(error->message);
}

static void on_failed(struct job_row *row, const struct event *event)
{
    enum stored_job_state state = STORED_JOB_FAILED;

    /* One that is not terminal is retried: the job goes on. */
    if (!event->error.is_terminal || stored_job_has_ended(row->job.state)) {
        return;
    }
    if (event->error.kind == ERROR_REJECTED) {
        state = STORED_JOB_REJECTED;
    } else if (event->error.kind == ERROR_PREEMPTED) {
        state = STORED_JOB_PREEMPTED;
    }
    row->job.error = error_text(&event->error);
    set_job_state(row, state, event->created_ms);
}

static int on_leased(struct projection *projection, const struct event *event)
{
    struct job_row *job;
    struct run_row *run;

    int rc = find_run(projection, event, &job, &run);
    if (rc != 0) {
        return rc < 0 ? rc : 0;
    }
    rc = find_job(projection, event->job, &job);
    if (rc <= 0) {
        return rc;
    }
    if (stored_job_has_ended(job->job.state)) {
        return 0;
    }
    run = arena_alloc(&projection->arena, sizeof(*run));
    *run = (struct run_row){
        .run = {.id = event->run,
                .job = event->job,
                .state = STORED_RUN_LEASED,
                .cluster = event->leased.executor_id,
                .node = event->leased.node_name,
                .pool = event->leased.pool,
                .leased_ms = event->created_ms},
        .job_number = job->number,
        .index = job->job.run_count++,
        .is_new = true,
    };
    map_put(&projection->run_indexes, event->run.v,
            (uint32_t)projection->runs.count);
    VEC_PUSH(&projection->runs, run);
    job->job.latest_run = event->run;
    job->pool = event->leased.pool;
    job->is_changed = true;
    set_job_state(job, STORED_JOB_LEASED, event->created_ms);
    return 0;
}

/* An executor has the pod, or the pod runs. */
static void on_pod(struct job_row *job, struct run_row *run,
                   const struct event *event)
{
    bool is_running = event->type == EVENT_RUN_RUNNING;
    bool is_back = run->run.state == STORED_RUN_RUNNING && !is_running;

    if (run_has_ended(run->run.state) || is_back) {
        return;
    }
    run->is_changed = true;
    run->run.state = is_running ? STORED_RUN_RUNNING : STORED_RUN_PENDING;
    if (event->pod.node_name.byte_count > 0) {
        run->run.node = event->pod.node_name;
    }
    if (is_running) {
        run->run.started_ms = event->created_ms;
    } else {
        run->run.pending_ms = event->created_ms;
    }
    if (is_latest(job, run) && stored_job_is_active(job->job.state)) {
        set_job_state(job, is_running ? STORED_JOB_RUNNING : STORED_JOB_PENDING,
                      event->created_ms);
    }
}

static enum stored_run_state run_state_of(enum error_kind kind)
{
    switch (kind) {
    case ERROR_LEASE_RETURNED:
        return STORED_RUN_LEASE_RETURNED;
    case ERROR_LEASE_EXPIRED:
        return STORED_RUN_LEASE_EXPIRED;
    case ERROR_MAX_RUNS_EXCEEDED:
        return STORED_RUN_MAX_RUNS_EXCEEDED;
    case ERROR_PREEMPTED:
        return STORED_RUN_PREEMPTED;
    case ERROR_NONE:
    case ERROR_KUBERNETES:
    case ERROR_CONTAINER:
    case ERROR_EXECUTOR:
    case ERROR_POD:
    case ERROR_GANG_UNSCHEDULABLE:
    case ERROR_REJECTED:
    case ERROR_RECONCILIATION:
        return STORED_RUN_FAILED;
    }
    return STORED_RUN_FAILED;
}

/* The first text stays: it is the cause, what follows are consequences.  An
 * error that is not terminal leaves the run going. */
static void on_run_errors(struct run_row *run, const struct event *event)
{
    const struct event_error *error = &event->error;

    if (run->run.debug.byte_count == 0 && error->debug_message.byte_count > 0) {
        run->run.debug = cut(error->debug_message);
        run->is_changed = true;
    }
    if (!error->is_terminal) {
        return;
    }
    if (run->run.error.byte_count == 0) {
        run->run.error = error_text(error);
        run->run.exit_code = error->exit_code;
        run->is_changed = true;
    }
    if (run->run.node.byte_count == 0) {
        run->run.node = error->node_name;
    }
    end_run(run, run_state_of(error->kind), event->created_ms);
}

/* Kept as the field of api.JobRunDetails, where they are asked for; what
 * there is no room for is left out. */
static void on_ingress(struct projection *projection, struct run_row *run,
                       const struct event *event)
{
    enum { INGRESS_ADDRESSES = 11 };
    auto_strbuf buf = {0};

    for (uint32_t i = 0; i < event->ingress.address_count; i++) {
        struct str address = event->ingress.addresses[i];
        if (buf.byte_count + address.byte_count < STORE_TEXT_BYTES_MAX) {
            field_put_bytes(&buf, INGRESS_ADDRESSES, address);
        }
    }
    run->run.ingress = arena_str(&projection->arena, strbuf_str(&buf));
    run->is_changed = true;
}

static void on_run_event(struct job_row *job, struct run_row *run,
                         const struct event *event)
{
    if (event->type == EVENT_RUN_ASSIGNED || event->type == EVENT_RUN_RUNNING) {
        on_pod(job, run, event);
    } else if (event->type == EVENT_RUN_SUCCEEDED) {
        end_run(run, STORED_RUN_SUCCEEDED, event->created_ms);
    } else if (event->type == EVENT_RUN_ERRORS) {
        on_run_errors(run, event);
    } else if (event->type == EVENT_RUN_PREEMPTED) {
        if (!run_has_ended(run->run.state)) {
            run->run.error = cut(event->preempted.reason);
        }
        end_run(run, STORED_RUN_PREEMPTED, event->created_ms);
    } else if (event->type == EVENT_RUN_CANCELLED) {
        end_run(run, STORED_RUN_CANCELLED, event->created_ms);
    } else {
        ASSERT(event->type == EVENT_DEBUG_INFO);
        run->run.debug = cut(event->error.debug_message);
        run->is_changed = true;
    }
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

static int add_job_event(struct projection *projection,
                         const struct event_scope *scope,
                         const struct event *event)
{
    struct job_row *row;

    int rc = find_job(projection, event->job, &row);
    if (rc <= 0) {
        return rc;
    }
    if (event->type == EVENT_FAILED) {
        on_failed(row, event);
    } else {
        on_job_event(row, scope, event);
    }
    return 0;
}

static int add_run_event(struct projection *projection,
                         const struct event *event)
{
    struct job_row *job;
    struct run_row *run;

    int rc = find_run(projection, event, &job, &run);
    if (rc <= 0) {
        return rc;
    }
    if (event->type == EVENT_INGRESS_INFO) {
        on_ingress(projection, run, event);
    } else {
        on_run_event(job, run, event);
    }
    return 0;
}

static int add_event(struct projection *projection,
                     const struct event_scope *scope, const struct event *event)
{
    switch (event->type) {
    case EVENT_SUBMIT:
        return on_submit(projection, scope, event);
    case EVENT_CANCEL:
    case EVENT_REPRIORITISED:
    case EVENT_CANCELLED:
    case EVENT_SUCCEEDED:
    case EVENT_REQUEUED:
    case EVENT_FAILED:
        return add_job_event(projection, scope, event);
    case EVENT_LEASED:
        return on_leased(projection, event);
    case EVENT_RUN_ASSIGNED:
    case EVENT_RUN_RUNNING:
    case EVENT_RUN_SUCCEEDED:
    case EVENT_RUN_ERRORS:
    case EVENT_RUN_PREEMPTED:
    case EVENT_RUN_CANCELLED:
    case EVENT_DEBUG_INFO:
    case EVENT_INGRESS_INFO:
        return add_run_event(projection, event);
    /* Requests whose results follow as events of their own, and facts about
     * queues and executors: not in the tables. */
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
    case EVENT_TRAINING_JOB_SET:
    case EVENT_TRAINING_JOB_DELETED:
    case EVENT_RECLASSIFIED:
    case EVENT_ROUND_BEGUN:
    case EVENT_ROUND_BACK:
    case EVENT_ROUND_DROPPED:
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
