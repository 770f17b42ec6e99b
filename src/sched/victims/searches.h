/*
 * searches - what the searches for victims remember in a round.
 *
 * Private to src/sched; lives in the round's arena, but for what
 * searches_end() frees.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/victims/affordable.h"
#include "sched/victims/victims.h"

struct searches {
    struct urgent *urgents;                /* see urgency_index.h */
    struct ceiling *ceilings;              /* see group_room.c */
    struct eviction_index *eviction_index; /* once asked for */
    struct group_pods *group_pods; /* see groups_at_risk.h; NULL: not asked */
    struct depth_memos *depths; /* see depth_memo.h; NULL: nothing yet */
    struct victim_memos *memos; /* see memo.h; NULL: nothing yet */
    VEC(struct victim) victims; /* scratch of choose.c */
    VEC(uint32_t) pods;         /* likewise of group_victims.c */
    VEC(uint32_t) touched;      /* lanes whose work was just preempted */
    bool *is_over;              /* by queue: over its share; NULL: not asked */
    uint32_t *queue_ranks;      /* see surplus_order.c; NULL: not asked */
    struct affordable affordable;
    struct cost gang_cost; /* what the gang that is placed is ordered by */
    bool keeps_surplus;    /* surplus does not go alone */
};

/* A round begins. */
void searches_begin(struct round *round);
/* It is over. */
void searches_end(struct round *round);
