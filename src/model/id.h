/*
 * id - job ids and run ids.
 *
 * A job id is a ULID, written as 26 lower-case characters (Crockford's base
 * 32) so that Kubernetes takes it for a name; its first 48 bits are the
 * milliseconds of its making.  A run id is a function of job id and attempt,
 * written as a UUID: whoever computes it twice gets the same one, which is
 * what makes a start idempotent.
 *
 * Pure.  Ids are values; {0, 0} is no id.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"

enum {
    JOB_ID_TEXT_BYTES = 26,
    RUN_ID_TEXT_BYTES = 36,
    ID_TEXT_BYTES_MAX = 40, /* either, with its NUL */
};

/* A job, for ever. */
struct job_id {
    struct key128 v;
};

/* One attempt to run a job. */
struct run_id {
    struct key128 v;
};

/* A job id of `time_ms` (0 .. 2^48-1) and 10 bytes of randomness. */
struct job_id job_id_make(int64_t time_ms, const uint8_t random[10]);
/* Read the 26 characters of an id, in either case; -ERR_INVALID. */
int job_id_parse(struct str text, struct job_id *ret_id) must_check;
/* Write 26 characters and a NUL to `text`; returns `text`. */
char *job_id_format(struct job_id id, char text[ID_TEXT_BYTES_MAX]);
/* The milliseconds since the epoch that the id was made at. */
int64_t job_id_time_ms(struct job_id id);

/* The id of attempt number `attempt` (counting from 0) of a job. */
struct run_id run_id_make(struct job_id job, uint32_t attempt);
/* Read the 36 characters of a UUID, in either case; -ERR_INVALID. */
int run_id_parse(struct str text, struct run_id *ret_id) must_check;
/* Write 36 characters and a NUL to `text`; returns `text`. */
char *run_id_format(struct run_id id, char text[ID_TEXT_BYTES_MAX]);

/* The id that is `count` after another of one submission, which count up. */
static inline struct job_id job_id_after(struct job_id id, uint32_t count)
{
    id.v.lo += count;
    id.v.hi += id.v.lo < count;
    return id;
}

/* Order of ids: that of their texts, so that of the jobs' making. */
static inline int key128_compare(struct key128 a, struct key128 b)
{
    return a.hi != b.hi ? (a.hi < b.hi ? -1 : 1)
                        : (a.lo < b.lo ? -1 : a.lo > b.lo);
}

/* Whether the key is {0, 0}, which is no id. */
static inline bool key128_is_none(struct key128 key)
{
    return key.hi == 0 && key.lo == 0;
}
