/*
 * scenario: what is no scenario is refused with the place and what is wrong.
 */
#include "sim/scenario.h"
#include "unit.h"

static const char good[] =
    "clusters: [{name: c, nodes: [{name: n, resources: {cpu: 4}}]}]\n"
    "queues: [{name: q}]\n"
    "jobs: [{name: j, queue: q, count: 100, resources: {cpu: 1}}]\n";

static struct scenario *read_it(struct arena *arena, const char *text,
                                struct err *err)
{
    struct scenario *scenario = NULL;

    return scenario_read(str_of(text), "s.yaml", arena, &scenario, err) == 0
               ? scenario
               : NULL;
}

static void a_short_scenario_has_defaults_for_the_rest(void **state)
{
    auto_arena arena = {0};
    struct err err;
    const struct scenario *scenario = read_it(&arena, good, &err);

    (void)state;
    assert_non_null(scenario);
    assert_int_equal(scenario->cluster_count, 1);
    assert_int_equal(scenario->clusters[0].nodes[0].count, 1);
    assert_true(str_equal(scenario->clusters[0].pool, STR("default")));
    assert_int_equal(scenario->streams[0].run.a_ms, 60000);
    assert_int_equal(scenario->queues[0].weight_milli, 1000);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"seed: 1\n", "clusters: must be given"},
        {"clusters: [{name: c, nodes: [{name: n, resources: {cpu: 4}, size: "
         "2}]}]\nqueues: [{name: q}]\njobs: [{name: j, queue: q, count: 1, "
         "resources: {cpu: 1}}]\n",
         "size"},
        {"clusters: [{name: c, nodes: [{name: n, resources: {cpu: 4}}]}]\n"
         "queues: [{name: q}]\n"
         "jobs: [{name: j, queue: p, count: 1, resources: {cpu: 1}}]\n",
         "queue is not among"},
        {"clusters: [{name: c, nodes: [{name: n, resources: {cpu: 4}}]}]\n"
         "queues: [{name: q}]\n"
         "jobs: [{name: j, queue: q, resources: {cpu: 1}}]\n",
         "needs a count"},
        {"clusters: [{name: c, nodes: [{name: n, resources: {cpu: 4}}]}]\n"
         "queues: [{name: q}]\n"
         "jobs: [{name: j, queue: q, count: 1, resources: {cpu: 1}, "
         "runTime: {spread: uniform, a: 2m, b: 1m}}]\n",
         "runTime.b"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        struct err err = {{0}};
        assert_null(read_it(&arena, cases[i].text, &err));
        if (!strstr(err.text, cases[i].said)) {
            fail_msg("case %zu: %s", i, err.text);
        }
    }
}

static void a_part_has_at_least_one_of_each(void **state)
{
    auto_arena arena = {0};
    struct err err;
    struct scenario *scenario = read_it(&arena, good, &err);

    (void)state;
    scenario_scale(scenario, 10);
    assert_int_equal(scenario->streams[0].count, 10);
    assert_int_equal(scenario->clusters[0].nodes[0].count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_scenario_has_defaults_for_the_rest),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_part_has_at_least_one_of_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
