/*
 * damage_world - a data directory that was lived in, and what must be found in
 * it afterwards.
 */
#pragma once

#include "base/strbuf.h"
#include "store_world.h"

enum { DAMAGE_JOBS_MAX = 200 };

struct damage_world {
    struct tmpdir dir;
    const char *name;
    uint64_t first_seq, head_seq;       /* of the log */
    uint64_t stored_seq;                /* what the store had seen */
    uint64_t checkpoint_seq;            /* of the newest checkpoint */
    uint64_t sums[DAMAGE_JOBS_MAX + 1]; /* checksums of records, by seq */
    struct strbuf state;                /* in that checkpoint */
    struct strbuf rows; /* of the store, once it has caught up */
};

/* A directory that was left by a clean stop. */
void damage_world_stopped(struct damage_world *world);
/* One of a server that was killed: the write-ahead files are full, old records
 * are trimmed, and the store is behind. */
void damage_world_killed(struct damage_world *world);
/* Free it. */
void damage_world_fini(struct damage_world *world);

/* The job that record `seq` submits. */
struct job_id damage_job(uint64_t seq);

/* Append the rows of the store in `path`: 0, or why they cannot be read. */
int damage_dump(const char *path, struct strbuf *buf, struct err *err);
