#include "elog/elog_sqlite_reader.h"

#include <unistd.h>

#include "elog/elog_sqlite.h"
#include "elog/elog_sqlite_checkpoint.h"
#include "elog/elog_sqlite_file.h"

enum { RECHECK_MS = 10 };

struct reader {
    struct elog_reader reader;
    sqlite3 *db;
    sqlite3_stmt *select_head;
    sqlite3_stmt *select_records;
    struct elog_signal *signal;    /* the log's, or `own_signal` */
    struct elog_signal own_signal; /* without a log in this process */
    struct elog_recent *recent;    /* the log's; or NULL */
    bool has_strangers;
    bool is_interrupted; /* under the signal's mutex */
    uint64_t after_seq;  /* of the wait that goes on */
    struct err *err;     /* of the wait that goes on */
};

static int fail_damaged(struct reader *reader, uint64_t seq, struct err *err)
{
    return err_set(err, -ERR_CORRUPT,
                   "%s: record %llu is damaged or missing, although it is not "
                   "the last: stop the server, and restore the newest backup",
                   sqlite3_db_filename(reader->db, "main"),
                   (unsigned long long)seq);
}

/* What reading nothing at `from_seq` means: 0 if it is not written yet, 1 if
 * it should be there. */
static int explain_none(struct reader *reader, uint64_t from_seq,
                        struct err *err)
{
    struct elog_sqlite_head head;

    int rc = elog_sqlite_get_head(reader->select_head, &head, err);
    if (rc < 0) {
        return rc;
    }
    if (from_seq < head.first_seq) {
        return err_set(err, -ERR_NOT_FOUND,
                       "record %llu has been trimmed away; the first is %llu",
                       (unsigned long long)from_seq,
                       (unsigned long long)head.first_seq);
    }
    return from_seq < head.next_seq;
}

/* Show the rows of `select_records` as far as the range goes. */
static int show(struct reader *reader, const struct elog_range *range,
                elog_each_fn *each, void *ctx, struct err *err)
{
    size_t byte_count = 0;
    int count = 0;
    int rc = 0;

    while (range->record_count_max == 0 ||
           (uint32_t)count < range->record_count_max) {
        struct elog_record record;

        rc = sq_step(reader->select_records, err);
        if (rc <= 0) {
            break;
        }
        uint64_t seq = range->from_seq + (uint64_t)count;
        bool is_good = elog_sqlite_get_record(reader->select_records, &record);
        if (count == 0 && record.seq != seq) {
            return 0; /* explained by the caller */
        }
        if (!is_good || record.seq != seq) {
            return fail_damaged(reader, seq, err);
        }
        byte_count += record.payload.byte_count;
        if (count > 0 && range->byte_count_max > 0 &&
            byte_count > range->byte_count_max) {
            break;
        }
        rc = each(ctx, &record);
        if (rc < 0) {
            break;
        }
        count++;
        if (rc > 0) {
            break;
        }
    }
    return rc < 0 ? rc : count;
}

/* The same for records in memory, none if the first is not there: these go up
 * to the newest. */
static int show_recent(struct reader *reader, const struct elog_range *range,
                       elog_each_fn *each, void *ctx)
{
    size_t byte_count = 0;
    int count = 0;
    int rc = 0;

    while (rc == 0 && (range->record_count_max == 0 ||
                       (uint32_t)count < range->record_count_max)) {
        struct elog_recent_item *item =
            elog_recent_hold(reader->recent, range->from_seq + (uint64_t)count);
        if (!item) {
            break;
        }
        byte_count += item->record.payload.byte_count;
        bool is_too_much = count > 0 && range->byte_count_max > 0 &&
                           byte_count > range->byte_count_max;
        rc = is_too_much ? 1 : each(ctx, &item->record);
        count += !is_too_much && rc >= 0;
        elog_recent_release(item);
    }
    return rc < 0 ? rc : count;
}

/* The same for what is in the file; what should be there and is not is told. */
static int read_file(struct reader *reader, const struct elog_range *range,
                     elog_each_fn *each, void *ctx, struct err *err)
{
    int rc = 1;

    /* The record may have been written after its row was looked for and before
     * the head was; what is missing when looked for again is missing. */
    for (int i = 0; rc == 1 && i < 2; i++) {
        sq_bind_int(reader->select_records, 1, (int64_t)range->from_seq);
        int count = show(reader, range, each, ctx, err);
        sqlite3_reset(reader->select_records);
        if (count != 0) {
            return count;
        }
        rc = explain_none(reader, range->from_seq, err);
    }
    return rc == 1 ? fail_damaged(reader, range->from_seq, err) : rc;
}

static int sqlite_read(struct elog_reader *base, const struct elog_range *range,
                       elog_each_fn *each, void *ctx, struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);
    uint64_t head_seq = reader->recent
                            ? elog_recent_bounds(reader->recent).head_seq
                            : INT64_MAX;
    int count = 0;

    if (range->from_seq > head_seq) {
        return 0;
    }
    if (reader->recent) {
        count = show_recent(reader, range, each, ctx);
    }
    return count == 0 ? read_file(reader, range, each, ctx, err) : count;
}

static int sqlite_bounds(struct elog_reader *base,
                         struct elog_bounds *ret_bounds, struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);
    struct elog_sqlite_head head;

    if (reader->recent) {
        *ret_bounds = elog_recent_bounds(reader->recent);
        return 0;
    }
    int rc = elog_sqlite_get_head(reader->select_head, &head, err);
    if (rc < 0) {
        return rc;
    }
    *ret_bounds = (struct elog_bounds){head.first_seq, head.next_seq - 1};
    return 0;
}

static int has_more(void *ctx)
{
    struct reader *reader = (struct reader *)ctx;
    struct elog_bounds bounds;

    int rc = sqlite_bounds(&reader->reader, &bounds, reader->err);
    return rc < 0 ? rc : bounds.head_seq > reader->after_seq;
}

static int sqlite_wait(struct elog_reader *base, uint64_t after_seq,
                       int timeout_ms, struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);
    struct elog_signal_wait wait = {
        .is_interrupted = &reader->is_interrupted,
        .is_ready = has_more,
        .ctx = reader,
        .timeout_ms = timeout_ms,
        .recheck_ms = reader->has_strangers ? RECHECK_MS : 0,
    };

    reader->after_seq = after_seq;
    reader->err = err;
    return elog_signal_wait(reader->signal, &wait);
}

static void sqlite_interrupt(struct elog_reader *base)
{
    struct reader *reader = container_of(base, struct reader, reader);

    elog_signal_interrupt(reader->signal, &reader->is_interrupted);
}

static int sqlite_checkpoint_get(struct elog_reader *base,
                                 struct elog_checkpoint *ret_about,
                                 elog_checkpoint_fn *each, void *ctx,
                                 struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);

    return elog_sqlite_checkpoint_get(reader->db, ret_about, each, ctx, err);
}

static void sqlite_reader_close(struct elog_reader *base)
{
    struct reader *reader = container_of(base, struct reader, reader);

    sqlite3_finalize(reader->select_head);
    sqlite3_finalize(reader->select_records);
    sq_close(reader->db);
    elog_signal_fini(&reader->own_signal);
    mem_free(reader);
}

static const struct elog_reader_ops reader_ops = {
    .read = sqlite_read,
    .wait = sqlite_wait,
    .interrupt = sqlite_interrupt,
    .bounds = sqlite_bounds,
    .checkpoint_get = sqlite_checkpoint_get,
    .close = sqlite_reader_close,
};

static int prepare(struct reader *reader, struct err *err)
{
    int rc = elog_sqlite_check_version(reader->db, err);
    if (rc == 0) {
        rc = sq_prepare(reader->db, ELOG_SQLITE_SELECT_HEAD,
                        &reader->select_head, err);
    }
    if (rc == 0) {
        rc = sq_prepare(reader->db, ELOG_SQLITE_SELECT_RECORDS,
                        &reader->select_records, err);
    }
    return rc;
}

int elog_sqlite_reader_create(const struct elog_sqlite_reader_options *options,
                              struct elog_reader **ret_reader, struct err *err)
{
    auto_ptr(elog_reader) base = NULL;
    struct reader *reader = mem_alloc(sizeof(*reader));
    struct sq_open how = {
        .path = options->path, .vfs = options->vfs, .is_read_only = true};

    reader->reader.ops = &reader_ops;
    elog_signal_init(&reader->own_signal);
    reader->signal = options->signal ? options->signal : &reader->own_signal;
    reader->recent = options->recent;
    reader->has_strangers = options->has_strangers;
    base = &reader->reader;
    int rc = sq_open(&how, &reader->db, err);
    if (rc == 0) {
        rc = prepare(reader, err);
    }
    if (rc < 0) {
        return rc;
    }
    *ret_reader = steal_ptr(base);
    return 0;
}

int elog_sqlite_reader_open(const char *path, struct elog_reader **ret_reader,
                            struct err *err)
{
    struct elog_sqlite_reader_options options = {.path = path,
                                                 .has_strangers = true};

    if (access(path, F_OK) < 0) {
        return err_set(err, -ERR_NOT_FOUND, "%s: there is no such log", path);
    }
    return elog_sqlite_reader_create(&options, ret_reader, err);
}
