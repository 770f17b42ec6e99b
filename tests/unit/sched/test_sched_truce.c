/* Truces: who took a place for fairness takes none again at once. */
#include "world_fixture.h"

enum { SECOND = 1000, TRUCE_MS = 60 * SECOND };

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *w = *state;
    w->requeues = true;
    return 0;
}

static void set_profile(struct world *w, enum pool_profile profile)
{
    pool_policy_apply(&w->policy.pools[0], profile);
    world_restart(w);
}

/* Rounds a second apart from `now_ms` on; the preemptions in them.  The last
 * has nothing to do. */
static uint32_t settle(struct world *w, int64_t now_ms)
{
    uint32_t preempted_count = 0, rounds = 0;

    do {
        world_round(w, ROUND_BALANCE, now_ms + SECOND * rounds);
        preempted_count += w->preempted_count;
    } while (w->plan.decision_count && ++rounds < 40);
    assert_int_equal(w->plan.decision_count, 0);
    return preempted_count;
}

/* Two of C's jobs fill a node, a third is reserved for; and B, which has
 * nothing, wants one core.  It takes a place of C's for fairness, but as one
 * that was let past the third, to which it then gives it up. */
struct past {
    uint32_t first; /* of C's three */
    uint32_t job;   /* B's */
};

static struct past make_past(struct world *w)
{
    struct past past;

    set_profile(w, PROFILE_BERTH);
    w->requeues = true;
    world_node(w, &(struct world_node){"n", .cores = 12});
    past.first =
        world_submit_many(w, &(struct world_job){.queue = "C", .cores = 6}, 3);
    world_round(w, ROUND_BALANCE, 0);
    past.job = world_submit(w, &(struct world_job){.queue = "B"});
    return past;
}

static bool waits(const struct world *w, uint32_t job)
{
    return w->node_of[job] == SCHED_NONE;
}

/* Without a truce the two would take the node from each other for ever. */
static void test_what_gave_way_does_not_take_for_fairness(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);

    assert_int_equal(settle(w, SECOND), 2);
    assert_true(waits(w, past.job));
    assert_int_equal(world_running(w, "C"), 2);
}

/* A gang of B as large as both nodes but for one pod's place, and one of A that
 * starts with one pod: that one takes a place for fairness, so all of B's gang
 * goes, and A's grows into what it leaves.  Now A is so far above its share
 * that B's gang takes both places for fairness, and is itself above its. */
static void test_gangs_take_a_place_from_each_other_once(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    world_queue(w, "A", 1.5);
    world_node(w, &(struct world_node){"n0", .cores = 6});
    world_node(w, &(struct world_node){"n1", .cores = 8});
    (void)world_submit_group(
        w, &(struct world_job){.queue = "A", .cores = 6, .gang = "a"}, &terms);
    (void)world_submit_many(
        w,
        &(struct world_job){
            .queue = "B", .cores = 4, .gang = "b", .cardinality = 3},
        3);
    assert_true(settle(w, 0) <= 8);
}

/* The truce is over once it is old enough and something was new: not before
 * both, and then a plan is due. */
static void test_a_truce_ends_after_time_and_news(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);

    (void)settle(w, SECOND);
    world_round(w, ROUND_BALANCE, 10 * TRUCE_MS);
    assert_int_equal(w->plan.decision_count, 0);

    world_queue(w, "D", 1); /* news */
    world_round(w, ROUND_BALANCE, 10 * TRUCE_MS + SECOND);
    assert_false(waits(w, past.job));
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->plan.decisions[1].is_by_share);

    /* And from then on again. */
    assert_int_equal(settle(w, 10 * TRUCE_MS + 2 * SECOND), 1);
    assert_true(waits(w, past.job));
    world_queue(w, "E", 1);
    world_round(w, ROUND_BALANCE, 10 * TRUCE_MS + 20 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(w->plan.next_wake_ms, 11 * TRUCE_MS + SECOND);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(test_what_gave_way_does_not_take_for_fairness),
        SCENARIO(test_gangs_take_a_place_from_each_other_once),
        SCENARIO(test_a_truce_ends_after_time_and_news),
    };
    return RUN_TESTS(tests);
}
