/* Appends to the log: one transaction a poll, or larger ones in bulk. */
#include "elog/elog_signal.h"
#include "elog/elog_sqlite_private.h"
#include "elog/elog_sqlite_tail.h"

enum {
    /* Payloads of one transaction; more are a second one. */
    COMMIT_BYTES_MAX = ELOG_PAYLOAD_BYTES_MAX,
    /* Payloads of one transaction in bulk. */
    BULK_BYTES = 4 << 20,
};

int elog_sqlite_settle(struct elog_sqlite *log, struct err *err)
{
    if (!log->is_open) {
        return 0;
    }
    log->is_open = false;
    log->open_byte_count = 0;
    int rc = sq_commit(log->db, err);
    if (rc < 0) {
        sq_rollback(log->db);
        log->is_broken = true;
    }
    return rc;
}

int elog_sqlite_begin(struct elog_sqlite *log, struct err *err)
{
    int rc = elog_sqlite_settle(log, err);

    return rc < 0 ? rc : sq_run(log->begin, err);
}

int elog_sqlite_update_epoch(struct elog_sqlite *log, uint64_t *ret_epoch,
                             struct err *err)
{
    struct elog_sqlite_head head;

    int rc = elog_sqlite_get_head(log->select_head, &head, err);
    if (rc == 0) {
        rc = sq_exec(log->db, "UPDATE head SET epoch = epoch + 1", err);
    }
    if (rc < 0) {
        return rc;
    }
    *ret_epoch = head.epoch + 1;
    return 0;
}

int elog_sqlite_submit(struct elog *elog, const struct elog_record *record,
                       elog_done_fn *done, void *ctx)
{
    struct elog_sqlite *log = elog_sqlite_of(elog);

    elog_pending_add(&log->pending, record, done, ctx);
    elog->in_flight_count++;
    return 0;
}

static int insert(struct elog_sqlite *log, struct elog_record *record)
{
    sqlite3_stmt *stmt = log->insert_record;

    record->checksum = elog_record_checksum(record);
    sq_bind_int(stmt, 1, (int64_t)record->seq);
    sq_bind_int(stmt, 2, (int64_t)record->epoch);
    sq_bind_int(stmt, 3, record->time_ms);
    sq_bind_int(stmt, 4, record->format_version);
    sq_bind_int(stmt, 5, (int64_t)record->checksum);
    sq_bind_blob(stmt, 6, record->payload);
    int rc = sq_run(stmt, NULL);
    sqlite3_clear_bindings(stmt); /* the payload is borrowed no longer */
    return rc;
}

/* In a transaction: insert those that fit from `from` on, as far as one
 * commit may go.  The number inserted; what else there is, is in
 * `*ret_result`. */
static int insert_some(struct elog_sqlite *log, uint32_t from, int *ret_result)
{
    struct elog_pending rest = {.items = log->pending.items + from,
                                .count = log->pending.count - from};
    struct elog_sqlite_head head;
    size_t byte_count = 0;
    uint32_t count = 0;

    int rc = elog_sqlite_get_head(log->select_head, &head, NULL);
    if (rc < 0) {
        return rc;
    }
    uint32_t fit_count =
        elog_pending_fit(&rest, head.epoch, head.next_seq, ret_result);
    while (count < fit_count) {
        struct elog_record *record = &rest.items[count].record;

        byte_count += record->payload.byte_count;
        if (count > 0 && byte_count > COMMIT_BYTES_MAX) {
            *ret_result = 0;
            break;
        }
        rc = insert(log, record);
        if (rc < 0) {
            return rc;
        }
        count++;
    }
    sq_bind_int(log->update_next, 1, (int64_t)(head.next_seq + count));
    rc = sq_run(log->update_next, NULL);
    return rc < 0 ? rc : (int)count;
}

/* What was not inserted or committed is undone: what it is told. */
static uint32_t give_up(struct elog_sqlite *log, int rc, int *ret_result)
{
    *ret_result = rc == -ERR_FULL ? rc : -ERR_IO;
    /* In bulk, records that were told are undone with it. */
    log->is_broken = *ret_result == -ERR_IO || log->is_bulk;
    return 0;
}

/* Insert pending records from `from` on in the transaction that is open for
 * many polls; as commit_some(). */
static uint32_t append_some(struct elog_sqlite *log, uint32_t from,
                            int *ret_result)
{
    int rc = log->is_open ? 0 : sq_run(log->begin, NULL);

    if (rc == 0) {
        log->is_open = true;
        rc = insert_some(log, from, ret_result);
    }
    for (int i = 0; i < rc; i++) {
        log->open_byte_count +=
            log->pending.items[from + (uint32_t)i].record.payload.byte_count;
    }
    if (rc >= 0 && log->open_byte_count >= BULK_BYTES) {
        int committed = elog_sqlite_settle(log, NULL);
        rc = committed < 0 ? committed : rc;
    }
    if (rc >= 0) {
        return (uint32_t)rc;
    }
    sq_rollback(log->db);
    log->is_open = false;
    return give_up(log, rc, ret_result);
}

/* One commit of pending records from `from` on: the number appended.  When
 * none of the rest can be, `*ret_result` says why. */
static uint32_t commit_some(struct elog_sqlite *log, uint32_t from,
                            int *ret_result)
{
    int rc = sq_run(log->begin, NULL);
    if (rc == 0) {
        rc = insert_some(log, from, ret_result);
        int committed = 0;
        if (rc > 0) {
            committed = sq_commit(log->db, NULL);
        }
        rc = committed < 0 ? committed : rc;
        sq_rollback(log->db);
    }
    return rc >= 0 ? (uint32_t)rc : give_up(log, rc, ret_result);
}

/* The first `count` pending records, at least 1, are durable. */
static void note_durable(struct elog_sqlite *log, uint32_t count)
{
    const struct elog_record *last = &log->pending.items[count - 1].record;

    for (uint32_t i = 0; log->recent && i < count; i++) {
        elog_recent_add(log->recent, &log->pending.items[i].record);
    }
    if (log->end) {
        log_end_put(log->end, (struct log_end_mark){last->seq, last->checksum});
    }
}

int elog_sqlite_poll(struct elog *elog, int timeout_ms)
{
    struct elog_sqlite *log = elog_sqlite_of(elog);
    uint32_t good_count = 0;
    int result = log->is_broken ? -ERR_IO : 0;

    (void)timeout_ms; /* nothing is decided later than now */
    if (log->pending.count == 0) {
        return 0;
    }
    while (result == 0 && good_count < log->pending.count) {
        good_count += log->is_bulk ? append_some(log, good_count, &result)
                                   : commit_some(log, good_count, &result);
    }
    if (good_count > 0) {
        note_durable(log, good_count);
        elog_signal_wake(&log->signal);
    }
    return elog_pending_tell(&log->pending, good_count, result,
                             &elog->in_flight_count);
}
