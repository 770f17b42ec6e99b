/* Gangs that stay though their queue is over its share (gang_protection.h). */
#include "world_fixture.h"

enum { SECOND = 1000, HOUR_MS = 3600 * SECOND };

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *w = *state;
    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    return 0;
}

/* A's gang of `gang_count` runs on a node of 10, B runs `b_count` of one, and
 * `waiting_count` more of B's wait for their place. */
static uint32_t make(struct world *w, uint32_t gang_count, uint32_t b_count,
                     uint32_t waiting_count)
{
    world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t gang = world_submit_many(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .cardinality = gang_count},
        gang_count);
    world_round(w, ROUND_BALANCE, 0);
    (void)world_submit_many(w, &(struct world_job){.queue = "B"}, b_count);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running(w, "B"), b_count);
    (void)world_submit_many(w, &(struct world_job){.queue = "B"},
                            waiting_count);
    return gang;
}

/* With 6 of 10 A has one more than its share; without its gang five less. */
static void test_a_gang_stays_where_its_going_does_more_harm(void **state)
{
    struct world *w = *state;

    (void)make(w, 6, 4, 3);
    for (int i = 2; i < 5; i++) {
        world_round(w, ROUND_BALANCE, i * HOUR_MS);
        assert_int_equal(w->preempted_count, 0);
        assert_int_equal(w->leased_count, 0);
    }
}

/* What A has beside it goes, for without that A is as near to its share. */
static void test_what_is_beside_it_goes(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"m", .cores = 1});
    (void)make(w, 6, 3, 0);
    uint32_t more = world_submit_many(w, &(struct world_job){.queue = "A"}, 2);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(world_running(w, "A"), 8);
    (void)world_submit_many(w, &(struct world_job){.queue = "B"}, 4);
    world_round(w, ROUND_BALANCE, 3 * SECOND);
    assert_int_equal(w->preempted_count, 2);
    assert_true(w->is_gone[more] && w->is_gone[more + 1]);
}

/* B has one of the five that it is due: after an hour the gang goes for it, and
 * a plan is due then. */
static void test_it_does_not_stay_for_ever_where_others_are_poor(void **state)
{
    struct world *w = *state;
    uint32_t gang = make(w, 9, 1, 4);

    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(w->preempted_count, 0);
    assert_int_equal(w->plan.next_wake_ms, HOUR_MS);
    world_round(w, ROUND_BALANCE, HOUR_MS - 1);
    assert_int_equal(w->preempted_count, 0);
    world_round(w, ROUND_BALANCE, HOUR_MS);
    assert_int_equal(w->preempted_count, 9);
    assert_true(w->is_gone[gang]);
    assert_int_equal(world_running(w, "B"), 5);
}

/* Where its queue is nearer to its share without it, it goes at once: of two
 * gangs of 4 one. */
static void test_a_gang_that_is_all_too_much_goes(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"n", .cores = 10});
    for (int i = 0; i < 2; i++) {
        (void)world_submit_many(w,
                                &(struct world_job){.queue = "A",
                                                    .gang = i ? "h" : "g",
                                                    .cardinality = 4},
                                4);
        world_round(w, ROUND_BALANCE, i * SECOND);
    }
    (void)world_submit_many(w, &(struct world_job){.queue = "B"}, 6);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    world_round(w, ROUND_BALANCE, 3 * SECOND);
    assert_int_equal(world_running(w, "A"), 4);
    assert_int_equal(world_running(w, "B"), 6);
}

/* `starvedAfter: 0`, as in profile `armada`: nothing is kept. */
static void test_nothing_is_kept_where_nothing_starves(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].starved_after_ms = 0;
    world_restart(w);
    (void)make(w, 6, 4, 3);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(w->preempted_count, 6);
}

/* The first of B's that waits is told of the gang; nobody is poor, so it stays
 * for as long as that is so. */
static void test_who_waits_is_told_of_the_gang(void **state)
{
    struct world *w = *state;
    uint32_t gang = make(w, 6, 4, 3);
    struct sched_explanation why;
    struct sched_need need;

    sched_explain_need(w->sched, gang + 10, 2 * SECOND, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_GANG_PROTECTION);
    assert_int_equal(why.protected_count, 1);
    assert_in_range(why.for_job, gang, gang + 5);
    assert_int_equal(why.until_ms, 0);
    assert_false(why.is_protected_young);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
}

/* And where B is poor, when that ends; then it is not said. */
static void test_who_is_poor_is_told_until_when(void **state)
{
    struct world *w = *state;
    uint32_t gang = make(w, 9, 1, 4);
    struct sched_explanation why;
    struct sched_need need;

    sched_explain_need(w->sched, gang + 10, 2 * SECOND, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_GANG_PROTECTION);
    assert_in_range(why.for_job, gang, gang + 8);
    assert_true(why.is_protected_young);
    assert_int_equal(why.until_ms, HOUR_MS);
    sched_explain_need(w->sched, gang + 10, HOUR_MS, &why, &need);
    assert_int_not_equal(why.wait, SCHED_WAIT_GANG_PROTECTION);
}

/* More of A's own are due nothing: they wait for room. */
static void test_who_is_due_nothing_is_not_told(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;
    struct sched_need need;

    (void)make(w, 6, 4, 1);
    uint32_t more = world_submit(w, &(struct world_job){.queue = "A"});
    sched_explain_need(w->sched, more, 2 * SECOND, &why, &need);
    assert_int_not_equal(why.wait, SCHED_WAIT_GANG_PROTECTION);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(test_a_gang_stays_where_its_going_does_more_harm),
        SCENARIO(test_what_is_beside_it_goes),
        SCENARIO(test_it_does_not_stay_for_ever_where_others_are_poor),
        SCENARIO(test_a_gang_that_is_all_too_much_goes),
        SCENARIO(test_nothing_is_kept_where_nothing_starves),
        SCENARIO(test_who_waits_is_told_of_the_gang),
        SCENARIO(test_who_is_poor_is_told_until_when),
        SCENARIO(test_who_is_due_nothing_is_not_told),
    };
    return RUN_TESTS(tests);
}
