/* Who is preempted on the node that was found: of all that may go there the
 * least urgent first, whatever the node was chosen for (model.md 6.6,
 * docs/decisions/0034). */
#include "world_fixture.h"

/* A fills the cluster but for one core, which C has for work of a lower class
 * on the node of A's last job.  B asks for a core. */
struct scene {
    uint32_t last, low; /* of A, of C */
};

static struct scene fill(struct world *w)
{
    uint32_t n1 = world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t n2 = world_node(w, &(struct world_node){"n2", .cores = 2});
    const struct world_job low = {.queue = "C", .priority_class = "low"};

    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    world_queue(w, "C", 1);
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 5);
    uint32_t other = world_submit(w, &low);
    for (uint32_t i = 0; i < 4; i++) {
        world_lease(w, first + i, n1, 1000 + i);
    }
    world_lease(w, first + 4, n2, 2000);
    world_lease(w, other, n2, 3000);
    world_submit(w, &(struct world_job){.queue = "B"});
    return (struct scene){first + 4, other};
}

static void the_least_urgent_on_the_node_goes(void **state)
{
    struct world *w = *state;
    struct scene scene = fill(w);

    world_round(w, ROUND_BALANCE, 10000);
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->is_gone[scene.low]);
    assert_false(w->is_gone[scene.last]);
}

static void by_the_rules_before_the_last_to_come_back_goes(void **state)
{
    struct world *w = *state;

    w->policy.rules_revision = POLICY_RULES_LIMITS;
    world_restart(w);
    struct scene scene = fill(w);
    world_round(w, ROUND_BALANCE, 10000);
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->is_gone[scene.last]);
    assert_false(w->is_gone[scene.low]);
}

static void what_is_kept_from_urgency_stays(void **state)
{
    struct world *w = *state;

    w->policy.is_urgency_preemption_off = true;
    world_restart(w);
    struct scene scene = fill(w);
    world_round(w, ROUND_BALANCE, 10000);
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->is_gone[scene.last]);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(the_least_urgent_on_the_node_goes),
        SCENARIO(by_the_rules_before_the_last_to_come_back_goes),
        SCENARIO(what_is_kept_from_urgency_stays),
    };
    return RUN_TESTS(tests);
}
