/*
 * evictable - which runs of an account may be preempted for fairness, in the
 * order in which they get their places back, and when more of them may.
 *
 * A round that preempts for fairness asks this of every queue above its share,
 * and of most runs the answer is that of the last round.  So it is remembered:
 * from the first question on, an account's runs that are *evictable* (their
 * lifetime is over, or they have none) are kept in order, the others by the
 * time at which they will be.  An account that is never asked about has no
 * memory and pays nothing.
 *
 * All times are wall-clock ms.  Private to src/sched; owned by the account.
 */
#pragma once

#include "sched/state/state.h"

/* A run that will be evictable. */
struct next_evictable {
    int64_t at_ms;
    uint32_t run;
};

/* What is remembered of an account's runs. */
struct evictable {
    struct seq runs; /* evictable ones, see evictable_goes_before() */
    VEC(struct next_evictable) next; /* a heap, the soonest first */
    uint32_t gang_run_count;         /* of all its runs, members of gangs */
    int64_t now_ms;                  /* that it is of */
};

/* Where a run stands in its account's memory, beside a place in `next`. */
enum { EVICTABLE_NOW = UINT32_MAX - 1 }; /* or NONE: nobody knows when */

/* What the order goes by. */
struct evictable_key {
    int64_t leased_ms, submitted_ms;
    uint32_t priority, job;
    uint8_t level;
};

/* When a run may be preempted for fairness, for its lifetime is over and it is
 * not protected for what its job has lost; INT64_MIN: at any time; INT64_MAX:
 * not known, or never. */
int64_t evictable_at_ms(const struct sched *sched, const struct run *run);
/* When its lifetime is over, likewise: what it has promised holds then. */
int64_t evictable_lived_ms(const struct sched *sched, const struct run *run);
/* What a run is ordered by. */
struct evictable_key evictable_key_of(const struct sched *sched, uint32_t run);
/* Order in which a queue's running work wins its places back: as its jobs are
 * ordered, the longest running first among equals. */
static inline bool evictable_goes_before(const struct sched *sched,
                                         const struct evictable_key *a,
                                         const struct evictable_key *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    if (a->leased_ms != b->leased_ms) {
        return a->leased_ms < b->leased_ms;
    }
    return a->submitted_ms != b->submitted_ms
               ? a->submitted_ms < b->submitted_ms
               : job_less(sched, a->job, b->job);
}

/* An account's runs as they are at `now_ms`; good until it changes. */
const struct evictable *evictable_of(struct sched *sched, uint32_t account,
                                     int64_t now_ms);
/* When the next of them gets evictable; INT64_MAX: not known. */
int64_t evictable_next_ms(const struct evictable *evictable);
/* A run came to (+1) or leaves (-1) its account. */
void evictable_note_run(struct sched *sched, uint32_t run, int sign);
/* A linked run's age counts from `started_ms` on. */
void evictable_age_from(struct sched *sched, uint32_t run, int64_t started_ms);
/* Forget what is remembered of an account. */
void evictable_forget(struct sched *sched, uint32_t account);
/* The same of all accounts of a queue. */
void evictable_forget_queue(struct sched *sched, uint32_t queue);
/* Forget it of all accounts. */
void evictable_fini(struct sched *sched);
/* For tests: whether what is remembered is what is there. */
bool evictable_is_right(const struct sched *sched, struct arena *scratch);
