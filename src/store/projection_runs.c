/* The effect of an event about a run on its row, and on its job's. */
#include "store/projection_private.h"
#include "wire/message/field.h"

static bool run_has_ended(enum stored_run_state state)
{
    return state != STORED_RUN_LEASED && state != STORED_RUN_PENDING &&
           state != STORED_RUN_RUNNING;
}

static bool is_latest(const struct job_row *job, const struct run_row *run)
{
    return key128_compare(job->job.latest_run.v, run->run.id.v) == 0;
}

/* A run that has ended stays as it ended. */
static void end_run(struct projection *projection, const struct job_row *job,
                    struct run_row *row, enum stored_run_state state,
                    int64_t now_ms)
{
    if (run_has_ended(row->run.state)) {
        return;
    }
    projection_note_usage(projection, job,
                          (struct usage_note){.kind = USAGE_RAN,
                                              .from_ms = row->run.leased_ms,
                                              .to_ms = now_ms,
                                              .run_state = state});
    row->run.state = state;
    row->run.finished_ms = now_ms;
    row->is_changed = true;
}

int projection_leased(struct projection *projection, const struct event *event)
{
    struct job_row *job;
    struct run_row *run;

    int rc = projection_find_run(projection, event, &job, &run);
    if (rc != 0) {
        return rc < 0 ? rc : 0;
    }
    rc = projection_find_job(projection, event->job, &job);
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
    projection_set_job_state(projection, job, STORED_JOB_LEASED,
                             event->created_ms);
    return 0;
}

/* An executor has the pod, or the pod runs. */
static void on_pod(struct projection *projection, struct job_row *job,
                   struct run_row *run, const struct event *event)
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
        projection_set_job_state(projection, job,
                                 is_running ? STORED_JOB_RUNNING
                                            : STORED_JOB_PENDING,
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
static void on_run_errors(struct projection *projection,
                          const struct job_row *job, struct run_row *run,
                          const struct event *event)
{
    const struct event_error *error = &event->error;

    if (run->run.debug.byte_count == 0 && error->debug_message.byte_count > 0) {
        run->run.debug = projection_cut(error->debug_message);
        run->is_changed = true;
    }
    if (!error->is_terminal) {
        return;
    }
    if (run->run.error.byte_count == 0) {
        run->run.error = projection_error_text(error);
        run->run.exit_code = error->exit_code;
        run->is_changed = true;
    }
    if (run->run.node.byte_count == 0) {
        run->run.node = error->node_name;
    }
    end_run(projection, job, run, run_state_of(error->kind), event->created_ms);
}

static void put_all(struct strbuf *buf, uint32_t number,
                    const struct str *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (buf->byte_count + items[i].byte_count < STORE_TEXT_BYTES_MAX) {
            field_put_bytes(buf, number, items[i]);
        }
    }
}

/* What was told before of this kind. */
static void put_old(struct strbuf *buf, uint32_t number, struct str old)
{
    struct field_cursor cursor = field_cursor_make(old);
    struct field field;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == number && field.type == FIELD_BYTES) {
            put_all(buf, number, &field.bytes, 1);
        }
    }
}

/* Kept as the fields of api.JobRunDetails, where they are asked for; what there
 * is no room for is left out.  Addresses and objects are told apart, or
 * together. */
static void on_ingress(struct projection *projection, struct run_row *run,
                       const struct event *event)
{
    enum { INGRESS_ADDRESSES = 11, OBJECTS = 1000 };
    const struct str old = run->run.ingress;
    auto_strbuf buf = {0};

    if (event->ingress.address_count == 0) {
        put_old(&buf, INGRESS_ADDRESSES, old);
    }
    if (event->ingress.object_count == 0) {
        put_old(&buf, OBJECTS, old);
    }
    put_all(&buf, INGRESS_ADDRESSES, event->ingress.addresses,
            event->ingress.address_count);
    put_all(&buf, OBJECTS, event->ingress.objects, event->ingress.object_count);
    run->run.ingress = arena_str(&projection->arena, strbuf_str(&buf));
    run->is_changed = true;
}

static void on_run_event(struct projection *projection, struct job_row *job,
                         struct run_row *run, const struct event *event)
{
    if (event->type == EVENT_RUN_ASSIGNED || event->type == EVENT_RUN_RUNNING) {
        on_pod(projection, job, run, event);
    } else if (event->type == EVENT_RUN_SUCCEEDED) {
        end_run(projection, job, run, STORED_RUN_SUCCEEDED, event->created_ms);
    } else if (event->type == EVENT_RUN_ERRORS) {
        on_run_errors(projection, job, run, event);
    } else if (event->type == EVENT_RUN_PREEMPTED) {
        if (!run_has_ended(run->run.state)) {
            run->run.error = projection_cut(event->preempted.reason);
        }
        end_run(projection, job, run, STORED_RUN_PREEMPTED, event->created_ms);
    } else if (event->type == EVENT_RUN_CANCELLED) {
        end_run(projection, job, run, STORED_RUN_CANCELLED, event->created_ms);
    } else {
        ASSERT(event->type == EVENT_DEBUG_INFO);
        run->run.debug = projection_cut(event->error.debug_message);
        run->is_changed = true;
    }
}

int projection_run_event(struct projection *projection,
                         const struct event *event)
{
    struct job_row *job;
    struct run_row *run;

    int rc = projection_find_run(projection, event, &job, &run);
    if (rc <= 0) {
        return rc;
    }
    if (event->type == EVENT_INGRESS_INFO) {
        on_ingress(projection, run, event);
    } else {
        on_run_event(projection, job, run, event);
    }
    return 0;
}
