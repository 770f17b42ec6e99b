/*
 * scenario: what is no scenario is refused with the place and what is wrong.
 */
#include "sim/scenario/scenario.h"
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

/* A window of a log has a stream for each of its jobs. */
static void a_scenario_may_have_very_many_streams(void **state)
{
    enum { STREAMS = 5000 };
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct err err = {{0}};

    (void)state;
    strbuf_add_text(&text,
                    "clusters: [{name: c, nodes: [{name: n, resources: {cpu: "
                    "4}}]}]\nqueues: [{name: q}]\njobs:\n");
    for (int i = 0; i < STREAMS; i++) {
        strbuf_addf(&text,
                    "  - {name: j%d, queue: q, count: 1, "
                    "resources: {cpu: 1}}\n",
                    i);
    }
    const struct scenario *scenario = read_it(&arena, strbuf_text(&text), &err);
    if (!scenario) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(scenario->stream_count, STREAMS);
    assert_true(str_equal(scenario->streams[STREAMS - 1].name, STR("j4999")));
}

static void what_does_not_go_together_is_named_with_what_may_be(void **state)
{
    static const struct {
        const char *job, *said;
    } cases[] = {
        {"queue: p, count: 1", "jobs[0].queue: \"p\" is not one of: q r"},
        {"count: 1, priorityClass: vip",
         "jobs[0].priorityClass: \"vip\" is not one of: armada"},
        {"count: 1, pool: gold",
         "jobs[0].pool: \"gold\" is not one of: default"},
        {"count: 0", "jobs[0].count: must be given where arrivals are atOnce"},
        {"arrivals: poisson",
         "jobs[0].last: must be given where there is no count"},
        {"arrivals: steady, last: 1h, rate: 0", "jobs[0].rate: must be more"},
        {"count: 1, first: 1h, last: 30m",
         "jobs[0].last: 1800 s is before first, 3600"},
        {"count: 1, runTime: {distribution: uniform, a: 2m, b: 1m}",
         "jobs[0].runTime.b: 60 s is less than runTime.a, 120"},
        {"count: 1, gang: {size: 2, minimum: 3}",
         "jobs[0].gang.minimum: 3 is more than gang.size, 2"},
        {"count: 1, lifetime: never",
         "jobs[0].lifetime: \"never\" is neither a duration"},
        {"count: 1, nodeSelector: [a=b, zone]",
         "jobs[0].nodeSelector[1]: \"zone\" is not of the form key=value"},
        {"count: 1, podGroup: {subGroups: [{name: w, min: 1, resources: {cpu: "
         "1}}]}",
         "jobs[0].resources: cannot be given with podGroup"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        auto_strbuf text = {0};
        struct err err = {{0}};
        bool has_queue = strstr(cases[i].job, "queue:");
        strbuf_addf(&text,
                    "clusters: [{name: c, nodes: [{name: n, resources: {cpu: "
                    "4}}]}]\nqueues: [{name: q}, {name: r}]\n"
                    "jobs: [{name: j, %s%s, resources: {cpu: 1}}]\n",
                    has_queue ? "" : "queue: q, ", cases[i].job);
        assert_null(read_it(&arena, strbuf_text(&text), &err));
        if (!strstr(err.text, cases[i].said)) {
            fail_msg("case %zu: %s", i, err.text);
        }
    }
}

static void a_name_stands_for_one_thing(void **state)
{
    static const struct {
        const char *nodes, *queues, *said;
    } cases[] = {
        {"{name: n, resources: {cpu: 4}}, {name: n, resources: {cpu: 8}}",
         "{name: q}",
         "s.yaml: clusters[0].nodes[1].name: \"n\" is nodes[0] already"},
        {"{name: n, resources: {cpu: 4}}", "{name: q}, {name: r}, {name: q}",
         "s.yaml: queues[2].name: \"q\" is queues[0] already"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        auto_strbuf text = {0};
        struct err err = {{0}};
        strbuf_addf(&text,
                    "clusters: [{name: c, nodes: [%s]}]\nqueues: [%s]\njobs: "
                    "[{name: j, queue: q, count: 1, resources: {cpu: 1}}]\n",
                    cases[i].nodes, cases[i].queues);
        assert_null(read_it(&arena, strbuf_text(&text), &err));
        assert_string_equal(err.text, cases[i].said);
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
        cmocka_unit_test(a_scenario_may_have_very_many_streams),
        cmocka_unit_test(what_does_not_go_together_is_named_with_what_may_be),
        cmocka_unit_test(a_name_stands_for_one_thing),
        cmocka_unit_test(a_part_has_at_least_one_of_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
