/* The base of costs: the totals of a pool, and the weights of its resources. */
#include "sched/data/cost.h"

enum { MILLI = 1000, GIGA = 1000000000 };

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

/* Weights by scarcity: in the ratio of the totals' inverses. */
static void set_scarcity(struct cost_base *base)
{
    u128 multiple = 1;

    for (uint32_t r = 0; r < base->column_count; r++) {
        if (base->inverse[r] > 0) {
            multiple = exact_common_multiple(multiple, base->total.v[r],
                                             COST_WHOLE_MAX);
        }
    }
    for (uint32_t r = 0; r < base->column_count; r++) {
        if (base->inverse[r] > 0) {
            base->multipliers[r] = multiple / (u128)base->total.v[r];
        }
    }
}

/* What 10^18 of weight x unit is: a weight is in millionths and per core, or
 * the like, or per GB of what is counted in bytes. */
static u128 multiplier_of(const struct policy *policy, uint32_t r,
                          int64_t weight_ppm)
{
    u128 unit_milli = (u128)policy->schema.columns[r].unit_milli;
    u128 scale =
        resource_is_bytes(policy->schema.columns[r].name) ? 1 : (u128)GIGA;

    return (u128)weight_ppm * unit_milli * scale;
}

/* Double the multipliers until a fraction is told from its neighbours. */
static void refine_whole(struct cost_base *base)
{
    while (base->whole > 0 && base->whole < COST_WHOLE_MIN) {
        base->whole <<= 1;
        for (uint32_t r = 0; r < base->column_count; r++) {
            base->multipliers[r] <<= 1;
        }
    }
}

/* Halve the multipliers until the whole is below COST_WHOLE_MAX. */
static void bound_whole(struct cost_base *base)
{
    for (;;) {
        bool is_over = false;
        u128 whole = 0;
        for (uint32_t r = 0; r < base->column_count; r++) {
            u128 total = (u128)base->total.v[r];
            u128 m = base->multipliers[r];
            is_over |= total > 0 && m > COST_WHOLE_MAX / total;
            whole += is_over ? 0 : m * total;
        }
        if (!is_over && whole <= COST_WHOLE_MAX * RESOURCE_COLUMNS_MAX) {
            base->whole = whole;
            break;
        }
        for (uint32_t r = 0; r < base->column_count; r++) {
            base->multipliers[r] >>= 1;
        }
    }
}

static bool has_weights(const struct policy *policy,
                        const struct pool_policy *pool)
{
    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        if (pool->cost_weights_ppm[r] > 0) {
            return true;
        }
    }
    return false;
}

/* What the whole pool weighs: by its weights, or all that counts as often as
 * it has cores. */
static double weigh_whole(const struct cost_base *base,
                          const struct policy *policy,
                          const struct pool_policy *pool)
{
    int cpu = resource_column(&policy->schema, STR("cpu"));
    double sum = 0, cores = 1;

    if (cpu >= 0 && base->total.v[cpu] > 0) {
        cores = (double)base->total.v[cpu] *
                (double)policy->schema.columns[cpu].unit_milli / MILLI;
    }
    for (uint32_t r = 0; r < base->column_count; r++) {
        if (!pool || !has_weights(policy, pool)) {
            sum += base->inverse[r] > 0 ? cores : 0;
        } else if (pool->cost_weights_ppm[r] > 0) {
            sum += exact_to_double(
                       multiplier_of(policy, r, pool->cost_weights_ppm[r])) *
                   (double)base->total.v[r] / 1e18;
        }
    }
    return sum;
}

void cost_base_set_by(struct cost_base *base, const struct resource_vec *total,
                      const struct policy *policy,
                      const struct pool_policy *pool)
{
    cost_base_set(base, total, policy->is_dominant,
                  policy->schema.column_count);
    base->units = weigh_whole(base, policy, pool);
    base->is_rounded = pool && pool->half_time_ms > 0;
    if (!pool || pool->cost != COST_WEIGHTED_SUM) {
        return;
    }
    base->is_sum = true;
    if (!has_weights(policy, pool)) {
        set_scarcity(base);
    }
    for (uint32_t r = 0; r < base->column_count; r++) {
        int64_t weight_ppm = pool->cost_weights_ppm[r];
        if (weight_ppm > 0 && total->v[r] > 0) {
            base->multipliers[r] = multiplier_of(policy, r, weight_ppm);
        }
    }
    bound_whole(base);
    refine_whole(base);
    base->whole_inverse = base->whole ? 1.0 / exact_to_double(base->whole) : 0;
}
