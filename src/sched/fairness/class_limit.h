/*
 * class_limit - the limit of a queue in a pool for one priority class, set by
 * the class or by the queue itself.
 *
 * A round asks with what it has placed so far, explain with what runs; both by
 * the same rule.  Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* What a queue has of a priority class in a pool, and may have at most. */
struct usage {
    struct resource_vec used;
    struct resource_vec limit;    /* INT64_MAX: none */
    struct resource_vec borrowed; /* of what is used; see borrowed.h */
};

/* What runs, and the limits. */
struct usage class_limit_usage(const struct sched *sched,
                               const struct what_if *what_if, uint32_t queue,
                               uint32_t pool, uint32_t priority_class);

/* What counts of a column: what may be taken back (recall.h) does not keep a
 * queue's own work from its place. */
static inline int64_t class_limit_used(const struct usage *usage,
                                       bool may_recall, uint32_t column)
{
    return usage->used.v[column] - (may_recall ? usage->borrowed.v[column] : 0);
}

/* Whether a limit refuses a request for what it asks of a column. */
static inline bool class_limit_refuses(const struct usage *usage,
                                       bool may_recall,
                                       const struct resource_vec *request,
                                       uint32_t column)
{
    int64_t asked = request->v[column];

    return asked > 0 && class_limit_used(usage, may_recall, column) + asked >
                            usage->limit.v[column];
}

/* How much higher the limits would have to be for a request, by column. */
struct resource_vec class_limit_missing(const struct usage *usage,
                                        bool may_recall,
                                        const struct resource_vec *request);
