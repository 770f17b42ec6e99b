#include "sched/cost.h"

void cost_base_set(struct cost_base *base, const struct resource_vec *total,
                   const bool *is_dominant, uint32_t column_count)
{
    *base = (struct cost_base){.total = *total, .column_count = column_count};
    for (uint32_t r = 0; r < column_count; r++) {
        if (is_dominant[r] && total->v[r] > 0) {
            base->inverse[r] = 1.0 / (double)total->v[r];
        }
    }
}

/* Whether x / total[r] > y / total[s]. */
static bool is_more(const struct cost_base *base, int64_t x, uint32_t r,
                    int64_t y, uint32_t s)
{
    return (i128)x * base->total.v[s] > (i128)y * base->total.v[r];
}

struct cost cost_of(const struct cost_base *base, const struct resource_vec *a,
                    const struct resource_vec *b, int64_t factor_micro)
{
    struct cost cost = {.factor_micro = factor_micro};
    double best = 0;

    for (uint32_t r = 0; r < base->column_count; r++) {
        int64_t amount = a->v[r] + (b ? b->v[r] : 0);
        double share = (double)amount * base->inverse[r];
        if (share <= 0 || share < best * (1 - 1e-14)) {
            continue;
        }
        if (share > best * (1 + 1e-14) ||
            is_more(base, amount, r, cost.amount, cost.column)) {
            best = share;
            cost.amount = amount;
            cost.column = r;
        }
    }
    cost.approx = best * (double)factor_micro;
    return cost;
}

/* a * b * c in 192 bits; the factors are not negative. */
struct wide {
    uint64_t high, middle, low;
};

static struct wide multiply(int64_t a, int64_t b, int64_t c)
{
    u128 ab = (u128)(uint64_t)a * (uint64_t)b;
    u128 low = (u128)(uint64_t)ab * (uint64_t)c;
    u128 high = (u128)(uint64_t)(ab >> 64) * (uint64_t)c + (low >> 64);

    return (struct wide){(uint64_t)(high >> 64), (uint64_t)high, (uint64_t)low};
}

int cost_compare_exact(const struct cost_base *base, const struct cost *a,
                       const struct cost *b)
{
    if (a->column == b->column && a->factor_micro == b->factor_micro) {
        return (a->amount > b->amount) - (a->amount < b->amount);
    }
    if (a->amount == 0 || b->amount == 0) {
        return (a->amount > 0) - (b->amount > 0);
    }
    struct wide x =
        multiply(a->amount, a->factor_micro, base->total.v[b->column]);
    struct wide y =
        multiply(b->amount, b->factor_micro, base->total.v[a->column]);
    if (x.high != y.high) {
        return x.high < y.high ? -1 : 1;
    }
    if (x.middle != y.middle) {
        return x.middle < y.middle ? -1 : 1;
    }
    return x.low < y.low ? -1 : x.low > y.low;
}
