/* Cases in which the planner and the oracle of tests/prop/sched once read the
 * specification differently, made small; each says what is right. */
#include "world_fixture.h"

static const struct queue_record BY_FIFO_ALONE = {
    .ordering = QUEUE_BY_FIFO,
    .is_class_priority_ignored = true,
};

/* Where classes do not order a queue, a more urgent job may come when all that
 * was evicted has won its place back: it takes such a place, and never one
 * that is not free. */
static void an_urgent_job_takes_what_has_returned(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q", &BY_FIFO_ALONE);
    world_queue(w, "R", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t older =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    uint32_t newer =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    world_lease(w, older, node, 1);
    world_lease(w, newer, node, 2);
    uint32_t big = world_submit(
        w, &(struct world_job){.queue = "Q", .cores = 4, .application = "a"});
    uint32_t urgent = world_submit(w, &(struct world_job){
                                          .queue = "Q",
                                          .cores = 2,
                                          .application = "a",
                                          .submitted_ms = 1,
                                          .priority_class = "high",
                                      });
    world_round(w, ROUND_BALANCE, 10);
    assert_string_equal(world_node_of(w, older), "n");
    assert_true(w->is_gone[newer]);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_string_equal(world_node_of(w, big), "");
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

/* A more urgent job may go beside what is reserved, but what it takes is gone
 * for those that come after: it yields to nobody less urgent (model.md 2.9). */
static void a_more_urgent_job_uses_up_what_is_left_beside(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    world_queue(w, "Q", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t running =
        world_submit(w, &(struct world_job){.queue = "Q",
                                            .cores = 6,
                                            .priority_class = "fixed",
                                            .deadline_s = 100});
    world_lease(w, running, node, 0);
    world_submit(w, &(struct world_job){.queue = "Q", .cores = 8});
    world_round(w, ROUND_FAST, 0); /* admitted; 2 are left beside it */
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "Q", .cores = 2, .priority_class = "high"});
    uint32_t late = world_submit(w, &(struct world_job){.queue = "Q",
                                                        .cores = 2,
                                                        .lifetime_s = INT64_MAX,
                                                        .submitted_ms = 1});
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_string_equal(world_node_of(w, late), "");
}

/* Work that its class protects, but that its lifetime lets go, counts as room
 * for a more urgent job beside what urgency takes. */
static void urgency_and_evicted_work_make_room_together(void **state)
{
    struct world *w = *state;

    world_queue(w, "Q", 4);
    world_queue(w, "R", 4);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t evicted =
        world_submit(w, &(struct world_job){.queue = "R",
                                            .cores = 4,
                                            .priority_class = "fixed",
                                            .lifetime_s = -1});
    uint32_t steady =
        world_submit(w, &(struct world_job){.queue = "S", .cores = 4});
    world_lease(w, evicted, node, 0);
    world_lease(w, steady, node, 0);
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "Q", .cores = 8, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_int_equal(w->preempted_count, 2);
}

/* What is admitted counts in its queue also after a try for it was undone
 * (model.md 6.2: u_all). */
static void an_admitted_gang_counts_after_a_try(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t a = world_node(w, &(struct world_node){"a", .cores = 4});
    uint32_t b = world_node(w, &(struct world_node){"b", .cores = 4});
    uint32_t low = world_submit(
        w,
        &(struct world_job){.queue = "Q", .cores = 4, .priority_class = "low"});
    uint32_t fixed = world_submit(
        w, &(struct world_job){
               .queue = "R", .cores = 4, .priority_class = "fixed"});
    world_lease(w, low, a, 0);
    world_lease(w, fixed, b, 0);
    world_submit_many(w,
                      &(struct world_job){.queue = "Q",
                                          .cores = 4,
                                          .gang = "g",
                                          .cardinality = 2,
                                          .minimum = 2},
                      2);
    world_round(w, ROUND_FAST, 0); /* the gang is admitted */
    world_node(w, &(struct world_node){"c", .cores = 1});
    world_submit(w, &(struct world_job){.queue = "Q", .submitted_ms = 1});
    uint32_t hungry =
        world_submit(w, &(struct world_job){.queue = "R", .submitted_ms = 1});
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, hungry), "c");
}

/* The promise of a gang of two unlike members, where so many runs end at 30 on
 * the node on which another ends at 60; from 90 on there is room anyway. */
static int64_t promise_where_parts_end_at_30(struct world *w, int part_count)
{
    struct sched_admission admission;
    struct world_job run = {
        .queue = "Q", .priority_class = "fixed", .deadline_s = 30};
    struct world_job member = {.queue = "Q",
                               .gang = "g",
                               .cardinality = 2,
                               .minimum = 2,
                               .memory_gb = 1};

    world_queue(w, "Q", 1);
    uint32_t a =
        world_node(w, &(struct world_node){"a", .cores = 6, .memory_gb = 8});
    uint32_t b =
        world_node(w, &(struct world_node){"b", .cores = 4, .memory_gb = 4});
    for (int i = 0; i < part_count; i++) {
        run.cores = 2 / part_count;
        world_lease(w, world_submit(w, &run), a, 0);
    }
    run = (struct world_job){
        .queue = "Q", .priority_class = "fixed", .cores = 2, .deadline_s = 60};
    world_lease(w, world_submit(w, &run), a, 0);
    run.deadline_s = 90;
    run.memory_gb = 1;
    world_lease(w, world_submit(w, &run), b, 0);
    run.deadline_s = 0;
    run.memory_gb = 6;
    world_lease(w, world_submit(w, &run), a, 0);
    (void)world_submit(w, &member);
    member.memory_gb = 3;
    member.submitted_ms = 1;
    uint32_t last = world_submit(w, &member);
    world_round(w, ROUND_FAST, 0);
    assert_true(sched_job_admission(w->sched, last, &admission));
    return admission.start_ms;
}

/* Unlike members may have room at one moment and none at a later one: the first
 * such moment is promised, however many things end then (model.md 2.9). */
static void an_unlike_gang_is_promised_the_first_moment(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    assert_int_equal(promise_where_parts_end_at_30(w, 1), 30000);
    world_restart(w);
    assert_int_equal(promise_where_parts_end_at_30(w, 2), 30000);
}

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

/* A limit on starts that is reached stops what is smaller too, whichever queue
 * it is of, so that what is larger gets its turn (model.md 6.10b). */
static void a_limit_on_starts_stops_smaller_work_of_others(void **state)
{
    struct world *w = *state;

    w->policy.round_period_ms = 10000;
    w->policy.pools[0].start_limits[0] =
        (struct resource_fraction){STR("cpu"), 3 * FRACTION_ONE_PPM / 10};
    w->policy.pools[0].start_limit_count = 1;
    world_restart(w);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "S", .cores = 4}),
                n, 0);
    world_submit_many(w, &(struct world_job){.queue = "R", .cores = 2}, 2);
    uint32_t small = world_submit(w, &(struct world_job){.queue = "S"});
    world_round(w, ROUND_FAST, 100000); /* 2 of 3 start, and 2 do not */
    assert_int_equal(w->leased_count, 1);
    assert_string_equal(world_node_of(w, small), "");
}

/* A node that is overcommitted has room for nobody, until what asks for too
 * much has gone: then it is the best for the gang's next member, for there is
 * what would win its place back last. */
static void an_overcommitted_node_is_looked_at_again(void **state)
{
    struct world *w = *state;
    struct world_node node = {.name = "n", .cores = 8, .memory_gb = 2};

    w->policy.is_urgency_preemption_off = true;
    w->policy.pools[0].protected_fraction_ppm = 0;
    world_restart(w);
    uint32_t n = world_node(w, &node);
    uint32_t m = world_node(w, &(struct world_node){.name = "m", .cores = 2});
    struct world_job large = {.queue = "A", .cores = 2, .memory_gb = 1};
    uint32_t own = world_submit(w, &large);
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "high", .memory_gb = 1});
    uint32_t late =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 4});
    uint32_t early =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 2});
    world_lease(w, own, n, 0);
    world_lease(w, other, n, 0);
    world_lease(w, early, m, 0);
    world_lease(w, late, n, 1);
    node.memory_gb = 1;
    world_node(w, &node);
    uint32_t gang = world_submit_many(w,
                                      &(struct world_job){
                                          .queue = "A",
                                          .priority_class = "high",
                                          .cores = 2,
                                          .gang = "g",
                                          .cardinality = 2,
                                      },
                                      2);
    world_round(w, ROUND_BALANCE, 100);
    assert_int_equal(world_running_of(w, gang, 2), 2);
    assert_string_equal(world_node_of(w, early), "m");
    assert_true(w->is_gone[late]);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(an_overcommitted_node_is_looked_at_again),
        CASE(an_urgent_job_takes_what_has_returned),
        CASE(a_member_does_not_follow_one_that_avoids),
        CASE(a_more_urgent_job_uses_up_what_is_left_beside),
        CASE(urgency_and_evicted_work_make_room_together),
        CASE(an_admitted_gang_counts_after_a_try),
        CASE(an_unlike_gang_is_promised_the_first_moment),
        CASE(the_shortest_gang_passes_first),
        CASE(what_has_waited_counts_as_shorter),
        CASE(a_limit_on_starts_stops_smaller_work_of_others),
    };

    return RUN_TESTS(tests);
}
