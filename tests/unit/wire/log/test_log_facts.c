/* Sentences of wire/log/log_codec.h: what is said of nodes, executors, queues
 * and the policy, it stays. */
#include "log_fixture.h"

static void test_a_nodes_health_keeps_its_times(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_NODE_HEALTH,
        .health = {.executor_id = STR("exec"),
                   .node_name = STR("n1"),
                   .health = NODE_OUT,
                   .is_pinned = true,
                   .until_ms = 1700000000123,
                   .probation_ms = 600000,
                   .reason = STR("r")},
    };

    (void)state;
    struct event out = log_round_trip(&event, &arena);
    assert_true(str_equal(out.health.executor_id, STR("exec")));
    assert_true(str_equal(out.health.node_name, STR("n1")));
    assert_int_equal(out.health.health, NODE_OUT);
    assert_true(out.health.is_pinned);
    assert_int_equal(out.health.until_ms, 1700000000123);
    assert_int_equal(out.health.probation_ms, 600000);
    assert_true(str_equal(out.health.reason, STR("r")));
}

static void test_nodes_keep_labels_taints_and_amounts(void **state)
{
    auto_arena arena = {0};
    const struct label labels[] = {{STR("a"), STR("1")}, {STR("b"), STR("")}};
    const struct taint taints[] = {
        {STR("gpu"), STR("true"), TAINT_NO_SCHEDULE}};
    struct resource_amount total[] = {{STR("cpu"), 8000},
                                      {STR("memory"), INT64_MAX}};
    struct resource_amount foreign[] = {{STR("cpu"), -1}};
    const struct node_record node = {
        .name = STR("n1"),
        .pool = STR("p"),
        .node_type = STR("t"),
        .labels = labels,
        .label_count = 2,
        .taints = taints,
        .taint_count = 1,
        .total = {total, 2},
        .foreign = {foreign, 1},
        .is_unschedulable = true,
    };
    const struct str removed[] = {STR("n0")};
    struct event event = {
        .type = EVENT_EXECUTOR_NODES,
        .nodes = {STR("exec"), STR("dp"), &node, 1, removed, 1, true},
    };

    (void)state;
    struct event out = log_round_trip(&event, &arena);
    const struct node_record *copy = &out.nodes.set[0];
    assert_int_equal(out.nodes.set_count, 1);
    assert_true(out.nodes.is_full);
    assert_true(str_equal(out.nodes.removed[0], STR("n0")));
    assert_true(str_equal(copy->labels[1].key, STR("b")));
    assert_int_equal(copy->taints[0].effect, TAINT_NO_SCHEDULE);
    assert_true(resource_list_get(&copy->total, STR("memory")) == INT64_MAX);
    assert_true(resource_list_get(&copy->foreign, STR("cpu")) == -1);
    assert_true(copy->is_unschedulable);
}

static void test_facts_about_executors_and_policy_survive(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_EXECUTOR_SETTINGS,
        .settings = {STR("exec"), true, false, STR("broken")}};

    (void)state;
    assert_true(log_round_trip(&event, &arena).settings.is_cordoned);
    event = (struct event){.type = EVENT_EXECUTOR_STATE,
                           .executor = {STR("exec"), EXECUTOR_LOST}};
    assert_int_equal(log_round_trip(&event, &arena).executor.state,
                     EXECUTOR_LOST);
    event = (struct event){.type = EVENT_ROUND_DONE,
                           .round = {ROUND_BALANCE, 1700000000123}};
    assert_true(log_round_trip(&event, &arena).round.started_ms ==
                1700000000123);
    event =
        (struct event){.type = EVENT_ROUND_BEGUN,
                       .round = {ROUND_BALANCE, 1700000000123, STR("a"), 17}};
    assert_true(str_equal(log_round_trip(&event, &arena).round.pool, STR("a")));
    assert_true(log_round_trip(&event, &arena).round.seen_seq == 17);
    event.type = EVENT_ROUND_BACK;
    log_round_trip(&event, &arena);
    event.type = EVENT_ROUND_DROPPED;
    log_round_trip(&event, &arena);
    event = (struct event){.type = EVENT_POLICY_SET,
                           .policy = {STR("pools: []\n")}};
    assert_true(str_equal(log_round_trip(&event, &arena).policy.text,
                          STR("pools: []\n")));
    event = (struct event){.type = EVENT_LEADER_STARTED};
    log_round_trip(&event, &arena);
    event = (struct event){.type = EVENT_EXECUTOR_DELETED,
                           .settings = {.name = STR("exec")}};
    assert_true(
        str_equal(log_round_trip(&event, &arena).settings.name, STR("exec")));
}

static struct str encoded_queue(struct arena *arena)
{
    Api__Queue queue = API__QUEUE__INIT;
    Api__QueueScheduling scheduling = API__QUEUE_SCHEDULING__INIT;
    Google__Protobuf__DoubleValue over = GOOGLE__PROTOBUF__DOUBLE_VALUE__INIT;
    char ordering[] = "stateaware";
    Api__PriorityClassResourceLimits limits =
        API__PRIORITY_CLASS_RESOURCE_LIMITS__INIT;
    Api__PriorityClassPoolResourceLimits pool =
        API__PRIORITY_CLASS_POOL_RESOURCE_LIMITS__INIT;
    Api__Queue__ResourceLimitsByPriorityClassNameEntry entry =
        API__QUEUE__RESOURCE_LIMITS_BY_PRIORITY_CLASS_NAME_ENTRY__INIT;
    Api__PriorityClassResourceLimits__MaximumResourceFractionEntry cpu =
        API__PRIORITY_CLASS_RESOURCE_LIMITS__MAXIMUM_RESOURCE_FRACTION_ENTRY__INIT;
    Api__PriorityClassPoolResourceLimits__MaximumResourceFractionEntry gpu =
        API__PRIORITY_CLASS_POOL_RESOURCE_LIMITS__MAXIMUM_RESOURCE_FRACTION_ENTRY__INIT;
    Api__PriorityClassResourceLimits__MaximumResourceFractionByPoolEntry by_pool =
        API__PRIORITY_CLASS_RESOURCE_LIMITS__MAXIMUM_RESOURCE_FRACTION_BY_POOL_ENTRY__INIT;
    void *cpus[] = {&cpu}, *gpus[] = {&gpu}, *pools[] = {&by_pool},
         *entries[] = {&entry};
    char names[][8] = {"q", "high", "cpu", "gpu", "big"};

    over.value = 0.2;
    scheduling.ordering = ordering;
    scheduling.max_running_apps = 7;
    scheduling.over_share_factor = &over;
    Api__QueueScheduling__QuotaEntry quota_cpu =
        API__QUEUE_SCHEDULING__QUOTA_ENTRY__INIT;
    Api__QueueScheduling__QuotaEntry *quota[] = {&quota_cpu};
    char amount[] = "1500m";
    quota_cpu.key = names[2];
    quota_cpu.value = amount;
    scheduling.quota = quota;
    scheduling.n_quota = 1;
    queue.scheduling = &scheduling;
    cpu.key = names[2];
    cpu.value = 0.25;
    gpu.key = names[3];
    gpu.value = 1;
    pool.n_maximum_resource_fraction = 1;
    pool.maximum_resource_fraction = (void *)gpus;
    by_pool.key = names[4];
    by_pool.value = &pool;
    limits.n_maximum_resource_fraction = 1;
    limits.maximum_resource_fraction = (void *)cpus;
    limits.n_maximum_resource_fraction_by_pool = 1;
    limits.maximum_resource_fraction_by_pool = (void *)pools;
    entry.key = names[1];
    entry.value = &limits;
    queue.name = names[0];
    queue.priority_factor = 2.5;
    queue.cordoned = true;
    queue.n_resource_limits_by_priority_class_name = 1;
    queue.resource_limits_by_priority_class_name = (void *)entries;
    return wire_encode_arena(&queue.base, arena);
}

static void test_a_queue_is_kept_whole_and_understood(void **state)
{
    auto_arena arena = {0};
    struct event event = {.type = EVENT_QUEUE_SET};

    (void)state;
    event.queue.encoded = encoded_queue(&arena);
    struct event out = log_round_trip(&event, &arena);
    const struct queue_record *record = &out.queue.record;
    assert_true(str_equal(out.queue.encoded, event.queue.encoded));
    assert_true(str_equal(record->name, STR("q")));
    assert_int_equal(record->priority_factor_micro, 2500000);
    assert_true(record->is_cordoned);
    assert_int_equal(record->limit_count, 2);
    assert_true(str_equal(record->limits[0].resource, STR("cpu")));
    assert_true(str_equal(record->limits[0].pool, STR("")));
    assert_int_equal(record->limits[0].fraction_ppm, 250000);
    assert_true(str_equal(record->limits[1].pool, STR("big")));
    assert_true(str_equal(record->limits[1].priority_class, STR("high")));
    assert_int_equal(record->ordering, QUEUE_BY_STATEAWARE);
    assert_int_equal(record->running_apps_max, 7);
    assert_int_equal(record->over_share_ppm, 200000);
    assert_int_equal(record->quota.count, 1);
    assert_true(str_equal(record->quota.items[0].name, STR("cpu")));
    assert_int_equal(record->quota.items[0].milli, 1500);
    assert_int_equal(record->excess_budget_milli, QUEUE_LIMIT_BY_POOL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_nodes_health_keeps_its_times),
        TEST(test_nodes_keep_labels_taints_and_amounts),
        TEST(test_facts_about_executors_and_policy_survive),
        TEST(test_a_queue_is_kept_whole_and_understood),
    };

    return RUN_TESTS(tests);
}
