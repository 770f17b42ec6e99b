/* The scenarios of model.md section 8 that belong to the base: AR and BK. */
#include "world_fixture.h"

static void make_nodes(struct world *world, const char *const *names,
                       uint32_t count, int64_t cores)
{
    for (uint32_t i = 0; i < count; i++) {
        world_node(world, &(struct world_node){names[i], .cores = cores});
    }
}

static const char *const NAMES[] = {"n0", "n1", "n2", "n3", "n4",
                                    "n5", "n6", "n7", "n8", "n9"};

/* AR-01: higher class first, then smaller job priority, then older. */
static void ar01_orders_jobs_of_a_queue(void **state)
{
    struct world *w = *state;
    uint32_t first = world_submit(
        w, &(struct world_job){.queue = "A", .priority = 5, .submitted_ms = 1});
    uint32_t second = world_submit(
        w, &(struct world_job){.queue = "A", .priority = 1, .submitted_ms = 3});
    uint32_t third =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .priority = 9,
                                            .submitted_ms = 9,
                                            .priority_class = "high"});

    make_nodes(w, NAMES, 1, 10);
    sched_plan(w->sched, 0, ROUND_BALANCE, 100, &w->plan);
    assert_int_equal(w->plan.decision_count, 3);
    assert_int_equal(w->plan.decisions[0].job, third);
    assert_int_equal(w->plan.decisions[1].job, second);
    assert_int_equal(w->plan.decisions[2].job, first);
    assert_true(sched_is_consistent(w->sched));
}

/* A pool of 100 cores and 400 GB where A runs 20/40 and B 10/120. */
static void fill_ar02(struct world *w, double factor_of_b)
{
    world_queue(w, "A", 1);
    world_queue(w, "B", factor_of_b);
    uint32_t node = world_node(
        w, &(struct world_node){"n", .cores = 100, .memory_gb = 400});
    uint32_t a = world_submit(
        w, &(struct world_job){.queue = "A", .cores = 20, .memory_gb = 40});
    uint32_t b = world_submit(
        w, &(struct world_job){.queue = "B", .cores = 10, .memory_gb = 120});
    world_lease(w, a, node, 0);
    world_lease(w, b, node, 0);
}

/* AR-02: the queue with the smaller dominant share by weight goes next. */
static void ar02_takes_the_smaller_cost_first(void **state)
{
    struct world *w = *state;

    fill_ar02(w, 1);
    uint32_t a = world_submit(w, &(struct world_job){.queue = "A"});
    world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->plan.decisions[0].job, a);
}

/* AR-02 with weight 2 for B (here: A has the factor 2): B goes next. */
static void ar02_weighs_costs(void **state)
{
    struct world *w = *state;

    fill_ar02(w, 1);
    world_queue(w, "A", 2);
    world_submit(w, &(struct world_job){.queue = "A"});
    uint32_t b = world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->plan.decisions[0].job, b);
}

/* AR-03: a gang counts with all it asks for. */
static void ar03_counts_the_whole_gang(void **state)
{
    struct world *w = *state;

    fill_ar02(w, 1);
    world_submit_many(w,
                      &(struct world_job){
                          .queue = "A",
                          .cores = 10,
                          .gang = "g",
                          .cardinality = 5,
                      },
                      5);
    uint32_t b = world_submit(
        w, &(struct world_job){.queue = "B", .cores = 1, .memory_gb = 4});
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->plan.decisions[0].job, b);
    assert_int_equal(w->leased_count, 6);
}

/* Ten nodes of 10; A runs 8 jobs of 10, leased one after the other. */
static uint32_t fill_ar04(struct world *w, const char *owner)
{
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    for (uint32_t i = 0; i < 10; i++) {
        world_node(w, &(struct world_node){NAMES[i], .cores = 10});
    }
    uint32_t first = world_submit_many(
        w, &(struct world_job){.queue = owner, .cores = 10}, 8);
    for (uint32_t i = 0; i < 8; i++) {
        world_round(w, ROUND_FAST, i);
    }
    return first;
}

/* AR-04: the newest of the queue over its share go, no more than needed. */
static void ar04_preempts_down_to_the_fair_share(void **state)
{
    struct world *w = *state;
    uint32_t first = fill_ar04(w, "A");

    world_submit_many(w, &(struct world_job){.queue = "B", .cores = 10}, 5);
    world_round(w, ROUND_BALANCE, 100);
    assert_int_equal(w->preempted_count, 3);
    assert_int_equal(w->leased_count, 5);
    assert_int_equal(world_running(w, "A"), 5);
    assert_int_equal(world_running(w, "B"), 5);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(w->is_gone[first + i], i >= 5);
    }
    assert_true(sched_is_consistent(w->sched));
}

/* AR-04 with the names changed: ties end in names, not in preemption. */
static void ar04_holds_under_renaming(void **state)
{
    struct world *w = *state;

    fill_ar04(w, "B");
    world_submit_many(w, &(struct world_job){.queue = "A", .cores = 10}, 5);
    world_round(w, ROUND_BALANCE, 100);
    assert_int_equal(w->preempted_count, 3);
    assert_int_equal(world_running(w, "A"), 5);
    assert_int_equal(world_running(w, "B"), 5);
}

/* AR-05: who is over its share gives way to the more urgent first. */
static void ar05_takes_from_the_queue_over_its_share(void **state)
{
    struct world *w = *state;

    /* A is at 150 % of its share and B at 50 %: C asks for nothing. */
    world_queue(w, "A", 2);
    world_queue(w, "B", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t b = world_submit(w, &(struct world_job){.queue = "B", .cores = 5});
    uint32_t a = world_submit(w, &(struct world_job){.queue = "A", .cores = 5});
    world_lease(w, a, node, 0);
    world_lease(w, b, node, 1);
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "C", .cores = 5, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->is_gone[a]);
    assert_false(w->is_gone[b]);
    assert_string_equal(world_node_of(w, urgent), "n");
}

/* AR-06: what was preempted and comes again preempts nobody. */
static void ar06_is_stable(void **state)
{
    struct world *w = *state;

    fill_ar04(w, "A");
    world_submit_many(w, &(struct world_job){.queue = "B", .cores = 10}, 5);
    world_round(w, ROUND_BALANCE, 100);
    world_submit_many(w, &(struct world_job){.queue = "A", .cores = 10}, 3);
    for (int i = 0; i < 10; i++) {
        world_round(w, ROUND_BALANCE, 200 + i);
        assert_int_equal(w->plan.decision_count, 0);
    }
}

static uint32_t submit_ar09(struct world *w)
{
    return world_submit_many(w,
                             &(struct world_job){
                                 .queue = "A",
                                 .gang = "g",
                                 .cardinality = 8,
                                 .minimum = 5,
                             },
                             8);
}

/* AR-09: with room for the minimum the rest fails. */
static void ar09_starts_with_the_minimum(void **state)
{
    struct world *w = *state;

    make_nodes(w, NAMES, 1, 6);
    submit_ar09(w);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 6);
    assert_int_equal(w->failed_count, 2);
}

/* AR-09: with room for fewer nothing happens, and the reason says so. */
static void ar09_waits_below_the_minimum(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    make_nodes(w, NAMES, 1, 4);
    uint32_t first = submit_ar09(w);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    sched_explain(w->sched, first, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_GANG_CAPACITY);
    assert_int_equal(why.present, 4);
    assert_int_equal(why.wanted, 5);
    assert_true(sched_is_consistent(w->sched));
}

/* A gang of which a member is missing waits for it. */
static void gang_waits_for_its_members(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;
    struct world_job member = {.queue = "A", .gang = "g", .cardinality = 3};

    make_nodes(w, NAMES, 1, 4);
    uint32_t first = world_submit_many(w, &member, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    sched_explain(w->sched, first, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_GANG);
    assert_int_equal(why.present, 2);
    assert_int_equal(why.wanted, 3);
    world_submit(w, &member);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 3);
}

static void make_racks(struct world *w)
{
    for (uint32_t i = 0; i < 8; i++) {
        world_node(w, &(struct world_node){
                          .name = NAMES[i],
                          .cores = 1,
                          .label_key = "rack",
                          .label_value = i < 3 ? "r1" : "r2",
                      });
    }
}

/* AR-10: all members of a uniform gang go to one rack. */
static void ar10_keeps_a_gang_in_one_rack(void **state)
{
    struct world *w = *state;

    make_racks(w);
    uint32_t first = world_submit_many(w,
                                       &(struct world_job){
                                           .queue = "A",
                                           .gang = "g",
                                           .cardinality = 4,
                                           .uniformity = "rack",
                                       },
                                       4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(world_node_of(w, first + i)[1] >= '3');
    }
}

/* AR-10: 8 free slots in two racks do not hold a uniform gang of 6. */
static void ar10_does_not_split_a_gang(void **state)
{
    struct world *w = *state;

    make_racks(w);
    world_submit_many(w,
                      &(struct world_job){
                          .queue = "A",
                          .gang = "g",
                          .cardinality = 6,
                          .uniformity = "rack",
                      },
                      6);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
}

static void limit_starts(struct world *w)
{
    w->policy.pools[0].start_limits[0] =
        (struct resource_fraction){STR("cpu"), 200000};
    w->policy.pools[0].start_limit_count = 1;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 100});
}

/* AR-11: a fifth of the pool may start per 10 s, refilled evenly. */
static void ar11_limits_resources_started(void **state)
{
    struct world *w = *state;
    uint32_t started[41] = {0};

    struct sched_explanation why;

    limit_starts(w);
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A"}, 100);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 20);
    sched_explain(w->sched, first + 20, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_RESOURCE_RATE);
    assert_int_equal(why.resource, CPU);
    assert_int_equal(why.limit, 20000);
    assert_int_equal(why.until_ms, 500); /* a core each half second */
    for (int64_t second = 0; second <= 40; second++) {
        world_round(w, ROUND_FAST, second * 1000);
        started[second] = world_running(w, "A"); /* so far; they do not end */
        if (second >= 10) {
            assert_true(started[second] - started[second - 10] <= 40);
        }
    }
    assert_int_equal(started[0], 20);
    assert_int_equal(started[10], 40);
    assert_int_equal(started[20], 60);
    assert_int_equal(started[30], 80);
    assert_int_equal(started[40], 100);
}

/* AR-11: one gang may overdraw a full bucket; the next job pays for it. */
static void ar11_lets_a_gang_overdraw(void **state)
{
    struct world *w = *state;

    limit_starts(w);
    world_submit_many(w,
                      &(struct world_job){
                          .queue = "A",
                          .gang = "g",
                          .cardinality = 30,
                      },
                      30);
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->leased_count, 30);
    world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->leased_count, 0);
    assert_int_equal(w->plan.next_wake_ms, 6500);
    world_round(w, ROUND_FAST, 6499);
    assert_int_equal(w->leased_count, 0);
    world_round(w, ROUND_FAST, 6500);
    assert_int_equal(w->leased_count, 1);
}

/* AR-11: 10 jobs a second with a burst of 5 per queue. */
static void ar11_limits_jobs_started(void **state)
{
    struct world *w = *state;
    uint32_t count = 0;
    struct sched_explanation why;

    w->policy.rate_per_queue = (struct rate_limit){10000, 5};
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 100});
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A"}, 100);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 5);
    assert_int_equal(w->plan.next_wake_ms, 100);
    sched_explain(w->sched, first + 99, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_QUEUE_RATE);
    assert_int_equal(why.until_ms, 100);
    while (w->plan.next_wake_ms <= 2000) {
        world_round(w, ROUND_FAST, w->plan.next_wake_ms);
        count += w->leased_count;
    }
    assert_int_equal(count, 20);
}

/* Two nodes of 10; A (weight 1) runs 6 on n1, B (weight 4) asks for 5. */
static void fill_ar14(struct world *w, bool is_n2_full, uint32_t *ret_a,
                      uint32_t *ret_five)
{
    world_queue(w, "A", 4);
    world_queue(w, "B", 1);
    uint32_t n1 = world_node(w, &(struct world_node){"n1", .cores = 10});
    uint32_t n2 = world_node(w, &(struct world_node){"n2", .cores = 10});
    *ret_a = world_submit(w, &(struct world_job){.queue = "A", .cores = 6});
    world_lease(w, *ret_a, n1, 0);
    if (is_n2_full) {
        uint32_t b =
            world_submit(w, &(struct world_job){.queue = "B", .cores = 10});
        world_lease(w, b, n2, 0);
    }
    *ret_five = world_submit(w, &(struct world_job){.queue = "B", .cores = 5});
    world_submit_many(w,
                      &(struct world_job){
                          .queue = "B",
                          .cores = 8,
                          .gang = "g",
                          .cardinality = 2,
                      },
                      2);
}

/* AR-14: new work goes beside evicted work where it can. */
static void ar14_places_beside_what_is_evicted(void **state)
{
    struct world *w = *state;
    uint32_t a, five;

    fill_ar14(w, false, &a, &five);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, five), "n2");
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(w->preempted_count, 0);
    assert_string_equal(world_node_of(w, a), "n1");
    assert_true(sched_is_consistent(w->sched));
}

/* AR-14: and takes its place where it cannot. */
static void ar14_preempts_when_there_is_no_other_place(void **state)
{
    struct world *w = *state;
    uint32_t a, five;

    fill_ar14(w, true, &a, &five);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, five), "n1");
    assert_true(w->is_gone[a]);
    assert_int_equal(w->plan.decisions[0].action, SCHED_PREEMPT);
    assert_int_equal(w->plan.decisions[0].for_job, five);
    assert_int_equal(w->plan.decisions[0].group, w->plan.decisions[1].group);
}

/* BK-12: six jobs of 4 fill two nodes of 16 and leave the third empty. */
static void bk12_uses_few_nodes(void **state)
{
    struct world *w = *state;
    uint32_t used[3] = {0};

    make_nodes(w, NAMES, 3, 16);
    world_submit_many(w, &(struct world_job){.queue = "A", .cores = 4}, 6);
    world_round(w, ROUND_FAST, 0);
    for (uint32_t i = 0; i < 6; i++) {
        used[world_node_of(w, i)[1] - '0'] += 4;
    }
    assert_int_equal(used[0], 16);
    assert_int_equal(used[1], 8);
    assert_int_equal(used[2], 0);
}

/* BK-13: the node on which least is left over, by the pool's weights: a GB
 * counts a quarter of a core.  The pool has 128 cores and 192 GB. */
static void bk13_leaves_least_over(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].packing_weights_ppm[CPU] = 128 * 1000000;
    w->policy.pools[0].packing_weights_ppm[MEMORY] = 192 * 250000;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 72, .memory_gb = 128});
    world_node(w, &(struct world_node){"b", .cores = 56, .memory_gb = 64});
    uint32_t job = world_submit(
        w, &(struct world_job){.queue = "A", .cores = 50, .memory_gb = 32});
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, job), "b");
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(ar01_orders_jobs_of_a_queue),
        SCENARIO(ar02_takes_the_smaller_cost_first),
        SCENARIO(ar02_weighs_costs),
        SCENARIO(ar03_counts_the_whole_gang),
        SCENARIO(ar04_preempts_down_to_the_fair_share),
        SCENARIO(ar04_holds_under_renaming),
        SCENARIO(ar05_takes_from_the_queue_over_its_share),
        SCENARIO(ar06_is_stable),
        SCENARIO(ar09_starts_with_the_minimum),
        SCENARIO(ar09_waits_below_the_minimum),
        SCENARIO(gang_waits_for_its_members),
        SCENARIO(ar10_keeps_a_gang_in_one_rack),
        SCENARIO(ar10_does_not_split_a_gang),
        SCENARIO(ar11_limits_resources_started),
        SCENARIO(ar11_lets_a_gang_overdraw),
        SCENARIO(ar11_limits_jobs_started),
        SCENARIO(ar14_places_beside_what_is_evicted),
        SCENARIO(ar14_preempts_when_there_is_no_other_place),
        SCENARIO(bk12_uses_few_nodes),
        SCENARIO(bk13_leaves_least_over),
    };

    return RUN_TESTS(tests);
}
