/* Exact arithmetic, weighted sums and the decay of flows, each by the
 * sentences of its header. */
#include <math.h>

#include "sched/data/cost.h"
#include "sched/data/flow.h"
#include "unit.h"

static const u128 BIG = ((u128)1 << 127) - 1;

static void products_compare_in_full(void **state)
{
    (void)state;
    assert_int_equal(exact_compare_products(BIG, BIG, BIG, BIG), 0);
    assert_int_equal(exact_compare_products(BIG, BIG, BIG, BIG - 1), 1);
    assert_int_equal(exact_compare_products(BIG - 1, BIG, BIG, BIG), -1);
    assert_int_equal(exact_compare_products(3, 4, 2, 6), 0);
    assert_int_equal(exact_compare_products((u128)1 << 100, 1, 1 << 20, 3), 1);
}

static void ratios_round_to_the_side_asked_for(void **state)
{
    (void)state;
    assert_true(exact_ratio(1, 2, false) == EXACT_ONE / 2);
    assert_true(exact_ratio(1, 2, true) == EXACT_ONE / 2);
    assert_true(exact_ratio(1, 3, true) == exact_ratio(1, 3, false) + 1);
    assert_true(exact_ratio(7, 2, false) == EXACT_ONE / 2 * 7);
    assert_true(exact_ratio(BIG, 1, false) == EXACT_ONE << 32);
    assert_true(exact_scale(exact_ratio(1, 3, false), 300, false) == 99);
    assert_true(exact_scale(exact_ratio(1, 3, true), 300, false) == 100);
    assert_true(exact_scale(exact_ratio(1, 3, true), 300, true) == 101);
}

static void multiples_are_least_or_the_largest_allowed(void **state)
{
    (void)state;
    assert_true(exact_common_multiple(4, 6, 1000) == 12);
    assert_true(exact_common_multiple(12, 4, 1000) == 12);
    assert_true(exact_common_multiple(7, 11, 76) == 76);
    assert_true(exact_common_multiple(7, 11, 77) == 77);
    assert_true(exact_common_multiple(76, 11, 76) == 76);
}

/* A policy with a pool that goes by the weighted sum. */
static struct policy *make_policy(void)
{
    struct policy *policy = mem_alloc(sizeof(*policy));

    policy_defaults(policy);
    policy->pools[0].cost = COST_WEIGHTED_SUM;
    return policy;
}

enum { GPU = 0, CPU = 1, MEMORY = 2 };

/* By scarcity, a third of everything is a third; and amounts that differ by
 * one unit differ. */
static void sums_by_scarcity_are_exact(void **state)
{
    auto_mem struct policy *policy = make_policy();
    struct resource_vec total = {{9, 96000, (int64_t)3 << 50}};
    struct resource_vec third = {{3, 32000, (int64_t)1 << 50}};
    struct resource_vec two = {{3, 64000}}, other = {{6, 32000}};
    struct cost_base base;

    (void)state;
    cost_base_set_by(&base, &total, policy, &policy->pools[0]);
    struct cost cost = cost_of(&base, &third, NULL, 1);
    assert_int_equal(cost_compare_part(&base, &cost, 1, 3), 0);
    cost = cost_of(&base, &third, &third, 1);
    assert_int_equal(cost_compare_part(&base, &cost, 2, 3), 0);
    third.v[MEMORY]++;
    cost = cost_of(&base, &third, NULL, 1);
    assert_int_equal(cost_compare_part(&base, &cost, 1, 3), 1);
    struct cost a = cost_of(&base, &two, NULL, 1000000);
    struct cost b = cost_of(&base, &other, NULL, 1000000);
    assert_int_equal(cost_compare(&base, &a, &b), 0);
    other.v[CPU]--;
    b = cost_of(&base, &other, NULL, 1000000);
    assert_int_equal(cost_compare(&base, &a, &b), 1);
    b = cost_of(&base, &other, NULL, 2000000);
    assert_int_equal(cost_compare(&base, &a, &b), -1);
}

/* Totals without a common multiple in reach: rounded weights, exact sums. */
static void huge_pools_have_rounded_weights(void **state)
{
    auto_mem struct policy *policy = make_policy();
    struct resource_vec total = {
        {999999937, 999999999989, 1152921504606846883, 1152921504606846881}};
    struct resource_vec all = total, half = {{0}};
    struct cost_base base;

    (void)state;
    cost_base_set_by(&base, &total, policy, &policy->pools[0]);
    struct cost cost = cost_of(&base, &all, NULL, 1);
    assert_int_equal(cost_compare_part(&base, &cost, 1, 1), 0);
    half.v[GPU] = total.v[GPU];
    half.v[MEMORY] = total.v[MEMORY];
    assert_true(fabs(cost_fraction(&base, &half) - 0.5) < 1e-9);
    all.v[CPU] = INT64_MAX; /* absurd: cut down, not wrapped */
    assert_true(cost_fraction(&base, &all) > 1);
}

static void weights_are_per_unit(void **state)
{
    auto_mem struct policy *policy = make_policy();
    struct pool_policy *pool = &policy->pools[0];
    struct resource_vec total = {{8, 64000, 128000000000}};
    struct resource_vec some = {{1, 4000, 16000000000}};
    struct resource_vec disk = {{0, 0, 0, 5}};
    struct cost_base base;

    (void)state;
    pool->cost_weights_ppm[GPU] = 20000000;
    pool->cost_weights_ppm[CPU] = 1000000;
    pool->cost_weights_ppm[MEMORY] = 250000;
    cost_base_set_by(&base, &total, policy, pool);
    assert_true(base.units == 64 + 32 + 160);
    struct cost cost = cost_of(&base, &some, NULL, 1);
    assert_int_equal(cost_compare_part(&base, &cost, 28, 256), 0);
    assert_true(cost_fraction(&base, &disk) == 0);
}

static void fractions_are_costs(void **state)
{
    auto_mem struct policy *policy = make_policy();
    struct resource_vec total = {{0, 100}}, half = {{0, 50}};
    struct cost_base base;

    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        policy->pools[0].cost = rule ? COST_WEIGHTED_SUM : COST_DRF;
        cost_base_set_by(&base, &total, policy, &policy->pools[0]);
        struct cost a = cost_of(&base, &half, NULL, 3000000);
        struct cost b = cost_of_fraction(&base, 0.5, 3000000);
        assert_int_equal(cost_compare(&base, &a, &b), 0);
        b = cost_of_fraction(&base, 0.5 + 1e-9, 3000000);
        assert_int_equal(cost_compare(&base, &a, &b), -1);
        b = cost_of_fraction(&base, 0.75, 2000000);
        assert_int_equal(cost_compare(&base, &a, &b), 0);
        b = cost_of_fraction(&base, 1e300, 1000000);
        assert_int_equal(cost_compare(&base, &a, &b), -1);
    }
}

static void decay_is_by_half_lives(void **state)
{
    (void)state;
    assert_true(flow_decay(0, 1000) == 1);
    assert_true(flow_decay(-5, 1000) == 1); /* a clock that goes back */
    assert_true(flow_decay(1000, 1000) == 0.5);
    assert_true(flow_decay(10000, 1000) == 1.0 / 1024);
    assert_true(flow_decay(1, 0) == 0);
    assert_true(flow_decay(INT64_MAX, 1) == 0);
    for (int ms = 1; ms < 5000; ms += 7) {
        double product = flow_decay(ms, 1000) * flow_decay(5000 - ms, 1000);
        assert_true(fabs(product - 1.0 / 32) < 1e-17);
        assert_true(flow_decay(ms, 1000) < flow_decay(ms - 1, 1000));
    }
}

static void flows_fall_to_a_given_excess_in_time(void **state)
{
    struct flow flow = {0};

    (void)state;
    flow_change(&flow, 1000, 0, 0, 0.5);
    assert_true(flow.excess == 0);
    flow_change(&flow, 1000, 500, 0.5, 0.1);
    assert_true(fabs(flow_excess(&flow, 1000, 1500) - 0.2) < 1e-15);
    int64_t when_ms = flow_when(&flow, 1000, 600, 0.05);
    assert_true(flow_excess(&flow, 1000, when_ms) <= 0.05);
    assert_true(flow_excess(&flow, 1000, when_ms - 1) > 0.05);
    assert_int_equal(flow_when(&flow, 1000, 600, 0.5), 600);
    assert_int_equal(flow_when(&flow, 1000, 600, 0), INT64_MAX);
    flow_change(&flow, 1000, 1500, 0.1, 0.3); /* up to what was remembered */
    assert_true(flow.excess == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(products_compare_in_full),
        TEST(ratios_round_to_the_side_asked_for),
        TEST(multiples_are_least_or_the_largest_allowed),
        TEST(sums_by_scarcity_are_exact),
        TEST(huge_pools_have_rounded_weights),
        TEST(weights_are_per_unit),
        TEST(fractions_are_costs),
        TEST(decay_is_by_half_lives),
        TEST(flows_fall_to_a_given_excess_in_time),
    };

    return RUN_TESTS(tests);
}
