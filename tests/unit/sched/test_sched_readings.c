/* Cases in which the planner and the oracle of tests/prop/sched once read the
 * specification differently, made small; each says what is right. */
#include "world_fixture.h"

static const struct queue_record BY_STATE = {.ordering = QUEUE_BY_STATEAWARE};
static const struct queue_record BY_STATE_ALONE = {
    .ordering = QUEUE_BY_STATEAWARE,
    .is_class_priority_ignored = true,
};
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

/* Also an application that has still to start is waiting work, for which a
 * queue over its share gives way. */
static void an_accepted_application_gets_its_share(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q", &BY_STATE);
    world_queue(w, "R", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    for (int i = 0; i < 4; i++) {
        uint32_t job = world_submit(w, &(struct world_job){.queue = "R"});
        world_lease(w, job, node, i);
    }
    uint32_t driver =
        world_submit(w, &(struct world_job){.queue = "Q", .application = "a"});
    world_round(w, ROUND_BALANCE, 10);
    assert_string_equal(world_node_of(w, driver), "n");
    assert_int_equal(w->preempted_count, 1);
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

/* What is over the quota of its class is passed over, also when it would be
 * over the share: the queue goes on (model.md 6.5: quotas come first). */
static void a_quota_is_asked_before_the_share(void **state)
{
    struct world *w = *state;

    for (uint32_t i = 0; i < w->policy.class_count; i++) {
        w->policy.classes[i].queue_limits[0] =
            (struct resource_fraction){STR("cpu"), FRACTION_ONE_PPM / 2};
        w->policy.classes[i].queue_limit_count = 1;
    }
    w->policy.pools[0].over_share_ppm = 0;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_node(w, &(struct world_node){"n", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "R", .cores = 20});
    uint32_t big = world_submit(
        w,
        &(struct world_job){.queue = "Q", .cores = 6, .lifetime_s = INT64_MAX});
    uint32_t small =
        world_submit(w, &(struct world_job){.queue = "Q", .submitted_ms = 1});
    world_round(w, ROUND_FAST, 10);
    assert_string_equal(world_node_of(w, big), "");
    assert_string_equal(world_node_of(w, small), "n");
}

/* Within a plan the flow of endless work is what it was or what is used now,
 * whichever is more, and not both together (model.md 2.5, 2.7). */
static void a_flow_and_what_a_plan_starts_do_not_add_up(void **state)
{
    struct world *w = *state;
    struct world_job endless = {
        .queue = "Q", .cores = 3, .memory_gb = 1, .lifetime_s = INT64_MAX};

    w->policy.pools[0].half_time_ms = 600000;
    w->policy.pools[0].over_share_ppm = FRACTION_ONE_PPM / 5;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "R", .cores = 20});
    endless.cores = 4;
    uint32_t before = world_submit(w, &endless);
    world_lease(w, before, node, 0);
    world_end(w, before); /* its flow is .4 from now on; .6 may be */
    endless.cores = 3;
    world_submit_many(w, &endless, 2);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 2);
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

/* What a plan preempts does not make its queue hungry at once: the flow falls
 * only with time (model.md 2.5). */
static void a_flow_does_not_fall_with_what_a_plan_preempts(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].half_time_ms = 600000;
    w->policy.is_fair_share_preemption_off = true;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 6});
    uint32_t kept =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    uint32_t victim =
        world_submit(w, &(struct world_job){.queue = "Q", .cores = 4});
    world_lease(w, kept, node, 0);
    world_lease(w, victim, node, 1);
    uint32_t hungry = world_submit(w, &(struct world_job){.queue = "R"});
    uint32_t sated = world_submit(w, &(struct world_job){.queue = "Q"});
    world_submit(w, &(struct world_job){
                        .queue = "S", .cores = 3, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, hungry), "n");
    assert_string_equal(world_node_of(w, sated), "");
}

/* A queue whose head its share refuses is out for the round, also when the
 * round takes work from it later (model.md 6.5). */
static void what_a_share_refuses_waits_for_the_next_round(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].over_share_ppm = 0;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t victim =
        world_submit(w, &(struct world_job){.queue = "Q",
                                            .cores = 5,
                                            .memory_gb = 28,
                                            .lifetime_s = INT64_MAX});
    world_lease(w, victim, node, 0);
    uint32_t refused = world_submit(w, &(struct world_job){
                                           .queue = "Q",
                                           .memory_gb = 1,
                                           .priority_class = "high",
                                           .lifetime_s = INT64_MAX,
                                       });
    world_submit(w, &(struct world_job){.queue = "S",
                                        .cores = 8,
                                        .memory_gb = 4,
                                        .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, refused), "");
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, refused), "n");
}

/* What is admitted no longer is charged no longer, in the same round (model.md
 * 2.16). */
static void a_dismissed_job_gives_its_charge_back_at_once(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].excess_budget_minutes = 1;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t big = world_node(w, &(struct world_node){"big", .cores = 8});
    world_node(w, &(struct world_node){"small", .cores = 2});
    uint32_t running = world_submit(
        w, &(struct world_job){
               .queue = "R", .cores = 8, .priority_class = "fixed"});
    world_lease(w, running, big, 0);
    world_submit(w, &(struct world_job){.queue = "R", .cores = 9});
    world_submit(
        w, &(struct world_job){.queue = "Q", .cores = 8, .lifetime_s = 100});
    world_round(w, ROUND_FAST, 0); /* admitted, for all of the budget */
    sched_node_remove(w->sched, big);
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "Q", .cores = 2, .lifetime_s = 60, .submitted_ms = 1});
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, other), "small");
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

/* Nor does it fall at once with the members that an admitted gang starts
 * without (model.md 2.5). */
static void a_flow_does_not_fall_with_what_a_gang_goes_without(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "Q", .gang = "g", .cores = 5, .cardinality = 2, .minimum = 1};
    struct world_job last = {.queue = "Q", .cores = 3, .submitted_ms = 2};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].half_time_ms = 600000;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 9});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 6});
    struct world_job run = {
        .queue = "S", .cores = 6, .priority_class = "fixed"};
    uint32_t first = world_submit(w, &run);
    world_lease(w, first, n, 0);
    run.queue = "R";
    world_lease(w, world_submit(w, &run), m, 0);
    world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0); /* admitted: Q uses 10, R 6 */
    world_end(w, first);
    uint32_t of_q = world_submit(w, &last);
    last.queue = "R";
    uint32_t of_r = world_submit(w, &last);
    world_round(w, ROUND_FAST, 0); /* one of 5 starts, and 4 are left */
    assert_string_equal(world_node_of(w, of_q), "");
    assert_string_equal(world_node_of(w, of_r), "n");
}

/* What an admitted gang goes without is charged no longer, in the same round
 * (model.md 2.7). */
static void what_a_gang_goes_without_is_not_charged(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "Q",
                               .gang = "g",
                               .cores = 5,
                               .lifetime_s = 60,
                               .cardinality = 2,
                               .minimum = 1};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    /* Of 10 cores Q is due 5: the gang is charged for 5 and a minute, which is
     * the budget; half of it remains when it has started with one. */
    w->policy.pools[0].excess_budget_minutes = 1;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    struct world_job run = {
        .queue = "S", .cores = 6, .priority_class = "fixed"};
    uint32_t first = world_submit(w, &run);
    world_lease(w, first, n, 0);
    world_submit(w, &(struct world_job){.queue = "S", .cores = 11});
    world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0);
    struct world_job last = {.queue = "Q", .cores = 2, .lifetime_s = 60};
    uint32_t of_q = world_submit(w, &last);
    world_end(w, first);
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "S", .cores = 2}),
                n, 0);
    world_round(w, ROUND_FAST, 0); /* one of 5 starts, and 3 are left */
    assert_string_equal(world_node_of(w, of_q), "n");
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

/* Node x is full with Q's application "a", which is returned; on y, of so many
 * cores, two are R's. */
static uint32_t driver_beside_another(struct world *w, int64_t y_cores)
{
    uint32_t x = world_node(w, &(struct world_node){.name = "x",
                                                    .cores = 2,
                                                    .label_key = "pool",
                                                    .label_value = "x"});
    uint32_t y = world_node(w, &(struct world_node){.name = "y",
                                                    .cores = y_cores,
                                                    .label_key = "pool",
                                                    .label_value = "y"});
    uint32_t driver = world_submit(w, &(struct world_job){
                                          .queue = "Q",
                                          .cores = 2,
                                          .priority_class = "low",
                                          .application = "a",
                                      });
    world_lease(w, driver, x, 1);
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    world_lease(w, other, y, 1);
    return driver;
}

/* An application that loses its first lease in the plan that gives it others
 * starts anew, and the next one is its turn when it has: in that plan too, also
 * where it is more urgent than what was decided meanwhile. */
static void the_next_starts_after_one_that_starts_anew(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .cores = 1,
        .priority_class = "high",
        .application = "a",
        .selector_key = "pool",
        .selector_value = "y",
    };

    world_queue_by(w, "Q", &BY_STATE);
    world_queue(w, "R", 1);
    uint32_t driver = driver_beside_another(w, 6);
    uint32_t second = world_submit(w, &job); /* goes first: 3 cores of Q ... */
    uint32_t taker = world_submit(w, &(struct world_job){
                                         .queue = "R", /* ... then 4 of R */
                                         .cores = 2,
                                         .priority_class = "high",
                                         .selector_key = "pool",
                                         .selector_value = "x",
                                     });
    job.application = "b";
    job.cores = 2;
    job.submitted_ms = 1;
    uint32_t next = world_submit(w, &job);
    job.application = "a";
    job.cores = 1;
    job.priority_class = "low";
    uint32_t third = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 10);
    assert_true(w->is_gone[driver]);
    assert_string_equal(world_node_of(w, taker), "x");
    assert_string_equal(world_node_of(w, second), "y");
    assert_string_equal(world_node_of(w, third), "y");
    assert_string_equal(world_node_of(w, next), "y");
}

/* The same among what is admitted: whose turn had come has none while the one
 * before it starts anew. */
static void nobody_admitted_starts_beside_one_that_starts_anew(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .priority_class = "high",
        .application = "a",
        .selector_key = "pool",
        .selector_value = "y",
    };

    w->policy.pools[0].admitted_window = 3;
    world_restart(w);
    world_queue_by(w, "Q", &BY_STATE);
    world_queue(w, "R", 1);
    uint32_t x = world_node(w, &(struct world_node){.name = "x",
                                                    .cores = 1,
                                                    .label_key = "pool",
                                                    .label_value = "x"});
    (void)world_node(w, &(struct world_node){.name = "y",
                                             .cores = 2,
                                             .label_key = "pool",
                                             .label_value = "y"});
    uint32_t driver = world_submit(w, &(struct world_job){
                                          .queue = "Q",
                                          .priority_class = "low",
                                          .application = "a",
                                      });
    world_lease(w, driver, x, 1);
    uint32_t second = world_submit(w, &job);
    uint32_t taker = world_submit(w, &(struct world_job){
                                         .queue = "R",
                                         .priority_class = "high",
                                         .selector_key = "pool",
                                         .selector_value = "x",
                                     });
    job.application = "b";
    job.submitted_ms = 1;
    uint32_t next = world_submit(w, &job);
    for (uint32_t i = second; i <= next; i++) {
        sched_job_admit(w->sched, i, STR("default"), SCHED_START_UNKNOWN, 0);
    }
    world_round(w, ROUND_BALANCE, 10);
    assert_true(w->is_gone[driver]);
    assert_string_equal(world_node_of(w, taker), "x");
    assert_string_equal(world_node_of(w, second), "y");
    assert_string_equal(world_node_of(w, next), "");
}

/* Who waits for one that starts anew does not stand before it: its queue's turn
 * is that of what may start now. */
static void what_starts_later_holds_up_nobody(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .priority_class = "high",
        .application = "a",
        .selector_key = "pool",
        .selector_value = "y",
    };

    world_queue_by(w, "Q", &BY_STATE_ALONE);
    world_queue(w, "R", 1);
    uint32_t driver = driver_beside_another(w, 4);
    uint32_t second = world_submit(w, &job); /* then "b" is chosen ... */
    uint32_t taker = world_submit(w, &(struct world_job){
                                         .queue = "R", /* ... too early */
                                         .cores = 2,
                                         .priority_class = "high",
                                         .selector_key = "pool",
                                         .selector_value = "x",
                                     });
    job.application = "b";
    job.priority_class = "low";
    uint32_t later = world_submit(w, &job);
    job.application = "a";
    job.priority_class = "mid";
    job.priority = 1;
    uint32_t third = world_submit(w, &job);
    job.queue = "R"; /* which has more by now */
    uint32_t rival = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 10);
    assert_true(w->is_gone[driver]);
    assert_string_equal(world_node_of(w, second), "y");
    assert_string_equal(world_node_of(w, taker), "x");
    assert_string_equal(world_node_of(w, third), "y");
    assert_string_equal(world_node_of(w, rival), "");
    assert_string_equal(world_node_of(w, later), "");
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(an_urgent_job_takes_what_has_returned),
        CASE(an_accepted_application_gets_its_share),
        CASE(a_member_does_not_follow_one_that_avoids),
        CASE(a_quota_is_asked_before_the_share),
        CASE(a_flow_and_what_a_plan_starts_do_not_add_up),
        CASE(a_more_urgent_job_uses_up_what_is_left_beside),
        CASE(urgency_and_evicted_work_make_room_together),
        CASE(a_flow_does_not_fall_with_what_a_plan_preempts),
        CASE(what_a_share_refuses_waits_for_the_next_round),
        CASE(a_dismissed_job_gives_its_charge_back_at_once),
        CASE(an_admitted_gang_counts_after_a_try),
        CASE(an_unlike_gang_is_promised_the_first_moment),
        CASE(a_flow_does_not_fall_with_what_a_gang_goes_without),
        CASE(what_a_gang_goes_without_is_not_charged),
        CASE(the_shortest_gang_passes_first),
        CASE(a_limit_on_starts_stops_smaller_work_of_others),
        CASE(the_next_starts_after_one_that_starts_anew),
        CASE(what_starts_later_holds_up_nobody),
        CASE(nobody_admitted_starts_beside_one_that_starts_anew),
    };

    return RUN_TESTS(tests);
}
