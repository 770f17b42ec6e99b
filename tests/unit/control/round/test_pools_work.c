/* What runs in which pool, and who borrows there: scenarios PO of model.md
 * section 8. */
#include "pools_fixture.h"

static void pools_offer(struct stage *s, const char *const *labels,
                        uint32_t count)
{
    pools_offer_up_to(s, labels, count, 10000);
}

/* Make class armada-default more urgent than armada-preemptible. */
static void add_urgency(struct stage *s)
{
    stage_crash(s);
    s->policy.classes[policy_class_index(&s->policy, STR("armada-default"))]
        .priority = 2000;
    stage_start(s);
}

static void pools_assert_waits(struct stage *s, const char *pool, uint32_t own)
{
    struct pool_row row = pools_row(s, pool);

    assert_int_equal(row.queued_own_count, own);
}

static void pools_begin(struct stage *s, const char *const *labels,
                        uint32_t count)
{
    stage_queue(s, "q");
    pools_offer(s, labels, count);
}

/* Nodes of two pools, cpu and gpu, that share. */
static void begin_two(struct stage *s)
{
    static const char *const labels[] = {"cpu", "gpu"};

    pools_begin(s, labels, 2);
    pools_select(s, "cpu", false);
    pools_select(s, "gpu", false);
}

static void
po_02_a_deleted_pool_leaves_its_nodes_and_work_to_default(void **state)
{
    static const char *const labels[] = {"cpu", "gpu", "", "both"};
    static const struct label both[] = {{{"cpu", 3}, {"true", 4}},
                                        {{"gpu", 3}, {"true", 4}}};
    struct stage *s = *state;

    stage_queue(s, "q");
    struct command *command = stage_exchange_command("e", 4, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;
    struct label alone[] = {{str_of(labels[0]), STR("true")},
                            {str_of(labels[1]), STR("true")}};
    nodes[0].labels = &alone[0];
    nodes[1].labels = &alone[1];
    nodes[0].label_count = nodes[1].label_count = 1;
    nodes[3].labels = both;
    nodes[3].label_count = 2;
    command->exchange.request.is_full = false;
    stage_do(s, command);
    pools_select(s, "cpu", true);
    pools_select(s, "gpu", true);
    assert_int_equal(pools_row(s, "cpu").node_count, 1);
    assert_int_equal(pools_row(s, "default").node_count, 2);
    assert_int_equal(pools_row(s, "default").conflict_count, 1);
    /* Too much for any node, so that they wait. */
    for (int i = 0; i < 3; i++) {
        (void)stage_submit(s, "q",
                           (struct stage_job){.pool = "gpu",
                                              .gang = "never",
                                              .gang_cardinality = 4});
    }
    pools_assert_waits(s, "gpu", 3);
    pools_drop(s, "gpu");
    pools_assert_all(s, "default cpu");
    assert_int_equal(pools_row(s, "default").conflict_count, 0);
    assert_int_equal(pools_row(s, "cpu").node_count, 2);
    assert_int_equal(
        pools_row(s, "cpu").amounts[POOL_AMOUNT_CPU].allocatable_milli, 20000);
    assert_int_equal(pools_row(s, "default").node_count, 2);
    assert_int_equal(
        pools_row(s, "default").amounts[POOL_AMOUNT_CPU].allocatable_milli,
        20000);
    pools_assert_waits(s, "default", 3);
}

static void
po_03_jobs_of_no_pool_or_an_unknown_one_are_defaults_own(void **state)
{
    static const char *const labels[] = {"cpu", ""};
    struct stage *s = *state;

    pools_begin(s, labels, 2);
    pools_select(s, "cpu", true);
    pools_submit(s, NULL, 1);
    pools_submit(s, "tpu", 1);
    pools_settle(s);
    pools_assert_runs(s, "default", 2, 0);
    struct pool_row row = pools_row(s, "default");
    assert_int_equal(row.amounts[POOL_AMOUNT_CPU].used_milli, 2000);
    assert_int_equal(row.amounts[POOL_AMOUNT_CPU].shared_milli, 0);
}

/* An unknown pool is Default's too while there has been no object at all. */
static void po_03_without_objects_too(void **state)
{
    static const char *const labels[] = {""};
    struct stage *s = *state;

    pools_begin(s, labels, 1);
    pools_submit(s, "cpu-pool", 1);
    pools_settle(s);
    pools_assert_runs(s, "default", 1, 0);
}

static void po_05_home_takes_back_its_places_before_it_borrows(void **state)
{
    static const char *const labels[] = {"cpu", "gpu", "idle"};
    struct stage *s = *state;

    pools_begin(s, labels, 2);
    pools_select(s, "cpu", false);
    pools_select(s, "gpu", false);
    pools_select(s, "idle", false);
    pools_submit(s, "gpu", 20);
    pools_settle(s);
    pools_assert_runs(s, "gpu", 10, 0);
    pools_assert_runs(s, "cpu", 0, 10);
    pools_offer(s, labels, 3);
    struct job_id own = pools_submit(s, "cpu", 1);
    pools_settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
    assert_false(key128_is_none(stage_run(s, own).v));
    pools_assert_runs(s, "cpu", 1, 9);
    pools_assert_runs(s, "idle", 0, 1); /* who lost its place */
    pools_restart(s);
    pools_assert_runs(s, "cpu", 1, 9);
}

/* The other order: it borrows while somebody is idle, and takes nothing; then
 * borrowers go. */
static void po_23_a_pool_may_borrow_before_it_preempts(void **state)
{
    static const char *const labels[] = {"cpu", "gpu", "idle"};
    struct stage *s = *state;

    pools_begin(s, labels, 2);
    pools_put(s, &(struct pool_record){
                     .name = STR("cpu"),
                     .has_selector = true,
                     .labels = &(struct label){STR("cpu"), STR("true")},
                     .label_count = 1,
                     .preemption_order = BORROW_FIRST,
                 });
    pools_select(s, "gpu", false);
    pools_select(s, "idle", false);
    pools_submit(s, "gpu", 20);
    pools_settle(s);
    pools_assert_runs(s, "cpu", 0, 10);
    pools_offer(s, labels, 3);
    struct job_id own = pools_submit(s, "cpu", 1);
    pools_settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 0);
    assert_false(key128_is_none(stage_run(s, own).v));
    pools_assert_runs(s, "cpu", 0, 10);
    pools_assert_runs(s, "idle", 0, 1);
    pools_submit(s, "cpu", 10);
    pools_settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
    pools_assert_runs(s, "cpu", 1, 9);
    pools_assert_runs(s, "idle", 0, 10);
}

static void po_12_a_borrower_takes_nobodys_place(void **state)
{
    struct stage *s = *state;

    add_urgency(s);
    begin_two(s);
    pools_submit_of(s, "cpu", "armada-preemptible", 10);
    pools_submit(s, "gpu", 10);
    pools_settle(s);
    pools_assert_runs(s, "gpu", 10, 0);
    pools_submit(s, "gpu", 4);
    pools_settle(s);
    pools_assert_runs(s, "cpu", 10, 0);
    pools_assert_runs(s, "gpu", 10, 0);
    pools_assert_waits(s, "gpu", 4);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 0);
    assert_int_equal(pools_row(s, "cpu").queued_foreign_count, 0);
    /* What is at home there takes such a place. */
    pools_submit(s, "cpu", 1);
    pools_settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
}

/* Masters have all of it off: theirs neither preempt nor borrow. */
static void po_16_masters_preempt_nobody(void **state)
{
    static const char *const labels[] = {"masters", "cpu"};
    struct stage *s = *state;
    struct label label = {STR("masters"), STR("true")};

    add_urgency(s);
    pools_begin(s, labels, 2);
    pools_put(s, &(struct pool_record){.name = STR("masters"),
                                       .has_selector = true,
                                       .labels = &label,
                                       .label_count = 1,
                                       .is_preemption_off = true,
                                       .is_borrowing_off = true,
                                       .is_sharing_off = true});
    pools_select(s, "cpu", false);
    pools_submit_of(s, "masters", "armada-preemptible", 10);
    pools_settle(s);
    pools_submit(s, "masters", 1);
    pools_settle(s);
    pools_assert_runs(s, "masters", 10, 0);
    pools_assert_runs(s, "cpu", 0, 0);
    pools_assert_waits(s, "masters", 1);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 0);
}

static void
po_17_what_runs_on_a_node_that_left_goes_on_as_a_borrower(void **state)
{
    static const char *const labels[] = {"cpu", "other"};
    struct stage *s = *state;

    pools_begin(s, labels, 2);
    pools_select(s, "cpu", false);
    pools_submit(s, "cpu", 10);
    pools_settle(s);
    pools_assert_runs(s, "cpu", 10, 0);
    struct label other = {STR("other"), STR("true")};
    pools_put(s, &(struct pool_record){.name = STR("cpu"),
                                       .has_selector = true,
                                       .labels = &other,
                                       .label_count = 1});
    pools_assert_runs(s, "default", 0, 10);
    assert_int_equal(
        pools_row(s, "default").amounts[POOL_AMOUNT_CPU].shared_milli, 10000);
    pools_submit(s, NULL, 1);
    pools_settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
    pools_assert_runs(s, "default", 1, 9);
    pools_assert_runs(s, "cpu", 1, 0);
}

static void um_06_growth_does_not_borrow(void **state)
{
    static const struct gang_terms terms = {
        .kind = GANG_POD_GROUP,
        .sub_group_count = 1,
        .sub_groups = {{.name = {"w", 1},
                        .min_count = 1,
                        .max_count = 3,
                        .hops_max = HOPS_ANY}},
    };
    struct stage_job members[3];
    struct stage *s = *state;

    begin_two(s);
    for (int i = 0; i < 3; i++) {
        members[i] = (struct stage_job){
            .gang = "g",
            .gang_cardinality = 3,
            .gang_minimum = 1,
            .terms = &terms,
            .pool = "cpu",
            .cpu_milli = 6000,
            .is_requeue_preempted = true,
        };
    }
    stage_do(s, stage_submit_command(s, "q", members, 3));
    assert_int_equal(s->answer->result, COMMAND_OK);
    pools_settle(s);
    stage_pass(s, 60 * 1000);
    pools_assert_runs(s, "cpu", 1, 0);
    pools_assert_runs(s, "gpu", 0, 0);
}

/* What a queue has of a pool, in millionths. */
static int64_t usage_of(struct stage *s, const char *pool)
{
    stage_do(s, command_create(COMMAND_QUERY_QUEUES));
    for (uint32_t i = 0; i < s->answer->queues.share_count; i++) {
        const struct queue_share *share = &s->answer->queues.shares[i];
        if (str_equal(share->pool, str_of(pool))) {
            return share->usage_ppm;
        }
    }
    fail_msg("there is no pool %s", pool);
    return 0;
}

static void um_07_a_borrower_counts_where_it_runs_and_not_at_home(void **state)
{
    static const char *const labels[] = {"cpu", "gpu"};
    struct stage *s = *state;

    pools_begin(s, labels, 2);
    pools_select(s, "cpu", false);
    pools_select(s, "gpu", false);
    pools_submit(s, "cpu", 10);
    pools_settle(s);
    int64_t at_home = usage_of(s, "cpu");
    assert_int_equal(usage_of(s, "gpu"), 0);
    pools_submit(s, "cpu", 5);
    pools_settle(s);
    pools_assert_runs(s, "gpu", 0, 5);
    assert_int_equal(usage_of(s, "cpu"), at_home);
    assert_true(usage_of(s, "gpu") > 0);
}

/* Queue q, which may have so much cpu in all. */
static void put_quota(struct stage *s, const char *cpu)
{
    Api__QueueScheduling__QuotaEntry entry =
        API__QUEUE_SCHEDULING__QUOTA_ENTRY__INIT;
    Api__QueueScheduling__QuotaEntry *entries[] = {&entry};
    Api__QueueScheduling scheduling = API__QUEUE_SCHEDULING__INIT;
    Api__Queue queue = API__QUEUE__INIT;
    struct event event = stage_event_make(EVENT_QUEUE_SET);
    char name[] = "q", column[] = "cpu";
    auto_arena arena = {0};

    entry.key = column;
    entry.value = arena_strdup(&arena, str_of(cpu));
    scheduling.quota = entries;
    scheduling.n_quota = 1;
    queue.name = name;
    queue.priority_factor = 1;
    queue.scheduling = &scheduling;
    event.queue.record.name = STR("q");
    event.queue.encoded = wire_encode_arena(&queue.base, &arena);
    stage_do(s, stage_event_command("", "", "root", &event));
    assert_int_equal(s->answer->result, COMMAND_OK);
}

/* An executor has nodes of 10 cpu, each with the label of its pool. */
static void offer_as(struct stage *s, const char *executor, uint32_t count,
                     const char *const *pools)
{
    struct command *command = stage_exchange_command(executor, count, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;

    for (uint32_t i = 0; i < count; i++) {
        struct label *label = arena_alloc(&command->arena, sizeof(*label));
        *label = (struct label){str_of(pools[i]), STR("true")};
        nodes[i].labels = label;
        nodes[i].label_count = 1;
    }
    stage_do(s, command);
}

/* The executor of a and b takes up one lease at a time, so what b plans beside
 * a is not told: nobody hears of it, and it takes nothing of the quota. */
static void a_plan_that_is_not_told_leaves_others_their_quota(void **state)
{
    static const char *const pools[] = {"a", "b", "c"};
    struct stage *s = *state;

    stage_crash(s);
    s->policy.unacknowledged_max = 1;
    stage_start(s);
    put_quota(s, "11");
    for (int i = 0; i < 3; i++) {
        pools_select(s, pools[i], true);
    }
    offer_as(s, "e", 2, pools);
    offer_as(s, "f", 1, &pools[2]);
    offer_as(s, "g", 1, &pools[2]);
    pools_settle(s);
    struct stage_job jobs[] = {
        {.pool = "a"},
        {.pool = "b"},
        {.pool = "c", .cpu_milli = 10000},
        {.pool = "c"},
    };
    stage_do(s, stage_submit_command(s, "q", jobs, ARRAY_COUNT(jobs)));
    assert_int_equal(s->answer->result, COMMAND_OK);
    struct job_id large = s->answer->submit.items[2].ret_job;
    STAGE_HISTORY(s, large, "submit leased");
    assert_true(stage_is_made_again(s, NULL));
}

/* Pool cpu is full and has one job more, which pool gpu has room for: but there
 * one of its own waits for more room than is left. */
static void fill_both(struct stage *s)
{
    pools_submit(s, "cpu", 10);
    pools_submit(s, "gpu", 5);
    pools_settle(s);
    (void)stage_submit(s, "q",
                       (struct stage_job){.pool = "gpu", .cpu_milli = 8000});
    pools_submit(s, "cpu", 1);
}

enum { BALANCE_MS = 60000 };

/* A lender is asked again by the full round, which may not be due for long:
 * until then there is nothing to do. */
static void asking_again_waits_for_the_balance_round(void **state)
{
    struct stage *s = *state;

    stage_crash(s);
    s->policy.balance_period_ms = BALANCE_MS;
    stage_start(s);
    begin_two(s);
    fill_both(s);
    stage_pass(s, BALANCE_MS);
    pools_settle(s);
    pools_assert_waits(s, "cpu", 1);
}

/* And so it does where it borrows before it preempts. */
static void also_where_it_waits_for_borrowers(void **state)
{
    struct stage *s = *state;

    begin_two(s);
    pools_put(s, &(struct pool_record){
                     .name = STR("cpu"),
                     .has_selector = true,
                     .labels = &(struct label){STR("cpu"), STR("true")},
                     .label_count = 1,
                     .preemption_order = BORROW_FIRST,
                 });
    fill_both(s);
    pools_settle(s);
    pools_assert_waits(s, "cpu", 1);
}

int main(void)
{
#define STAGED(name) \
    cmocka_unit_test_setup_teardown(name, pools_setup, pools_teardown)
    const struct CMUnitTest tests[] = {
        STAGED(po_02_a_deleted_pool_leaves_its_nodes_and_work_to_default),
        STAGED(po_03_jobs_of_no_pool_or_an_unknown_one_are_defaults_own),
        STAGED(po_03_without_objects_too),
        STAGED(po_05_home_takes_back_its_places_before_it_borrows),
        STAGED(po_23_a_pool_may_borrow_before_it_preempts),
        STAGED(po_12_a_borrower_takes_nobodys_place),
        STAGED(po_16_masters_preempt_nobody),
        STAGED(po_17_what_runs_on_a_node_that_left_goes_on_as_a_borrower),
        STAGED(um_06_growth_does_not_borrow),
        STAGED(um_07_a_borrower_counts_where_it_runs_and_not_at_home),
        STAGED(a_plan_that_is_not_told_leaves_others_their_quota),
        STAGED(asking_again_waits_for_the_balance_round),
        STAGED(also_where_it_waits_for_borrowers),
    };

    return RUN_TESTS(tests);
}
