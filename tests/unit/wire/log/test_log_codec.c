/* Sentences of wire/log/log_codec.h: what an event of jobs is, it stays. */
#include "log_fixture.h"

static struct run_id log_run(void)
{
    struct run_id id = {{0, 0}};

    assert_int_equal(run_id_parse(STR(RUN_TEXT), &id), 0);
    return id;
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
    event.leased.revocable_for = log_job();
    event.leased.yields_from_ms = 1234567890123;

    (void)state;
    struct event out = log_round_trip(&event, &arena);
    assert_true(str_equal(out.leased.executor_id, STR("exec")));
    assert_true(str_equal(out.leased.node_name, STR("node-1")));
    assert_true(str_equal(out.leased.pool, STR("pool")));
    assert_int_equal(out.leased.priority, -7);
    assert_int_equal(out.leased.attempt, 3);
    assert_true(out.leased.is_backfilled);
    assert_true(out.leased.yields_at_once);
    assert_int_equal(out.leased.yields_from_ms, 1234567890123);
    assert_int_equal(key128_compare(out.leased.revocable_for.v, event.job.v),
                     0);
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
    log_round_trip(&event, &arena);
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
    struct event out = log_round_trip(&event, &arena);
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
    struct event out = log_round_trip(&event, &arena);
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
    out = log_round_trip(&failed, &arena);
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
    assert_int_equal(log_round_trip(&event, &arena).error.kind,
                     ERROR_LEASE_EXPIRED);
    event.error.kind = ERROR_LEASE_RETURNED;
    event.error.is_run_attempted = true;
    assert_true(log_round_trip(&event, &arena).error.is_run_attempted);
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
    struct event out = log_round_trip(&event, &arena);
    assert_int_equal(
        key128_compare(out.preempted.preempting_job.v, log_job().v), 0);
    event.preempted.preempting_job = (struct job_id){{0, 0}};
    out = log_round_trip(&event, &arena);
    assert_true(key128_is_none(out.preempted.preempting_job.v));

    struct event cancelled = {
        .type = EVENT_CANCELLED,
        .job = log_job(),
        .cancel = {.reason = STR("why"), .requestor = STR("bob")}};
    out = log_round_trip(&cancelled, &arena);
    assert_true(str_equal(out.cancel.requestor, STR("bob")));

    struct event requeued = {
        .type = EVENT_REQUEUED, .job = log_job(), .requeued = {.priority = 9}};
    assert_int_equal(log_round_trip(&requeued, &arena).requeued.priority, 9);

    struct event moved = {
        .type = EVENT_REPRIORITISED,
        .job = log_job(),
        .reprioritise = {.priority = 4000000000u, .requestor = STR("bob")}};
    assert_true(log_round_trip(&moved, &arena).reprioritise.priority ==
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
        assert_int_equal(log_round_trip(&event, &arena).cancel.states,
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
    struct event out = log_round_trip(&event, &arena);
    assert_int_equal(out.selection.action, SELECTION_PREEMPT);
    assert_int_equal(out.selection.queue_count, 2);
    assert_true(str_equal(out.selection.queues[1], STR("b")));
    assert_int_equal(out.selection.pool_count, 0);
    assert_int_equal(out.selection.states, STATE_SET_LEASED | STATE_SET_QUEUED);
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
        TEST(test_a_submission_is_kept_whole_with_its_digest),
    };

    return RUN_TESTS(tests);
}
