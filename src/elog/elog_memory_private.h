/*
 * elog_memory_private - what the log in memory and its readers share; for
 * these two files only.
 */
#pragma once

#include "base/vec.h"
#include "elog/elog_backend.h"
#include "elog/elog_memory.h"
#include "elog/elog_signal.h"

/* One checkpoint. */
struct checkpoint {
    struct elog_checkpoint about;
    uint64_t checksum;
    char *bytes; /* owned */
};

/* What a disk is to other backends. */
struct elog_memory_storage {
    struct elog_signal signal; /* its mutex guards all of this */
    VEC(struct elog_record) records;
    VEC(struct checkpoint) checkpoints; /* oldest first */
    uint64_t first_seq;                 /* of records.items[0] */
    uint64_t epoch;
    uint32_t fault_countdown; /* records until the fault; 0: none */
    enum elog_memory_fault fault;
    bool is_held;
    bool is_forgetful;
    uint64_t digest; /* of what was forgotten */
};

/* Take the mutex of a storage, and leave it. */
static inline void elog_memory_lock(struct elog_memory_storage *storage)
{
    pthread_mutex_lock(&storage->signal.mutex);
}

/* See above. */
static inline void elog_memory_unlock(struct elog_memory_storage *storage)
{
    pthread_mutex_unlock(&storage->signal.mutex);
}

/* The number of the next record.  Under the lock. */
static inline uint64_t
elog_memory_next_seq(const struct elog_memory_storage *storage)
{
    return storage->first_seq + storage->records.count;
}

/* Free what a record that is kept here holds. */
static inline void elog_memory_free_payload(struct elog_record *record)
{
    mem_free((void *)(uintptr_t)record->payload.p);
}

/* The newest valid checkpoint that the log continues, or NULL.  Under the
 * lock. */
const struct checkpoint *
elog_memory_newest_valid(const struct elog_memory_storage *storage) must_check;

/* A reader of the storage; elog_reader_close() ends it. */
struct elog_reader *
elog_memory_reader_create(struct elog_memory_storage *storage) must_check;
