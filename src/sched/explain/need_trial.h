/*
 * need_trial - a round planned to see whether a job would start, with
 * something more than there is; and the least of that with which it does.
 *
 * A trial changes what a node has, or what a limit is, plans a balance round,
 * and puts everything back: nothing that decides later is touched.  What
 * trials cost is counted, not timed, in nodes looked at (sweep.h): they end
 * when they have cost NEED_LOOKS_MAX, and a round that is left in its midst for
 * that tells nothing.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/explain/need.h"

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

/* What is tried. */
enum lever_kind {
    LEVER_ROOM,     /* a node has more */
    LEVER_LIMIT,    /* the limit of the queue for the class is higher */
    LEVER_QUOTA,    /* the queue's quota is */
    LEVER_FLOATING, /* the pool has more that is of no node */
    /* By the first column: */
    LEVER_BUDGET, /* the queue's excess budget is higher, in thousandths of a
                     unit x minute, */
    LEVER_SHARE,  /* what it may have above its share, in millionths of that, */
    LEVER_APPS,   /* or the number of its applications that may run */
};

struct lever {
    struct trials *trials;
    enum lever_kind kind;
    uint32_t node;            /* ROOM */
    struct limit_trial limit; /* LIMIT */
    struct queue *queue;      /* QUOTA and all of the first column */
    int64_t base;             /* BUDGET, SHARE: what it is now */
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
/* The same with so much more; false also when that cannot be told. */
bool trial_pull(const struct lever *lever, const struct resource_vec *more);
/* Bring what starts the job down to the least of each column that does, the
 * others as they are; false when trials run out. */
bool trial_shrink(const struct lever *lever, struct resource_vec *more);
