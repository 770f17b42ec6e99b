/*
 * state_reserve - admitted work of a pool, its reservations, and what
 * reservations remember about nodes; see admitted.h and reserve.h.
 *
 * A part of state.h; private to src/sched.
 */
#pragma once

#include "base/vec.h"
#include "sched/data/amounts.h"
#include "sched/data/profile.h"
#include "sched/state/state_links.h"

/* What waits in a pool's list of admitted work; see admitted.h. */
struct admitted {
    uint32_t item; /* a job, or a gang */
    uint32_t queue;
    uint32_t serial; /* in the order of entry, over all pools; from 1 */
    bool is_gang;
    int64_t start_ms; /* promised, or SCHED_START_UNKNOWN */
    int64_t since_ms; /* of its admission */
    /* What its queue's usage ledger counts for it: see usage_ledger.h. */
    bool is_counted;
    struct resource_vec all, infinite;
    int64_t charge;
};

/* What a reservation holds on one node. */
struct reserved_node {
    uint32_t node;
    struct resource_vec taken; /* by the gang */
    struct resource_vec extra; /* left beside it when it starts */
};

/* A reservation that outlives its round, for explanations. */
struct kept_reservation {
    uint32_t job; /* or NONE; as long as its id is this */
    struct job_id id;
    uint8_t level;
    int64_t start_ms;
    VEC(struct reserved_node) nodes;
};

/* When a node has room for what a reservation was last made for. */
struct node_profile {
    int64_t at_ms;    /* INT64_MIN: now; INT64_MAX: not known */
    int64_t until_ms; /* so long it is right, if nothing changes */
    uint64_t key;     /* in the node order, of what is free then */
    /* Whose lifetimes count for it: a bit for each queue, by number % 64. */
    uint64_t queues;
    uint32_t seen; /* the node's change_count that this is of */
    bool is_too_small;
    bool is_summed; /* it has sums, and not steps */
    /* In the memory's steps (of a gang's members) or sums. */
    uint32_t step_first, step_count, step_capacity;
};

/* How many members of a gang have room on a node now (PROFILE_UNSUMMED: its
 * sums say), and at last; and of which of the node's change_counts that is. */
struct member_count {
    uint32_t now, last, seen;
};

/* What one queue's work would make free on a node, if it may go; see
 * queue_sums.c. */
struct queue_sum {
    uint32_t queue; /* NONE: what is free or goes whoever may */
    struct resource_vec sum;
};

enum { PROFILE_NEVER_SEEN = UINT32_MAX, PROFILE_UNSUMMED = UINT32_MAX };

/* What was known of a node before a plan put work there. */
struct profile_aside {
    uint32_t node;
    struct node_profile profile;
};

/* Of some nodes the best for a single job, or NONE; and when the first of them
 * is to be looked at again. */
struct profile_winner {
    uint32_t node;
    int64_t until_ms;
};

/* See tree.h. */
struct profile_tree {
    struct profile_winner
        *items; /* owned; 1 is the root, `width` the first leaf */
    uint32_t width;
    uint32_t pause; /* questions until it may be made anew */
    bool is_whole;  /* it is right but for the stale nodes */
    uint64_t seen;  /* of what sched.changed told */
    VEC(uint32_t) stale;
    VEC(bool) is_stale; /* by node; as many as the tree has */
};

/* See job.c. */
struct profile_memory {
    struct resource_vec request;
    uint64_t weights[RESOURCE_COLUMNS_MAX]; /* of the pool's node order */
    uint32_t serial;                        /* of the claim */
    uint8_t level;
    uint32_t holder;                  /* see struct reserving */
    bool is_of_gang;                  /* steps are known, and not times */
    VEC(struct node_profile) nodes;   /* by node */
    VEC(struct profile_step) steps;   /* of all nodes */
    VEC(struct queue_sum) queue_sums; /* likewise */
    VEC(struct profile_aside) aside;  /* put back before the next question */
    VEC(uint8_t) may_go;              /* by queue */
    /* Of a gang's members, by node: these are asked of all nodes each round. */
    VEC(struct member_count) counts;
    VEC(uint8_t) allowed; /* whether the node allows the class ... */
    uint64_t class_serial, layout_count; /* ... that was asked, and when */
    uint64_t gpu_mark;                   /* of gpu_nodes.h, then */
    int64_t due_ms;                      /* no node's until_ms is earlier */
    int64_t last_ms;                     /* no step is later */
    uint64_t turn;                       /* of its last use; 0: none yet */
    struct profile_tree tree;            /* of times, not of steps */
};

enum { PROFILE_MEMORIES = 3 };

/* What is remembered of a pool's nodes, for those that were reserved for last:
 * they take turns. */
struct profile_memories {
    struct profile_memory items[PROFILE_MEMORIES];
    uint64_t turn; /* 0: nothing is remembered */
};

/* What the rounds of a pool pass on to each other about reservations.  A trial
 * (what_if.h) has one of its own. */
struct reserve_memory {
    struct kept_reservation kept;
    struct profile_memories profiles;
};
