#include "store/objects.h"

const char object_upsert_sql[] =
    "INSERT OR REPLACE INTO object VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
    " ?9)";
const char object_forget_sql[] =
    "DELETE FROM object WHERE is_deleted = 1 AND seq < ?";

/* The kind of object, and its name; EVENT_NONE: it is about none. */
static enum event_type kind_of(const struct event *event, struct str *ret_name,
                               struct str *ret_part)
{
    *ret_part = STR("");
    if (event->type == EVENT_QUEUE_SET || event->type == EVENT_QUEUE_DELETED) {
        *ret_name = event->queue.record.name;
        return EVENT_QUEUE_SET;
    }
    if (event->type == EVENT_RETRY_POLICY_SET ||
        event->type == EVENT_RETRY_POLICY_DELETED) {
        *ret_name = event->retry_policy.name;
        return EVENT_RETRY_POLICY_SET;
    }
    if (event->type == EVENT_POOL_SET || event->type == EVENT_POOL_DELETED) {
        *ret_name = event->pool.record.name;
        return EVENT_POOL_SET;
    }
    if (event->type == EVENT_WINDOW_SET ||
        event->type == EVENT_WINDOW_DELETED) {
        *ret_name = event->window.record.name;
        return EVENT_WINDOW_SET;
    }
    if (event->type == EVENT_PERIODIC_SET ||
        event->type == EVENT_PERIODIC_DELETED) {
        *ret_name = event->periodic.name;
        return EVENT_PERIODIC_SET;
    }
    if (event->type == EVENT_TRAINING_JOB_SET ||
        event->type == EVENT_TRAINING_JOB_DELETED) {
        *ret_name = event->training_job.name;
        return EVENT_TRAINING_JOB_SET;
    }
    if (event->type == EVENT_EXECUTOR_SETTINGS) {
        *ret_name = event->settings.name;
        *ret_part = event->settings.node_name;
        return EVENT_EXECUTOR_SETTINGS;
    }
    return EVENT_NONE;
}

static bool is_end(enum event_type type)
{
    return type == EVENT_QUEUE_DELETED || type == EVENT_RETRY_POLICY_DELETED ||
           type == EVENT_POOL_DELETED || type == EVENT_WINDOW_DELETED ||
           type == EVENT_TRAINING_JOB_DELETED || type == EVENT_PERIODIC_DELETED;
}

bool object_row_of(const struct log_item *item, uint64_t seq,
                   struct object_row *ret_row)
{
    *ret_row = (struct object_row){.scope = item->scope,
                                   .event = item->encoded,
                                   .seq = seq,
                                   .is_deleted = is_end(item->event.type)};
    ret_row->kind = kind_of(&item->event, &ret_row->name, &ret_row->part);
    return ret_row->kind != EVENT_NONE;
}

int object_write(const struct object_row *row, sqlite3_stmt *upsert,
                 sqlite3_stmt *forget, struct err *err)
{
    sqlite3_stmt *stmt = upsert;

    sq_bind_int(stmt, 1, row->kind);
    sq_bind_text(stmt, 2, row->scope.queue);
    sq_bind_text(stmt, 3, row->name);
    sq_bind_text(stmt, 4, row->part);
    sq_bind_text(stmt, 5, row->scope.job_set);
    sq_bind_text(stmt, 6, row->scope.user);
    sq_bind_int(stmt, 7, (int64_t)row->seq);
    sq_bind_int(stmt, 8, row->is_deleted);
    sq_bind_blob(stmt, 9, row->event);
    int rc = sq_run(stmt, err);
    if (rc < 0 || !row->is_deleted) {
        return rc;
    }
    sq_bind_int(forget, 1, (int64_t)row->seq - OBJECT_DELETED_RECORDS_MAX);
    return sq_run(forget, err);
}
