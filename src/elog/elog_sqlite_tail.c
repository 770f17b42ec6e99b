#include "elog/elog_sqlite_tail.h"

#include <stdio.h>

#include "elog/elog_sqlite_checkpoint.h"

/* What the head row says. */
struct extent {
    uint64_t first_seq, next_seq;
};

static const char advice[] =
    "restore the newest backup, or accept the loss with berthd --accept-loss";

static int get_extent(sqlite3 *db, struct extent *ret, struct err *err)
{
    sqlite3_stmt *select = NULL;
    struct elog_sqlite_head head;

    int rc = sq_prepare(db, ELOG_SQLITE_SELECT_HEAD, &select, err);
    if (rc == 0) {
        rc = elog_sqlite_get_head(select, &head, err);
    }
    sqlite3_finalize(select);
    if (rc < 0) {
        return rc;
    }
    *ret = (struct extent){head.first_seq, head.next_seq};
    return 0;
}

/* Look at the records from `seq` up to `end_seq`: `*ret_seq` is the first that
 * is not whole, or `end_seq`; `*ret_checksum` that of the one before it. */
static int find_bad(sqlite3 *db, uint64_t seq, uint64_t end_seq,
                    uint64_t *ret_seq, uint64_t *ret_checksum, struct err *err)
{
    sqlite3_stmt *select = NULL;

    int rc = sq_prepare(db, ELOG_SQLITE_SELECT_RECORDS, &select, err);
    if (rc == 0) {
        sq_bind_int(select, 1, (int64_t)seq);
    }
    while (rc >= 0 && seq < end_seq && (rc = sq_step(select, err)) == 1) {
        struct elog_record record;

        if (!elog_sqlite_get_record(select, &record) || record.seq != seq) {
            break;
        }
        *ret_checksum = elog_record_checksum(&record);
        seq++;
    }
    sqlite3_finalize(select);
    *ret_seq = seq;
    return rc < 0 ? rc : 0;
}

static int fail_short(const struct elog_sqlite_tail *tail, uint64_t head_seq,
                      struct err *err)
{
    return err_set(
        err, -ERR_CORRUPT,
        "%s ends with record %llu, but according to %s it had record %llu: the "
        "disk has lost records, or this is an older copy of the log: %s",
        sqlite3_db_filename(tail->db, "main"), (unsigned long long)head_seq,
        log_end_path(tail->end), (unsigned long long)log_end_get(tail->end).seq,
        advice);
}

int elog_sqlite_tail_new(const struct elog_sqlite_tail *tail, char *note,
                         struct err *err)
{
    if (!tail->end || log_end_get(tail->end).seq == 0) {
        return 0;
    }
    if (!tail->accepts_loss) {
        return fail_short(tail, 0, err);
    }
    snprintf(note, ERR_TEXT_BYTES_MAX,
             "%s is missing or empty: its records up to %llu are lost",
             sqlite3_db_filename(tail->db, "main"),
             (unsigned long long)log_end_get(tail->end).seq);
    return log_end_reset(tail->end, (struct log_end_mark){0}, err);
}

/* Whether the record at the mark is there and, if it is whole, the one that it
 * was. */
static int check_mark(const struct elog_sqlite_tail *tail,
                      const struct extent *extent, struct err *err)
{
    struct log_end_mark mark = log_end_get(tail->end);
    uint64_t checksum = 0, seq;

    if (mark.seq >= extent->next_seq) {
        return fail_short(tail, extent->next_seq - 1, err);
    }
    if (mark.seq < extent->first_seq) {
        return 0; /* none, or trimmed since */
    }
    int rc = find_bad(tail->db, mark.seq, mark.seq + 1, &seq, &checksum, err);
    if (rc == 0 && seq > mark.seq && checksum != mark.checksum) {
        rc = err_set(err, -ERR_CORRUPT,
                     "%s: record %llu is not the one that %s names, so this is "
                     "another log: %s",
                     sqlite3_db_filename(tail->db, "main"),
                     (unsigned long long)mark.seq, log_end_path(tail->end),
                     advice);
    }
    return rc;
}

/* The last record, if no checkpoint covers it, must be whole: nobody needs the
 * covered ones to go on. */
static int check_last(const struct elog_sqlite_tail *tail,
                      const struct extent *extent, struct err *err)
{
    uint64_t last_seq = extent->next_seq - 1;
    uint64_t checksum = 0, end_seq;
    int64_t covered_seq = 0;

    int rc = sq_get_int(tail->db, "SELECT max(seq) FROM checkpoint",
                        &covered_seq, err);
    if (rc < 0 || last_seq < extent->first_seq ||
        last_seq <= (uint64_t)covered_seq) {
        return rc < 0 ? rc : 0;
    }
    rc = find_bad(tail->db, last_seq, extent->next_seq, &end_seq, &checksum,
                  err);
    if (rc == 0 && end_seq == last_seq) {
        rc = err_set(err, -ERR_CORRUPT,
                     "%s: record %llu, the last one, is damaged or missing: %s",
                     sqlite3_db_filename(tail->db, "main"),
                     (unsigned long long)last_seq, advice);
    }
    return rc;
}

/* Forget the records from `end_seq` on. */
static int cut(sqlite3 *db, uint64_t end_seq, struct err *err)
{
    char sql[240];

    snprintf(sql, sizeof(sql),
             "BEGIN IMMEDIATE; DELETE FROM record WHERE seq >= %llu;"
             "UPDATE head SET first = min(first, %llu), next = %llu",
             (unsigned long long)end_seq, (unsigned long long)end_seq,
             (unsigned long long)end_seq);
    int rc = sq_exec(db, sql, err);
    if (rc < 0) {
        sq_rollback(db);
        return rc;
    }
    return sq_commit(db, err);
}

/* The head row has no checksum: see that it fits the records. */
static int check_head(sqlite3 *db, struct err *err)
{
    int64_t wrong_count = 0;

    int rc = sq_get_int(
        db,
        "SELECT count(*) FROM head h WHERE"
        " coalesce((SELECT max(seq) FROM record), 0) >= h.next"
        " OR coalesce((SELECT min(seq) FROM record), h.first) < h.first"
        " OR (SELECT epoch FROM record ORDER BY seq DESC LIMIT 1) > h.epoch",
        &wrong_count, err);
    if (rc >= 0 && wrong_count > 0) {
        return err_set(err, -ERR_CORRUPT,
                       "%s: the head row does not match the records: %s",
                       sqlite3_db_filename(db, "main"), advice);
    }
    return rc < 0 ? rc : 0;
}

/* Have a head row that fits the records. */
static int mend_head(sqlite3 *db, struct err *err)
{
    return sq_exec(
        db,
        "INSERT OR REPLACE INTO head SELECT 1,"
        " max(coalesce((SELECT epoch FROM head), 0),"
        "     coalesce((SELECT max(epoch) FROM record), 0)),"
        " coalesce((SELECT min(seq) FROM record), (SELECT first FROM head), 1),"
        " coalesce((SELECT max(seq) + 1 FROM record), (SELECT next FROM head),"
        "          1)",
        err);
}

/* End the log before the first record that is not whole. */
static int accept(const struct elog_sqlite_tail *tail,
                  const struct extent *extent, char *note, struct err *err)
{
    struct log_end_mark was = {0}, mark = {0};
    uint64_t covered_seq = 0;

    int rc = elog_sqlite_checkpoint_find(tail->db, 0, &covered_seq, err);
    if (rc < 0) {
        return rc;
    }
    uint64_t floor_seq = covered_seq + 1;
    uint64_t end_seq = floor_seq;
    if (covered_seq == 0 && extent->first_seq > 1) {
        return err_set(err, -ERR_CORRUPT,
                       "%s: no valid checkpoint is left, and the log begins "
                       "only at record %llu: restore the newest backup",
                       sqlite3_db_filename(tail->db, "main"),
                       (unsigned long long)extent->first_seq);
    }
    rc = find_bad(tail->db, floor_seq, extent->next_seq, &end_seq,
                  &mark.checksum, err);
    if (rc == 0 && end_seq < extent->next_seq) {
        rc = cut(tail->db, end_seq, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (tail->end) {
        was = log_end_get(tail->end);
    }
    uint64_t lost_seq = was.seq > 0 ? was.seq : extent->next_seq - 1;
    if (lost_seq >= end_seq) {
        snprintf(note, ERR_TEXT_BYTES_MAX, "%s: records %llu to %llu are lost",
                 sqlite3_db_filename(tail->db, "main"),
                 (unsigned long long)end_seq, (unsigned long long)lost_seq);
    }
    mark.seq = end_seq > floor_seq ? end_seq - 1 : 0;
    return tail->end ? log_end_reset(tail->end, mark, err) : 0;
}

int elog_sqlite_tail_check(const struct elog_sqlite_tail *tail, char *note,
                           struct err *err)
{
    struct extent extent;

    int rc = tail->accepts_loss ? mend_head(tail->db, err)
                                : check_head(tail->db, err);
    rc = rc < 0 ? rc : get_extent(tail->db, &extent, err);
    if (rc < 0) {
        return rc;
    }
    if (tail->accepts_loss) {
        return accept(tail, &extent, note, err);
    }
    if (tail->end && log_end_is_damaged(tail->end)) {
        snprintf(note, ERR_TEXT_BYTES_MAX,
                 "%s is damaged: berthd cannot tell whether the log has lost "
                 "its last records",
                 log_end_path(tail->end));
    }
    rc = tail->end ? check_mark(tail, &extent, err) : 0;
    return rc < 0 ? rc : check_last(tail, &extent, err);
}
