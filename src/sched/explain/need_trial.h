/*
 * need_trial - plans a trial round with an additional amount, to see whether a
 * job would start; and finds the smallest amount with which it does.
 *
 * A trial is a plan to explain by (state/what_if.h): it leaves nothing behind.
 * What trials cost is counted, not timed, in nodes looked at (sweep.h): they
 * end when they have cost NEED_LOOKS_MAX, and a round that is left in its midst
 * for that tells nothing.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/explain/need.h"
#include "sched/state/what_if.h"

/* Who is asked about, and what trials may cost. */
struct trials {
    struct sched *sched;
    uint32_t job, pool;
    uint32_t gang;      /* or NONE */
    uint32_t sub_group; /* in which the gang is to grow; or NONE */
    int64_t now_ms;
    uint32_t count;
    uint64_t work;
    bool is_over; /* one came to no end */
};

/* Where the job waits. */
const struct list *trial_list(const struct trials *trials);
/* What must be had at once: of the job, of its gang, or of the next pod that
 * the gang grows by. */
struct resource_vec trial_asked(const struct trials *trials);

/* Whether another trial may be made. */
bool trial_may(const struct trials *trials);
/* Whether the next round starts the job, or others of its gang. */
bool trial_starts(struct trials *trials, int64_t now_ms);
/* The same now and if `what_if` says so; of that the trial sets how much it may
 * work, and whether gangs grow. */
bool trial_starts_if(struct trials *trials, const struct what_if *what_if);
/* The same with more of something; false also when that cannot be told. */
bool trial_starts_with(struct trials *trials, const struct what_if_more *more);
/* Bring what starts the job down to the least of each column that does, the
 * others as they are; false when trials run out. */
bool trial_shrink(struct trials *trials, struct what_if_more *more);
