/*
 * Host ports and resources beside the columns (extras.h).
 */
#include "world_fixture.h"

static struct host_port port = {.protocol = HOST_TCP, .port = 8080};

static const struct world_job with_port = {
    .queue = "A", .ports = &port, .port_count = 1};

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

static void one_of_a_port_on_each_node(void **state)
{
    struct world *w = *state;
    struct sched_explanation answer;

    world_node(w, &(struct world_node){"a", .cores = 8});
    world_node(w, &(struct world_node){"b", .cores = 8});
    uint32_t first = world_submit_many(w, &with_port, 3);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(world_running_of(w, first, 3), 2);
    assert_string_not_equal(world_node_of(w, first),
                            world_node_of(w, first + 1));
    sched_explain(w->sched, first + 2, 0, &answer);
    assert_int_equal(answer.wait, SCHED_WAIT_CAPACITY);
    assert_int_equal(answer.nodes_excluded[SCHED_EXCLUDED_EXTRA], 2);
    assert_true(str_equal(answer.extra, STR("port:TCP:8080")));
    world_end(w, first);
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(world_running_of(w, first, 3), 2);
}

static void who_has_the_port_is_preempted(void **state)
{
    struct world *w = *state;
    struct world_job low = {.queue = "A", .priority_class = "low"};
    struct world_job urgent = with_port;

    urgent.priority_class = "high";
    world_node(w, &(struct world_node){"a", .cores = 8});
    uint32_t plain = world_submit_many(w, &low, 3);
    low.ports = &port;
    low.port_count = 1;
    uint32_t holder = world_submit(w, &low);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 4);
    uint32_t job = world_submit(w, &urgent);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->is_gone[holder]);
    assert_string_equal(world_node_of(w, job), "a");
    assert_int_equal(world_running_of(w, plain, 3), 3);
}

static void a_resource_is_that_of_the_node(void **state)
{
    struct world *w = *state;
    struct world_job job = {.queue = "A", .dongles = 2};
    struct sched_explanation answer;

    world_node(w, &(struct world_node){"a", .cores = 8});
    uint32_t first = world_submit_many(w, &job, 2);
    sched_explain(w->sched, first, 0, &answer);
    assert_int_equal(answer.wait, SCHED_WAIT_NEVER_FITS);
    assert_true(str_equal(answer.unknown, STR("dongle")));
    world_node(w, &(struct world_node){"b", .cores = 8, .dongles = 3});
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, first), "b");
    assert_string_equal(world_node_of(w, first + 1), "");
    sched_explain(w->sched, first + 1, 0, &answer);
    assert_int_equal(answer.wait, SCHED_WAIT_CAPACITY);
    assert_true(str_equal(answer.extra, STR("dongle")));
    assert_int_equal(answer.unknown.byte_count, 0);
}

/* Logs of former releases are decided as they were. */
static void rules_before_know_no_other_resources(void **state)
{
    struct world *w = *state;
    struct world_job job = {.queue = "A", .dongles = 1};

    w->policy.rules_revision = POLICY_RULES_WISHES;
    world_restart(w);
    world_node(w, &(struct world_node){"b", .cores = 8, .dongles = 3});
    uint32_t first = world_submit(w, &job);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, first), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(one_of_a_port_on_each_node),
        SCENARIO(who_has_the_port_is_preempted),
        SCENARIO(a_resource_is_that_of_the_node),
        SCENARIO(rules_before_know_no_other_resources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
