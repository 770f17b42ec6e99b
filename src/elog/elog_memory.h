/*
 * elog_memory - the log in memory: the reference of the port, what tests and
 * the simulator use, with faults on demand.  It is gone with its storage.
 *
 * Threads: as elog.h; the storage may be shared by logs of several threads.
 */
#pragma once

#include "elog/elog.h"

struct elog_memory_storage;

/* An empty storage: what a disk is to other backends.  The caller owns it and
 * destroys it after every log on it is closed. */
struct elog_memory_storage *elog_memory_storage_create(void) must_check;
/* NULL is fine. */
void elog_memory_storage_destroy(struct elog_memory_storage *storage);
DEFINE_AUTO(elog_memory_storage, elog_memory_storage_destroy)

/* Open the log on `storage`; several may be open, and epochs fence them.  It
 * cannot fail.  The caller closes it. */
struct elog *elog_memory_open(struct elog_memory_storage *storage) must_check;

/* Keep no records from now on, only what elog_memory_digest() says of them:
 * for a simulation that outgrows memory.  Only before the first record. */
void elog_memory_forget(struct elog_memory_storage *storage);
/* A hash of all records that were forgotten, in their order: equal digests
 * are equal logs. */
uint64_t elog_memory_digest(struct elog_memory_storage *storage) must_check;
/* The same hash with one record more: what it is of a log that is kept, from 0
 * and the first record on. */
uint64_t elog_memory_digest_add(uint64_t digest,
                                const struct elog_record *record) must_check;

enum elog_memory_fault {
    ELOG_MEMORY_FULL,     /* the record is refused: -ERR_FULL */
    ELOG_MEMORY_IO,       /* it is not stored and told -ERR_IO */
    ELOG_MEMORY_DROP_ACK, /* it is stored and told -ERR_IO */
};

/* Let the `nth` record that is appended from now on (1: the next) meet
 * `fault`, once. */
void elog_memory_inject(struct elog_memory_storage *storage, uint32_t nth,
                        enum elog_memory_fault fault);

/* While `is_held`, elog_poll() appends and tells nothing on this storage. */
void elog_memory_hold(struct elog_memory_storage *storage, bool is_held);

/* Spoil a byte of the newest checkpoint, as a disk would. */
void elog_memory_spoil_checkpoint(struct elog_memory_storage *storage);
