/* A limit that lets the head go only when work of its own queue has ended keeps
 * it waiting as the head: it has its reservation, and younger work of its queue
 * does not pass it for ever. */
#include "reserve_fixture.h"

enum { NODES = 4, CORES = 16 };

/* A job of A. */
static uint32_t submit_a(struct world *w, const char *priority_class,
                         int64_t cores, int64_t deadline_s)
{
    return world_submit(w, &(struct world_job){.queue = "A",
                                               .priority_class = priority_class,
                                               .cores = cores,
                                               .deadline_s = deadline_s,
                                               .submitted_ms = w->job_count});
}

/* A gang of A that has two nodes whole. */
static uint32_t submit_gang(struct world *w, const char *priority_class)
{
    return world_submit_many(
        w,
        &(struct world_job){.queue = "A",
                            .priority_class = priority_class,
                            .gang = "g",
                            .cardinality = 2,
                            .cores = CORES,
                            .deadline_s = 1000,
                            .submitted_ms = w->job_count},
        2);
}

static void add_nodes(struct world *w, uint32_t count)
{
    static const char *const names[] = {"n1", "n2", "n3", "n4"};

    for (uint32_t i = 0; i < count; i++) {
        world_node(w, &(struct world_node){names[i], .cores = CORES});
    }
}

static void limit_fixed(struct world *w, int64_t fraction_ppm)
{
    uint32_t fixed = policy_class_index(&w->policy, STR("fixed"));

    w->policy.classes[fixed].queue_limit_count = 1;
    w->policy.classes[fixed].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), fraction_ppm};
    world_restart(w);
}

/* 74 % of four nodes are used by jobs of A that end one after the other, and
 * as many come as end: with the class and the profile that are shipped. */
static void a_gang_of_the_only_queue_is_not_passed_for_ever(void **state)
{
    struct world *w = *state;
    uint32_t jobs[12], gang = 0;

    policy_defaults(&w->policy);
    world_restart(w);
    add_nodes(w, NODES);
    for (uint32_t i = 0; i < 12; i++) {
        jobs[i] = submit_a(w, "armada-default", 4, 100 + 10 * i);
    }
    world_round(w, ROUND_BALANCE, 0);
    for (uint32_t i = 0; i < 12; i++) {
        (void)sched_job_started(w->sched, jobs[i]);
    }
    gang = submit_gang(w, "armada-default");
    for (int64_t i = 0; i < 12; i++) {
        world_round(w, ROUND_BALANCE, (100 + 10 * i) * S - 1);
        world_end(w, jobs[i]);
        (void)submit_a(w, "armada-default", 4, 1000);
        world_round(w, ROUND_BALANCE, (100 + 10 * i) * S);
    }
    assert_int_equal(world_running_of(w, gang, 2), 2);
}

/* A of two running jobs of 4 of 16 with a limit of 12, whose head asks for 8;
 * nodes have room.  The first ends at 100, the second at 200. */
static uint32_t make_limited(struct world *w, uint32_t *ret_first)
{
    add_nodes(w, NODES);
    *ret_first = submit_a(w, "fixed", 4, 100);
    uint32_t second = submit_a(w, "fixed", 4, 200);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, *ret_first) && reserve_runs(w, second));
    (void)sched_job_started(w->sched, *ret_first);
    (void)sched_job_started(w->sched, second);
    uint32_t head = submit_a(w, "fixed", 8, 1000);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(reserve_runs(w, head));
    return head;
}

/* Whether a job of A starts at once; it is taken away again. */
static bool passes(struct world *w, int64_t cores, int64_t deadline_s)
{
    uint32_t job = submit_a(w, "fixed", cores, deadline_s);

    world_round(w, ROUND_BALANCE, 0);
    bool is_running = reserve_runs(w, job);
    world_end(w, job);
    return is_running;
}

/* What it waits for, the promise included, is said with the limit's name. */
static void assert_is_told(struct world *w, uint32_t head, enum sched_wait wait)
{
    struct sched_explanation told;

    sched_explain(w->sched, head, 0, &told);
    assert_int_equal(told.wait, wait);
    assert_int_equal(told.resource, CPU);
    assert_true(told.used + told.asked_amount > told.limit);
    assert_int_equal(told.promised_ms, 100 * S);
}

static void assert_waits_as_head(struct world *w, uint32_t head, uint32_t first)
{
    assert_int_equal(reserve_promise(w, head), 100 * S);
    assert_true(passes(w, 4, 100));  /* gone by then */
    assert_false(passes(w, 4, 101)); /* would keep it waiting */
    world_end(w, first);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(reserve_runs(w, head));
}

static void what_a_class_limit_refuses_waits_until_it_lets_it_go(void **state)
{
    struct world *w = *state;
    uint32_t first;

    limit_fixed(w, 187500); /* 12 of 64 */
    uint32_t head = make_limited(w, &first);
    assert_is_told(w, head, SCHED_WAIT_QUEUE_LIMIT);
    assert_waits_as_head(w, head, first);
}

static void set_quota(struct world *w, int64_t cores)
{
    struct resource_amount cpu = {STR("cpu"), cores * 1000};
    struct queue_record record = {.quota = {&cpu, 1}};

    (void)world_queue_by(w, "A", &record);
}

static void what_a_quota_refuses_waits_until_it_lets_it_go(void **state)
{
    struct world *w = *state;
    uint32_t first;

    set_quota(w, 12);
    uint32_t head = make_limited(w, &first);
    assert_is_told(w, head, SCHED_WAIT_QUOTA);
    assert_waits_as_head(w, head, first);
}

/* There is room for both under the limit when the head goes. */
static void what_leaves_the_head_its_limit_passes(void **state)
{
    struct world *w = *state;
    uint32_t first;

    limit_fixed(w, 250000); /* 16 of 64 */
    add_nodes(w, NODES);
    first = submit_a(w, "fixed", 8, 100);
    world_round(w, ROUND_BALANCE, 0);
    (void)sched_job_started(w->sched, first);
    uint32_t head = submit_a(w, "fixed", 12, 1000);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, head), 100 * S);
    assert_true(passes(w, 4, 1000));
    assert_false(passes(w, 5, 1000));
}

/* Nothing tells when what runs ends: no node is kept idle for it, but its
 * queue's younger work waits. */
static void without_bounds_younger_work_waits_and_others_go_on(void **state)
{
    struct world *w = *state;

    limit_fixed(w, 187500);
    add_nodes(w, NODES);
    uint32_t first = submit_a(w, "fixed", 8, 0);
    world_round(w, ROUND_BALANCE, 0);
    (void)sched_job_started(w->sched, first);
    uint32_t head = submit_a(w, "fixed", 12, 1000);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, head), SCHED_START_UNKNOWN);
    assert_false(passes(w, 4, 10));
    uint32_t others = world_submit_many(
        w,
        &(struct world_job){
            .queue = "B", .priority_class = "mid", .cores = CORES},
        3);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, others, 3), 3);
    world_end(w, first);
    world_round(w, ROUND_BALANCE, S);
    assert_true(reserve_runs(w, head));
}

/* What the limit never lets go keeps nobody waiting. */
static void what_no_limit_could_let_go_is_passed(void **state)
{
    struct world *w = *state;
    struct sched_admission admission;

    limit_fixed(w, 187500);
    add_nodes(w, NODES);
    uint32_t head = submit_a(w, "fixed", 13, 100);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(sched_job_admission(w->sched, head, &admission));
    assert_true(passes(w, 12, 1000));
}

/* The limit on work above the share counts what is admitted, and would stop
 * the queue: under it what a class limit refuses is passed over. */
static void under_a_limit_above_the_share_it_is_passed(void **state)
{
    struct world *w = *state;
    struct sched_admission admission;
    uint32_t first;

    pool_policy_apply(&w->policy.pools[0], PROFILE_FLOW);
    limit_fixed(w, 187500);
    uint32_t head = make_limited(w, &first);
    assert_false(sched_job_admission(w->sched, head, &admission));
    assert_true(passes(w, 4, 1000));
}

/* Logs of before are decided as they were. */
static void by_former_rules_it_is_passed(void **state)
{
    struct world *w = *state;
    struct sched_admission admission;
    uint32_t first;

    w->policy.rules_revision = POLICY_RULES_BOUNDED;
    limit_fixed(w, 187500);
    uint32_t head = make_limited(w, &first);
    assert_false(sched_job_admission(w->sched, head, &admission));
    assert_true(passes(w, 4, 1000));
}

/* A queue that goes by applications, a pool that reserves, and work of B for
 * which it does so on node m. */
static void make_stages(struct world *w, bool is_class_ignored)
{
    struct queue_record queue = queue_record_plain(STR("A"));

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    queue.ordering = QUEUE_BY_STATEAWARE;
    queue.is_class_priority_ignored = is_class_ignored;
    world_queue_by(w, "A", &queue);
    uint32_t node =
        world_node(w, &(struct world_node){"m", .cores = 8, .label_key = "on",
                                           .label_value = "m"});
    struct world_job job = {"B", .priority_class = "fixed", .cores = 8,
                            .selector_key = "on", .selector_value = "m"};
    world_lease(w, world_submit(w, &job), node, 0);
    world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
}

/* A reservation of the queue's own does not bind what is more urgent: where
 * that has no room all the same, it is admitted like any other. */
static void what_nothing_binds_is_admitted(void **state)
{
    struct world *w = *state;
    struct world_job job = {"A", .priority_class = "fixed", .cores = 1};

    world_keep_fixed(w);
    make_stages(w, true);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    job.application = "a0";
    for (int i = 0; i < 2; i++) {
        world_lease(w, world_submit(w, &job), node, 1);
    }
    job.cores = 4;
    world_submit(w, &job);
    job.application = "a1";
    job.priority_class = "high";
    job.submitted_ms = 1;
    uint32_t next = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(a_gang_of_the_only_queue_is_not_passed_for_ever),
        SCENARIO(what_a_class_limit_refuses_waits_until_it_lets_it_go),
        SCENARIO(what_a_quota_refuses_waits_until_it_lets_it_go),
        SCENARIO(what_leaves_the_head_its_limit_passes),
        SCENARIO(without_bounds_younger_work_waits_and_others_go_on),
        SCENARIO(what_no_limit_could_let_go_is_passed),
        SCENARIO(under_a_limit_above_the_share_it_is_passed),
        SCENARIO(by_former_rules_it_is_passed),
        cmocka_unit_test_setup_teardown(what_nothing_binds_is_admitted,
                                        world_setup, world_teardown),
    };

    return RUN_TESTS(tests);
}
