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

/* A cluster of one node, where what is due first goes first. */
static void begin_by_due(struct world *w)
{
    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].backfill_order = BACKFILL_SHORTEST_BOUNDED;
    world_restart(w);
    world_queue(w, "Q", 1);
    (void)world_node(w, &(struct world_node){"n", .cores = 10});
}

static uint32_t submit(struct world *w, int cores, int64_t submitted_s,
                       int deadline_s)
{
    return world_submit(
        w, &(struct world_job){.queue = "Q",
                               .cores = cores,
                               .priority_class = "fixed",
                               .deadline_s = deadline_s,
                               .submitted_ms = submitted_s * 1000});
}

/* Nothing is reserved when the round begins, and the shorter goes first. */
static void a_short_job_goes_before_a_long_one_that_came_earlier(void **state)
{
    struct world *w = *state;

    begin_by_due(w);
    uint32_t longer = submit(w, 10, 0, 1000);
    uint32_t shorter = submit(w, 10, 1700, 100);
    world_round(w, ROUND_FAST, 1700 * 1000);
    assert_string_equal(world_node_of(w, shorter), "n");
    assert_string_equal(world_node_of(w, longer), "");
}

/* The bound: twice its own limit after it, and nothing else passes. */
static void what_came_two_limits_later_does_not_pass(void **state)
{
    struct world *w = *state;

    begin_by_due(w);
    uint32_t longer = submit(w, 10, 0, 1000);
    uint32_t shorter = submit(w, 10, 2001, 1);
    world_round(w, ROUND_FAST, 2001 * 1000);
    assert_string_equal(world_node_of(w, longer), "n");
    assert_string_equal(world_node_of(w, shorter), "");
}

/* No limit counts as one of a day, so two days are the most. */
static void a_job_without_limit_is_passed_for_two_days(void **state)
{
    enum { DAY_S = 86400 };
    struct world *w = *state;

    begin_by_due(w);
    uint32_t endless = submit(w, 10, 0, 0);
    uint32_t late = submit(w, 10, 2 * DAY_S, 1);
    uint32_t short_one = submit(w, 10, DAY_S, 1000);
    uint32_t of_days = submit(w, 10, 1, 5 * DAY_S);
    world_round(w, ROUND_FAST, INT64_C(2) * DAY_S * 1000);
    assert_string_equal(world_node_of(w, short_one), "n");
    world_end(w, short_one);
    world_round(w, ROUND_FAST, INT64_C(2) * DAY_S * 1000);
    assert_string_equal(world_node_of(w, endless), "n");
    world_end(w, endless);
    world_round(w, ROUND_FAST, INT64_C(2) * DAY_S * 1000);
    assert_string_equal(world_node_of(w, of_days), "n");
    assert_string_equal(world_node_of(w, late), "");
}

/* What was reserved for stays so, whatever shorter work comes. */
static void a_reservation_is_kept_from_what_is_due_earlier(void **state)
{
    struct world *w = *state;

    begin_by_due(w);
    uint32_t running = submit(w, 6, 0, 50);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, running), "n");
    uint32_t first = submit(w, 8, 0, 1000);
    world_round(w, ROUND_FAST, 0);
    uint32_t shorter = submit(w, 8, 1, 10);
    world_end(w, running);
    world_round(w, ROUND_FAST, 1000);
    assert_string_equal(world_node_of(w, first), "n");
    assert_string_equal(world_node_of(w, shorter), "");
}

/* Explain tells how many were submitted later. */
static void explain_tells_how_many_pass_for_their_limits(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    begin_by_due(w);
    (void)submit(w, 10, 0, 50);
    world_round(w, ROUND_FAST, 0);
    uint32_t longer = submit(w, 10, 1, 1000);
    uint32_t shorter = submit(w, 10, 2, 10);
    (void)submit(w, 10, 5000, 10); /* after it in any case */
    sched_explain(w->sched, longer, 2000, &why);
    assert_int_equal(why.ahead, 1);
    assert_int_equal(why.shorter, 1);
    sched_explain(w->sched, shorter, 2000, &why);
    assert_int_equal(why.ahead, 0);
    assert_int_equal(why.shorter, 0);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_shortest_gang_passes_first),
        CASE(what_has_waited_counts_as_shorter),
        CASE(a_short_job_goes_before_a_long_one_that_came_earlier),
        CASE(what_came_two_limits_later_does_not_pass),
        CASE(a_job_without_limit_is_passed_for_two_days),
        CASE(a_reservation_is_kept_from_what_is_due_earlier),
        CASE(explain_tells_how_many_pass_for_their_limits),
    };

    return RUN_TESTS(tests);
}
