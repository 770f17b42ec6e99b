/*
 * run_times - how long jobs have run, and how long one will probably run.
 *
 * The last RUN_TIMES_KEPT run times are kept three times: of jobs of the same
 * queue, user and scheduling class, of the same queue and user, and of the same
 * queue.  A prediction uses the finest of these that is known:
 *
 *     p50   the mean of the last two; half of the jobs end by then
 *     p90   the longest of all that are kept, if they are at least
 *           RUN_TIMES_MANY; nine jobs of ten end by then
 *
 * A job that is running can only be predicted by those that ran longer than it
 * has run already.  If it has outlived them all, its remaining time is judged
 * by its age alone: half of such jobs end before they are twice as old, nine of
 * ten before they are ten times as old.  No prediction is longer than the
 * job's limit.  It is an estimate in every case: nothing that is promised may
 * depend on it.
 *
 * The members of a gang that end one after another count once, as the longest.
 * At most RUN_TIMES_KEYS_MAX keys are kept: the one to which nothing was added
 * for the longest time goes first.
 *
 * Keys are hashes.  Who makes two of them equal on purpose spoils predictions
 * of the jobs that have them, and nothing else.
 *
 * Pure; a function of what was noted, in its order.  Threads: one owner.
 */
#pragma once

#include "base/str.h"
#include "model/pack.h"

enum {
    RUN_TIMES_KEYS_MAX = 8192,
    RUN_TIMES_KEPT = 16, /* of a key */
    RUN_TIMES_MANY = 8,  /* so many tell of a longest one */
};

/* No run time is longer: ten years. */
#define RUN_TIMES_MS_MAX (INT64_C(10) * 366 * 24 * 3600 * 1000)

/* Whose run times. */
struct run_times_of {
    struct str queue, user;
    struct str class_key; /* a packed requirement */
};

/* How long a run takes, from its start; 1 <= p50_ms <= p90_ms. */
struct run_time {
    int64_t p50_ms, p90_ms;
};

struct run_times;

/* Empty; `seed` is of the index alone and changes no result. */
struct run_times *run_times_create(uint64_t seed) must_check;
/* NULL is fine. */
void run_times_destroy(struct run_times *times);
DEFINE_AUTO(run_times, run_times_destroy)

/* A run has ended by itself after `ms`.  `gang` is a hash of its gang's id; 0:
 * it is in none. */
void run_times_note(struct run_times *times, const struct run_times_of *of,
                    uint64_t gang, int64_t ms);
/* How long a run takes that is `age_ms` old (0: it has not started) and may
 * take `limit_ms` at most (0: any time).  False: nothing is known. */
bool run_times_predict(const struct run_times *times,
                       const struct run_times_of *of, int64_t limit_ms,
                       int64_t age_ms, struct run_time *ret_time);
/* How many keys there are. */
uint32_t run_times_count(const struct run_times *times);

/* Append all: equal histories are equal bytes. */
void run_times_pack(const struct run_times *times, struct strbuf *buf);
/* Take back what was packed into an empty one; the reader is bad if it is not
 * that. */
void run_times_unpack(struct run_times *times, struct pack_reader *reader);
