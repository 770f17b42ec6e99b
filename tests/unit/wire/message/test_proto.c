/*
 * The numbers of armada-api.md that are easily got wrong, the names that go
 * over the wire, and that no message can hold itself.
 */
#include <string.h>

#include "armada/binoculars.pb-c.h"
#include "armada/executorapi.pb-c.h"
#include "armada/scheduler_reporting.pb-c.h"
#include "armada/services.pb-c.h"
#include "base/base.h"
#include "berth/log.pb-c.h"
#include "unit.h"

struct number {
    const ProtobufCMessageDescriptor *message;
    const char *field;
    unsigned number;
};

/* Out of order, skipped, or far from where one would look. */
static const struct number numbers[] = {
    {&api__job_ingress_info_event__descriptor, "pod_number", 8},
    {&api__job_ingress_info_event__descriptor, "ingress_addresses", 9},
    {&api__job_ingress_info_event__descriptor, "pod_name", 10},
    {&api__job_preempted_event__descriptor, "run_id", 6},
    {&api__job_preempted_event__descriptor, "preemptive_run_id", 8},
    {&api__job_failed_event__descriptor, "container_statuses", 11},
    {&api__job_failed_event__descriptor, "cause", 12},
    {&api__job_failed_event__descriptor, "pod_name", 13},
    {&api__job_failed_event__descriptor, "failure_category", 16},
    {&api__job_failed_event__descriptor, "retryable", 18},
    {&api__job_submit_request_item__descriptor, "pod_spec", 2},
    {&api__job_submit_request_item__descriptor, "pod_specs", 7},
    {&api__job_submit_request_item__descriptor, "client_id", 8},
    {&api__job_submit_request_item__descriptor, "external_job_uri", 13},
    {&api__job__descriptor, "scheduling_resource_requirements", 21},
    {&api__queue__descriptor, "permissions", 6},
    {&api__queue__descriptor, "resource_limits_by_priority_class_name", 7},
    {&api__event_message__descriptor, "ingress_info", 17},
    {&api__event_message__descriptor, "preempting", 22},
    {&armadaevents__event_sequence__event__descriptor, "created", 18},
    {&armadaevents__event_sequence__event__descriptor, "jobRunPreempted", 19},
    {&armadaevents__job_run_preempted__descriptor, "preempted_job_id", 5},
    {&armadaevents__job_run_leased__descriptor, "executor_id", 3},
    {&armadaevents__submit_job__descriptor, "job_id", 14},
    {&armadaevents__error__descriptor, "retry_policy_name", 18},
    {&schedulerobjects__node__descriptor, "name", 12},
    {&executorapi__job_run_lease__descriptor, "queue", 2},
    {&executorapi__cancel_runs__descriptor, "job_run_ids_to_cancel", 2},
    {&executorapi__lease_request__descriptor, "held_stream", 1000},
    {&berth__log__submit_job__descriptor, "digest", 1000},
};

static void test_trap_numbers_are_the_contract_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(numbers[i].message,
                                                            numbers[i].field);
        assert_non_null(field);
        assert_int_equal(field->id, numbers[i].number);
    }
}

static void test_reserved_numbers_stay_unused(void **state)
{
    (void)state;
    assert_null(protobuf_c_message_descriptor_get_field(
        &api__job_preempted_event__descriptor, 7));
    assert_null(protobuf_c_message_descriptor_get_field(
        &api__job_failed_event__descriptor, 15));
    assert_null(protobuf_c_message_descriptor_get_field(
        &api__job_submit_request_item__descriptor, 12));
}

static void test_service_and_method_names_are_the_contract_s(void **state)
{
    static const struct {
        const ProtobufCServiceDescriptor *service;
        const char *name;
        unsigned method_count;
    } services[] = {
        {&api__submit__descriptor, "api.Submit", 13},
        {&api__queue_service__descriptor, "api.QueueService", 11},
        {&api__retry_policy_service__descriptor, "api.RetryPolicyService", 5},
        {&api__event__descriptor, "api.Event", 3},
        {&api__jobs__descriptor, "api.Jobs", 6},
        {&api__executor__descriptor, "api.Executor", 5},
        {&api__node__descriptor, "api.Node", 2},
        {&schedulerobjects__scheduler_reporting__descriptor,
         "schedulerobjects.SchedulerReporting", 3},
        {&binoculars__binoculars__descriptor, "binoculars.Binoculars", 2},
        {&executorapi__executor_api__descriptor, "executorapi.ExecutorApi", 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(services); i++) {
        assert_string_equal(services[i].service->name, services[i].name);
        assert_int_equal(services[i].service->n_methods,
                         services[i].method_count);
    }
    assert_string_equal(k8s__io__api__core__v1__pod_spec__descriptor.name,
                        "k8s.io.api.core.v1.PodSpec");
}

/* The view must name every event that armadaevents has, at its number. */
static void test_the_log_s_view_covers_every_event(void **state)
{
    const ProtobufCMessageDescriptor *theirs =
        &armadaevents__event_sequence__event__descriptor;

    (void)state;
    for (unsigned i = 0; i < theirs->n_fields; i++) {
        assert_non_null(protobuf_c_message_descriptor_get_field(
            &berth__log__event__descriptor, theirs->fields[i].id));
    }
}

enum { DEPTH_MAX = 24 };

/* The deepest nesting below `message`; fails when it passes DEPTH_MAX, as a
 * cycle would. */
static int depth_of(const ProtobufCMessageDescriptor *message, int depth)
{
    int deepest = depth;

    assert_true(depth < DEPTH_MAX);
    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];

        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            int below = depth_of(field->descriptor, depth + 1);
            deepest = below > deepest ? below : deepest;
        }
    }
    return deepest;
}

static void test_no_message_can_hold_itself(void **state)
{
    (void)state;
    assert_true(depth_of(&api__job_submit_request__descriptor, 0) > 5);
    assert_true(depth_of(&api__event_message__descriptor, 0) > 5);
    assert_true(depth_of(&armadaevents__event_sequence__descriptor, 0) > 5);
    assert_true(depth_of(&executorapi__lease_stream_message__descriptor, 0) >
                5);
    assert_true(depth_of(&executorapi__lease_request__descriptor, 0) > 1);
    assert_true(depth_of(&berth__log__event_sequence__descriptor, 0) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_trap_numbers_are_the_contract_s),
        TEST(test_reserved_numbers_stay_unused),
        TEST(test_service_and_method_names_are_the_contract_s),
        TEST(test_the_log_s_view_covers_every_event),
        TEST(test_no_message_can_hold_itself),
    };
    return RUN_TESTS(tests);
}
