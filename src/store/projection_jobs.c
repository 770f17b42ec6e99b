/* The effect of an event about a job on its row. */
#include "store/labels.h"
#include "store/projection_private.h"
#include "wire/message/field.h"

enum { SUBMIT_JOB_DEDUPLICATION_ID = 2 }; /* its field number */

struct str projection_cut(struct str text)
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

struct str projection_error_text(const struct event_error *error)
{
    if (error->kind == ERROR_LEASE_EXPIRED && error->message.byte_count == 0) {
        return STR("Lease expired");
    }
    return projection_cut(error->message);
}

void projection_note_usage(struct projection *projection,
                           const struct job_row *row, struct usage_note note)
{
    note.queue = row->job.queue;
    note.owner = row->job.owner;
    note.request = row->request;
    VEC_PUSH(&projection->usage, note);
}

void projection_set_job_state(struct projection *projection,
                              struct job_row *row, enum stored_job_state state,
                              int64_t now_ms)
{
    if (stored_job_has_ended(row->job.state) || row->job.state == state) {
        return;
    }
    if (row->job.state == STORED_JOB_QUEUED) {
        projection_note_usage(
            projection, row,
            (struct usage_note){.kind = USAGE_WAITED,
                                .from_ms = row->job.last_transition_ms,
                                .to_ms = now_ms});
    }
    row->job.state = state;
    row->job.last_transition_ms = now_ms;
    row->is_changed = true;
    if (stored_job_has_ended(state)) {
        row->ended_ms = now_ms;
        projection_note_usage(projection, row,
                              (struct usage_note){.kind = USAGE_ENDED,
                                                  .to_ms = now_ms,
                                                  .job_state = state});
    }
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
        .array = label_array_of(event->submit.encoded),
        .request =
            usage_request_of(&projection->usage_class, event->submit.digest),
        .is_new = true,
    };
    projection_note_usage(projection, row,
                          (struct usage_note){.kind = USAGE_SUBMITTED,
                                              .to_ms = event->created_ms});
    map_put(&projection->job_indexes, event->job.v,
            (uint32_t)projection->jobs.count);
    VEC_PUSH(&projection->jobs, row);
    struct spec_row spec = {row, event->submit.encoded};
    VEC_PUSH(&projection->specs, spec);
}

int projection_submit(struct projection *projection,
                      const struct event_scope *scope,
                      const struct event *event)
{
    struct job_row *row;

    if (scope->queue.byte_count == 0 || scope->job_set.byte_count == 0) {
        return 0;
    }
    int rc = projection_find_job(projection, event->job, &row);
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
static void on_cancel(struct projection *projection, struct job_row *row,
                      const struct event_scope *scope,
                      const struct event *event)
{
    if (event->cancel.reason.byte_count > 0) {
        row->job.cancel_reason = projection_cut(event->cancel.reason);
    }
    if (event->cancel.requestor.byte_count > 0) {
        row->job.cancel_user = event->cancel.requestor;
    } else if (row->job.cancel_user.byte_count == 0) {
        row->job.cancel_user = scope->user;
    }
    if (event->type == EVENT_CANCELLED) {
        row->job.cancelled_ms = event->created_ms;
        projection_set_job_state(projection, row, STORED_JOB_CANCELLED,
                                 event->created_ms);
    }
}

/* Events about a job, whose row is known. */
static void on_job_event(struct projection *projection, struct job_row *row,
                         const struct event_scope *scope,
                         const struct event *event)
{
    if (stored_job_has_ended(row->job.state)) {
        return;
    }
    row->is_changed = true;
    if (event->type == EVENT_REPRIORITISED) {
        row->job.priority = event->reprioritise.priority;
    } else if (event->type == EVENT_REQUEUED) {
        projection_set_job_state(projection, row, STORED_JOB_QUEUED,
                                 event->created_ms);
    } else if (event->type == EVENT_SUCCEEDED) {
        projection_set_job_state(projection, row, STORED_JOB_SUCCEEDED,
                                 event->created_ms);
    } else {
        on_cancel(projection, row, scope, event);
    }
}

static void on_failed(struct projection *projection, struct job_row *row,
                      const struct event *event)
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
    row->job.error = projection_error_text(&event->error);
    projection_set_job_state(projection, row, state, event->created_ms);
}

int projection_job_event(struct projection *projection,
                         const struct event_scope *scope,
                         const struct event *event)
{
    struct job_row *row;

    int rc = projection_find_job(projection, event->job, &row);
    if (rc <= 0) {
        return rc;
    }
    if (event->type == EVENT_FAILED) {
        on_failed(projection, row, event);
    } else {
        on_job_event(projection, row, scope, event);
    }
    return 0;
}
