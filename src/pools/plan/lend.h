/*
 * lend - waiting jobs are lent once their pool is planned: lend.c goes through
 * them, lend_find.c finds the pool that lends.
 *
 * Private to src/pools/plan.
 */
#pragma once

#include "base/map.h"
#include "pools/plan/plan.h"
#include "pools/tables/borrow.h"
#include "pools/tables/router.h"

/* What one round at home knows. */
struct lending {
    struct pools *pools;
    struct shard *home;
    const struct pool_policy *weights;
    struct lender at_home; /* what is idle there */
    struct lender *lenders;
    uint32_t lender_count;
    struct map fits; /* of class and shard: 1 yes, 0 no */
    struct arena arena;
    uint32_t moved_count;
    uint64_t look_count; /* at nodes, and at lenders */
    /* Jobs that have been with all that have room, and turns that end early or
     * begin anew: memory that the log must know of. */
    uint32_t restart_count;
    uint32_t group; /* the next of the plan's */
};

/* List the pools that may lend, with what is idle there. */
void lend_find_all(struct lending *l);
/* Whether a shard has room for each part of a loan now; its sum, which is to
 * be had without a look at nodes, says no as a rule. */
bool lend_has_room(struct lending *l, struct shard *shard,
                   const struct lender *lender, const struct loan *loan);
/* Which of the lenders takes it, or NONE: it stays at home. */
uint32_t lend_choose(struct lending *l, uint32_t job, const struct loan *loan);
