#include "elog/elog_memory_private.h"

struct reader {
    struct elog_reader reader;
    struct elog_memory_storage *storage;
    struct elog_record copy; /* what is being shown; payload owned */
    size_t copy_capacity;
    bool is_interrupted; /* under the signal's mutex */
    uint64_t after_seq;  /* of the wait that goes on */
};

/* Copy the record `seq` for showing it outside the lock, so that a slow
 * reader delays nobody and a trim pulls nothing from under it. */
static int copy_record(struct reader *reader, uint64_t seq, struct err *err)
{
    struct elog_memory_storage *storage = reader->storage;
    int rc = 0;

    elog_memory_lock(storage);
    if (seq < storage->first_seq) {
        rc = err_set(err, -ERR_NOT_FOUND,
                     "record %llu has been trimmed away; the first is %llu",
                     (unsigned long long)seq,
                     (unsigned long long)storage->first_seq);
    } else if (seq < elog_memory_next_seq(storage)) {
        struct elog_record *record =
            &storage->records.items[seq - storage->first_seq];
        char *bytes = (char *)(uintptr_t)reader->copy.payload.p;
        if (record->payload.byte_count > reader->copy_capacity) {
            reader->copy_capacity = record->payload.byte_count;
            bytes = mem_grow_array(bytes, reader->copy_capacity, 1);
        }
        if (record->payload.byte_count > 0) {
            memcpy(bytes, record->payload.p, record->payload.byte_count);
        }
        reader->copy = *record;
        reader->copy.payload.p = bytes;
        rc = 1;
    }
    elog_memory_unlock(storage);
    return rc;
}

static int memory_read(struct elog_reader *base, const struct elog_range *range,
                       elog_each_fn *each, void *ctx, struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);
    size_t byte_count = 0;
    int count = 0;

    for (;;) {
        if (range->record_count_max > 0 &&
            (uint32_t)count >= range->record_count_max) {
            return count;
        }
        int rc = copy_record(reader, range->from_seq + (uint64_t)count, err);
        if (rc <= 0) {
            return rc < 0 ? rc : count;
        }
        byte_count += reader->copy.payload.byte_count;
        if (count > 0 && range->byte_count_max > 0 &&
            byte_count > range->byte_count_max) {
            return count;
        }
        rc = each(ctx, &reader->copy);
        if (rc < 0) {
            return rc;
        }
        count++;
        if (rc > 0) {
            return count;
        }
    }
}

static int has_more(void *ctx)
{
    struct reader *reader = (struct reader *)ctx;

    elog_memory_lock(reader->storage);
    bool is_more =
        elog_memory_next_seq(reader->storage) > reader->after_seq + 1;
    elog_memory_unlock(reader->storage);
    return is_more;
}

static int memory_wait(struct elog_reader *base, uint64_t after_seq,
                       int timeout_ms, struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);
    struct elog_signal_wait wait = {.is_interrupted = &reader->is_interrupted,
                                    .is_ready = has_more,
                                    .ctx = reader,
                                    .timeout_ms = timeout_ms};

    (void)err;
    reader->after_seq = after_seq;
    return elog_signal_wait(&reader->storage->signal, &wait);
}

static void memory_interrupt(struct elog_reader *base)
{
    struct reader *reader = container_of(base, struct reader, reader);

    elog_signal_interrupt(&reader->storage->signal, &reader->is_interrupted);
}

static int memory_bounds(struct elog_reader *base,
                         struct elog_bounds *ret_bounds, struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);

    (void)err;
    elog_memory_lock(reader->storage);
    ret_bounds->first_seq = reader->storage->first_seq;
    ret_bounds->head_seq = elog_memory_next_seq(reader->storage) - 1;
    elog_memory_unlock(reader->storage);
    return 0;
}

/* Copy the newest valid checkpoint; the caller frees its bytes. */
static int copy_checkpoint(struct elog_memory_storage *storage,
                           struct checkpoint *ret_copy, struct err *err)
{
    int rc = 1;

    elog_memory_lock(storage);
    const struct checkpoint *newest = elog_memory_newest_valid(storage);
    if (newest) {
        *ret_copy = *newest;
        ret_copy->bytes = mem_dup(newest->bytes, newest->about.byte_count);
    } else if (storage->first_seq > 1) {
        rc = err_set(err, -ERR_CORRUPT,
                     "no valid checkpoint, and the log begins at %llu",
                     (unsigned long long)storage->first_seq);
    } else {
        rc = 0;
    }
    elog_memory_unlock(storage);
    return rc;
}

static int memory_checkpoint_get(struct elog_reader *base,
                                 struct elog_checkpoint *ret_about,
                                 elog_checkpoint_fn *each, void *ctx,
                                 struct err *err)
{
    struct reader *reader = container_of(base, struct reader, reader);
    struct checkpoint copy;

    int rc = copy_checkpoint(reader->storage, &copy, err);
    if (rc <= 0) {
        return rc;
    }
    if (copy.about.byte_count > 0) {
        rc =
            each(ctx, &copy.about, str_make(copy.bytes, copy.about.byte_count));
    }
    mem_free(copy.bytes);
    if (rc < 0) {
        return rc;
    }
    *ret_about = copy.about;
    return 1;
}

static void memory_reader_close(struct elog_reader *base)
{
    struct reader *reader = container_of(base, struct reader, reader);

    elog_memory_free_payload(&reader->copy);
    mem_free(reader);
}

static const struct elog_reader_ops reader_ops = {
    .read = memory_read,
    .wait = memory_wait,
    .interrupt = memory_interrupt,
    .bounds = memory_bounds,
    .checkpoint_get = memory_checkpoint_get,
    .close = memory_reader_close,
};

struct elog_reader *
elog_memory_reader_create(struct elog_memory_storage *storage)
{
    struct reader *reader = mem_alloc(sizeof(*reader));

    reader->reader.ops = &reader_ops;
    reader->storage = storage;
    return &reader->reader;
}
