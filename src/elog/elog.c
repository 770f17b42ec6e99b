#include "base/hash.h"
#include "elog/elog_backend.h"

void elog_close(struct elog *log)
{
    if (log) {
        log->ops->close(log);
    }
}

const char *elog_note(const struct elog *log)
{
    return log->note;
}

int elog_acquire(struct elog *log, uint64_t *ret_epoch, struct err *err)
{
    ASSERT(log->in_flight_count == 0);
    return log->ops->acquire(log, ret_epoch, err);
}

int elog_submit(struct elog *log, const struct elog_record *record,
                elog_done_fn *done, void *ctx)
{
    ASSERT(record->seq > 0 && record->epoch > 0);
    ASSERT(done);
    if (record->payload.byte_count > ELOG_PAYLOAD_BYTES_MAX ||
        log->in_flight_count >= ELOG_IN_FLIGHT_COUNT_MAX) {
        return -ERR_LIMIT;
    }
    return log->ops->submit(log, record, done, ctx);
}

int elog_poll(struct elog *log, int timeout_ms)
{
    return log->ops->poll(log, timeout_ms);
}

uint32_t elog_in_flight_count(const struct elog *log)
{
    return log->in_flight_count;
}

/* elog_checkpoint_put(): all bytes as one piece. */
static int only_piece(void *ctx, struct str *ret_piece)
{
    struct str *rest = (struct str *)ctx;

    if (rest->byte_count == 0) {
        return 0;
    }
    *ret_piece = *rest;
    *rest = (struct str){0};
    return 1;
}

int elog_checkpoint_put(struct elog *log, uint64_t seq, uint32_t format_version,
                        struct str bytes, struct err *err)
{
    return elog_checkpoint_put_pieces(log, seq, format_version, only_piece,
                                      &bytes, err);
}

int elog_checkpoint_put_pieces(struct elog *log, uint64_t seq,
                               uint32_t format_version, elog_piece_fn *next,
                               void *ctx, struct err *err)
{
    struct elog_checkpoint about = {.seq = seq,
                                    .format_version = format_version};

    /* Two at once would take each other's pieces for leftovers. */
    if (atomic_exchange(&log->is_putting, true)) {
        return err_set(err, -ERR_UNAVAILABLE,
                       "another checkpoint is being written");
    }
    int rc = log->ops->checkpoint_put(log, &about, next, ctx, err);
    atomic_store(&log->is_putting, false);
    return rc;
}

int elog_trim(struct elog *log, uint64_t before_seq, uint64_t *ret_first_seq,
              struct err *err)
{
    return log->ops->trim(log, before_seq, ret_first_seq, err);
}

int elog_backup(struct elog *log, const char *path, struct err *err)
{
    return log->ops->backup(log, path, err);
}

int elog_reader_open(struct elog *log, struct elog_reader **ret_reader,
                     struct err *err)
{
    return log->ops->reader_open(log, ret_reader, err);
}

void elog_reader_close(struct elog_reader *reader)
{
    if (reader) {
        reader->ops->close(reader);
    }
}

int elog_read(struct elog_reader *reader, const struct elog_range *range,
              elog_each_fn *each, void *ctx, struct err *err)
{
    ASSERT(range->from_seq > 0);
    return reader->ops->read(reader, range, each, ctx, err);
}

int elog_wait(struct elog_reader *reader, uint64_t after_seq, int timeout_ms,
              struct err *err)
{
    return reader->ops->wait(reader, after_seq, timeout_ms, err);
}

void elog_reader_interrupt(struct elog_reader *reader)
{
    reader->ops->interrupt(reader);
}

int elog_bounds(struct elog_reader *reader, struct elog_bounds *ret_bounds,
                struct err *err)
{
    return reader->ops->bounds(reader, ret_bounds, err);
}

int elog_checkpoint_get(struct elog_reader *reader,
                        struct elog_checkpoint *ret_about,
                        elog_checkpoint_fn *each, void *ctx, struct err *err)
{
    return reader->ops->checkpoint_get(reader, ret_about, each, ctx, err);
}

/* What all but the payload adds to it. */
static uint64_t hash_of_fields(const struct elog_record *record)
{
    uint64_t fields[] = {record->seq, record->epoch, (uint64_t)record->time_ms,
                         record->format_version};

    return hash_bytes(fields, sizeof(fields), 0);
}

uint64_t elog_record_checksum(const struct elog_record *record)
{
    return hash_in_lanes(record->payload.p, record->payload.byte_count,
                         hash_of_fields(record));
}

bool elog_record_is_whole(const struct elog_record *record)
{
    return record->checksum == elog_record_checksum(record) ||
           record->checksum == hash_bytes(record->payload.p,
                                          record->payload.byte_count,
                                          hash_of_fields(record));
}

void elog_pending_add(struct elog_pending *pending,
                      const struct elog_record *record, elog_done_fn *done,
                      void *ctx)
{
    ASSERT(pending->count < ELOG_IN_FLIGHT_COUNT_MAX);
    if (pending->count == pending->capacity) {
        pending->capacity = pending->capacity ? pending->capacity * 2 : 8;
        pending->items = mem_grow_array(pending->items, pending->capacity,
                                        sizeof(*pending->items));
    }
    pending->items[pending->count++] =
        (struct elog_pending_item){*record, done, ctx};
}

int elog_pending_tell(struct elog_pending *pending, uint32_t good_count,
                      int result, uint32_t *in_flight_count)
{
    struct elog_pending told = *pending;

    /* A callback may submit: that goes to a fresh list. */
    *pending = (struct elog_pending){0};
    for (uint32_t i = 0; i < told.count; i++) {
        struct elog_pending_item *item = &told.items[i];

        --*in_flight_count;
        item->done(item->ctx, i < good_count ? 0 : result, item->record.seq);
    }
    int told_count = (int)told.count;
    elog_pending_fini(&told);
    return told_count;
}

void elog_pending_fini(struct elog_pending *pending)
{
    mem_free(pending->items);
    *pending = (struct elog_pending){0};
}

uint32_t elog_pending_fit(const struct elog_pending *pending, uint64_t epoch,
                          uint64_t next_seq, int *ret_result)
{
    *ret_result = 0;
    for (uint32_t i = 0; i < pending->count; i++) {
        const struct elog_record *record = &pending->items[i].record;

        if (record->epoch != epoch) {
            *ret_result = -ERR_FENCED;
            return i;
        }
        if (record->seq != next_seq + i) {
            *ret_result = -ERR_CONFLICT;
            return i;
        }
    }
    return pending->count;
}
