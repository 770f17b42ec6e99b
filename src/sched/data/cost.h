/*
 * cost - what part of a pool an allocation is, compared without rounding.
 *
 * Two rules (model.md 6.4).  DRF: the dominant share, the largest over the
 * columns that count of amount / total; it is kept as that column's amount.
 * Weighted sum: the sum over the columns of weight x amount, as part of the
 * same sum of the totals; the weights are turned into whole *multipliers* in
 * the same ratio, and the sum of the multiplied amounts is kept.  Either way
 * comparisons can be made exactly; a double beside it settles nearly all.
 *
 * By scarcity all columns weigh alike: a multiplier is a common multiple of
 * the totals divided by the column's own.  Where that would be larger than
 * COST_WHOLE_MAX the multipliers are rounded, to 2^-40 or better of
 * themselves in pools of up to 2^60 units; comparisons are still exact, by
 * those.  More of a column than 2^16 times its total counts as that much.
 *
 * Where flows have a half-life costs are compared as rounded to 30 binary
 * digits: a flow that has decayed comes from doubles, and what is equal is to
 * be a tie, not the outcome of rounding (FL-10).  All are, so that it remains
 * an order.
 *
 * Pure.  Threads: none of its own; values.
 */
#pragma once

#include "model/policy.h"
#include "sched/data/exact.h"

#define COST_WHOLE_MAX ((u128)1 << 100)
#define COST_WHOLE_MIN ((u128)1 << 80)

/* The column of a cost that was made from a fraction, and its total. */
enum { COST_FRACTION = RESOURCE_COLUMNS_MAX, COST_FRACTION_BITS = 46 };
#define COST_FRACTION_ONE (INT64_C(1) << COST_FRACTION_BITS)

/* What costs are measured against: a pool's totals. */
struct cost_base {
    struct resource_vec total;
    double inverse[RESOURCE_COLUMNS_MAX]; /* 1 / total; 0: does not count */
    uint32_t column_count;
    bool is_sum;
    double whole_inverse; /* from here on: of the weighted sum */
    u128 whole;           /* the whole pool's sum; 0: nothing counts */
    u128 multipliers[RESOURCE_COLUMNS_MAX];
    double units; /* what the whole pool weighs: in cores, if those weigh 1 */
    bool is_rounded; /* comparisons are */
};

/* A cost, times the factor of a queue (its weight's inverse). */
struct cost {
    double approx;  /* amount / total * factor */
    int64_t amount; /* of a sum: its low half */
    int64_t factor_micro;
    uint64_t column; /* of a sum: the amount's high half */
};

/* Measure against `total` by DRF; only columns that are dominant count. */
void cost_base_set(struct cost_base *base, const struct resource_vec *total,
                   const bool *is_dominant, uint32_t column_count);
/* Measure by what `pool` (NULL: DRF) says, with the policy's columns. */
void cost_base_set_by(struct cost_base *base, const struct resource_vec *total,
                      const struct policy *policy,
                      const struct pool_policy *pool);

/* The cost of `a` + `b` (NULL: nothing) for a queue of this factor.  It is
 * written where it is to stay: a copy of what has just been written has to wait
 * until all writes before it are done. */
void cost_set(const struct cost_base *base, const struct resource_vec *a,
              const struct resource_vec *b, int64_t factor_micro,
              struct cost *ret_cost);
/* The same, as a value. */
static inline struct cost cost_of(const struct cost_base *base,
                                  const struct resource_vec *a,
                                  const struct resource_vec *b,
                                  int64_t factor_micro)
{
    struct cost cost;

    cost_set(base, a, b, factor_micro, &cost);
    return cost;
}
/* The cost that is this fraction of the pool, to 2^-46 or 2^-46 of itself,
 * whichever is more; at most 2^16. */
struct cost cost_of_fraction(const struct cost_base *base, double fraction,
                             int64_t factor_micro);
/* Their fraction of the pool, without a factor. */
double cost_fraction(const struct cost_base *base,
                     const struct resource_vec *a);
/* That of `a` + `b` in units of 2^-64, rounded down or up. */
u128 cost_exact_fraction(const struct cost_base *base,
                         const struct resource_vec *a,
                         const struct resource_vec *b, bool is_up);

/* A number that is not negative, as rounded for comparisons. */
double cost_rounded(double x);
/* Exact comparison, for costs that are too near for doubles. */
int cost_compare_exact(const struct cost_base *base, const struct cost *a,
                       const struct cost *b);
/* <0, 0 or >0 as a cost, its factor left out, is less, equal or more than
 * the fraction `part` / `whole` of the pool, exactly. */
int cost_compare_part(const struct cost_base *base, const struct cost *cost,
                      u128 part, u128 whole);

/* <0, 0 or >0 as cost `a` is less, equal or more. */
static inline int cost_compare(const struct cost_base *base,
                               const struct cost *a, const struct cost *b)
{
    double gap = a->approx - b->approx;
    double near = (a->approx + b->approx) * 1e-14;

    if (base->is_rounded) {
        gap = cost_rounded(a->approx) - cost_rounded(b->approx);
        return (gap > 0) - (gap < 0);
    }

    if (gap > near) {
        return 1;
    }
    if (gap < -near) {
        return -1;
    }
    return cost_compare_exact(base, a, b);
}
