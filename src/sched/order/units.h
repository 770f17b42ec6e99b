/*
 * units - the evicted work of a round: jobs, and gangs that keep or lose their
 * places together. evict.h makes them.
 *
 * Private to src/sched; lives with the round.
 */
#pragma once

#include "sched/state/state.h"

/* Evicted work that stays or goes together: a job, or a gang. */
struct unit {
    struct resource_vec *sum;
    int64_t leased_ms;    /* of its youngest run */
    int64_t submitted_ms; /* of `last` */
    uint32_t lane;
    uint32_t member_first, member_count; /* in units.members */
    uint32_t last;                       /* the job it is ordered by */
    uint32_t priority;                   /* of that job */
    uint32_t ordinal;                    /* in which places are won back */
    uint8_t level;
    bool is_group; /* of a gang with terms: `sum` may change */
};

/* A run of a unit. */
struct unit_run {
    uint32_t run, node, job, class_index;
    uint32_t gang; /* or NONE */
    uint8_t level;
    bool is_urgency_preemptible;
    int64_t since_ms; /* see losses.h */
};

/* Of a round: each lane's follow each other, in the order in which they win
 * their places back. */
struct units {
    struct unit *items;
    uint32_t count;
    uint32_t ordinal_first;   /* of their ordinals */
    struct unit_run *members; /* by unit */
    uint32_t member_count;
};
