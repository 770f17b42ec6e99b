/* Pod groups where the network is short and room has to be made, or reserved,
 * or could never be there (model.md 2.11), at the planner. */
#include "locality_fixture.h"

/* Submit a gang for which all of class low and mid makes way. */
static uint32_t submit_urgent(struct world *w, uint32_t count, uint32_t hops)
{
    struct gang_terms terms = locality_terms(count, count, hops);

    return world_submit_group(w,
                              &(struct world_job){.queue = "A",
                                                  .gang = "g",
                                                  .priority_class = "high"},
                              &terms);
}

/* Victims are looked for in one domain, and in the one that costs fewest. */
static void room_is_made_within_one_domain(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    world_queue(w, "low", 1);
    uint32_t low = world_submit_many(
        w, &(struct world_job){.queue = "low", .priority_class = "low"}, 13);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 13);
    for (uint32_t i = low; i < low + 13; i++) {
        if (strcmp(world_node_of(w, i), "c2") == 0 ||
            strcmp(world_node_of(w, i), "a1") == 0 ||
            strcmp(world_node_of(w, i), "a2") == 0 ||
            strcmp(world_node_of(w, i), "a3") == 0) {
            world_end(w, i);
        }
    }
    uint32_t g = submit_urgent(w, 4, 2);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 3);
    assert_int_equal(locality_count_on(w, g, 4, 'c'), 4);
}

/* Who loses what goes before how many do: one of class mid is dearer than two
 * of class low. */
static void room_is_made_where_the_least_urgent_go(void **state)
{
    struct world *w = *state;
    uint32_t a1 = locality_add_node(w, "a1", 1, "L1", "P1");
    uint32_t b1 = locality_add_node(w, "b1", 1, "L2", "P1");
    uint32_t b2 = locality_add_node(w, "b2", 1, "L2", "P1");

    (void)locality_add_node(w, "a2", 1, "L1", "P1");
    world_lease(w, world_submit(w, &(struct world_job){.queue = "B"}), a1, 0);
    uint32_t low = world_submit_many(
        w, &(struct world_job){.queue = "B", .priority_class = "low"}, 2);
    world_lease(w, low, b1, 0);
    world_lease(w, low + 1, b2, 0);
    uint32_t g = submit_urgent(w, 2, 2);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(locality_count_on(w, g, 2, 'b'), 2);
}

/* Of domains that cost others the same the lower level is taken, though the
 * cap allows the higher one, where members would be spread. */
static void room_is_made_as_near_as_it_costs_no_more(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {"b1", "b2", "b3", "c1", "c2"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        uint32_t node = locality_add_node(
            w, names[i], 1, names[i][0] == 'c' ? "L1" : "L2", "P1");
        uint32_t job = world_submit(
            w, &(struct world_job){.queue = "B", .priority_class = "low"});
        world_lease(w, job, node, 0);
    }
    uint32_t g = submit_urgent(w, 3, 4);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 3);
    assert_int_equal(locality_count_on(w, g, 3, 'b'), 3);
    assert_int_equal(locality_hops(w, g, 3), 2);
}

/* Surplus whose class protects it is no room that could be counted
 * beforehand. */
static void room_is_made_where_protected_surplus_goes(void **state)
{
    struct world *w = *state;
    struct gang_terms grown = locality_terms(1, 3, HOPS_ANY);
    uint32_t b1 = locality_add_node(w, "b1", 1, "L2", "P1");
    uint32_t b2 = locality_add_node(w, "b2", 1, "L2", "P1");
    uint32_t c1 = locality_add_node(w, "c1", 1, "L3", "P2");
    uint32_t other = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "o", .priority_class = "fixed"},
        &grown);

    world_lease(w, other, c1, 0);
    world_lease(w, other + 1, b1, 0);
    world_lease(w, other + 2, b2, 0);
    struct gang_terms terms = locality_terms(2, 2, 2);
    uint32_t g = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "p", .priority_class = "fixed"},
        &terms);
    world_round(w, ROUND_BALANCE, 1000000);
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(locality_count_on(w, g, 2, 'b'), 2);
}

/* Pods on one node are no hops apart, whatever it is near to. */
static void room_is_made_on_a_node_without_labels(void **state)
{
    struct world *w = *state;
    uint32_t u = world_node(w, &(struct world_node){"u", .cores = 2});

    locality_add_tree(w);
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "B", .cores = 2}),
                u, 0);
    world_submit_many(
        w, &(struct world_job){.queue = "B", .priority_class = "high"}, 13);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 13);
    uint32_t g = submit_urgent(w, 2, 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, g), "u");
    assert_string_equal(world_node_of(w, g + 1), "u");
}

/* What ends first in one leaf counts, not what ends first anywhere. */
static void a_place_is_reserved_within_one_domain(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = locality_terms(4, 4, 2);
    struct sched_admission admission;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    locality_add_tree(w);
    for (uint32_t i = 0; i < 13; i++) {
        static const char *const names[] = {"a1", "a2", "a3", "b1", "b2",
                                            "b3", "b4", "c1", "c2", "c3",
                                            "c4", "c5", "c6"};
        uint32_t job = world_submit(
            w, &(struct world_job){.queue = "B",
                                   .priority_class = "fixed",
                                   .deadline_s = 10 + 10 * (int64_t)(i % 7)});
        world_lease(w, job,
                    sched_node_index(w->sched, STR("e"), str_of(names[i])), 0);
        (void)sched_job_started(w->sched, job);
    }
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .deadline_s = 5},
        &terms);
    world_round(w, ROUND_BALANCE, 1000);
    /* Four of L3 have ended by 40 s; of all nodes four have by 20 s. */
    assert_true(sched_job_admission(w->sched, g, &admission));
    assert_true(admission.start_ms == 40000);
}

static void what_could_never_be_near_enough_is_not_admitted(void **state)
{
    struct world *w = *state;
    struct sched_explanation e;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    locality_add_tree(w);
    uint32_t seven = locality_submit(w, "seven", 7, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    sched_explain(w->sched, seven, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_TOPOLOGY);
    assert_int_equal(e.empty, 6);
}

/* What no domain could hold even when empty is told, with the nearest. */

static bool may_fit(struct world *w, uint32_t job, struct sched_gang_miss *miss)
{
    uint32_t look_count = 0;

    *miss = (struct sched_gang_miss){0};
    return sched_gang_may_fit(w->sched, job, 0, &look_count, miss);
}

static void a_cap_that_no_domain_could_meet_is_known(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = locality_terms(7, 7, 2);
    struct sched_gang_miss miss;

    locality_add_tree(w);
    locality_submit(w, "all", 13, HOPS_ANY);
    world_round(w, ROUND_FAST, 0); /* all is full, which does not matter */
    assert_true(may_fit(w, locality_submit(w, "six", 6, 2), &miss));
    assert_true(may_fit(w, locality_submit(w, "wide", 7, 4), &miss));
    assert_false(may_fit(w, locality_submit(w, "seven", 7, 3), &miss));
    assert_true(miss.is_too_far);
    assert_int_equal(miss.needed, 7);
    assert_int_equal(miss.count, 6);
    assert_int_equal(miss.hops, 2);
    assert_int_equal(miss.alike, 1);
    assert_true(str_equal(miss.domain, STR("L3")));
    assert_true(str_equal(miss.sub_group, STR("w")));
    assert_false(may_fit(w, locality_submit(w, "pair", 2, 0), &miss));
    assert_true(str_equal(miss.domain, STR("a1"))); /* one node */
    assert_int_equal(miss.hops, 0);
    terms.sub_groups[0].hops_wait_ms = 1000; /* a cap that ends */
    assert_true(may_fit(
        w,
        world_submit_group(w, &(struct world_job){.queue = "A", .gang = "end"},
                           &terms),
        &miss));
    assert_false(may_fit(w, locality_submit(w, "many", 14, 2), &miss));
    assert_false(miss.is_too_far); /* there is no room at all */
    assert_int_equal(miss.count, 13);
}

/* Each has a domain, but not both of them at once. */
static void caps_that_no_domains_meet_together_are_known(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("one"), 3, 3, .hops_max = HOPS_ANY},
                       {STR("x"), 5, 5, .hops_max = 2},
                       {STR("y"), 5, 5, .hops_max = 2}},
        .sub_group_count = 3,
    };
    struct world_job job = {.queue = "A", .gang = "g"};
    struct sched_gang_miss miss;

    locality_add_tree(w);
    assert_false(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    assert_true(miss.is_too_far);
    assert_int_equal(miss.needed, 5);
    assert_int_equal(miss.alike, 2);
    assert_int_equal(miss.alike_fit, 1);
    job.gang = "h";
    terms.sub_groups[2].min_count = terms.sub_groups[2].max_count = 4;
    assert_true(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    job.gang = "i"; /* larger than what a half of a domain holds */
    terms.sub_groups[0].min_count = terms.sub_groups[0].max_count = 2;
    terms.sub_groups[1].hops_max = 4;
    terms.sub_groups[2].min_count = terms.sub_groups[2].max_count = 6;
    assert_true(may_fit(w, world_submit_group(w, &job, &terms), &miss));
}

/* A node serves all sub-groups of one gang, so these need no more of them. */
static void exclusive_nodes_are_judged_by_what_they_hold(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .has_exclusive_nodes = true,
        .sub_groups = {{STR("x"), 2, 2, .hops_max = HOPS_ANY},
                       {STR("y"), 2, 2, .hops_max = 2}},
        .sub_group_count = 2,
    };
    struct world_job job = {.queue = "A", .gang = "g"};
    struct sched_gang_miss miss;

    locality_add_node(w, "a1", 2, "L1", "P1");
    locality_add_node(w, "a2", 2, "L1", "P1");
    assert_true(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    job.gang = "h";
    job.cores = 2;
    assert_false(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    assert_false(miss.is_too_far);
    assert_int_equal(miss.needed, 4);
    assert_int_equal(miss.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(a_place_is_reserved_within_one_domain),
        SCENARIO(what_could_never_be_near_enough_is_not_admitted),
        SCENARIO(room_is_made_within_one_domain),
        SCENARIO(room_is_made_where_the_least_urgent_go),
        SCENARIO(room_is_made_as_near_as_it_costs_no_more),
        SCENARIO(room_is_made_where_protected_surplus_goes),
        SCENARIO(room_is_made_on_a_node_without_labels),
        SCENARIO(a_cap_that_no_domain_could_meet_is_known),
        SCENARIO(caps_that_no_domains_meet_together_are_known),
        SCENARIO(exclusive_nodes_are_judged_by_what_they_hold),
    };
    return RUN_TESTS(tests);
}
