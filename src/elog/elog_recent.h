/*
 * elog_recent - which records the log has, and the newest of them, in memory,
 * so that readers that keep up need not ask the file.  Private to src/elog.
 *
 * For a log that only this process writes.  Records are added when they are
 * durable, without gaps; the newest are kept, as far as they have room.
 *
 * Threads: everything may be called from any thread, but for init and fini.
 */
#pragma once

#include <pthread.h>

#include "elog/elog_backend.h"

enum {
    /* What is kept at most, of payloads and of records. */
    ELOG_RECENT_BYTES_MAX = 64 << 20,
    ELOG_RECENT_COUNT_MAX = 16384,
};

/* A record that is kept; it does not change. */
struct elog_recent_item {
    atomic_uint holder_count;
    struct elog_record record;
    char bytes[]; /* its payload */
};

struct elog_recent {
    pthread_mutex_t mutex; /* guards what follows */
    uint64_t first_seq;    /* of the log */
    uint64_t next_seq;
    /* The last `count` of them, each at its number % ELOG_RECENT_COUNT_MAX. */
    struct elog_recent_item **items;
    uint32_t count;
    size_t byte_count;
};

/* Begin with a log that has these records; none of them is kept. */
void elog_recent_init(struct elog_recent *recent, uint64_t first_seq,
                      uint64_t next_seq);
/* Forget all.  Nobody holds a record any more. */
void elog_recent_fini(struct elog_recent *recent);
/* The next record is durable; it is copied. */
void elog_recent_add(struct elog_recent *recent,
                     const struct elog_record *record);
/* The log was trimmed: its first record is this one. */
void elog_recent_trim(struct elog_recent *recent, uint64_t first_seq);
/* Which records the log has. */
struct elog_bounds elog_recent_bounds(struct elog_recent *recent) must_check;
/* Hold a record until elog_recent_release(); NULL if it is not kept. */
struct elog_recent_item *elog_recent_hold(struct elog_recent *recent,
                                          uint64_t seq) must_check;
/* Let go of it. */
void elog_recent_release(struct elog_recent_item *item);
