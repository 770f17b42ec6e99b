/* Admitted work, its reservation, and who may pass it: the scenarios BK of
 * model.md section 8.  A minute of theirs is a second here. */
#include <stdio.h>

#include "sched/state.h"
#include "world_fixture.h"

enum { S = 1000 };

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    pool_policy_apply(&world->policy.pools[0], PROFILE_BERTH);
    world_restart(world);
    return 0;
}

/* A job that cannot be preempted, or not before its lifetime. */
static uint32_t submit(struct world *w, const char *queue, int64_t cores,
                       int64_t deadline_s, int64_t lifetime_s)
{
    return world_submit(w, &(struct world_job){.queue = queue,
                                               .priority_class = "fixed",
                                               .cores = cores,
                                               .deadline_s = deadline_s,
                                               .lifetime_s = lifetime_s,
                                               .submitted_ms = w->job_count});
}

static bool runs(const struct world *w, uint32_t job)
{
    return !w->is_gone[job] && w->node_of[job] != SCHED_NONE;
}

static int64_t promise_of(const struct world *w, uint32_t job)
{
    struct sched_admission admission;

    assert_true(sched_job_admission(w->sched, job, &admission));
    return admission.start_ms;
}

/* BK-03's cluster: a node of 10 on which A uses 6 until 100; H needs 8. */
struct bk03 {
    uint32_t a, head;
};

static struct bk03 make_bk03(struct world *w, int64_t deadline_s)
{
    struct bk03 bk;

    world_node(w, &(struct world_node){"n", .cores = 10});
    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    world_queue(w, "Z", 1);
    bk.a = submit(w, "A", 6, deadline_s, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, bk.a));
    bk.head = submit(w, "H", 8, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(runs(w, bk.head));
    return bk;
}

static bool passes(struct world *w, int64_t cores, int64_t deadline_s,
                   int64_t lifetime_s)
{
    uint32_t job = submit(w, "Z", cores, deadline_s, lifetime_s);

    world_round(w, ROUND_BALANCE, 0);
    bool is_running = runs(w, job);
    world_end(w, job);
    return is_running;
}

static void bk_03_lets_pass_what_does_not_delay_the_head(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);

    assert_int_equal(promise_of(w, bk.head), 100 * S);
    assert_true(passes(w, 4, 90, 0));
    assert_false(passes(w, 4, 110, 0));
    assert_true(passes(w, 4, 0, -1));
    assert_true(passes(w, 4, 0, 100));
    uint32_t beside = submit(w, "Z", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, beside));
    assert_false(passes(w, 1, 0, 0)); /* extra is 0 now */
    assert_false(passes(w, 3, 0, 0));
    assert_true(sched_is_consistent(w->sched));
}

static void bk_04_starts_the_head_as_soon_as_there_is_room(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t b1 = submit(w, "Z", 2, 90, 0), b2 = submit(w, "Z", 2, 0, 0);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, b1) && runs(w, b2));
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 60 * S);
    assert_false(runs(w, bk.head));
    world_end(w, b1);
    world_round(w, ROUND_FAST, 90 * S);
    assert_true(runs(w, bk.head));
}

static void bk_05_preempts_what_yields_to_the_head(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t b = submit(w, "Z", 4, 0, 100);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, b));
    world_round(w, ROUND_BALANCE, 99 * S);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(runs(w, bk.head));
    assert_true(w->is_gone[b]);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_YIELD);
    assert_int_equal(w->plan.decisions[0].for_job, bk.head);
}

static void bk_05_yields_before_its_bound_only_when_asked(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t b = submit(w, "Z", 4, 0, 50);

    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 70 * S); /* its going would not help */
    assert_true(runs(w, b));
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 80 * S);
    assert_true(runs(w, bk.head));
}

static void bk_06_reserves_without_a_bound(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 0);

    assert_int_equal(promise_of(w, bk.head), SCHED_START_UNKNOWN);
    assert_false(passes(w, 4, 0, 30));
    assert_true(passes(w, 4, 0, -1));
    world_node(w, &(struct world_node){"m", .cores = 5});
    assert_true(passes(w, 4, 0, 30));
    assert_true(passes(w, 4, 0, -1));
}

static void what_is_known_of_nodes_follows_their_runs(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 0);
    struct world_job mid = {.queue = "Z", .cores = 2};

    assert_int_equal(promise_of(w, bk.head), SCHED_START_UNKNOWN);
    uint32_t first = world_submit(w, &mid), second = world_submit(w, &mid);
    world_round(w, ROUND_BALANCE, 1 * S);
    assert_true(runs(w, first) && runs(w, second));
    world_round(w, ROUND_BALANCE, 2 * S); /* knows who yields now */
    assert_true(sched_is_consistent(w->sched));
    world_end(w, first);
    assert_true(sched_is_consistent(w->sched));
    world_round(w, ROUND_BALANCE, 3 * S);
    mid.queue = "A";
    uint32_t third = world_submit(w, &mid);
    world_round(w, ROUND_BALANCE, 4 * S);
    assert_true(runs(w, third));
    assert_true(sched_is_consistent(w->sched));
    world_end(w, second);
    world_end(w, third);
    assert_true(sched_is_consistent(w->sched));
}

/* Where the pool's reservation is. */
static uint32_t reserved_node(const struct world *w)
{
    const struct kept_reservation *kept = &w->sched->pools.items[0].kept;

    assert_int_equal(kept->nodes.count, 1);
    return kept->nodes.items[0].node;
}

static void a_node_with_room_grows_when_a_lifetime_there_is_over(void **state)
{
    struct world *w = *state;
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 10});
    struct world_job low = {.queue = "A", .priority_class = "low"};
    struct world_job urgent = {
        .queue = "H", .priority_class = "high", .cores = 4};

    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    low.cores = 8;
    world_lease(w, world_submit(w, &low), n, 0);
    world_lease(w, submit(w, "A", 2, 0, 0), n, 0);
    low.cores = 7;
    world_lease(w, world_submit(w, &low), m, 0);
    uint32_t aging = submit(w, "A", 3, 0, 100);
    world_lease(w, aging, m, 0);
    (void)sched_job_started(w->sched, aging);
    world_submit(w, &urgent);
    world_round(w, ROUND_FAST, 1 * S);
    assert_int_equal(reserved_node(w), m); /* 7 cores there, 8 on n */
    world_submit(w, &urgent);
    world_round(w, ROUND_FAST, 200 * S);
    assert_int_equal(reserved_node(w), n); /* 10 on m now */
}

static void bk_01_leases_in_the_order_of_admission(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].admitted_window = 4;
    world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t a = submit(w, "A", 10, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j1 = submit(w, "B", 5, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j2 = submit(w, "C", 4, 0, 0); /* its queue would have less */
    world_round(w, ROUND_BALANCE, 0);
    world_end(w, a);
    sched_plan(w->sched, 1, ROUND_FAST, 100, &w->plan);
    assert_int_equal(w->plan.decision_count, 2);
    assert_int_equal(w->plan.decisions[0].job, j1);
    assert_int_equal(w->plan.decisions[1].job, j2);
}

static void bk_02_keeps_its_node_while_others_start_elsewhere(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"gpu", .cores = 4, .label_key = "k",
                                       .label_value = "gpu"});
    world_node(w, &(struct world_node){"cpu", .cores = 4, .label_key = "k",
                                       .label_value = "cpu"});
    struct world_job gpu = {.queue = "A",
                            .priority_class = "fixed",
                            .cores = 3,
                            .selector_key = "k",
                            .selector_value = "gpu",
                            .deadline_s = 50};
    world_submit(w, &gpu);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j1 = world_submit(w, &gpu);
    uint32_t j2 = submit(w, "B", 2, 0, 0), j3 = submit(w, "B", 2, 0, 0);
    uint32_t j4 = submit(w, "B", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(runs(w, j1));
    assert_int_equal(promise_of(w, j1), 50 * S);
    assert_string_equal(world_node_of(w, j2), "cpu");
    assert_string_equal(world_node_of(w, j3), "cpu");
    assert_false(runs(w, j4)); /* the gpu node has 1 free beside j1 */
}

static void bk_07_protects_only_the_first(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);

    w->policy.pools[0].admitted_window = 8;
    w->policy.pools[0].admitted_window_per_queue = 8;
    sched_policy_set(w->sched, &w->policy);
    uint32_t second = submit(w, "Z", 10, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, second), SCHED_START_UNKNOWN);
    assert_true(passes(w, 2, 0, 0)); /* it would delay the second */
    assert_false(runs(w, bk.head));
}

static void bk_08_only_lowers_what_it_promised(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);

    w->policy.pools[0].admitted_window = 32;
    w->policy.pools[0].admitted_window_per_queue = 32;
    sched_policy_set(w->sched, &w->policy);
    for (int i = 0; i < 20; i++) {
        submit(w, i % 2 ? "Z" : "A", 9, 1000 + i, 0);
        world_round(w, ROUND_BALANCE, i * S);
        assert_true(promise_of(w, bk.head) <= 100 * S);
    }
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 60 * S);
    assert_true(runs(w, bk.head));
}

static void admits_the_first_without_room_alone(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    struct sched_admission ignored;
    uint32_t second = submit(w, "Z", 9, 0, 0);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(sched_job_admission(w->sched, bk.head, &ignored));
    assert_false(sched_job_admission(w->sched, second, &ignored));
    world_end(w, bk.head); /* cancelled: the next becomes it at once */
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, second), 100 * S);
}

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
    submit(w, "A", rest, 0, 0);
    submit(w, "B", 90 - rest, 0, 0);
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
    assert_true(runs(w, j));
    assert_int_equal(promise_of(w, waiting), 30 * S);
    assert_int_equal(w->plan.next_wake_ms, 30 * S);
    world_round(w, ROUND_BALANCE, 30 * S);
    assert_true(w->is_gone[j]);
    assert_true(runs(w, waiting));
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
    assert_true(runs(w, low) && runs(w, mid));
    (void)sched_job_started(w->sched, low);
    (void)sched_job_started(w->sched, mid);
    uint32_t head =
        world_submit(w, &(struct world_job){.queue = "H", .cores = 5});
    sched_preemption_set(w->sched, true);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, low) && runs(w, mid) && !runs(w, head));
    assert_int_equal(promise_of(w, head), 50 * S);
    /* And where there is again, what was remembered is of no use. */
    sched_preemption_set(w->sched, false);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, head));
}

static void fl_17_keeps_it_within_its_queues_share(void **state)
{
    struct world *w = *state;
    uint32_t waiting, j = make_fl17(w, 30, 35, &waiting);

    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(runs(w, j));
    assert_false(runs(w, waiting));
}

static void fl_18_never_takes_infinite_work_for_its_like(void **state)
{
    struct world *w = *state;
    uint32_t waiting, j = make_fl17(w, INT64_MAX, 50, &waiting);

    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(runs(w, j));
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "B", .cores = 10, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 101 * S);
    assert_true(runs(w, urgent));
    assert_true(w->is_gone[j]);
}

/* Gangs. */

static uint32_t submit_gang(struct world *w, const char *queue,
                            const char *gang, uint32_t members, int64_t cores,
                            int64_t deadline_s)
{
    return world_submit_many(w,
                             &(struct world_job){.queue = queue,
                                                 .priority_class = "fixed",
                                                 .gang = gang,
                                                 .cardinality = members,
                                                 .cores = cores,
                                                 .deadline_s = deadline_s,
                                                 .submitted_ms = w->job_count},
                             members);
}

/* Nodes of 4: 40, 50 and 60 s are how long they are full; the fourth is half
 * free for ever. */
static uint32_t make_gang_world(struct world *w, const char *label)
{
    static const char *const NAMES[] = {"n0", "n1", "n2", "n3"};
    static const char *const VALUES[] = {"x", "y", "x", "y"};

    for (uint32_t i = 0; i < 4; i++) {
        world_node(
            w, &(struct world_node){NAMES[i], .cores = 4, .label_key = label,
                                    .label_value = label ? VALUES[i] : NULL});
        uint32_t job = submit(w, "A", i == 3 ? 2 : 4,
                              i == 3 ? 0 : 40 + 10 * (int64_t)i, 0);
        world_lease(w, job, i, 0);
        (void)sched_job_started(w->sched, job);
    }
    return 4;
}

static void reserves_for_all_of_a_gang(void **state)
{
    struct world *w = *state;

    make_gang_world(w, NULL);
    uint32_t gang = submit_gang(w, "H", "g", 3, 3, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, gang), 60 * S);
    /* On n3 there is room beside the gang, which does not use it. */
    uint32_t beside = submit(w, "Z", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, beside), "n3");
    world_end(w, 0);
    world_round(w, ROUND_BALANCE, 10 * S);
    assert_true(passes(w, 1, 0, 0)); /* 4 - 3 are left on n0 */
    assert_false(passes(w, 2, 0, 0));
    world_end(w, 1);
    world_end(w, 2);
    world_round(w, ROUND_BALANCE, 20 * S);
    assert_true(runs(w, gang) && runs(w, gang + 1) && runs(w, gang + 2));
    assert_true(sched_is_consistent(w->sched));
}

static void reserves_within_one_value_of_the_gangs_label(void **state)
{
    struct world *w = *state;

    make_gang_world(w, "rack");
    uint32_t gang =
        world_submit_many(w,
                          &(struct world_job){.queue = "H",
                                              .priority_class = "fixed",
                                              .gang = "g",
                                              .cardinality = 2,
                                              .cores = 3,
                                              .uniformity = "rack"},
                          2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, gang), 60 * S); /* n0 and n2 */
    world_end(w, 1);
    assert_true(passes(w, 4, 0, 0)); /* n1 is not reserved */
    assert_false(runs(w, gang));
}

/* A gang of `count` members, each a class of its own. */
static uint32_t submit_motley_gang(struct world *w, uint32_t count)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = world_submit(w, &(struct world_job){
                                           .queue = "H",
                                           .priority_class = "fixed",
                                           .gang = "g",
                                           .cardinality = count,
                                           .cores = 3,
                                           .memory_gb = 1 + (int64_t)i,
                                       });
        first = i == 0 ? job : first;
    }
    return first;
}

static void reserves_for_a_gang_of_unlike_members(void **state)
{
    struct world *w = *state;

    make_gang_world(w, NULL);
    uint32_t gang = submit_motley_gang(w, 3);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, gang), 60 * S);
    world_end(w, 0);
    world_end(w, 1);
    world_end(w, 2);
    world_round(w, ROUND_BALANCE, 20 * S);
    assert_true(runs(w, gang) && runs(w, gang + 1) && runs(w, gang + 2));
}

/* To look at every node for every kind of member would hold all others up. */
static void a_gang_of_too_many_kinds_gets_no_reservation(void **state)
{
    enum { NODES = 1400, KINDS = 400 };
    static char names[NODES][8];
    struct world *w = *state;

    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof(names[i]), "m%u", i);
        uint32_t node =
            world_node(w, &(struct world_node){
                              .name = names[i], .cores = 4, .memory_gb = 1000});
        uint32_t job = submit(w, "A", 4, 60, 0);
        world_lease(w, job, node, 0);
    }
    uint32_t gang = submit_motley_gang(w, KINDS);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(w->plan.decision_count == 0);
    assert_false(runs(w, gang));
    struct sched_admission admission;
    assert_false(sched_job_admission(w->sched, gang, &admission));
}

static void a_gang_that_breaks_up_leaves_the_list(void **state)
{
    struct world *w = *state;
    struct sched_admission ignored;

    make_gang_world(w, NULL);
    uint32_t gang = submit_gang(w, "H", "g", 3, 3, 0);
    uint32_t next = submit(w, "H", 3, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(sched_job_admission(w->sched, gang, &ignored));
    world_end(w, gang + 1);
    assert_false(sched_job_admission(w->sched, gang, &ignored));
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, next), 40 * S);
}

/* Model.md 2.16: what no longer fits anywhere goes back to its queue. */
static void dismisses_what_cannot_start_any_more(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    struct sched_admission ignored;

    world_node(w, &(struct world_node){"n", .cores = 7});
    world_round(w, ROUND_BALANCE, 1);
    assert_false(sched_job_admission(w->sched, bk.head, &ignored));
    uint32_t next = submit(w, "Z", 7, 0, 0);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(promise_of(w, next), 100 * S);
    world_round(w, ROUND_BALANCE, 3);
    assert_int_equal(w->plan.decision_count, 0);
}

static void more_urgent_work_does_not_wait_for_the_list(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "Z", .priority_class = "high", .cores = 4});

    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, urgent));
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
    struct bk03 bk = make_bk03(w, 100);
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
    struct bk03 bk = make_bk03(w, 100);

    for (uint32_t i = 0; i < 5; i++) {
        uint32_t urgent = world_submit(
            w, &(struct world_job){
                   .queue = "Z", .priority_class = "high", .cores = 7 + i % 3});
        world_round(w, ROUND_BALANCE, i + 1);
        world_round(w, ROUND_BALANCE, i + 1); /* now it is first */
        assert_int_equal(promise_of(w, urgent), 100 * S);
        assert_int_equal(promise_of(w, bk.head), 100 * S);
        world_end(w, urgent);
        world_round(w, ROUND_BALANCE, i + 1);
        assert_int_equal(promise_of(w, bk.head), 100 * S);
        assert_true(sched_is_consistent(w->sched));
    }
}

static void says_what_is_promised_and_to_whom(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    struct sched_explanation e;
    uint32_t passed = submit(w, "Z", 4, 110, 0);

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

/* Where the queue's rate holds an admitted gang back, it holds back what stands
 * behind it too, though a single job could start. */
static void a_gang_waits_for_its_queues_rate(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "A",
                               .priority_class = "fixed",
                               .cores = 3,
                               .deadline_s = 100,
                               .gang = "g",
                               .cardinality = 2,
                               .minimum = 2};

    w->policy.rate_per_queue =
        (struct rate_limit){.rate_milli_per_s = 100, .burst = 3};
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 6});
    world_node(w, &(struct world_node){"s", .cores = 1});
    submit(w, "A", 2, 100, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t gang = world_submit_many(w, &member, 2);
    uint32_t small = submit(w, "A", 1, 10, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(promise_of(w, gang) > 0);
    assert_true(runs(w, small));
    uint32_t last = submit(w, "A", 1, 10, 0);
    world_round(w, ROUND_BALANCE, 1);
    assert_false(runs(w, last));
    assert_true(promise_of(w, gang) > 0);
}

/* What a checkpoint carries makes the same plans. */
static void the_list_survives_a_restart(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t b = submit(w, "Z", 4, 0, 100);
    auto_strbuf before = {0}, after = {0};

    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, b));
    sched_job_yield(w->sched, bk.a, bk.head, true);
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
        if (runs(w, j)) {
            sched_job_lease(fresh, j, 0, 1000, 0, false);
            sched_job_age_from(fresh, j, 0);
        }
    }
    assert_int_equal(sched_history_unpack(fresh, strbuf_str(&before)), 0);
    sched_history_pack(fresh, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
    assert_int_equal(promise_of(w, bk.head), 100 * S);
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(runs(w, bk.head) && w->is_gone[b]);
    sched_destroy(old);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(bk_01_leases_in_the_order_of_admission),
        SCENARIO(bk_02_keeps_its_node_while_others_start_elsewhere),
        SCENARIO(bk_03_lets_pass_what_does_not_delay_the_head),
        SCENARIO(bk_04_starts_the_head_as_soon_as_there_is_room),
        SCENARIO(bk_05_preempts_what_yields_to_the_head),
        SCENARIO(bk_05_yields_before_its_bound_only_when_asked),
        SCENARIO(bk_06_reserves_without_a_bound),
        SCENARIO(what_is_known_of_nodes_follows_their_runs),
        SCENARIO(a_node_with_room_grows_when_a_lifetime_there_is_over),
        SCENARIO(bk_07_protects_only_the_first),
        SCENARIO(bk_08_only_lowers_what_it_promised),
        SCENARIO(admits_the_first_without_room_alone),
        SCENARIO(fl_17_takes_what_is_older_than_its_lifetime),
        SCENARIO(a_promise_counts_on_no_preemption_where_there_is_none),
        SCENARIO(fl_17_keeps_it_within_its_queues_share),
        SCENARIO(fl_18_never_takes_infinite_work_for_its_like),
        SCENARIO(reserves_for_all_of_a_gang),
        SCENARIO(reserves_within_one_value_of_the_gangs_label),
        SCENARIO(reserves_for_a_gang_of_unlike_members),
        SCENARIO(a_gang_of_too_many_kinds_gets_no_reservation),
        SCENARIO(a_gang_that_breaks_up_leaves_the_list),
        SCENARIO(dismisses_what_cannot_start_any_more),
        SCENARIO(more_urgent_work_does_not_wait_for_the_list),
        SCENARIO(admits_nothing_that_no_empty_node_holds),
        SCENARIO(takes_turns_at_being_first),
        SCENARIO(says_what_is_promised_and_to_whom),
        SCENARIO(a_gang_waits_for_its_queues_rate),
        SCENARIO(the_list_survives_a_restart),
    };

    return RUN_TESTS(tests);
}
