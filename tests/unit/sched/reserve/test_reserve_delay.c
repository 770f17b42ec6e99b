/* A start that is unknown or far away has no reservation at first
 * (docs/decisions/0064). */
#include "reserve_fixture.h"

enum { DELAY_S = 1000 };

static void delay(struct world *w)
{
    w->policy.pools[0].reservation_delay_ms = DELAY_S * S;
    world_restart(w);
}

static void other_work_starts_until_the_head_has_waited(void **state)
{
    struct world *w = *state;

    delay(w);
    struct bk03 bk = reserve_bk03(w, 0);
    assert_int_equal(w->plan.next_wake_ms, DELAY_S * S);
    assert_true(reserve_passes(w, 4, 0, 30));

    world_round(w, ROUND_BALANCE, DELAY_S * S - 1);
    uint32_t early = reserve_submit(w, "Z", 1, 0, 0);
    world_round(w, ROUND_BALANCE, DELAY_S * S - 1);
    assert_true(reserve_runs(w, early));

    world_round(w, ROUND_BALANCE, DELAY_S * S);
    uint32_t late = reserve_submit(w, "Z", 1, 0, 0);
    world_round(w, ROUND_BALANCE, DELAY_S * S);
    assert_false(reserve_runs(w, late));
    assert_int_equal(reserve_promise(w, bk.head), SCHED_START_UNKNOWN);
}

static void it_goes_first_nevertheless(void **state)
{
    struct world *w = *state;

    delay(w);
    struct bk03 bk = reserve_bk03(w, 0);
    uint32_t small = reserve_submit(w, "Z", 10, 0, 0);
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 10 * S);

    assert_true(reserve_runs(w, bk.head));
    assert_false(reserve_runs(w, small));
}

static void a_near_start_is_reserved_at_once(void **state)
{
    struct world *w = *state;

    delay(w);
    struct bk03 bk = reserve_bk03(w, DELAY_S);

    assert_int_equal(reserve_promise(w, bk.head), DELAY_S * S);
    assert_false(reserve_passes(w, 4, DELAY_S + 1, 0));
}

static void a_far_start_is_not(void **state)
{
    struct world *w = *state;

    delay(w);
    struct bk03 bk = reserve_bk03(w, DELAY_S + 1);

    assert_int_equal(reserve_promise(w, bk.head), SCHED_START_UNKNOWN);
    assert_true(reserve_passes(w, 4, 2 * DELAY_S, 0));
    /* A second later it is near. */
    world_round(w, ROUND_BALANCE, 1 * S);
    assert_int_equal(reserve_promise(w, bk.head), (DELAY_S + 1) * S);
}

/* Else the second of the window would pass the first. */
static void nobody_else_has_a_reservation_meanwhile(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].admitted_window = 4;
    delay(w);
    struct bk03 bk = reserve_bk03(w, 0);
    world_node(w, &(struct world_node){"m", .cores = 2});
    uint32_t filler = reserve_submit(w, "Z", 2, 100, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, filler));
    uint32_t second = reserve_submit(w, "A", 5, 0, 0);
    world_round(w, ROUND_BALANCE, 0);

    assert_int_equal(reserve_promise(w, bk.head), SCHED_START_UNKNOWN);
    assert_int_equal(reserve_promise(w, second), SCHED_START_UNKNOWN);
    assert_true(reserve_passes(w, 4, 0, 30));
    assert_true(sched_is_consistent(w->sched));
}

/* More urgent work moves the start away; what was promised is not forgotten. */
static void what_was_promised_keeps_its_reservation(void **state)
{
    struct world *w = *state;
    struct world_job urgent = {
        .queue = "Z", .priority_class = "high", .cores = 3};

    delay(w);
    struct bk03 bk = reserve_bk03(w, 100);
    assert_int_equal(reserve_promise(w, bk.head), 100 * S);
    uint32_t passing = world_submit(w, &urgent);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, passing));

    assert_false(reserve_passes(w, 1, 0, 0));
    assert_int_equal(reserve_promise(w, bk.head), 100 * S);
}

/* Only a limit keeps it waiting, for longer than the delay. */
static void what_a_limit_lets_go_later_has_none_either(void **state)
{
    struct world *w = *state;
    uint32_t fixed = policy_class_index(&w->policy, STR("fixed"));

    w->policy.classes[fixed].queue_limit_count = 1;
    w->policy.classes[fixed].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), 500000};
    delay(w);
    world_node(w, &(struct world_node){"n", .cores = 10});
    world_queue(w, "H", 1);
    world_queue(w, "Z", 1);
    uint32_t first = reserve_submit(w, "H", 4, 2 * DELAY_S, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t head = reserve_submit(w, "H", 4, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, first) && !reserve_runs(w, head));

    assert_int_equal(reserve_promise(w, head), SCHED_START_UNKNOWN);
    assert_true(reserve_passes(w, 5, 0, 0));
}

static void explain_says_from_when_on(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    delay(w);
    struct bk03 bk = reserve_bk03(w, 0);

    sched_explain(w->sched, bk.head, 5 * S, &why);
    assert_int_equal(why.wait, SCHED_WAIT_ADMITTED);
    assert_int_equal(why.reserved_from_ms, DELAY_S * S);
    sched_explain(w->sched, bk.head, DELAY_S * S, &why);
    assert_int_equal(why.reserved_from_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(other_work_starts_until_the_head_has_waited),
        SCENARIO(it_goes_first_nevertheless),
        SCENARIO(a_near_start_is_reserved_at_once),
        SCENARIO(a_far_start_is_not),
        SCENARIO(nobody_else_has_a_reservation_meanwhile),
        SCENARIO(what_was_promised_keeps_its_reservation),
        SCENARIO(what_a_limit_lets_go_later_has_none_either),
        SCENARIO(explain_says_from_when_on),
    };

    return RUN_TESTS(tests);
}
