/* Sentences of wire/log_codec.h: what an event is, it stays. */
#include "log_fixture.h"

static struct run_id log_run(void)
{
    struct run_id id = {{0, 0}};

    assert_int_equal(run_id_parse(STR(RUN_TEXT), &id), 0);
    return id;
}

/* What becomes of an event on its way through a batch; it must come out as
 * the same bytes. */
static struct event through_the_log(const struct event *event,
                                    struct arena *arena)
{
    auto_log_batch batch = {0};
    auto_strbuf again = {0};
    struct seen seen = {.count = 0};
    struct err err = {{0}};

    log_batch_add(&batch, &log_scope, event);
    struct str payload = arena_str(arena, log_batch_finish(&batch));
    assert_int_equal(log_decode(payload, arena, log_remember, &seen, &err), 0);
    assert_int_equal(seen.count, 1);
    assert_true(str_equal(seen.items[0].scope.queue, log_scope.queue));
    assert_true(str_equal(seen.items[0].scope.job_set, log_scope.job_set));
    assert_true(str_equal(seen.items[0].scope.user, log_scope.user));
    struct event out = seen.items[0].event;
    assert_int_equal(out.type, event->type);
    assert_true(out.created_ms == event->created_ms);
    log_encode_event(&again, &out);
    assert_true(str_equal(strbuf_str(&again), seen.items[0].encoded));
    return out;
}

static void *as_armada(const struct event *event, struct arena *arena)
{
    auto_strbuf buf = {0};
    ProtobufCMessage *message = NULL;
    struct err err = {{0}};

    log_encode_event(&buf, event);
    assert_int_equal(
        wire_decode(&armadaevents__event_sequence__event__descriptor,
                    strbuf_str(&buf), &wire_request_limits, arena, &message,
                    &err),
        0);
    return message;
}

static void test_a_lease_keeps_what_was_decided(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_LEASED,
        .created_ms = 1700000000123,
        .job = log_job(),
        .run = log_run(),
        .leased = {STR("exec"), STR("node-1"), STR("pool"), -7, 3},
    };

    event.leased.is_backfilled = event.leased.yields_at_once = true;
    event.leased.yields_to = log_job();
    event.leased.yields_from_ms = 1234567890123;

    (void)state;
    struct event out = through_the_log(&event, &arena);
    assert_true(str_equal(out.leased.executor_id, STR("exec")));
    assert_true(str_equal(out.leased.node_name, STR("node-1")));
    assert_true(str_equal(out.leased.pool, STR("pool")));
    assert_int_equal(out.leased.priority, -7);
    assert_int_equal(out.leased.attempt, 3);
    assert_true(out.leased.is_backfilled);
    assert_true(out.leased.yields_at_once);
    assert_int_equal(out.leased.yields_from_ms, 1234567890123);
    assert_int_equal(key128_compare(out.leased.yields_to.v, event.job.v), 0);
    assert_int_equal(key128_compare(out.job.v, event.job.v), 0);
    assert_int_equal(key128_compare(out.run.v, event.run.v), 0);

    Armadaevents__EventSequence__Event *theirs = as_armada(&event, &arena);
    assert_int_equal(theirs->created->seconds, 1700000000);
    assert_int_equal(theirs->created->nanos, 123000000);
    assert_string_equal(theirs->jobrunleased->job_id, JOB_TEXT);
    assert_string_equal(theirs->jobrunleased->run_id, RUN_TEXT);
    assert_string_equal(theirs->jobrunleased->node_id, "node-1");
    assert_true(theirs->jobrunleased->has_scheduled_at_priority);
    assert_int_equal(theirs->jobrunleased->scheduled_at_priority, -7);
}

static void test_times_before_the_epoch_survive(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_SUCCEEDED, .created_ms = -1, .job = log_job()};

    (void)state;
    through_the_log(&event, &arena);
    Armadaevents__EventSequence__Event *theirs = as_armada(&event, &arena);
    assert_int_equal(theirs->created->seconds, -1);
    assert_int_equal(theirs->created->nanos, 999000000);
}

static void test_a_clock_beyond_reason_is_cut_short(void **state)
{
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    struct event event;

    (void)state;
    size_t begin = field_begin(&buf, 18);
    field_put_u64(&buf, 1, INT64_MAX);
    field_end(&buf, begin);
    assert_int_equal(log_decode_event(strbuf_str(&buf), &arena, &event, NULL),
                     0);
    assert_true(event.created_ms == INT64_C(253402300799000));
}

static void test_an_enum_of_a_newer_release_reads_as_zero(void **state)
{
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    struct event event;

    (void)state;
    size_t begin = field_begin(&buf, EVENT_EXECUTOR_STATE);
    field_put_u64(&buf, 2, 77);
    field_end(&buf, begin);
    assert_int_equal(log_decode_event(strbuf_str(&buf), &arena, &event, NULL),
                     0);
    assert_int_equal(event.executor.state, EXECUTOR_LIVE);
}

static void test_a_run_s_state_keeps_its_pod(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_RUN_RUNNING,
        .created_ms = 5,
        .job = log_job(),
        .run = log_run(),
        .pod = {.executor_id = STR("exec"),
                .node_name = STR("node-1"),
                .pod_name = STR("armada-x-0"),
                .pod_namespace = STR("ns"),
                .kubernetes_id = STR("uid"),
                .pod_number = 2,
                .pool = STR("p")},
    };

    (void)state;
    struct event out = through_the_log(&event, &arena);
    assert_true(str_equal(out.pod.node_name, STR("node-1")));
    assert_true(str_equal(out.pod.kubernetes_id, STR("uid")));
    assert_int_equal(out.pod.pod_number, 2);
    Armadaevents__EventSequence__Event *theirs = as_armada(&event, &arena);
    Armadaevents__KubernetesResourceInfo *info =
        theirs->jobrunrunning->resourceinfos[0];
    assert_string_equal(info->objectmeta->name, "armada-x-0");
    assert_string_equal(info->podinfo->node_name, "node-1");
}

static void test_errors_keep_their_kind_and_text(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_RUN_ERRORS,
        .created_ms = 5,
        .job = log_job(),
        .run = log_run(),
        .error = {.kind = ERROR_POD,
                  .cause = CAUSE_OOM,
                  .is_terminal = true,
                  .message = STR("out of memory"),
                  .category = STR("internal"),
                  .subcategory = STR("oom"),
                  .debug_message = STR("debug"),
                  .node_name = STR("node-1"),
                  .exit_code = 137},
    };

    (void)state;
    struct event out = through_the_log(&event, &arena);
    assert_int_equal(out.error.kind, ERROR_POD);
    assert_int_equal(out.error.cause, CAUSE_OOM);
    assert_int_equal(out.error.exit_code, 137);
    assert_true(out.error.is_terminal);
    assert_true(str_equal(out.error.message, STR("out of memory")));
    assert_true(str_equal(out.error.subcategory, STR("oom")));

    /* The encoded error copies on into the job's own failure. */
    struct event failed = {
        .type = EVENT_FAILED, .created_ms = 6, .job = log_job()};
    failed.error.encoded = out.error.encoded;
    out = through_the_log(&failed, &arena);
    assert_int_equal(out.error.kind, ERROR_POD);
    assert_true(str_equal(out.error.node_name, STR("node-1")));
}

static void test_an_error_without_contents_keeps_its_kind(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_FAILED,
        .job = log_job(),
        .error = {.kind = ERROR_LEASE_EXPIRED, .is_terminal = true},
    };

    (void)state;
    assert_int_equal(through_the_log(&event, &arena).error.kind,
                     ERROR_LEASE_EXPIRED);
    event.error.kind = ERROR_LEASE_RETURNED;
    event.error.is_run_attempted = true;
    assert_true(through_the_log(&event, &arena).error.is_run_attempted);
}

static void test_decisions_about_jobs_keep_their_reasons(void **state)
{
    auto_arena arena = {0};
    struct event event = {
        .type = EVENT_RUN_PREEMPTED,
        .job = log_job(),
        .run = log_run(),
        .preempted = {.reason = STR("urgency"),
                      .preempting_job = log_job(),
                      .requestor = STR("bob")},
    };

    (void)state;
    struct event out = through_the_log(&event, &arena);
    assert_int_equal(
        key128_compare(out.preempted.preempting_job.v, log_job().v), 0);
    event.preempted.preempting_job = (struct job_id){{0, 0}};
    out = through_the_log(&event, &arena);
    assert_true(key128_is_none(out.preempted.preempting_job.v));

    struct event cancelled = {
        .type = EVENT_CANCELLED,
        .job = log_job(),
        .cancel = {.reason = STR("why"), .requestor = STR("bob")}};
    out = through_the_log(&cancelled, &arena);
    assert_true(str_equal(out.cancel.requestor, STR("bob")));

    struct event requeued = {
        .type = EVENT_REQUEUED, .job = log_job(), .requeued = {.priority = 9}};
    assert_int_equal(through_the_log(&requeued, &arena).requeued.priority, 9);

    struct event moved = {
        .type = EVENT_REPRIORITISED,
        .job = log_job(),
        .reprioritise = {.priority = 4000000000u, .requestor = STR("bob")}};
    assert_true(through_the_log(&moved, &arena).reprioritise.priority ==
                4000000000u);
}

static void test_no_state_filter_means_every_state(void **state)
{
    static const enum state_set filters[] = {
        STATE_SET_ALL, STATE_SET_QUEUED,
        STATE_SET_LEASED | STATE_SET_PENDING | STATE_SET_RUNNING};
    auto_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(filters); i++) {
        struct event event = {.type = EVENT_CANCEL_SET,
                              .cancel = {.states = filters[i]}};
        assert_int_equal(through_the_log(&event, &arena).cancel.states,
                         filters[i]);
    }
}

static void test_a_selection_keeps_its_lists(void **state)
{
    auto_arena arena = {0};
    const struct str queues[] = {STR("a"), STR("b")};
    const struct str classes[] = {STR("high")};
    struct event event = {
        .type = EVENT_SELECTION,
        .selection = {.action = SELECTION_PREEMPT,
                      .executor_id = STR("exec"),
                      .queues = queues,
                      .queue_count = 2,
                      .priority_classes = classes,
                      .priority_class_count = 1,
                      .states = STATE_SET_LEASED | STATE_SET_QUEUED,
                      .reason = STR("r")},
    };

    (void)state;
    struct event out = through_the_log(&event, &arena);
    assert_int_equal(out.selection.action, SELECTION_PREEMPT);
    assert_int_equal(out.selection.queue_count, 2);
    assert_true(str_equal(out.selection.queues[1], STR("b")));
    assert_int_equal(out.selection.pool_count, 0);
    assert_int_equal(out.selection.states, STATE_SET_LEASED | STATE_SET_QUEUED);
}

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
    struct event out = through_the_log(&event, &arena);
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
    struct event out = through_the_log(&event, &arena);
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
    assert_true(through_the_log(&event, &arena).settings.is_cordoned);
    event = (struct event){.type = EVENT_EXECUTOR_STATE,
                           .executor = {STR("exec"), EXECUTOR_LOST}};
    assert_int_equal(through_the_log(&event, &arena).executor.state,
                     EXECUTOR_LOST);
    event = (struct event){.type = EVENT_ROUND_DONE,
                           .round = {ROUND_BALANCE, 1700000000123}};
    assert_true(through_the_log(&event, &arena).round.started_ms ==
                1700000000123);
    event =
        (struct event){.type = EVENT_ROUND_BEGUN,
                       .round = {ROUND_BALANCE, 1700000000123, STR("a"), 17}};
    assert_true(
        str_equal(through_the_log(&event, &arena).round.pool, STR("a")));
    assert_true(through_the_log(&event, &arena).round.seen_seq == 17);
    event.type = EVENT_ROUND_BACK;
    through_the_log(&event, &arena);
    event.type = EVENT_ROUND_DROPPED;
    through_the_log(&event, &arena);
    event = (struct event){.type = EVENT_POLICY_SET,
                           .policy = {STR("pools: []\n")}};
    assert_true(str_equal(through_the_log(&event, &arena).policy.text,
                          STR("pools: []\n")));
    event = (struct event){.type = EVENT_LEADER_STARTED};
    through_the_log(&event, &arena);
    event = (struct event){.type = EVENT_EXECUTOR_DELETED,
                           .settings = {.name = STR("exec")}};
    assert_true(
        str_equal(through_the_log(&event, &arena).settings.name, STR("exec")));
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
    struct event out = through_the_log(&event, &arena);
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

static void test_a_submission_is_kept_whole_with_its_digest(void **state)
{
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    Armadaevents__SubmitJob submit = ARMADAEVENTS__SUBMIT_JOB__INIT;
    Armadaevents__ObjectMeta meta = ARMADAEVENTS__OBJECT_META__INIT;
    char job_text[] = JOB_TEXT, space[] = "ns", uri[] = "x://y";
    struct event event;

    (void)state;
    meta.namespace_ = space;
    submit.job_id = job_text;
    submit.priority = 7;
    submit.objectmeta = &meta;
    submit.external_job_uri = uri;
    log_put_submit(&buf, 99, wire_encode_arena(&submit.base, &arena),
                   STR("digest"));
    assert_int_equal(log_decode_event(strbuf_str(&buf), &arena, &event, NULL),
                     0);
    assert_int_equal(event.type, EVENT_SUBMIT);
    assert_int_equal(event.submit.priority, 7);
    assert_true(str_equal(event.submit.digest, STR("digest")));
    assert_true(str_equal(event.submit.namespace_, STR("ns")));
    assert_true(str_equal(event.submit.external_job_uri, STR("x://y")));
    auto_strbuf again = {0};
    log_encode_event(&again, &event);
    assert_true(str_equal(strbuf_str(&buf), strbuf_str(&again)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_lease_keeps_what_was_decided),
        TEST(test_times_before_the_epoch_survive),
        TEST(test_a_clock_beyond_reason_is_cut_short),
        TEST(test_an_enum_of_a_newer_release_reads_as_zero),
        TEST(test_a_run_s_state_keeps_its_pod),
        TEST(test_errors_keep_their_kind_and_text),
        TEST(test_an_error_without_contents_keeps_its_kind),
        TEST(test_decisions_about_jobs_keep_their_reasons),
        TEST(test_no_state_filter_means_every_state),
        TEST(test_a_selection_keeps_its_lists),
        TEST(test_a_nodes_health_keeps_its_times),
        TEST(test_nodes_keep_labels_taints_and_amounts),
        TEST(test_facts_about_executors_and_policy_survive),
        TEST(test_a_queue_is_kept_whole_and_understood),
        TEST(test_a_submission_is_kept_whole_with_its_digest),
    };
    return RUN_TESTS(tests);
}
