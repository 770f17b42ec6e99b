/*
 * match: which pool a node belongs to, which is a job's home, and who may
 * lend (model.md 5.3, 8 "Pools").
 */
#include "pools/tables/match.h"
#include "unit.h"

#define TEXT(s)          \
    {                    \
        s, sizeof(s) - 1 \
    }

static const struct label cpu[] = {{TEXT("cpu"), TEXT("true")}};
static const struct label gpu[] = {{TEXT("gpu"), TEXT("true")}};
static const struct label both[] = {
    {TEXT("cpu"), TEXT("true")},
    {TEXT("gpu"), TEXT("true")},
};

static const struct pool_record cpu_pool = {
    .name = TEXT("cpu"),
    .has_selector = true,
    .labels = cpu,
    .label_count = 1,
};
static const struct pool_record gpu_pool = {
    .name = TEXT("gpu"),
    .has_selector = true,
    .labels = gpu,
    .label_count = 1,
};
static const struct pool_record *const two[] = {&cpu_pool, &gpu_pool};

static void po_01_a_node_belongs_to_the_one_pool_that_matches(void **state)
{
    uint32_t count;
    (void)state;

    assert_int_equal(match_node(two, 2, cpu, 1, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(match_node(two, 2, gpu, 1, &count), 1);
    assert_int_equal(match_node(two, 2, both, 2, &count), MATCH_DEFAULT);
    assert_int_equal(count, 2);
    assert_int_equal(match_node(two, 2, NULL, 0, &count), MATCH_DEFAULT);
    assert_int_equal(count, 0);
}

static void a_conflict_ends_with_one_of_the_pools(void **state)
{
    (void)state;

    assert_int_equal(match_node(two, 1, both, 2, NULL), 0);
    assert_int_equal(match_node(two, 1, gpu, 1, NULL), MATCH_DEFAULT);
}

static void jobs_without_a_pool_that_exists_are_at_home_in_default(void **state)
{
    (void)state;

    assert_int_equal(match_home(two, 2, STR("gpu")), 1);
    assert_int_equal(match_home(two, 2, STR("")), MATCH_DEFAULT);
    assert_int_equal(match_home(two, 2, STR("tpu")), MATCH_DEFAULT);
}

static void a_value_that_differs_does_not_match(void **state)
{
    const struct label other[] = {{STR("cpu"), STR("false")}};
    (void)state;

    assert_false(match_selects(&cpu_pool, other, 1));
}

static void
without_a_selector_no_node_matches_and_an_empty_one_takes_all(void **state)
{
    struct pool_record record = {.name = STR("p")};
    (void)state;

    assert_false(match_selects(&record, cpu, 1));
    record.has_selector = true;
    assert_true(match_selects(&record, cpu, 1));
    assert_true(match_selects(&record, NULL, 0));
}

static bool expression_matches(struct str key, enum affinity_operator op,
                               struct str *values, uint32_t value_count)
{
    struct affinity_expression expression = {
        .key = key, .op = op, .values = values, .value_count = value_count};
    struct pool_record record = {
        .has_selector = true,
        .expressions = &expression,
        .expression_count = 1,
    };

    return match_selects(&record, cpu, 1);
}

static void expressions_go_by_kubernetes_rules(void **state)
{
    struct str values[] = {STR("maybe"), STR("true")};
    (void)state;

    assert_true(expression_matches(STR("cpu"), AFFINITY_IN, values, 2));
    assert_false(expression_matches(STR("cpu"), AFFINITY_IN, values, 1));
    assert_false(expression_matches(STR("cpu"), AFFINITY_NOT_IN, values, 2));
    assert_true(expression_matches(STR("gpu"), AFFINITY_NOT_IN, values, 2));
    assert_true(expression_matches(STR("cpu"), AFFINITY_EXISTS, NULL, 0));
    assert_false(expression_matches(STR("gpu"), AFFINITY_EXISTS, NULL, 0));
    assert_true(
        expression_matches(STR("gpu"), AFFINITY_DOES_NOT_EXIST, NULL, 0));
}

static void labels_and_expressions_must_all_hold(void **state)
{
    struct affinity_expression expression = {.key = STR("gpu"),
                                             .op = AFFINITY_DOES_NOT_EXIST};
    struct pool_record record = cpu_pool;
    (void)state;

    record.expressions = &expression;
    record.expression_count = 1;
    assert_true(match_selects(&record, cpu, 1));
    assert_false(match_selects(&record, both, 2));
}

static void who_lends_is_a_matter_of_both_records(void **state)
{
    const struct str lenders[] = {STR("default"), STR("gpu")};
    struct pool_record home = cpu_pool, closed = gpu_pool, third = gpu_pool;
    (void)state;

    closed.is_sharing_off = true;
    third.name = STR("tpu");
    assert_true(match_may_borrow(&home, &gpu_pool));
    assert_false(match_may_borrow(&home, &home));
    assert_false(match_may_borrow(&home, &closed));
    assert_true(match_may_borrow(&home, NULL));
    assert_true(match_may_borrow(NULL, &gpu_pool));
    home.lenders = lenders;
    home.lender_count = 2;
    assert_true(match_may_borrow(&home, &gpu_pool));
    assert_false(match_may_borrow(&home, &third));
    assert_true(match_may_borrow(&home, NULL));
    home.lenders = lenders + 1;
    home.lender_count = 1;
    assert_false(match_may_borrow(&home, NULL));
    home.is_borrowing_off = true;
    assert_false(match_may_borrow(&home, &gpu_pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(po_01_a_node_belongs_to_the_one_pool_that_matches),
        TEST(a_conflict_ends_with_one_of_the_pools),
        TEST(jobs_without_a_pool_that_exists_are_at_home_in_default),
        TEST(a_value_that_differs_does_not_match),
        TEST(without_a_selector_no_node_matches_and_an_empty_one_takes_all),
        TEST(expressions_go_by_kubernetes_rules),
        TEST(labels_and_expressions_must_all_hold),
        TEST(who_lends_is_a_matter_of_both_records),
    };

    return RUN_TESTS(tests);
}
