/* In which order what waits tries to pass what is reserved (model.md 2.9). */
#include "world_fixture.h"

/* Of gangs too the shortest tries first to pass the first without room, where
 * the pool says so (model.md 2.9). */
static void the_shortest_gang_passes_first(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "Q", .cores = 2, .cardinality = 2, .minimum = 2};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].backfill_order = BACKFILL_SHORTEST_FIRST;
    world_restart(w);
    world_queue(w, "Q", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    struct world_job run = {
        .queue = "Q", .cores = 6, .priority_class = "fixed", .deadline_s = 100};
    world_lease(w, world_submit(w, &run), n, 0);
    world_submit(w, &(struct world_job){.queue = "Q", .cores = 8});
    member.priority_class = "fixed";
    member.submitted_ms = 1;
    member.gang = "long";
    member.deadline_s = 90;
    (void)world_submit(w, &member);
    uint32_t of_long = world_submit(w, &member);
    member.submitted_ms = 2;
    member.gang = "short";
    member.deadline_s = 50;
    (void)world_submit(w, &member);
    uint32_t of_short = world_submit(w, &member);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, of_short), "n");
    assert_string_equal(world_node_of(w, of_long), "");
}

/* The longer a job has waited, the shorter it counts: after a day half. */
static void what_has_waited_counts_as_shorter(void **state)
{
    enum { DAY_S = 86400 };
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q", .cores = 3, .priority_class = "fixed"};

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].backfill_order = BACKFILL_SHORTEST_AGED;
    world_restart(w);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    struct world_job run = {.queue = "Q",
                            .cores = 6,
                            .priority_class = "fixed",
                            .deadline_s = 3 * DAY_S};
    uint32_t running = world_submit(w, &run);
    world_lease(w, running, n, DAY_S * 1000);
    sched_job_age_from(w->sched, running, DAY_S * 1000);
    (void)world_submit(w, &(struct world_job){.queue = "Q", .cores = 8});
    job.submitted_ms = 1;
    job.deadline_s = 1900;
    uint32_t waited = world_submit(w, &job);
    job.submitted_ms = DAY_S * 1000;
    job.deadline_s = 1000;
    uint32_t shorter = world_submit(w, &job);
    job.deadline_s = 900;
    uint32_t shortest = world_submit(w, &job);
    world_round(w, ROUND_FAST, DAY_S * 1000);
    assert_string_equal(world_node_of(w, shortest), "n");
    world_end(w, shortest);
    world_round(w, ROUND_FAST, DAY_S * 1000);
    assert_string_equal(world_node_of(w, waited), "n");
    assert_string_equal(world_node_of(w, shorter), "");
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_shortest_gang_passes_first),
        CASE(what_has_waited_counts_as_shorter),
    };

    return RUN_TESTS(tests);
}
