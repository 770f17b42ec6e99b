/*
 * attempt - one attempt to place a gang's waiting members, shared by the ways
 * of choosing nodes for a gang.
 *
 * A try leases members one by one and takes all of it back when it ends up
 * short.  Private to src/sched; a try lives as long as its round.
 */
#pragma once

#include "sched/victims/sets.h"

/* One try at placing a gang's waiting members. */
struct attempt {
    struct round *round;
    struct lane *lane;
    const struct gang *gang;
    const struct label_group *only; /* or NULL */
    uint32_t last_node, last_class; /* of the member before; or NONE */
    uint32_t wanted;                /* all that wait */
    uint32_t needed;                /* fewer will not do */
    uint32_t preempt_until;         /* members for whom others may go */
    bool may_go_away;     /* members may run on nodes not their home */
    uint32_t class_index; /* of all that wait, or NONE */
    size_t decision_mark; /* decisions before the try */
    const struct victim_set *price_limit; /* see price.h */
    struct victim_set spent; /* of decisions up to spent_end, if limited */
    size_t spent_end;
    uint64_t work_end; /* no member finds a place once so much was done */
    bool is_over;      /* that came to be so */
    bool is_limited;   /* not all that wait are within the limits */
    uint32_t placed_count;
    struct resource_vec placed_sum;
};

/* A place to come back to. */
struct mark {
    size_t journal, decisions;
    uint32_t rests; /* round.rest_count */
};

/* Where the plan is now. */
struct mark attempt_mark(const struct round *round);
/* Undo all that was decided since. */
void attempt_back(struct round *round, struct mark mark);
/* A place for a member among attempt.only, and the class that it has there;
 * others may have been preempted for it.  NONE: there is none. */
uint32_t attempt_find(struct attempt *attempt, uint32_t job,
                      uint32_t *ret_class);
/* Whether a group might hold as many members as are needed; true also where
 * nobody knows. */
bool attempt_may_hold(const struct attempt *attempt,
                      const struct label_group *group);
/* Put a member there. */
void attempt_lease(struct attempt *attempt, uint32_t job, uint32_t node,
                   uint32_t class_index);

/* Place as many members as fit; whether they are enough. */
bool attempt_place(struct attempt *attempt);
