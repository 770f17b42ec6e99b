/* Where preemption has a price, what passes a reservation since it could
 * preempt promises to yield (docs/decisions/0080). */
#include "world_fixture.h"

enum { S = 1000 };

/* On a node of 10 cores A runs 4 until 1000 s, and B waits for 8 with a
 * reservation.  C can pay for A's run, and fits beside it. */
struct pass {
    uint32_t running, head, passing;
};

static struct pass begin(struct world *w)
{
    struct pass pass;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].preemption_price_milli = 500;
    world_restart(w);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    world_queue(w, "C", 1);
    (void)world_node(w, &(struct world_node){"n", .cores = 10});
    pass.running = world_submit(
        w, &(struct world_job){
               .queue = "A", .cores = 4, .lifetime_s = -1, .deadline_s = 1000});
    world_round(w, ROUND_BALANCE, 0);
    pass.head = world_submit(w, &(struct world_job){.queue = "B",
                                                    .cores = 8,
                                                    .priority_class = "fixed",
                                                    .submitted_ms = 100 * S});
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_string_equal(world_node_of(w, pass.head), "");
    pass.passing = world_submit(
        w, &(struct world_job){.queue = "C", .cores = 3, .lifetime_s = -1});
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_string_equal(world_node_of(w, pass.passing), "n");
    assert_int_equal(w->preempted_count, 0);
    return pass;
}

static void what_passes_and_preempts_nobody_yields_too(void **state)
{
    struct world *w = *state;
    struct pass pass = begin(w);

    assert_int_equal(w->plan.decision_count, 1);
    assert_true(w->plan.decisions[0].is_backfilled);
    assert_int_equal(w->plan.decisions[0].revocable_for, pass.head);
    world_end(w, pass.running);
    world_round(w, ROUND_BALANCE, 1000 * S);
    assert_string_equal(world_node_of(w, pass.head), "n");
    assert_int_equal(w->preempted_count, 1);
}

/* As logs of former releases have it. */
static void by_the_old_rule_it_did_not(void **state)
{
    struct world *w = *state;

    w->policy.rules_revision = POLICY_RULES_EXTRAS;
    struct pass pass = begin(w);
    assert_int_equal(w->plan.decisions[0].revocable_for, SCHED_NONE);
    world_end(w, pass.running);
    world_round(w, ROUND_BALANCE, 200 * S);
    assert_string_equal(world_node_of(w, pass.head), "");
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_passes_and_preempts_nobody_yields_too),
        CASE(by_the_old_rule_it_did_not),
    };

    return RUN_TESTS(tests);
}
