/* The list of admitted work: what is on it, what it takes (FL-17, FL-18), and
 * what is said of it. */
#include "reserve_fixture.h"

/* FL-17's pool of 100, full: A has J of 10 with a lifetime, and `rest` more; B
 * has what is left and waits for 10 more. */
static uint32_t make_fl17(struct world *w, int64_t lifetime_s, int64_t rest,
                          uint32_t *ret_waiting)
{
    pool_policy_apply(&w->policy.pools[0], PROFILE_FLOW);
    w->policy.pools[0].cost_weights_ppm[CPU] = FRACTION_ONE_PPM;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 100});
    uint32_t j = world_submit(w, &(struct world_job){.queue = "A",
                                                     .cores = 10,
                                                     .lifetime_s = lifetime_s});
    reserve_submit(w, "A", rest, 0, 0);
    reserve_submit(w, "B", 90 - rest, 0, 0);
    world_lease(w, 0, 0, 0);
    world_lease(w, 1, 0, 0);
    world_lease(w, 2, 0, 0);
    assert_int_equal(sched_job_started(w->sched, j), lifetime_s != INT64_MAX);
    *ret_waiting = world_submit(
        w, &(struct world_job){
               .queue = "B", .cores = 10, .lifetime_s = INT64_MAX});
    return j;
}

static void fl_17_takes_what_is_older_than_its_lifetime(void **state)
{
    struct world *w = *state;
    uint32_t waiting, j = make_fl17(w, 30, 50, &waiting);

    world_round(w, ROUND_BALANCE, 29 * S);
    assert_true(reserve_runs(w, j));
    assert_int_equal(reserve_promise(w, waiting), 30 * S);
    assert_int_equal(w->plan.next_wake_ms, 30 * S);
    world_round(w, ROUND_BALANCE, 30 * S);
    assert_true(w->is_gone[j]);
    assert_true(reserve_runs(w, waiting));
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_FAIR_SHARE);
}

/* In a pool whose jobs preempt nothing (disablePreemption) what is less urgent
 * is no room, nor what its queue has too much. */
static void a_promise_counts_on_no_preemption_where_there_is_none(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t low = world_submit(w, &(struct world_job){.queue = "A",
                                                       .priority_class = "low",
                                                       .cores = 5,
                                                       .deadline_s = 100});
    uint32_t mid = world_submit(
        w, &(struct world_job){.queue = "A", .cores = 5, .deadline_s = 50});
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, low) && reserve_runs(w, mid));
    (void)sched_job_started(w->sched, low);
    (void)sched_job_started(w->sched, mid);
    uint32_t head =
        world_submit(w, &(struct world_job){.queue = "H", .cores = 5});
    sched_preemption_set(w->sched, true);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, low) && reserve_runs(w, mid) &&
                !reserve_runs(w, head));
    assert_int_equal(reserve_promise(w, head), 50 * S);
    /* And where there is again, what was remembered is of no use. */
    sched_preemption_set(w->sched, false);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, head));
}

/* A has all of the pool past its lifetime, B is due half and waits with four
 * jobs of 30: of several admitted each is asked as if it were the only one, so
 * that the first starts when it was promised to. */
static void what_else_is_admitted_does_not_count_against_a_head(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_FLOW);
    w->policy.pools[0].cost_weights_ppm[CPU] = FRACTION_ONE_PPM;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 100});
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    const struct world_job ten = {.queue = "A", .cores = 10, .lifetime_s = 30};
    const struct world_job thirty = {
        .queue = "B", .cores = 30, .lifetime_s = 30};
    uint32_t first = world_submit_many(w, &ten, 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, first, 10), 10);
    for (uint32_t i = 0; i < 10; i++) {
        (void)sched_job_started(w->sched, first + i);
    }
    uint32_t heads = world_submit_many(w, &thirty, 4);
    world_round(w, ROUND_BALANCE, 1 * S);
    assert_int_equal(reserve_promise(w, heads), 30 * S);
    world_round(w, ROUND_BALANCE, 30 * S);
    assert_true(reserve_runs(w, heads));
    assert_int_equal(world_running_of(w, first, 10), 7);
    /* Its like would put B further above its share than A is. */
    assert_int_equal(world_running_of(w, heads, 4), 1);
}

/* One node and three equal queues with more work than there is room for: each
 * keeps its third, for the head of a queue that has its own takes no place from
 * one that is due it, however long it was admitted. */
static void equal_queues_on_one_node_keep_equal_parts(void **state)
{
    enum { MINUTE = 60 * S };
    static const char *const names[] = {"A", "B", "C"};
    struct world *w = *state;

    w->requeues = true;
    world_node(w, &(struct world_node){"n", .cores = 9});
    for (uint32_t q = 0; q < 3; q++) {
        (void)world_submit_many(
            w,
            &(struct world_job){.queue = names[q],
                                .lifetime_s = -1,
                                .submitted_ms = q * 10 * MINUTE},
            20);
        for (uint32_t i = 0; i < 10; i++) {
            world_round(w, ROUND_BALANCE, (q * 10 + i) * MINUTE);
        }
    }
    for (int64_t at = 30; at < 480; at++) {
        world_round(w, ROUND_BALANCE, at * MINUTE);
        for (uint32_t q = 0; q < 3; q++) {
            assert_int_equal(world_running(w, names[q]), 3);
        }
    }
}

/* Its node is gone: the promise is not repeated once its time has passed, but
 * told as what it is. */
static void a_promise_that_was_not_kept_is_taken_back(void **state)
{
    struct world *w = *state;
    struct sched_explanation told;
    struct bk03 bk = reserve_bk03(w, 100);

    (void)sched_job_started(w->sched, bk.a);
    world_node(w, &(struct world_node){"n", .cores = 4});
    world_node(
        w, &(struct world_node){"m", .cores = 10, .is_unschedulable = true});
    world_round(w, ROUND_BALANCE, 100 * S);
    sched_explain(w->sched, bk.head, 100 * S, &told);
    assert_int_equal(told.promised_ms, 100 * S);
    assert_int_equal(told.broken_ms, 0);
    world_round(w, ROUND_BALANCE, 101 * S);
    assert_false(reserve_runs(w, bk.head));
    sched_explain(w->sched, bk.head, 101 * S, &told);
    assert_int_equal(told.promised_ms, 0);
    assert_int_equal(told.broken_ms, 100 * S);
}

static void fl_17_keeps_it_within_its_queues_share(void **state)
{
    struct world *w = *state;
    uint32_t waiting, j = make_fl17(w, 30, 35, &waiting);

    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(reserve_runs(w, j));
    assert_false(reserve_runs(w, waiting));
}

static void fl_18_never_takes_infinite_work_for_its_like(void **state)
{
    struct world *w = *state;
    uint32_t waiting, j;

    world_keep_fixed(w); /* all but J */
    j = make_fl17(w, INT64_MAX, 50, &waiting);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(reserve_runs(w, j));
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "B", .cores = 10, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 101 * S);
    assert_true(reserve_runs(w, urgent));
    assert_true(w->is_gone[j]);
}

/* The node's only job, of the class armada-default as it is shipped. */
static uint32_t fill_by_default(struct world *w, const char *gang,
                                uint32_t node_count)
{
    static const char *const names[] = {"n1", "n2"};
    struct world_job job = {.queue = "A",
                            .priority_class = "armada-default",
                            .cores = 10,
                            .gang = gang,
                            .cardinality = gang ? node_count : 0};

    for (uint32_t i = 0; i < node_count; i++) {
        world_node(w, &(struct world_node){names[i], .cores = 10});
    }
    uint32_t first = world_submit_many(w, &job, node_count);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, first, node_count), node_count);
    return first;
}

static uint32_t submit_of(struct world *w, const char *priority_class)
{
    return world_submit(w, &(struct world_job){.queue = "B",
                                               .priority_class = priority_class,
                                               .cores = 10});
}

/* Lifetimes and `preemptible` protect from fairness alone (model.md 2.7, 6.6
 * b): with the classes and profile that are shipped. */
static void fl_18_not_preemptible_work_gives_way_to_production(void **state)
{
    struct world *w = *state;

    policy_defaults(&w->policy);
    world_restart(w);
    uint32_t j = fill_by_default(w, NULL, 1);
    uint32_t like = submit_of(w, "armada-default");
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(reserve_runs(w, j));
    assert_int_equal(reserve_promise(w, like), SCHED_START_UNKNOWN);
    uint32_t urgent = submit_of(w, "production");
    world_round(w, ROUND_BALANCE, 101 * S);
    assert_true(reserve_runs(w, urgent));
    assert_true(w->is_gone[j]);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_URGENCY);
    assert_false(reserve_runs(w, like));
    /* What production runs on is never taken: there is nothing above it. */
    uint32_t next = submit_of(w, "production");
    world_round(w, ROUND_BALANCE, 4000 * S);
    assert_true(reserve_runs(w, urgent));
    assert_false(reserve_runs(w, next));
}

static void fl_18_a_gang_that_is_not_preemptible_goes_whole(void **state)
{
    struct world *w = *state;

    policy_defaults(&w->policy);
    world_restart(w);
    uint32_t gang = fill_by_default(w, "g", 2);
    uint32_t urgent = submit_of(w, "production");
    world_round(w, ROUND_BALANCE, 1);
    assert_true(reserve_runs(w, urgent));
    assert_true(w->is_gone[gang] && w->is_gone[gang + 1]);
}

static void a_class_may_be_kept_from_urgency(void **state)
{
    struct world *w = *state;

    policy_defaults(&w->policy);
    w->policy.classes[0].is_kept_from_urgency = true;
    world_restart(w);
    uint32_t j = fill_by_default(w, NULL, 1);
    uint32_t urgent = submit_of(w, "production");
    world_round(w, ROUND_BALANCE, 1);
    assert_true(reserve_runs(w, j));
    assert_int_equal(reserve_promise(w, urgent), SCHED_START_UNKNOWN);
    assert_true(sched_is_consistent(w->sched));
}

/* Urgency apart, it is like any other: what is older than its lifetime goes
 * when its queue has more than its share. */
static void what_is_kept_from_urgency_goes_for_fairness(void **state)
{
    struct world *w = *state;

    policy_defaults(&w->policy);
    w->policy.classes[1].is_kept_from_urgency = true;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 10});
    struct world_job job = {
        .queue = "A", .priority_class = "armada-preemptible", .cores = 5};
    uint32_t j = world_submit_many(w, &job, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, j, 2), 2);
    uint32_t half = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "production", .cores = 5});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(reserve_runs(w, half));
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_FAIR_SHARE);
    uint32_t more = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "production", .cores = 5});
    world_round(w, ROUND_BALANCE, 2);
    assert_false(reserve_runs(w, more));
    assert_int_equal(world_running_of(w, j, 2), 1);
}

/* Model.md 2.16: what no longer fits anywhere goes back to its queue. */
static void dismisses_what_cannot_start_any_more(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    struct sched_admission ignored;

    world_node(w, &(struct world_node){"n", .cores = 7});
    world_round(w, ROUND_BALANCE, 1);
    assert_false(sched_job_admission(w->sched, bk.head, &ignored));
    uint32_t next = reserve_submit(w, "Z", 7, 0, 0);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(reserve_promise(w, next), 100 * S);
    world_round(w, ROUND_BALANCE, 3);
    assert_int_equal(w->plan.decision_count, 0);
}

static void more_urgent_work_does_not_wait_for_the_list(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "Z", .priority_class = "high", .cores = 4});

    world_round(w, ROUND_BALANCE, 1);
    assert_true(reserve_runs(w, urgent));
    uint32_t large = world_submit(
        w, &(struct world_job){
               .queue = "Z", .priority_class = "high", .cores = 9});
    struct sched_admission admission;
    world_round(w, ROUND_BALANCE, 2);
    assert_true(sched_job_admission(w->sched, large, &admission));
    assert_true(sched_job_admission(w->sched, bk.head, &admission));
}

/* It would be sent back as soon as it is first, and let in again. */
static void admits_nothing_that_no_empty_node_holds(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    struct sched_admission ignored;
    uint32_t large = world_submit(
        w, &(struct world_job){
               .queue = "Z", .priority_class = "high", .cores = 11});
    uint32_t gang =
        world_submit_many(w,
                          &(struct world_job){.queue = "Z",
                                              .priority_class = "high",
                                              .cores = 6,
                                              .gang = "g",
                                              .cardinality = 2,
                                              .minimum = 2},
                          2);

    for (int64_t now_ms = 1; now_ms < 5; now_ms++) {
        world_round(w, ROUND_BALANCE, now_ms);
        assert_int_equal(w->plan.decision_count, 0);
        assert_false(sched_job_admission(w->sched, large, &ignored));
        assert_false(sched_job_admission(w->sched, gang, &ignored));
        assert_true(sched_job_admission(w->sched, bk.head, &ignored));
    }
}

/* What is remembered of the nodes for one does not mislead for another. */
static void takes_turns_at_being_first(void **state)
{
    struct world *w = *state;
    struct bk03 bk;

    world_keep_fixed(w);
    bk = reserve_bk03(w, 100);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t urgent = world_submit(
            w, &(struct world_job){
                   .queue = "Z", .priority_class = "high", .cores = 7 + i % 3});
        world_round(w, ROUND_BALANCE, i + 1);
        world_round(w, ROUND_BALANCE, i + 1); /* now it is first */
        assert_int_equal(reserve_promise(w, urgent), 100 * S);
        assert_int_equal(reserve_promise(w, bk.head), 100 * S);
        world_end(w, urgent);
        world_round(w, ROUND_BALANCE, i + 1);
        assert_int_equal(reserve_promise(w, bk.head), 100 * S);
        assert_true(sched_is_consistent(w->sched));
    }
}

static void says_what_is_promised_and_to_whom(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    struct sched_explanation e;
    uint32_t passed = reserve_submit(w, "Z", 4, 110, 0);

    world_round(w, ROUND_BALANCE, 0);
    sched_explain(w->sched, bk.head, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_RESERVED);
    assert_int_equal(e.until_ms, 100 * S);
    sched_explain(w->sched, passed, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_PASSED);
    assert_int_equal(e.for_job, bk.head);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_RESERVED], 1);
    uint32_t looks = 0;
    assert_true(sched_has_place(w->sched, passed, &looks));
    world_end(w, bk.head);
    sched_explain(w->sched, passed, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_TURN);
}

/* What a checkpoint carries makes the same plans. */
static void the_list_survives_a_restart(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    uint32_t b = reserve_submit(w, "Z", 4, 0, 100);
    auto_strbuf before = {0}, after = {0};

    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, b));
    sched_job_yield(w->sched, bk.a, bk.head, true, 0);
    sched_history_pack(w->sched, &before);
    struct sched *fresh = sched_create(&w->policy);
    struct sched *old = w->sched;
    w->sched = fresh;
    world_forget_classes(w);
    world_node(w, &(struct world_node){"n", .cores = 10});
    for (uint32_t q = 0; q < 3; q++) {
        world_queue(w, w->queue_names[q], 1);
    }
    for (uint32_t j = 0; j < w->job_count; j++) {
        struct sched_job record = world_record(w, j);
        sched_job_add(fresh, j, &record);
        if (reserve_runs(w, j)) {
            sched_job_lease(fresh, j, 0, 1000, 0, false);
            sched_job_age_from(fresh, j, 0);
        }
    }
    assert_int_equal(sched_history_unpack(fresh, strbuf_str(&before)), 0);
    sched_history_pack(fresh, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
    assert_int_equal(reserve_promise(w, bk.head), 100 * S);
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(reserve_runs(w, bk.head) && w->is_gone[b]);
    sched_destroy(old);
}

/* Another pool has taken its nodes, or their cluster is gone. */
static void a_pool_without_nodes_promises_nothing(void **state)
{
    struct world *w = *state;
    struct sched_admission admission;
    struct bk03 bk = reserve_bk03(w, 100);

    assert_true(sched_job_admission(w->sched, bk.head, &admission));
    world_end(w, bk.a);
    sched_node_remove(w->sched, 0);
    world_round(w, ROUND_FAST, 1);
    assert_false(sched_job_admission(w->sched, bk.head, &admission));
    world_node(w, &(struct world_node){"n", .cores = 10});
    world_round(w, ROUND_FAST, 2);
    assert_true(reserve_runs(w, bk.head));
}

enum { SECOND = 1000 };

/* Nor is the like of what was just admitted tried, when no more may be: its
 * queue's turn is that of what comes behind. */
static void the_like_of_the_admitted_holds_up_nobody(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .freezing_window_ms = 1000 * SECOND,
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t g = world_node(w, &(struct world_node){"g", .cores = 8});
    world_node(w, &(struct world_node){"n", .cores = 1});
    uint32_t unit = world_submit_group(
        w,
        &(struct world_job){
            .queue = "D", .gang = "g", .priority_class = "fixed", .cores = 4},
        &terms);
    world_lease(w, unit, g, 0); /* it has surplus, which it keeps for now */
    world_lease(w, unit + 1, g, 0);
    sched_gang_scaled(w->sched, unit, 5 * SECOND);
    uint32_t large =
        world_submit_many(w, &(struct world_job){.queue = "B", .cores = 4}, 2);
    uint32_t small =
        world_submit(w, &(struct world_job){.queue = "B", .submitted_ms = 1});
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "C", .cores = 1});
    world_queue(w, "C", 6); /* it goes between four cores of B and five */
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, large);
    assert_string_equal(world_node_of(w, small), "n");
    assert_string_equal(world_node_of(w, other), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(fl_17_takes_what_is_older_than_its_lifetime),
        SCENARIO(a_promise_counts_on_no_preemption_where_there_is_none),
        SCENARIO(what_else_is_admitted_does_not_count_against_a_head),
        SCENARIO(equal_queues_on_one_node_keep_equal_parts),
        SCENARIO(a_promise_that_was_not_kept_is_taken_back),
        SCENARIO(fl_17_keeps_it_within_its_queues_share),
        SCENARIO(fl_18_never_takes_infinite_work_for_its_like),
        SCENARIO(fl_18_not_preemptible_work_gives_way_to_production),
        SCENARIO(fl_18_a_gang_that_is_not_preemptible_goes_whole),
        SCENARIO(a_class_may_be_kept_from_urgency),
        SCENARIO(what_is_kept_from_urgency_goes_for_fairness),
        SCENARIO(dismisses_what_cannot_start_any_more),
        SCENARIO(more_urgent_work_does_not_wait_for_the_list),
        SCENARIO(admits_nothing_that_no_empty_node_holds),
        SCENARIO(takes_turns_at_being_first),
        SCENARIO(says_what_is_promised_and_to_whom),
        SCENARIO(a_pool_without_nodes_promises_nothing),
        SCENARIO(the_list_survives_a_restart),
        cmocka_unit_test_setup_teardown(
            the_like_of_the_admitted_holds_up_nobody, world_setup,
            world_teardown),
    };

    return RUN_TESTS(tests);
}
