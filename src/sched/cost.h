/*
 * cost - the dominant share of an allocation, compared without rounding.
 *
 * A cost is max over the columns that count of amount / total.  It is kept as
 * the winning column's amount, so that comparisons can be made exactly; a
 * double beside it settles nearly all of them.
 *
 * Pure.  Threads: none of its own; values.
 */
#pragma once

#include "model/resource.h"

/* What costs are measured against: a pool's totals. */
struct cost_base {
    struct resource_vec total;
    double inverse[RESOURCE_COLUMNS_MAX]; /* 1 / total; 0: does not count */
    uint32_t column_count;
};

/* A cost, times the factor of a queue (its weight's inverse). */
struct cost {
    double approx; /* amount / total * factor */
    int64_t amount;
    int64_t factor_micro;
    uint32_t column;
};

/* Measure against `total`; only columns that are dominant count. */
void cost_base_set(struct cost_base *base, const struct resource_vec *total,
                   const bool *is_dominant, uint32_t column_count);

/* The cost of `a` + `b` (NULL: nothing) for a queue of this factor. */
struct cost cost_of(const struct cost_base *base, const struct resource_vec *a,
                    const struct resource_vec *b, int64_t factor_micro);

/* Exact comparison, for costs that are too near for doubles. */
int cost_compare_exact(const struct cost_base *base, const struct cost *a,
                       const struct cost *b);

/* <0, 0 or >0 as cost `a` is less, equal or more. */
static inline int cost_compare(const struct cost_base *base,
                               const struct cost *a, const struct cost *b)
{
    double gap = a->approx - b->approx;
    double near = (a->approx + b->approx) * 1e-14;

    if (gap > near) {
        return 1;
    }
    if (gap < -near) {
        return -1;
    }
    return cost_compare_exact(base, a, b);
}
