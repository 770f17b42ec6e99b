/*
 * Where the published designs contradict one another, and what Berth does:
 * rows of docs/conflicts.md (model.md 6.9) that no scenario shows by itself.
 */
#include "world_fixture.h"

/* A runs 20 cores and 40 GB of 100 and 400, B 10 and 120; one core is left
 * for whom the cost says. */
static uint32_t next_of_two(struct world *w, enum cost_rule cost)
{
    w->policy.pools[0].cost = cost;
    w->policy.pools[0].cost_weights_ppm[CPU] = FRACTION_ONE_PPM;
    world_restart(w);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    uint32_t full =
        world_node(w, &(struct world_node){"n", .cores = 99, .memory_gb = 399});
    uint32_t a =
        world_submit(w, &(struct world_job){"A", .cores = 20, .memory_gb = 40});
    uint32_t b = world_submit(
        w, &(struct world_job){"B", .cores = 10, .memory_gb = 120});
    world_lease(w, a, full, 0);
    world_lease(w, b, full, 0);
    /* What is left of the node would take both; the new one takes one. */
    world_node(w, &(struct world_node){"n", .cores = 30, .memory_gb = 160});
    world_node(w, &(struct world_node){"new", .cores = 1, .memory_gb = 1});
    a = world_submit(w, &(struct world_job){"A", .memory_gb = 1});
    b = world_submit(w, &(struct world_job){"B", .memory_gb = 1});
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->leased_count, 1);
    return w->plan.decisions[0].job == a ? 0 : 1;
}

static void conflict_02_one_slot_holds_either_cost(void **state)
{
    struct world *w = *state;

    assert_int_equal(next_of_two(w, COST_DRF), 0); /* 0.2 before 0.3 */
    world_fini(w);
    world_init(w);
    assert_int_equal(next_of_two(w, COST_WEIGHTED_SUM), 1); /* 20 after 10 */
}

static void conflict_13_queues_that_want_nothing_have_no_share(void **state)
{
    struct world *w = *state;

    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    world_queue(w, "C", 1); /* wants nothing */
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 12});
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A"}, 12);
    for (uint32_t i = 0; i < 12; i++) {
        world_lease(w, first + i, node, 0);
    }
    world_submit_many(w, &(struct world_job){.queue = "B"}, 12);
    world_round(w, ROUND_BALANCE, 1000);
    /* Halves, not thirds. */
    assert_int_equal(world_running(w, "A"), 6);
    assert_int_equal(world_running(w, "B"), 6);
}

static const char *first_by_fifo(struct world *w, bool is_class_ignored)
{
    struct queue_record record = {
        .ordering = QUEUE_BY_FIFO,
        .is_class_priority_ignored = is_class_ignored,
    };

    world_queue_by(w, "Q", &record);
    world_node(w, &(struct world_node){"n", .cores = 1});
    world_submit(w, &(struct world_job){"Q", .priority_class = "low",
                                        .application = "older",
                                        .submitted_ms = 1});
    world_submit(w, &(struct world_job){"Q", .priority_class = "high",
                                        .application = "younger",
                                        .submitted_ms = 2});
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->leased_count, 1);
    return w->records[w->plan.decisions[0].job].application;
}

static void conflict_15_classes_go_before_the_age_of_applications(void **state)
{
    struct world *w = *state;

    assert_string_equal(first_by_fifo(w, false), "younger");
    world_fini(w);
    world_init(w);
    assert_string_equal(first_by_fifo(w, true), "older");
}

static void conflict_17_infinite_work_goes_by_the_plain_share(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].over_share_ppm = FRACTION_ONE_PPM / 5;
    world_restart(w);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 100});
    uint32_t b = world_submit(w, &(struct world_job){"B", .cores = 10});
    world_lease(w, b, node, 0);
    world_submit_many(
        w, &(struct world_job){.queue = "A", .priority_class = "fixed"}, 100);
    world_round(w, ROUND_BALANCE, 1000);
    /* 1.2 times its half; B leaves it 90 of the pool. */
    assert_int_equal(world_running(w, "A"), 60);
}

#define SCENE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(conflict_02_one_slot_holds_either_cost),
        SCENE(conflict_13_queues_that_want_nothing_have_no_share),
        SCENE(conflict_15_classes_go_before_the_age_of_applications),
        SCENE(conflict_17_infinite_work_goes_by_the_plain_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
