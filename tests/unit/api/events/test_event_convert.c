/*
 * What facts of the log become for readers of events (armada-api.md 2.3; traps
 * 6 and 7).
 */
#include "api/events/event_convert.h"
#include "field.h"
#include "unit.h"
#include "wire/message/message.h"

static const struct event_scope scope = {{"q", 1}, {"s", 1}, {"anonymous", 9}};

/* The `failed` events of one errors fact. */
struct failed {
    Api__JobFailedEvent event;
    int count;
};

static int take_failed(void *ctx, const Api__EventMessage *message)
{
    struct failed *failed = ctx;

    assert_int_equal(message->events_case, API__EVENT_MESSAGE__EVENTS_FAILED);
    failed->event = *message->failed;
    failed->count++;
    return 0;
}

static struct failed convert_error(struct arena *arena,
                                   Armadaevents__Error *error)
{
    Armadaevents__JobErrors errors = ARMADAEVENTS__JOB_ERRORS__INIT;
    Armadaevents__EventSequence__Event event =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__INIT;
    struct failed failed = {.count = 0};
    struct err err;

    errors.errors = &error;
    errors.n_errors = 1;
    errors.job_id = field("j");
    event.event_case = ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_ERRORS;
    event.joberrors = &errors;
    int rc = event_convert(wire_encode_arena(&event.base, arena), &scope, arena,
                           take_failed, &failed, &err);
    assert_int_equal(rc, 0);
    assert_int_equal(failed.count, 1);
    return failed;
}

/* TRAP-06: a rejected job shows as failed, with its cause. */
static void test_trap_06_failed_contents(void **state)
{
    auto_arena arena = {0};
    Armadaevents__Error error = ARMADAEVENTS__ERROR__INIT;
    Armadaevents__JobRejected rejected = ARMADAEVENTS__JOB_REJECTED__INIT;
    Armadaevents__LeaseExpired expired = ARMADAEVENTS__LEASE_EXPIRED__INIT;
    Armadaevents__JobRunPreemptedError preempted =
        ARMADAEVENTS__JOB_RUN_PREEMPTED_ERROR__INIT;

    (void)state;
    error.terminal = true;
    error.reason_case = ARMADAEVENTS__ERROR__REASON_JOB_REJECTED;
    error.jobrejected = &rejected;
    rejected.message = field("fits nowhere");
    Api__JobFailedEvent event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "fits nowhere");
    assert_int_equal(event.cause, API__CAUSE__Rejected);
    assert_string_equal(event.failure_category, "internal");
    assert_string_equal(event.failure_subcategory, "job-rejected");
    assert_false(event.retryable);

    error.reason_case = ARMADAEVENTS__ERROR__REASON_LEASE_EXPIRED;
    error.leaseexpired = &expired;
    event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "Lease expired");
    assert_string_equal(event.failure_subcategory, "lease-expired");

    error.reason_case = ARMADAEVENTS__ERROR__REASON_JOB_RUN_PREEMPTED_ERROR;
    error.jobrunpreemptederror = &preempted;
    preempted.reason = field("Preempted by amy");
    event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "Preempted by amy");
    assert_string_equal(event.failure_category, "");
}

/* A pod's own failure shows what its containers did. */
static void test_failed_contents_of_a_pod(void **state)
{
    auto_arena arena = {0};
    Armadaevents__Error error = ARMADAEVENTS__ERROR__INIT;
    Armadaevents__PodError pod = ARMADAEVENTS__POD_ERROR__INIT;
    Armadaevents__ObjectMeta meta = ARMADAEVENTS__OBJECT_META__INIT;
    Armadaevents__ContainerError container =
        ARMADAEVENTS__CONTAINER_ERROR__INIT;
    Armadaevents__ContainerError *containers[] = {&container};

    (void)state;
    error.reason_case = ARMADAEVENTS__ERROR__REASON_POD_ERROR;
    error.poderror = &pod;
    error.failure_category = field("user_error");
    meta.executor_id = field("cluster");
    meta.name = field("armada-j-0");
    container.objectmeta = &meta;
    container.exit_code = 3;
    pod.objectmeta = &meta;
    pod.message = field("it broke");
    pod.node_name = field("node");
    pod.kubernetes_reason = ARMADAEVENTS__KUBERNETES_REASON__OOM;
    pod.containererrors = containers;
    pod.n_containererrors = 1;
    Api__JobFailedEvent event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "it broke");
    assert_int_equal(event.cause, API__CAUSE__OOM);
    assert_string_equal(event.cluster_id, "cluster");
    assert_string_equal(event.node_name, "node");
    assert_string_equal(event.pod_name, "armada-j-0");
    assert_int_equal(event.n_container_statuses, 1);
    assert_int_equal(event.container_statuses[0]->exitcode, 3);
    assert_string_equal(event.failure_category, "user_error");
    assert_true(event.retryable);
}

static int count_event(void *ctx, const Api__EventMessage *message)
{
    (void)message;
    ++*(int *)ctx;
    return 0;
}

/* TRAP-07: many facts show nothing. */
static void test_trap_07_silent_facts(void **state)
{
    auto_arena arena = {0};
    Armadaevents__EventSequence__Event event =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__INIT;
    Armadaevents__JobRequeued requeued = ARMADAEVENTS__JOB_REQUEUED__INIT;
    Armadaevents__JobRunSucceeded succeeded =
        ARMADAEVENTS__JOB_RUN_SUCCEEDED__INIT;
    Armadaevents__CancelJobSet cancel = ARMADAEVENTS__CANCEL_JOB_SET__INIT;
    int count = 0;
    struct err err;

    (void)state;
    event.event_case = ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_REQUEUED;
    event.jobrequeued = &requeued;
    assert_int_equal(event_convert(wire_encode_arena(&event.base, &arena),
                                   &scope, &arena, count_event, &count, &err),
                     0);
    event.event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_SUCCEEDED;
    event.jobrunsucceeded = &succeeded;
    assert_int_equal(event_convert(wire_encode_arena(&event.base, &arena),
                                   &scope, &arena, count_event, &count, &err),
                     0);
    event.event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_CANCEL_JOB_SET;
    event.canceljobset = &cancel;
    assert_int_equal(event_convert(wire_encode_arena(&event.base, &arena),
                                   &scope, &arena, count_event, &count, &err),
                     0);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_trap_06_failed_contents),
        TEST(test_failed_contents_of_a_pod),
        TEST(test_trap_07_silent_facts),
    };

    return RUN_TESTS(tests);
}
