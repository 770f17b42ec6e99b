/*
 * cfs - which unit has run least, for its weight (model.md 4.4).
 *
 * A *unit* is an elastic gang, or any other job or gang in a queue that is
 * ordered `cfs`.  Its score is the time that its pods have run, each times what
 * the pod's resources count, divided by the weight of its class; the smallest
 * goes first (leftmost).  What lacks its minimum has not run, so its score is
 * 0; there the *age bucket* tells: how often it was submitted after `aging`,
 * less one for each decimal digit of its weight.
 *
 * Scores are compared as fractions of whole numbers.  Private to src/sched.
 * Pure.
 */
#pragma once

#include "sched/data/exact.h"
#include "sched/state/state.h"

/* What a unit is ordered by. */
struct cfs_key {
    uint32_t level; /* of its class's priority; the higher goes first */
    uint32_t weight;
    u128 work; /* sum over its pods of resource score x ms; see cfs_worth() */
    double approx;   /* work / weight, nearly: cfs_key_set_work() */
    bool is_running; /* it has its minimum; else its score is 0 */
    int64_t submitted_ms;
    struct cfs_pod {
        int64_t gpus, cpu, memory; /* in the columns' units */
    } pod;
    struct job_id id; /* of the job that it stands by */
    uint32_t part;    /* of the units of one gang */
};

/* The key's work, bounded so that sums of many do not overflow. */
void cfs_key_set_work(struct cfs_key *key, u128 work);
/* <0 or >0 as `a` goes before `b` or after it; 0 only for the same unit. */
int cfs_compare(const struct cfs_key *a, const struct cfs_key *b,
                int64_t aging_ms);
/* The score for people: resource score x seconds / weight. */
double cfs_score(const struct cfs_key *key);
/* The score as a whole number, for means: work / weight in 2^-16. */
u128 cfs_score_fixed(const struct cfs_key *key);

/* What a millisecond of a pod with this request counts, in millionths of a
 * core's; at least 1. */
uint64_t cfs_worth(const struct policy *policy,
                   const struct resource_vec *request);
/* The columns of GPUs, as bits. */
uint32_t cfs_gpu_columns(const struct policy *policy);
/* Whether amounts have any GPU. */
static inline bool cfs_has_gpus(const struct sched *sched,
                                const struct resource_vec *amounts)
{
    for (uint32_t bits = sched->gpu_columns; bits; bits &= bits - 1) {
        if (amounts->v[__builtin_ctz(bits)] > 0) {
            return true;
        }
    }
    return false;
}
/* What the state keeps of the policy is right after this. */
void cfs_sync(struct sched *sched);

/* The key of a waiting job, or of a waiting gang that stands by it. */
struct cfs_key cfs_key_of(const struct sched *sched, uint32_t job);
/* Whether waiting job (or gang standing by it) `a` goes before `b`. */
bool cfs_less(const struct sched *sched, uint32_t a, uint32_t b);
