/*
 * borrow - which pool lends to a job without a place at home (model.md 5.5, 6.5
 * step 5).
 *
 * Lenders are asked in an order: most idle first, by weighted amounts, then
 * those where fewer jobs wait, then by name.  The first with room for the job
 * is the one; but if work of its own waits there for room (not what a running
 * gang has to spare, nor what never fits there), the job stays at home, and no
 * other is asked.
 *
 * Pure; numbers only.  Threads: any.
 */
#pragma once

#include "model/policy.h"

/* A pool that may lend, while jobs are offered to lenders. */
struct lender {
    uint32_t shard;
    struct str name;          /* "": Default */
    struct resource_vec idle; /* less what it took */
    int64_t idle_weight;
    bool has_own_waiting;
    uint32_t waiting_count; /* with borrowers */
    uint32_t taken_count;   /* in this round */
};

/* What amounts weigh, in millionths of a core's: by the weights of a pool, or
 * else a core and a GPU 1, a GB of memory or storage a quarter. */
int64_t borrow_weigh(const struct policy *policy,
                     const struct pool_policy *pool,
                     const struct resource_vec *amounts);
/* Put lenders into the order in which they are asked. */
void borrow_sort(struct lender *lenders, uint32_t count);
/* Whether what is left of a lender's room holds so many of a request. */
bool borrow_has_room(const struct lender *lender,
                     const struct resource_vec *request, uint32_t count);
/* A lender takes that, and goes back in the order as far as it must; `at`
 * is where it stands now. */
void borrow_take(struct lender *lenders, uint32_t count, uint32_t at,
                 const struct policy *policy, const struct pool_policy *pool,
                 const struct resource_vec *sum);
