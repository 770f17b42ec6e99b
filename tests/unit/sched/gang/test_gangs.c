/* A gang is in one cluster (model.md 6.8), at the planner. */
#include "world_fixture.h"

/* Cluster `a` of 3 slots and cluster `b` of 5, in one pool. */
static void make_clusters(struct world *w)
{
    world_node(w, &(struct world_node){"a1", .cores = 3, .executor = "a"});
    world_node(w, &(struct world_node){"b1", .cores = 2, .executor = "b"});
    world_node(w, &(struct world_node){"b2", .cores = 3, .executor = "b"});
}

static uint32_t submit_gang(struct world *w, const char *id, uint32_t count)
{
    return world_submit_many(
        w, &(struct world_job){.queue = "A", .gang = id, .cardinality = count},
        count);
}

static uint32_t count_in(const struct world *w, uint32_t first, uint32_t count,
                         char cluster)
{
    uint32_t found = 0;

    for (uint32_t i = first; i < first + count; i++) {
        found += world_node_of(w, i)[0] == cluster;
    }
    return found;
}

static void gang_starts_in_the_cluster_that_holds_it(void **state)
{
    struct world *w = *state;

    make_clusters(w);
    uint32_t four = submit_gang(w, "four", 4);
    uint32_t three = submit_gang(w, "three", 3);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_in(w, four, 4, 'b'), 4);
    assert_int_equal(count_in(w, three, 3, 'a'), 3);
}

static void gang_waits_although_two_clusters_have_room(void **state)
{
    struct world *w = *state;

    make_clusters(w);
    uint32_t six = submit_gang(w, "six", 6);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    /* Single jobs go anywhere. */
    world_end(w, six);
    world_submit_many(w, &(struct world_job){.queue = "A"}, 8);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 8);
}

/* A member that comes back joins the others. */
static void vacancy_is_filled_in_the_same_cluster(void **state)
{
    struct world *w = *state;

    make_clusters(w);
    uint32_t first = submit_gang(w, "g", 4);
    world_round(w, ROUND_FAST, 0);
    sched_job_requeue(w->sched, first, SCHED_NONE);
    w->node_of[first] = SCHED_NONE;
    uint32_t filler = world_submit(w, &(struct world_job){.queue = "B"});
    uint32_t b2 = w->node_of[first + 1];
    world_lease(w, filler, b2, 0);
    uint32_t more = world_submit(w, &(struct world_job){.queue = "B"});
    world_lease(w, more, w->node_of[first + 3], 0);
    world_round(w, ROUND_FAST, 1000);
    assert_string_equal(world_node_of(w, first), "");
    world_end(w, more);
    world_round(w, ROUND_FAST, 2000);
    assert_int_equal(count_in(w, first, 4, 'b'), 4);
}

/* A value of a label may be found in several clusters. */
static void gang_of_one_rack_is_in_one_cluster_too(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "A", .gang = "g", .cardinality = 4, .uniformity = "rack"};
    struct world_node node = {
        .cores = 2, .label_key = "rack", .label_value = "r1"};
    static const char *const names[] = {"a1", "b1", "b2"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        node.name = names[i];
        node.executor = i == 0 ? "a" : "b";
        world_node(w, &node);
    }
    uint32_t first = world_submit_many(w, &member, 4);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_in(w, first, 4, 'b'), 4);
}

/* Room is made in one cluster, by as few victims as that takes. */
static void preemption_is_in_one_cluster(void **state)
{
    struct world *w = *state;

    make_clusters(w);
    world_submit_many(
        w, &(struct world_job){.queue = "A", .priority_class = "low"}, 8);
    world_round(w, ROUND_FAST, 0);
    struct world_job member = {
        .queue = "B", .priority_class = "high", .gang = "g", .cardinality = 4};
    uint32_t first = world_submit_many(w, &member, 4);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(count_in(w, first, 4, 'b'), 4);
    assert_int_equal(w->preempted_count, 4);
}

/* What is reserved for a gang is, too. */
static void reservation_is_in_one_cluster(void **state)
{
    struct world *w = *state;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    make_clusters(w);
    struct world_job fixed = {.queue = "B", .priority_class = "fixed"};
    uint32_t b1 =
        world_node(w, &(struct world_node){"b1", .cores = 2, .executor = "b"});
    world_lease(w, world_submit(w, &fixed), b1, 0);
    uint32_t first = submit_gang(w, "g", 5);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_in(w, first, 5, 'b'), 0);
    uint32_t other = world_submit_many(w, &fixed, 8);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(count_in(w, other, 8, 'a'), 3);
    assert_int_equal(count_in(w, other, 8, 'b'), 0);
}

static bool may_fit(struct world *w, uint32_t job, struct sched_gang_miss *miss)
{
    uint32_t look_count = 0;

    *miss = (struct sched_gang_miss){0};
    return sched_gang_may_fit(w->sched, job, 0, &look_count, miss);
}

/* What no cluster could hold even when empty is told, with the nearest. */
static void gang_that_no_cluster_holds_is_known(void **state)
{
    struct world *w = *state;
    struct sched_gang_miss miss;

    make_clusters(w);
    world_submit_many(w, &(struct world_job){.queue = "B"}, 8);
    world_round(w, ROUND_FAST, 0); /* all is full, which does not matter */
    assert_true(may_fit(w, submit_gang(w, "five", 5), &miss));
    assert_false(may_fit(w, submit_gang(w, "six", 6), &miss));
    assert_int_equal(miss.needed, 6);
    assert_int_equal(miss.count, 5);
    assert_true(str_equal(miss.executor, STR("b")));
    assert_true(str_equal(miss.pool, STR("default")));
    struct world_job member = {
        .queue = "A", .gang = "g", .cardinality = 9, .minimum = 5};
    assert_true(may_fit(w, world_submit_many(w, &member, 9), &miss));
}

/* One that is not complete, or has run, is let be. */
static void only_complete_gangs_are_judged(void **state)
{
    struct world *w = *state;
    struct sched_gang_miss miss;
    struct world_job member = {.queue = "A", .gang = "g", .cardinality = 6};

    make_clusters(w);
    uint32_t first = world_submit_many(w, &member, 5);
    assert_true(may_fit(w, first, &miss));
    world_submit(w, &member);
    assert_false(may_fit(w, first, &miss));
    uint32_t single = world_submit(w, &(struct world_job){.queue = "A"});
    assert_true(may_fit(w, single, &miss));
}

/* By the values of its label, too. */
static void gang_that_no_rack_holds_is_known(void **state)
{
    struct world *w = *state;
    struct sched_gang_miss miss;
    struct world_job member = {
        .queue = "A", .gang = "g", .cardinality = 4, .uniformity = "rack"};
    struct world_node node = {"n1", .cores = 3, .label_key = "rack"};

    uint32_t first = world_submit_many(w, &member, 4);
    node.label_value = "r1";
    world_node(w, &node);
    node.name = "n2";
    node.label_value = "r2";
    world_node(w, &node);
    assert_false(may_fit(w, first, &miss));
    assert_int_equal(miss.count, 3);
    assert_true(str_equal(miss.label, STR("rack")));
    assert_true(str_equal(miss.value, STR("r1")));
    node.name = "n3";
    world_node(w, &node);
    assert_true(may_fit(w, first, &miss));
}

/* Members that each fit, but not all together, for the sum is too much. */
static void gang_of_different_members_is_judged_by_its_sum(void **state)
{
    struct world *w = *state;
    struct sched_gang_miss miss;
    struct world_job member = {.queue = "A", .gang = "g", .cardinality = 2};

    world_node(w, &(struct world_node){"n1", .cores = 8});
    member.cores = 5;
    uint32_t first = world_submit(w, &member);
    member.cores = 4;
    world_submit(w, &member);
    assert_false(may_fit(w, first, &miss));
    assert_int_equal(miss.resource, CPU);
    assert_int_equal(miss.asked, 9000);
    assert_int_equal(miss.has, 8000);
}

/* A limit on the class, here all of the pool, is as good as a lack of room: who
 * asks for more than it allows starts with as many as it allows. */
static void limits_let_a_gang_start_with_its_minimum(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "A", .cores = 4, .gang = "g", .cardinality = 3, .minimum = 2};

    w->policy.classes[0].queue_limit_count = 1;
    w->policy.classes[0].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), 1000000};
    world_restart(w);
    world_node(w, &(struct world_node){"n1", .cores = 10});
    (void)world_submit_many(w, &member, 3);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(world_running(w, "A"), 2);
    assert_int_equal(w->failed_count, 1);
}

/* Where the minimum is too much nothing of it starts. */
static void limits_keep_a_gang_whose_minimum_is_too_much(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "A", .cores = 4, .gang = "g", .cardinality = 3, .minimum = 2};

    w->policy.classes[0].queue_limit_count = 1;
    w->policy.classes[0].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), 500000};
    world_restart(w);
    world_node(w, &(struct world_node){"n1", .cores = 14});
    (void)world_submit_many(w, &member, 3);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running(w, "A"), 0);
    assert_int_equal(w->failed_count, 0);
    world_node(w, &(struct world_node){"n2", .cores = 4});
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(world_running(w, "A"), 2);
}

/* What grows stays where it began. */

static struct gang_terms growing(uint32_t min, uint32_t max)
{
    return (struct gang_terms){
        .sub_groups = {{STR("pods"), min, max, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
}

static uint32_t count_on(const struct world *w, uint32_t first, uint32_t count,
                         const char *node)
{
    uint32_t found = 0;

    for (uint32_t i = first; i < first + count; i++) {
        found += strcmp(world_node_of(w, i), node) == 0;
    }
    return found;
}

/* A gang is in one cluster, also what comes later of it. */
static void growth_stays_in_the_cluster(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = growing(2, 9);

    world_node(w, &(struct world_node){"a1", .cores = 2, .executor = "a"});
    world_node(w, &(struct world_node){"b1", .cores = 3, .executor = "b"});
    uint32_t unit = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "u"}, &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(count_on(w, unit, 9, "a1") == 0 ||
                count_on(w, unit, 9, "b1") == 0);
    world_round(w, ROUND_BALANCE, 600000);
    assert_int_equal(w->plan.decision_count, 0);
}

/* Nor does it go elsewhere when its cluster takes no more: not what is to
 * replace a member, nor what it grows by. */
static void a_gang_leaves_no_cluster_that_is_closed(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = growing(1, 3);

    uint32_t a =
        world_node(w, &(struct world_node){"a1", .cores = 4, .executor = "a"});
    world_node(w, &(struct world_node){"b1", .cores = 4, .executor = "b"});
    uint32_t plain = world_submit_many(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .cardinality = 2, .minimum = 1},
        2);
    world_lease(w, plain, a, 0);
    uint32_t unit = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "u"}, &terms);
    world_lease(w, unit, a, 0);
    sched_executor_set(w->sched, STR("a"), false);
    world_round(w, ROUND_BALANCE, 600000);
    assert_int_equal(w->plan.decision_count, 0);
    sched_executor_set(w->sched, STR("a"), true);
    world_round(w, ROUND_BALANCE, 1200000);
    assert_int_equal(count_in(w, plain, 2, 'a'), 2);
    assert_int_equal(count_in(w, unit, 3, 'a'), 2);
}

/* Racks of the same names in two clusters, and nodes in none: each grows only
 * where it began. */
static void a_unit_grows_in_its_own_rack_of_many(void **state)
{
    enum { RACKS = 5, CLUSTERS = 2 };
    static const char *const names[CLUSTERS][RACKS] = {
        {"b0", "b1", "b2", "b3", "b4"}, {"a0", "a1", "a2", "a3", "a4"}};
    static const char *const racks[RACKS] = {"r3", "r10", "r", "r1", "r2"};
    struct world *w = *state;
    struct gang_terms terms = growing(1, 3);
    uint32_t units[CLUSTERS][RACKS];

    for (int cores = 1; cores <= 2; cores++) {
        world_node(w, &(struct world_node){"none", .cores = 1 - cores % 2,
                                           .executor = "a"});
        for (int i = 0; i < CLUSTERS * RACKS; i++) {
            int c = i / RACKS, r = i % RACKS;
            world_node(w, &(struct world_node){names[c][r], .cores = cores,
                                               .executor = c ? "a" : "b",
                                               .label_key = "rack",
                                               .label_value = racks[r]});
        }
        for (int i = 0; cores == 1 && i < CLUSTERS * RACKS; i++) {
            units[i / RACKS][i % RACKS] = world_submit_group(
                w,
                &(struct world_job){.queue = "A",
                                    .gang = names[i / RACKS][i % RACKS],
                                    .uniformity = "rack"},
                &terms);
        }
        world_round(w, ROUND_BALANCE, cores * 1000);
    }
    for (int i = 0; i < CLUSTERS * RACKS; i++) {
        uint32_t unit = units[i / RACKS][i % RACKS];
        assert_int_equal(world_running_of(w, unit, 3), 2);
        assert_int_equal(count_on(w, unit, 3, world_node_of(w, unit)), 2);
    }
}

/* A member of a gang goes where it fits best, whatever the one before it
 * avoids. */
static void a_member_does_not_follow_one_that_avoids(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "Q",
        .gang = "g",
        .cardinality = 2,
        .minimum = 2,
        .uniformity = "rack",
    };

    world_queue(w, "Q", 1);
    uint32_t a = world_node(
        w, &(struct world_node){"a", .cores = 1, .memory_gb = 4,
                                .label_key = "rack", .label_value = "r"});
    world_node(w,
               &(struct world_node){"b", .cores = 2, .memory_gb = 8,
                                    .label_key = "rack", .label_value = "r"});
    uint32_t first = world_submit(w, &member);
    uint32_t second = world_submit(w, &member);
    sched_job_avoid(w->sched, first, a);
    world_round(w, ROUND_FAST, 10);
    assert_string_equal(world_node_of(w, first), "b");
    assert_string_equal(world_node_of(w, second), "a");
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(gang_starts_in_the_cluster_that_holds_it),
        SCENARIO(gang_waits_although_two_clusters_have_room),
        SCENARIO(vacancy_is_filled_in_the_same_cluster),
        SCENARIO(gang_of_one_rack_is_in_one_cluster_too),
        SCENARIO(preemption_is_in_one_cluster),
        SCENARIO(reservation_is_in_one_cluster),
        SCENARIO(gang_that_no_cluster_holds_is_known),
        SCENARIO(only_complete_gangs_are_judged),
        SCENARIO(gang_that_no_rack_holds_is_known),
        SCENARIO(gang_of_different_members_is_judged_by_its_sum),
        SCENARIO(limits_let_a_gang_start_with_its_minimum),
        SCENARIO(limits_keep_a_gang_whose_minimum_is_too_much),
        SCENARIO(growth_stays_in_the_cluster),
        SCENARIO(a_gang_leaves_no_cluster_that_is_closed),
        SCENARIO(a_unit_grows_in_its_own_rack_of_many),
        SCENARIO(a_member_does_not_follow_one_that_avoids),
    };

    return RUN_TESTS(tests);
}
