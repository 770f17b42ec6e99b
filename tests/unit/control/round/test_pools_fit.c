/* Jobs that no pool, or only a lender, could ever hold. */
#include "pools_fixture.h"

/* Pools cpu, whose node has 10 cpu, and gpu, whose node has 20. */
static void begin_uneven(struct stage *s, bool is_sharing_off)
{
    static const char *const labels[] = {"cpu", "gpu"};

    stage_queue(s, "q");
    pools_offer_up_to(s, labels, 2, 20000);
    pools_select(s, "cpu", false);
    pools_select(s, "gpu", is_sharing_off);
}

static struct job_id submit_large(struct stage *s, int64_t cpu_milli)
{
    struct job_id job =
        stage_submit(s, "q",
                     (struct stage_job){.pool = "cpu",
                                        .priority_class = "armada-default",
                                        .cpu_milli = cpu_milli});

    pools_settle(s);
    return job;
}

static void assert_refused(struct stage *s, struct job_id job, const char *why)
{
    auto_mem char *history = stage_history(s, job);
    auto_mem char *text = stage_failure(s, job);

    assert_string_equal(history, "submit failed");
    assert_non_null(strstr(text, why));
}

static void what_no_pool_could_hold_is_refused(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    assert_refused(s, submit_large(s, 21000),
                   "These are the nodes of its own pool; no other that may "
                   "lend to it could hold it either.\n");
    pools_assert_runs(s, "gpu", 0, 0);
}

/* What is known of a class in one pool says nothing of another. */
static void even_if_a_pool_that_lends_nothing_holds_its_like(void **state)
{
    struct stage *s = *state;
    struct stage_job job = {.pool = "gpu", .cpu_milli = 15000};

    begin_uneven(s, true);
    (void)stage_submit(s, "q", job);
    pools_settle(s);
    pools_assert_runs(s, "gpu", 1, 0);
    job.pool = "cpu";
    struct job_id other = stage_submit(s, "q", job);
    pools_settle(s);
    assert_refused(s, other, "does not fit on any node");
}

static void what_only_a_lender_could_hold_runs_there(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    (void)submit_large(s, 15000);
    pools_assert_runs(s, "gpu", 0, 1);
    /* And waits for it. */
    struct job_id next = submit_large(s, 16000);
    auto_mem char *history = stage_history(s, next);
    assert_string_equal(history, "submit");
}

static void what_only_a_pool_that_lends_nothing_holds_is_refused(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, true);
    assert_refused(s, submit_large(s, 15000), "does not fit on any node");
}

static void nor_is_what_may_not_borrow_lent_a_larger_node(void **state)
{
    struct stage *s = *state;

    stage_crash(s);
    s->policy.classes[policy_class_index(&s->policy, STR("armada-default"))]
        .may_borrow = false;
    stage_start(s);
    begin_uneven(s, false);
    assert_refused(s, submit_large(s, 15000), "does not fit on any node");
}

/* Two members of a gang at home in cpu; the last of them. */
static struct job_id submit_pair(struct stage *s, int64_t cpu_milli)
{
    struct job_id last = {{0, 0}};

    for (int i = 0; i < 2; i++) {
        last = stage_submit(s, "q",
                            (struct stage_job){.pool = "cpu",
                                               .gang = "pair",
                                               .gang_cardinality = 2,
                                               .cpu_milli = cpu_milli});
    }
    pools_settle(s);
    return last;
}

static void a_gang_that_no_pool_could_hold_is_refused(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    assert_refused(s, submit_pair(s, 11000), "could hold it either.\n");
}

static void a_gang_that_only_a_lender_could_hold_runs_there(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    (void)submit_pair(s, 9000);
    pools_assert_runs(s, "gpu", 0, 2);
}

/* A pool of the configuration that has one node of two cores. */
static void add_small_pool(struct stage *s)
{
    struct resource_amount cpu = {STR("cpu"), 2000};
    struct node_record node = {.name = STR("small"), .total = {&cpu, 1}};
    struct event event = stage_event_make(EVENT_EXECUTOR_NODES);

    event.nodes.executor_id = STR("f");
    event.nodes.pool = STR("small");
    event.nodes.is_full = true;
    event.nodes.set = &node;
    event.nodes.set_count = 1;
    stage_do(s, stage_event_command("", "", "", &event));
}

/* That a class fits in one pool of the configuration says nothing of others. */
static void a_job_that_fits_in_another_configured_pool_is_rejected(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage.policy.pools[1] = stage.policy.pools[0];
    stage.policy.pools[1].name = STR("small");
    stage.policy.pool_count = 2;
    stage_start(&stage);
    stage_queue(&stage, "q");
    stage_exchange(&stage, "e", 1, NULL, 0);
    add_small_pool(&stage);
    struct job_id first = stage_submit(
        &stage, "q", (struct stage_job){.pool = "default", .cpu_milli = 4000});
    STAGE_HISTORY(&stage, first, "submit leased");
    struct job_id second = stage_submit(
        &stage, "q", (struct stage_job){.pool = "small", .cpu_milli = 4000});
    STAGE_HISTORY(&stage, second, "submit failed");
    stage_fini(&stage);
}

/* Nodes n0 and n1 of 10 cpu; the first of that pool of the configuration. */
static void offer_first_of(struct stage *s, const char *pool)
{
    struct command *command = stage_exchange_command("e", 2, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;

    nodes[0].pool = str_of(pool);
    stage_do(s, command);
}

/* A whole inventory moves a node from one pool of the configuration to
 * another: its work goes along at once, whether there are pool objects or not,
 * and its queue did not use more of the first pool than there was. */
static void a_node_that_changes_its_configured_pool_leaves_no_flow(void **state)
{
    (void)state;
    for (int has_objects = 0; has_objects < 2; has_objects++) {
        struct stage *s = mem_alloc(sizeof(*s));
        stage_init(s);
        pool_policy_apply(&s->policy.pools[0], PROFILE_FLOW);
        s->policy.pools[0].half_time_ms = 600000;
        s->policy.pools[1] = s->policy.pools[0];
        s->policy.pools[1].name = STR("other");
        s->policy.pool_count = 2;
        stage_start(s);
        stage_queue(s, "q");
        if (has_objects) {
            pools_select(s, "a", false);
        }
        offer_first_of(s, "default");
        for (int i = 0; i < 2; i++) {
            struct job_id job =
                stage_leased(s, (struct stage_job){.cpu_milli = 10000});
            stage_report(s, job, EVENT_RUN_RUNNING);
        }
        stage_pass(s, 60000);
        offer_first_of(s, "other");
        stage_do(s, command_create(COMMAND_QUERY_QUEUES));
        assert_true(
            str_equal(s->answer->queues.shares[0].pool, STR("default")));
        assert_true(s->answer->queues.shares[0].usage_ppm > 0);
        assert_int_equal(s->answer->queues.shares[0].flow_ppm,
                         s->answer->queues.shares[0].usage_ppm);
        stage_fini(s);
        mem_free(s);
    }
}

int main(void)
{
#define STAGED(name) \
    cmocka_unit_test_setup_teardown(name, pools_setup, pools_teardown)
    const struct CMUnitTest tests[] = {
        STAGED(what_no_pool_could_hold_is_refused),
        STAGED(even_if_a_pool_that_lends_nothing_holds_its_like),
        STAGED(what_only_a_lender_could_hold_runs_there),
        STAGED(what_only_a_pool_that_lends_nothing_holds_is_refused),
        STAGED(nor_is_what_may_not_borrow_lent_a_larger_node),
        STAGED(a_gang_that_no_pool_could_hold_is_refused),
        STAGED(a_gang_that_only_a_lender_could_hold_runs_there),
        cmocka_unit_test(
            a_job_that_fits_in_another_configured_pool_is_rejected),
        cmocka_unit_test(
            a_node_that_changes_its_configured_pool_leaves_no_flow),
    };

    return RUN_TESTS(tests);
}
