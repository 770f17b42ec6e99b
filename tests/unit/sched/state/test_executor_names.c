/* Executors by name: known while they have nodes, or are closed. */
#include <stdio.h>

#include "sched/sched_records.h"
#include "world_fixture.h"

/* How many numbers are in use. */
static uint32_t known_count(const struct world *w)
{
    uint32_t count = 0;
    bool accepts;

    for (uint32_t i = 0; i < sched_executors_end(w->sched); i++) {
        count += sched_executor_at(w->sched, i, &accepts).byte_count > 0;
    }
    return count;
}

static void one_goes_with_its_last_node(void **state)
{
    enum { CLUSTERS = 100 };
    struct world *w = *state;
    char executor[16];

    for (int i = 0; i < CLUSTERS; i++) {
        (void)snprintf(executor, sizeof(executor), "cluster-%d", i);
        uint32_t a = world_node(
            w, &(struct world_node){"a", .cores = 1, .executor = executor});
        uint32_t b = world_node(
            w, &(struct world_node){"b", .cores = 1, .executor = executor});
        world_round(w, ROUND_BALANCE, i);
        sched_node_remove(w->sched, a);
        world_round(w, ROUND_BALANCE, i);
        assert_int_equal(known_count(w), 1);
        sched_node_remove(w->sched, b);
        world_round(w, ROUND_BALANCE, i);
        assert_int_equal(known_count(w), 0);
    }
    assert_int_equal(sched_executors_end(w->sched), 1); /* used again */
}

static void one_that_is_closed_is_remembered(void **state)
{
    struct world *w = *state;
    bool accepts = true;

    sched_executor_set(w->sched, STR("e"), false);
    assert_int_equal(known_count(w), 1);
    assert_true(str_equal(sched_executor_at(w->sched, 0, &accepts), STR("e")));
    assert_false(accepts);
    world_node(w, &(struct world_node){"n", .cores = 1});
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 1});
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "");
    sched_executor_set(w->sched, STR("e"), true);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, job), "n");
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_goes_with_its_last_node),
        CASE(one_that_is_closed_is_remembered),
    };

    return RUN_TESTS(tests);
}
