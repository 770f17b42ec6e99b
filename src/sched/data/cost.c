#include "sched/data/cost.h"

#include <string.h>

enum {
    ROUNDED_BITS = 22, /* that a double has too many */
    RATIO_BITS_MAX = 16,
    FRACTION_BITS = COST_FRACTION_BITS,
};

/* Whether x / total[r] > y / total[s]. */
static bool is_more(const struct cost_base *base, int64_t x, uint32_t r,
                    int64_t y, uint32_t s)
{
    return (i128)x * base->total.v[s] > (i128)y * base->total.v[r];
}

/* The weighted sum of `a` + `b`. */
static u128 sum_of(const struct cost_base *base, const struct resource_vec *a,
                   const struct resource_vec *b)
{
    u128 sum = 0;

    for (uint32_t r = 0; r < base->column_count; r++) {
        int64_t amount = a->v[r] + (b ? b->v[r] : 0);
        int64_t total = base->total.v[r];
        if (amount <= 0 || base->multipliers[r] == 0) {
            continue;
        }
        u128 most = (u128)total << RATIO_BITS_MAX;
        u128 counted = (u128)amount < most ? (u128)amount : most;
        sum += base->multipliers[r] * counted;
    }
    return sum;
}

static u128 amount_of(const struct cost_base *base, const struct cost *cost)
{
    uint64_t high = base->is_sum ? cost->column : 0;

    return (u128)high << 64 | (uint64_t)cost->amount;
}

static struct cost cost_of_sum(const struct cost_base *base, u128 sum,
                               int64_t factor_micro)
{
    return (struct cost){
        .approx =
            exact_to_double(sum) * base->whole_inverse * (double)factor_micro,
        .amount = (int64_t)(uint64_t)sum,
        .column = (uint64_t)(sum >> 64),
        .factor_micro = factor_micro,
    };
}

/* Apart from what is called most. */
__attribute__((noinline)) static void set_sum(const struct cost_base *base,
                                              const struct resource_vec *a,
                                              const struct resource_vec *b,
                                              int64_t factor_micro,
                                              struct cost *ret_cost)
{
    *ret_cost = cost_of_sum(base, sum_of(base, a, b), factor_micro);
}

void cost_set(const struct cost_base *base, const struct resource_vec *a,
              const struct resource_vec *b, int64_t factor_micro,
              struct cost *ret_cost)
{
    int64_t best_amount = 0;
    uint32_t best_column = 0;
    double best = 0;

    if (base->is_sum) {
        set_sum(base, a, b, factor_micro, ret_cost);
        return;
    }
    for (uint32_t r = 0; r < base->column_count; r++) {
        int64_t amount = a->v[r] + (b ? b->v[r] : 0);
        double share = (double)amount * base->inverse[r];
        if (share <= 0 || share < best * (1 - 1e-14)) {
            continue;
        }
        if (share > best * (1 + 1e-14) ||
            is_more(base, amount, r, best_amount, best_column)) {
            best = share;
            best_amount = amount;
            best_column = r;
        }
    }
    ret_cost->approx = best * (double)factor_micro;
    ret_cost->amount = best_amount;
    ret_cost->factor_micro = factor_micro;
    ret_cost->column = best_column;
}

struct cost cost_of_fraction(const struct cost_base *base, double fraction,
                             int64_t factor_micro)
{
    double most = (double)(1 << RATIO_BITS_MAX);
    double kept = fraction < most ? fraction : most;
    int64_t amount =
        kept > 0 ? (int64_t)(kept * (double)COST_FRACTION_ONE + 0.5) : 0;

    if (base->is_sum) {
        /* In two parts: the whole has up to 103 bits, the amount 62. */
        u128 low = base->whole & (u128)(COST_FRACTION_ONE - 1);
        u128 sum = (base->whole >> FRACTION_BITS) * (u128)amount +
                   (low * (u128)amount >> FRACTION_BITS);
        return cost_of_sum(base, sum, factor_micro);
    }
    return (struct cost){
        .approx = (double)amount * (1.0 / (double)COST_FRACTION_ONE) *
                  (double)factor_micro,
        .amount = amount,
        .factor_micro = factor_micro,
        .column = COST_FRACTION,
    };
}

double cost_fraction(const struct cost_base *base, const struct resource_vec *a)
{
    return cost_of(base, a, NULL, 1).approx;
}

/* What the amount of a cost is a part of. */
static u128 whole_of(const struct cost_base *base, const struct cost *cost)
{
    if (base->is_sum) {
        return base->whole;
    }
    return cost->column == COST_FRACTION ? (u128)COST_FRACTION_ONE
                                         : (u128)base->total.v[cost->column];
}

u128 cost_exact_fraction(const struct cost_base *base,
                         const struct resource_vec *a,
                         const struct resource_vec *b, bool is_up)
{
    struct cost cost = cost_of(base, a, b, 1);
    u128 amount = amount_of(base, &cost);

    return amount ? exact_ratio(amount, whole_of(base, &cost), is_up) : 0;
}

double cost_rounded(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    bits += (uint64_t)1 << (ROUNDED_BITS - 1);
    bits = bits >> ROUNDED_BITS << ROUNDED_BITS;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

int cost_compare_exact(const struct cost_base *base, const struct cost *a,
                       const struct cost *b)
{
    bool is_same = base->is_sum || a->column == b->column;

    if (is_same && a->factor_micro == b->factor_micro) {
        u128 x = amount_of(base, a), y = amount_of(base, b);
        return (x > y) - (x < y);
    }
    if (is_same && !base->is_sum) {
        u128 x = (u128)(uint64_t)a->amount * (uint64_t)a->factor_micro;
        u128 y = (u128)(uint64_t)b->amount * (uint64_t)b->factor_micro;
        return (x > y) - (x < y);
    }
    if (amount_of(base, a) == 0 || amount_of(base, b) == 0) {
        return (amount_of(base, a) > 0) - (amount_of(base, b) > 0);
    }
    /* Of a sum the whole is the same for both. */
    u128 a_factor = (u128)a->factor_micro, b_factor = (u128)b->factor_micro;
    if (!base->is_sum) {
        a_factor *= whole_of(base, b);
        b_factor *= whole_of(base, a);
    }
    return exact_compare_products(amount_of(base, a), a_factor,
                                  amount_of(base, b), b_factor);
}

int cost_compare_part(const struct cost_base *base, const struct cost *cost,
                      u128 part, u128 whole)
{
    if (amount_of(base, cost) == 0) {
        return part > 0 ? -1 : 0;
    }
    return exact_compare_products(amount_of(base, cost), whole, part,
                                  whole_of(base, cost));
}
