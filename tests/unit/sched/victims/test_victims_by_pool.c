/* Whom a pool preempts does not hang on what runs in another pool
 * (docs/decisions/0015), nor on gangs with terms that may not be preempted
 * (docs/decisions/0034). */
#include "world_fixture.h"

/* Nodes that A fills, and B that asks for two cores: A wins back the place of
 * its oldest job.  By the order of turns B then takes the places of the last
 * two jobs, by the number of victims that of the one before. */
struct scene {
    uint32_t middle, last; /* of A; `last` is two */
};

static struct scene fill(struct world *w)
{
    uint32_t n1 = world_node(w, &(struct world_node){"n1", .cores = 2});
    uint32_t n2 = world_node(w, &(struct world_node){"n2", .cores = 2});
    uint32_t n3 = world_node(w, &(struct world_node){"n3", .cores = 2});
    const struct world_job one = {.queue = "A", .pool = "default", .cores = 1};
    const struct world_job two = {.queue = "A", .pool = "default", .cores = 2};
    const struct world_job new = {.queue = "B", .pool = "default", .cores = 2};

    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    uint32_t oldest = world_submit_many(w, &two, 2);
    uint32_t last = world_submit_many(w, &one, 2);
    world_lease(w, oldest, n3, 1000);
    world_lease(w, oldest + 1, n2, 2000);
    world_lease(w, last, n1, 3000);
    world_lease(w, last + 1, n1, 4000);
    world_submit(w, &new);
    return (struct scene){oldest + 1, last};
}

/* A full node of another pool. */
static uint32_t other_node(struct world *w)
{
    return world_node(w,
                      &(struct world_node){"m", .cores = 2, .pool = "other"});
}

static void run_group(struct world *w, uint32_t node)
{
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t pod = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .pool = "other"},
        &terms);

    world_lease(w, pod, node, 1000);
    world_lease(w, pod + 1, node, 1000);
}

static void assert_takes_last(const struct world *w, struct scene scene)
{
    assert_false(w->is_gone[scene.middle]);
    assert_true(w->is_gone[scene.last] && w->is_gone[scene.last + 1]);
}

static void assert_takes_middle(const struct world *w, struct scene scene)
{
    assert_true(w->is_gone[scene.middle]);
    assert_false(w->is_gone[scene.last] || w->is_gone[scene.last + 1]);
}

static void a_gang_in_another_pool_changes_no_victim(void **state)
{
    struct world *w = *state;
    struct scene scene = fill(w);

    run_group(w, other_node(w));
    world_round(w, ROUND_BALANCE, 10000);
    assert_takes_last(w, scene);
}

static void protected_work_in_another_pool_changes_no_victim(void **state)
{
    struct world *w = *state;
    struct scene scene = fill(w);
    uint32_t job = world_submit(
        w, &(struct world_job){.queue = "A", .pool = "other", .cores = 2});

    world_lease(w, job, other_node(w), 1000);
    sched_job_protect(w->sched, job, true);
    world_round(w, ROUND_BALANCE, 10000);
    assert_takes_last(w, scene);
}

/* A gang of two pods, `min` of which it needs, on a node of its own in the
 * pool; of a queue that is not over its share. */
static void run_guard(struct world *w, const char *priority_class, uint32_t min)
{
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), min, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node =
        world_node(w, &(struct world_node){"m", .cores = 2, .pool = "default"});
    uint32_t pod = world_submit_group(w,
                                      &(struct world_job){
                                          .queue = "C",
                                          .gang = "g",
                                          .pool = "default",
                                          .priority_class = priority_class,
                                      },
                                      &terms);

    world_lease(w, pod, node, 1000);
    world_lease(w, pod + 1, node, 1000);
}

static void a_gang_that_stays_changes_no_victim(void **state)
{
    struct world *w = *state;
    struct scene scene = fill(w);

    world_queue(w, "C", 1);
    run_guard(w, "fixed", 2);
    world_round(w, ROUND_BALANCE, 10000);
    assert_takes_last(w, scene);
}

static void by_the_rules_before_a_gang_that_stays_does(void **state)
{
    struct world *w = *state;

    w->policy.rules_revision = POLICY_RULES_LIMITS;
    world_restart(w);
    struct scene scene = fill(w);
    world_queue(w, "C", 1);
    run_guard(w, "fixed", 2);
    world_round(w, ROUND_BALANCE, 10000);
    assert_takes_middle(w, scene);
}

static void
a_gang_with_surplus_that_is_too_urgent_changes_no_victim(void **state)
{
    struct world *w = *state;
    struct scene scene = fill(w);

    world_queue(w, "C", 1);
    run_guard(w, "high", 1);
    world_round(w, ROUND_BALANCE, 10000);
    assert_takes_last(w, scene);
}

static void a_gang_that_came_with_its_node_counts_there(void **state)
{
    struct world *w = *state;
    struct scene scene = fill(w);

    run_group(w, other_node(w));
    world_node(w, &(struct world_node){"m", .cores = 2, .pool = "default"});
    world_round(w, ROUND_BALANCE, 10000);
    assert_takes_middle(w, scene);
}

static void by_the_first_rules_it_does(void **state)
{
    struct world *w = *state;

    w->policy.rules_revision = POLICY_RULES_FIRST;
    world_restart(w);
    struct scene scene = fill(w);
    run_group(w, other_node(w));
    world_round(w, ROUND_BALANCE, 10000);
    assert_takes_middle(w, scene);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(a_gang_in_another_pool_changes_no_victim),
        SCENARIO(protected_work_in_another_pool_changes_no_victim),
        SCENARIO(a_gang_that_stays_changes_no_victim),
        SCENARIO(by_the_rules_before_a_gang_that_stays_does),
        SCENARIO(a_gang_with_surplus_that_is_too_urgent_changes_no_victim),
        SCENARIO(a_gang_that_came_with_its_node_counts_there),
        SCENARIO(by_the_first_rules_it_does),
    };
    return RUN_TESTS(tests);
}
