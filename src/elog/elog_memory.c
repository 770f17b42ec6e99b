#include "base/hash.h"
#include "elog/elog_memory_private.h"

struct elog_memory {
    struct elog elog;
    struct elog_memory_storage *storage;
    struct elog_pending pending;
    bool is_broken; /* after -ERR_IO */
};

struct elog_memory_storage *elog_memory_storage_create(void)
{
    struct elog_memory_storage *storage = mem_alloc(sizeof(*storage));

    elog_signal_init(&storage->signal);
    storage->first_seq = 1;
    return storage;
}

void elog_memory_storage_destroy(struct elog_memory_storage *storage)
{
    if (!storage) {
        return;
    }
    for (size_t i = 0; i < storage->records.count; i++) {
        elog_memory_free_payload(&storage->records.items[i]);
    }
    for (size_t i = 0; i < storage->checkpoints.count; i++) {
        mem_free(storage->checkpoints.items[i].bytes);
    }
    VEC_FREE(&storage->records);
    VEC_FREE(&storage->checkpoints);
    elog_signal_fini(&storage->signal);
    mem_free(storage);
}

void elog_memory_inject(struct elog_memory_storage *storage, uint32_t nth,
                        enum elog_memory_fault fault)
{
    elog_memory_lock(storage);
    storage->fault_countdown = nth;
    storage->fault = fault;
    elog_memory_unlock(storage);
}

void elog_memory_hold(struct elog_memory_storage *storage, bool is_held)
{
    elog_memory_lock(storage);
    storage->is_held = is_held;
    elog_memory_unlock(storage);
}

void elog_memory_spoil_checkpoint(struct elog_memory_storage *storage)
{
    elog_memory_lock(storage);
    ASSERT(storage->checkpoints.count > 0);
    storage->checkpoints.items[storage->checkpoints.count - 1].checksum ^= 1;
    elog_memory_unlock(storage);
}

void elog_memory_forget(struct elog_memory_storage *storage)
{
    elog_memory_lock(storage);
    ASSERT(elog_memory_next_seq(storage) == 1);
    storage->is_forgetful = true;
    elog_memory_unlock(storage);
}

uint64_t elog_memory_digest(struct elog_memory_storage *storage)
{
    elog_memory_lock(storage);
    uint64_t digest = storage->digest;
    elog_memory_unlock(storage);
    return digest;
}

uint64_t elog_memory_digest_add(uint64_t digest,
                                const struct elog_record *record)
{
    return hash_mix(digest + hash_bytes(record->payload.p,
                                        record->payload.byte_count,
                                        (uint64_t)record->time_ms));
}

static int memory_acquire(struct elog *elog, uint64_t *ret_epoch,
                          struct err *err)
{
    struct elog_memory *log = container_of(elog, struct elog_memory, elog);

    (void)err;
    elog_memory_lock(log->storage);
    *ret_epoch = ++log->storage->epoch;
    elog_memory_unlock(log->storage);
    return 0;
}

static int memory_submit(struct elog *elog, const struct elog_record *record,
                         elog_done_fn *done, void *ctx)
{
    struct elog_memory *log = container_of(elog, struct elog_memory, elog);

    elog_pending_add(&log->pending, record, done, ctx);
    elog->in_flight_count++;
    return 0;
}

/* Append one under the lock, or fail as was asked for. */
static int append(struct elog_memory_storage *storage,
                  const struct elog_record *record)
{
    bool is_faulty =
        storage->fault_countdown > 0 && --storage->fault_countdown == 0;

    if (is_faulty && storage->fault == ELOG_MEMORY_FULL) {
        return -ERR_FULL;
    }
    if (is_faulty && storage->fault == ELOG_MEMORY_IO) {
        return -ERR_IO;
    }
    if (storage->is_forgetful) {
        storage->digest = elog_memory_digest_add(storage->digest, record);
        storage->first_seq++;
        return is_faulty ? -ERR_IO : 0;
    }
    struct elog_record copy = *record;
    copy.payload.p = mem_dup(record->payload.p, record->payload.byte_count);
    copy.checksum = elog_record_checksum(record);
    VEC_PUSH(&storage->records, copy);
    return is_faulty ? -ERR_IO : 0;
}

/* Append what fits under the lock; the number appended and acknowledged. */
static uint32_t append_pending(struct elog_memory *log, int *ret_result)
{
    struct elog_memory_storage *storage = log->storage;
    uint32_t fit_count =
        elog_pending_fit(&log->pending, storage->epoch,
                         elog_memory_next_seq(storage), ret_result);

    for (uint32_t i = 0; i < fit_count; i++) {
        int rc = append(storage, &log->pending.items[i].record);
        if (rc < 0) {
            log->is_broken = rc == -ERR_IO;
            *ret_result = rc;
            return i;
        }
    }
    return fit_count;
}

static int memory_poll(struct elog *elog, int timeout_ms)
{
    struct elog_memory *log = container_of(elog, struct elog_memory, elog);
    int result = -ERR_IO;
    uint32_t good_count = 0;

    (void)timeout_ms;
    if (log->pending.count == 0) {
        return 0;
    }
    elog_memory_lock(log->storage);
    bool is_held = log->storage->is_held;
    if (!is_held && !log->is_broken) {
        good_count = append_pending(log, &result);
    }
    elog_memory_unlock(log->storage);
    if (is_held) {
        return 0;
    }
    elog_signal_wake(&log->storage->signal);
    return elog_pending_tell(&log->pending, good_count, result,
                             &elog->in_flight_count);
}

static uint64_t checkpoint_checksum(const struct checkpoint *checkpoint)
{
    return hash_bytes(checkpoint->bytes, checkpoint->about.byte_count,
                      checkpoint->about.seq);
}

/* Copy all pieces into one run of bytes. */
static int gather(struct checkpoint *checkpoint, elog_piece_fn *next, void *ctx)
{
    VEC(char) bytes = {0};
    struct str piece;
    int rc;

    while ((rc = next(ctx, &piece)) > 0) {
        VEC_RESERVE(&bytes, piece.byte_count);
        if (piece.byte_count > 0) {
            memcpy(bytes.items + bytes.count, piece.p, piece.byte_count);
        }
        bytes.count += piece.byte_count;
    }
    checkpoint->bytes = bytes.items;
    checkpoint->about.byte_count = bytes.count;
    checkpoint->checksum = checkpoint_checksum(checkpoint);
    return rc;
}

/* Under the lock: add a complete checkpoint and forget the oldest. */
static int add_checkpoint(struct elog_memory_storage *storage,
                          const struct checkpoint *checkpoint, struct err *err)
{
    size_t count = storage->checkpoints.count;
    uint64_t newest_seq =
        count > 0 ? storage->checkpoints.items[count - 1].about.seq : 0;

    if (checkpoint->about.seq >= elog_memory_next_seq(storage) ||
        checkpoint->about.seq <= newest_seq) {
        return err_set(err, -ERR_INVALID,
                       "a checkpoint at record %llu does not follow the "
                       "newest one or is not in the log yet",
                       (unsigned long long)checkpoint->about.seq);
    }
    VEC_PUSH(&storage->checkpoints, *checkpoint);
    if (storage->checkpoints.count > ELOG_CHECKPOINT_COUNT_MAX) {
        mem_free(storage->checkpoints.items[0].bytes);
        storage->checkpoints.count--;
        memmove(storage->checkpoints.items, storage->checkpoints.items + 1,
                storage->checkpoints.count * sizeof(*checkpoint));
    }
    return 0;
}

static int memory_checkpoint_put(struct elog *elog,
                                 const struct elog_checkpoint *about,
                                 elog_piece_fn *next, void *ctx,
                                 struct err *err)
{
    struct elog_memory *log = container_of(elog, struct elog_memory, elog);
    struct checkpoint checkpoint = {.about = *about};

    int rc = gather(&checkpoint, next, ctx);
    if (rc == 0) {
        elog_memory_lock(log->storage);
        rc = add_checkpoint(log->storage, &checkpoint, err);
        elog_memory_unlock(log->storage);
    }
    if (rc < 0) {
        mem_free(checkpoint.bytes);
    }
    return rc;
}

const struct checkpoint *
elog_memory_newest_valid(const struct elog_memory_storage *storage)
{
    for (size_t i = storage->checkpoints.count; i-- > 0;) {
        const struct checkpoint *checkpoint = &storage->checkpoints.items[i];

        if (checkpoint->checksum == checkpoint_checksum(checkpoint) &&
            checkpoint->about.seq + 1 >= storage->first_seq) {
            return checkpoint;
        }
    }
    return NULL;
}

static int memory_trim(struct elog *elog, uint64_t before_seq,
                       uint64_t *ret_first_seq, struct err *err)
{
    struct elog_memory *log = container_of(elog, struct elog_memory, elog);
    struct elog_memory_storage *storage = log->storage;

    (void)err;
    elog_memory_lock(storage);
    const struct checkpoint *checkpoint = elog_memory_newest_valid(storage);
    uint64_t covered = checkpoint ? checkpoint->about.seq + 1 : 0;
    uint64_t end = before_seq < covered ? before_seq : covered;
    size_t count = end > storage->first_seq ? end - storage->first_seq : 0;
    count = count < ELOG_TRIM_COUNT_MAX ? count : ELOG_TRIM_COUNT_MAX;
    for (size_t i = 0; i < count; i++) {
        elog_memory_free_payload(&storage->records.items[i]);
    }
    storage->records.count -= count;
    storage->first_seq += count;
    if (count > 0) {
        memmove(storage->records.items, storage->records.items + count,
                storage->records.count * sizeof(*storage->records.items));
    }
    *ret_first_seq = storage->first_seq;
    elog_memory_unlock(storage);
    return 0;
}

static int memory_backup(struct elog *elog, const char *path, struct err *err)
{
    (void)elog;
    return err_set(err, -ERR_UNAVAILABLE,
                   "%s: a log in memory has nothing to back up", path);
}

static void memory_close(struct elog *elog)
{
    struct elog_memory *log = container_of(elog, struct elog_memory, elog);

    elog_pending_tell(&log->pending, 0, -ERR_UNAVAILABLE,
                      &elog->in_flight_count);
    elog_pending_fini(&log->pending);
    mem_free(log);
}

static int memory_reader_open(struct elog *elog, struct elog_reader **ret,
                              struct err *err)
{
    struct elog_memory *log = container_of(elog, struct elog_memory, elog);

    (void)err;
    *ret = elog_memory_reader_create(log->storage);
    return 0;
}

static const struct elog_ops memory_ops = {
    .acquire = memory_acquire,
    .submit = memory_submit,
    .poll = memory_poll,
    .checkpoint_put = memory_checkpoint_put,
    .trim = memory_trim,
    .backup = memory_backup,
    .reader_open = memory_reader_open,
    .close = memory_close,
};

struct elog *elog_memory_open(struct elog_memory_storage *storage)
{
    struct elog_memory *log = mem_alloc(sizeof(*log));

    log->elog.ops = &memory_ops;
    log->storage = storage;
    return &log->elog;
}
