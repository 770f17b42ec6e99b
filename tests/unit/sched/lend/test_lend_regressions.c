/* Readings of the rules about borrowers that the oracle of tests/prop/sched
 * and the planner once differed about. */
#include "world_fixture.h"

static uint32_t run(struct world *w, uint32_t node, int64_t cores,
                    bool is_borrowed)
{
    uint32_t job = world_submit(
        w, &(struct world_job){
               .queue = "D", .cores = cores, .is_borrowed = is_borrowed});

    world_lease(w, job, node, 0);
    return job;
}

static void the_borrower_goes_where_least_is_lost(void **state)
{
    struct world *w = *state;
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 6});
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 5});

    /* One goes on either node; then a core is left on m, and two on n, which
     * is filled more while all borrowers are away. */
    sched_preemption_set(w->sched, false);
    uint32_t victim = run(w, m, 4, true);
    (void)run(w, m, 2, true);
    (void)run(w, n, 5, true);
    uint32_t own =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, own), "m");
}

static void urgent_surplus_of_borrowers_is_safe_without_preemption(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});

    sched_preemption_set(w->sched, true);
    uint32_t group =
        world_submit_group(w,
                           &(struct world_job){.queue = "A",
                                               .gang = "g",
                                               .priority_class = "high",
                                               .is_borrowed = true},
                           &terms);
    world_lease(w, group, node, 0);
    world_lease(w, group + 1, node, 0);
    world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
}

/* The first of a queue has no room; so had nothing of its like at home, or
 * there is none.  Either way its queue's turn is that of the first. */
static void turns_of_borrowers_hang_on_no_work_at_home(void **state)
{
    struct world *w = *state;

    for (int has_own = 0; has_own < 2; has_own++) {
        world_restart(w);
        world_node(w, &(struct world_node){"m", .cores = 1});
        uint32_t n = world_node(w, &(struct world_node){"n", .cores = 4});
        (void)run(w, n, 4, false);
        world_submit(w, &(struct world_job){
                            .queue = "A", .cores = 5, .is_borrowed = true});
        world_submit(w, &(struct world_job){.queue = "A", .is_borrowed = true});
        uint32_t b = world_submit(
            w, &(struct world_job){.queue = "B", .is_borrowed = true});
        if (has_own) {
            world_submit(w, &(struct world_job){.queue = "C", .cores = 5});
        }
        world_round(w, ROUND_FAST, 1);
        assert_string_equal(world_node_of(w, b), "m");
    }
}

/* Only growth keeps off; the gang's pods and the borrower ask for the same. */
static void gpus_that_growth_keeps_off_are_open_to_borrowers(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    world_node(w, &(struct world_node){"c", .cores = 1});
    world_node(w, &(struct world_node){"g", .cores = 1, .gpus = 1});
    uint32_t unit = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "u"}, &terms);
    world_submit(w, &(struct world_job){.queue = "A", .cores = 2, .gpus = 1});
    uint32_t borrower =
        world_submit(w, &(struct world_job){.queue = "B", .is_borrowed = true});
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, unit), "c");
    assert_string_equal(world_node_of(w, unit + 1), "");
    assert_string_equal(world_node_of(w, borrower), "g");
}

/* A borrower makes room at once, for the least urgent work of the pool's own
 * too: so what is reserved for that may count on it. */
static void a_reservation_counts_on_borrowers(void **state)
{
    struct world *w = *state;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});
    uint32_t borrower = run(w, node, 2, true);
    uint32_t head = world_submit(
        w, &(struct world_job){.queue = "A", .priority_class = "low"});
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].start_ms, 1000);
    world_round(w, ROUND_BALANCE, 2000);
    assert_true(w->is_gone[borrower]);
    assert_string_equal(world_node_of(w, head), "n");
}

/* What a borrower's class is at home is nothing here: one that yields uses up
 * nothing of what is left beside a reservation. */
static void an_urgent_borrower_that_yields_leaves_room_beside(void **state)
{
    struct world *w = *state;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t busy =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .priority_class = "fixed",
                                            .cores = 7,
                                            .deadline_s = 100});
    world_lease(w, busy, node, 0);
    sched_job_age_from(w->sched, busy, 0);
    uint32_t head = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "fixed", .cores = 9});
    uint32_t urgent = world_submit(w, &(struct world_job){
                                          .queue = "B",
                                          .priority_class = "high",
                                          .cores = 2,
                                          .is_borrowed = true,
                                      });
    uint32_t lasting = world_submit(w, &(struct world_job){
                                           .queue = "B",
                                           .priority_class = "fixed",
                                           .is_borrowed = true,
                                       });
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->plan.decisions[0].start_ms, 100000);
    assert_int_equal(w->plan.decisions[1].job, urgent);
    assert_int_equal(w->plan.decisions[1].revocable_for, head);
    assert_string_equal(world_node_of(w, lasting), "n");
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(the_borrower_goes_where_least_is_lost),
        SCENARIO(urgent_surplus_of_borrowers_is_safe_without_preemption),
        SCENARIO(turns_of_borrowers_hang_on_no_work_at_home),
        SCENARIO(gpus_that_growth_keeps_off_are_open_to_borrowers),
        SCENARIO(a_reservation_counts_on_borrowers),
        SCENARIO(an_urgent_borrower_that_yields_leaves_room_beside),
    };

    return RUN_TESTS(tests);
}
