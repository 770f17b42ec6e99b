/*
 * queue - a tenant: the unit between which resources are shared.
 *
 * Permissions are not here: only the API looks at them, on the message that
 * the client sent.  Pure; strings and arrays are borrowed.
 */
#pragma once

#include "model/resource.h"

enum {
    QUEUES_MAX = 1 << 20,
    QUEUE_NAME_BYTES_MAX = 1024,
    QUEUE_BYTES_MAX = 64 << 10, /* of all that clients say of one */
    QUEUE_LIMITS_MAX = 256,
    FRACTION_ONE_PPM = 1000000,
    PRIORITY_FACTOR_ONE_MICRO = 1000000,
};

/* At most `fraction_ppm` millionths of a pool's `resource` for the queue's
 * jobs of one priority class; pool "" stands for every pool. */
struct queue_limit {
    struct str priority_class;
    struct str pool;
    struct str resource;
    int64_t fraction_ppm;
};

/* Which of a queue's waiting jobs is its head (model.md 6.7). */
enum queue_ordering {
    QUEUE_BY_PRIORITY = 0,   /* class, job priority, submission */
    QUEUE_BY_FIFO = 1,       /* class, application's submission, ... */
    QUEUE_BY_FAIR = 2,       /* class, application with the smallest share */
    QUEUE_BY_STATEAWARE = 3, /* one application starts at a time, then fifo */
    QUEUE_BY_CFS = 4,        /* elastic gangs by their score (model.md 4.4) */
    QUEUE_ORDERINGS,
};

/* In a record: the limit is what the pool says. */
#define QUEUE_LIMIT_BY_POOL INT64_C(-1)

struct queue_record {
    struct str name;
    int64_t priority_factor_micro; /* >= 10^6; the weight is its inverse */
    bool is_cordoned;
    enum queue_ordering ordering;
    bool is_class_priority_ignored; /* by the orderings other than priority */
    bool allows_stateaware_off;     /* to jobs that ask for it */
    uint32_t running_apps_max;      /* Starting and Running; 0: no limit */
    /* The limits of model.md 2.7; INT64_MAX: none. */
    int64_t over_share_ppm;      /* above the fair share */
    int64_t excess_budget_milli; /* in thousandths of resource-minutes */
    /* At most so much of all pools together; of what is not listed, all. */
    struct resource_list quota;
    const struct queue_limit *limits;
    uint32_t limit_count;
};

/* A record of a queue that says nothing of itself: weight 1, limits as the
 * pools have them. */
static inline struct queue_record queue_record_plain(struct str name)
{
    return (struct queue_record){
        .name = name,
        .priority_factor_micro = PRIORITY_FACTOR_ONE_MICRO,
        .over_share_ppm = QUEUE_LIMIT_BY_POOL,
        .excess_budget_milli = QUEUE_LIMIT_BY_POOL,
    };
}
