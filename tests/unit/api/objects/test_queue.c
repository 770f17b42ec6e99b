/*
 * Queues (armada-api.md 1.5; traps 3, 4).
 */
#include <math.h>

#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "unit.h"

/* TRAP-03: owners become one entry, placed first, and read back empty. */
static void test_trap_03_owners_become_permissions(void **state)
{
    static const char *const verbs[] = {"submit", "cancel", "preempt",
                                        "reprioritize", "watch"};
    struct fixture f;
    Api__Queue queue = fixture_queue_message("q", 2);
    Api__Queue__Permissions entry = API__QUEUE__PERMISSIONS__INIT;
    Api__Queue__Permissions__Subject subject =
        API__QUEUE__PERMISSIONS__SUBJECT__INIT;
    Api__Queue__Permissions *entries[] = {&entry};
    Api__Queue__Permissions__Subject *subjects[] = {&subject};
    char *users[] = {field("amy")}, *groups[] = {field("staff")};
    char *any_verb[] = {field("dance")};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    subject.kind = field("User");
    subject.name = field("bob");
    entry.subjects = subjects;
    entry.n_subjects = 1;
    entry.verbs = any_verb;
    entry.n_verbs = 1;
    queue.permissions = entries;
    queue.n_permissions = 1;
    queue.user_owners = users;
    queue.n_user_owners = 1;
    queue.group_owners = groups;
    queue.n_group_owners = 1;
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CreateQueue", &queue.base), RPC_OK);
    Api__Queue *stored = fixture_get_queue(&f, "q");
    assert_non_null(stored);
    assert_int_equal(stored->n_user_owners, 0);
    assert_int_equal(stored->n_group_owners, 0);
    assert_int_equal(stored->n_permissions, 2);
    assert_int_equal(stored->permissions[0]->n_subjects, 2);
    assert_string_equal(stored->permissions[0]->subjects[0]->kind, "User");
    assert_string_equal(stored->permissions[0]->subjects[0]->name, "amy");
    assert_string_equal(stored->permissions[0]->subjects[1]->kind, "Group");
    assert_int_equal(stored->permissions[0]->n_verbs, ARRAY_COUNT(verbs));
    for (size_t i = 0; i < ARRAY_COUNT(verbs); i++) {
        assert_string_equal(stored->permissions[0]->verbs[i], verbs[i]);
    }
    assert_string_equal(stored->permissions[1]->verbs[0], "dance");
    fixture_fini(&f);
}

/* TRAP-03: create makes the caller the owner, update does not and replaces
 * all; both put what is not there, and delete of what is not there is fine. */
static void test_trap_03_upserts(void **state)
{
    struct fixture f;
    Api__Queue queue = fixture_queue_message("q", 3);
    Api__QueueDeleteRequest delete = API__QUEUE_DELETE_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            fixture_code(&f, "/api.Submit/CreateQueue", &queue.base), RPC_OK);
    }
    Api__Queue *stored = fixture_get_queue(&f, "q");
    assert_int_equal(stored->n_permissions, 1);
    assert_string_equal(stored->permissions[0]->subjects[0]->name, "anonymous");
    queue.priority_factor = 2;
    assert_int_equal(fixture_code(&f, "/api.Submit/UpdateQueue", &queue.base),
                     RPC_OK);
    stored = fixture_get_queue(&f, "q");
    assert_int_equal(stored->n_permissions, 0);
    assert_true(stored->priority_factor == 2.0);
    delete.name = field("q");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            fixture_code(&f, "/api.Submit/DeleteQueue", &delete.base), RPC_OK);
    }
    assert_null(fixture_get_queue(&f, "q"));
    assert_int_equal(f.status.code, RPC_NOT_FOUND);
    fixture_fini(&f);
}

static void test_queue_validation(void **state)
{
    struct fixture f;
    Api__Queue queue = fixture_queue_message("q", 0.5);
    Api__Queue__LabelsEntry label = API__QUEUE__LABELS_ENTRY__INIT;
    Api__Queue__LabelsEntry *labels[] = {&label};
    char *policies[] = {field("none"), field("nor")};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message,
                        "error validating queue: priority factor cannot be "
                        "lower than 1.0");
    assert_int_equal(fixture_code(&f, "/api.Submit/UpdateQueue", &queue.base),
                     RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message,
                        "error: priority factor cannot be lower than 1.0");
    queue.priority_factor = 1;
    queue.retry_policies = policies;
    queue.n_retry_policies = 2;
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message,
                        "error validating queue: retry policies do not exist: "
                        "none, nor");
    queue.n_retry_policies = 0;
    label.key = field("k");
    queue.labels = labels;
    queue.n_labels = 1;
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_INVALID_ARGUMENT);
    assert_non_null(
        strstr(f.status.message, "must not have an empty key or value"));
    label.value = field("v");
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_OK);
    fixture_fini(&f);
}

/* It is not made, and the refusal is that text, or any if it is "". */
static void assert_refused(struct fixture *f, const Api__Queue *queue,
                           const char *text)
{
    static const char head[] = "error validating queue: ";

    assert_int_equal(fixture_code(f, "/api.Submit/CreateQueue", &queue->base),
                     RPC_INVALID_ARGUMENT);
    assert_ptr_equal(strstr(f->status.message, head), f->status.message);
    if (*text) {
        assert_string_equal(f->status.message + strlen(head), text);
    }
}

static void test_scheduling_of_a_queue_is_checked(void **state)
{
    struct fixture f;
    Api__Queue queue = fixture_queue_message("q", 1);
    Api__QueueScheduling scheduling = API__QUEUE_SCHEDULING__INIT;
    Google__Protobuf__DoubleValue budget = GOOGLE__PROTOBUF__DOUBLE_VALUE__INIT;
    Google__Protobuf__DoubleValue factor = budget;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    queue.scheduling = &scheduling;
    scheduling.ordering = field("random");
    assert_refused(&f, &queue,
                   "scheduling.ordering must be "
                   "priority, fifo, fair, stateaware or cfs, not \"random\"");
    scheduling.ordering = field("cfs");
    Api__QueueScheduling__QuotaEntry entry =
        API__QUEUE_SCHEDULING__QUOTA_ENTRY__INIT;
    Api__QueueScheduling__QuotaEntry *quota[] = {&entry};
    entry.key = field("nvidia.com/gpu");
    entry.value = field("-2");
    scheduling.quota = quota;
    scheduling.n_quota = 1;
    assert_refused(&f, &queue,
                   "scheduling.quota.nvidia.com/gpu must be a quantity "
                   "of 0 or more, not \"-2\"");
    scheduling.n_quota = 0;
    scheduling.ordering = field("stateaware");
    scheduling.excess_budget = &budget;
    budget.value = 1e13;
    assert_refused(&f, &queue, "");
    budget.value = -0.5;
    assert_refused(&f, &queue,
                   "scheduling.excessBudget must "
                   "be from 0 to 1e+12, or -1 for no limit, not -0.5");
    budget.value = (double)NAN;
    assert_refused(&f, &queue, "");
    scheduling.over_share_factor = &factor;
    factor.value = -2;
    budget.value = 0;
    assert_refused(&f, &queue,
                   "scheduling.overShareFactor "
                   "must be from 0 to 1000, or -1 for no limit, not -2");
    factor.value = budget.value = -1;
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_OK);
    fixture_fini(&f);
}

/* Weights and limits out of range are refused, and say which. */
static void test_numbers_of_a_queue_are_checked(void **state)
{
    struct fixture f;
    Api__Queue queue = fixture_queue_message("q", 2e9);
    Api__PriorityClassResourceLimits limits =
        API__PRIORITY_CLASS_RESOURCE_LIMITS__INIT;
    Api__PriorityClassResourceLimits__MaximumResourceFractionEntry part =
        API__PRIORITY_CLASS_RESOURCE_LIMITS__MAXIMUM_RESOURCE_FRACTION_ENTRY__INIT;
    Api__PriorityClassResourceLimits__MaximumResourceFractionEntry *parts[] = {
        &part};
    Api__Queue__ResourceLimitsByPriorityClassNameEntry entry =
        API__QUEUE__RESOURCE_LIMITS_BY_PRIORITY_CLASS_NAME_ENTRY__INIT;
    Api__Queue__ResourceLimitsByPriorityClassNameEntry *entries[] = {&entry};
    static const double bad[] = {-0.5, 1e7, (double)NAN, (double)INFINITY};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message,
                        "error validating queue: priority factor cannot be "
                        "higher than 1e+09");
    queue.priority_factor = (double)NAN;
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_INVALID_ARGUMENT);
    queue.priority_factor = 1;
    part.key = field("cpu");
    limits.maximum_resource_fraction = parts;
    limits.n_maximum_resource_fraction = 1;
    entry.key = field("armada-default");
    entry.value = &limits;
    queue.resource_limits_by_priority_class_name = entries;
    queue.n_resource_limits_by_priority_class_name = 1;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        part.value = bad[i];
        assert_int_equal(
            fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
            RPC_INVALID_ARGUMENT);
        assert_non_null(strstr(f.status.message,
                               "resource limit of cpu for priority class "
                               "armada-default must be from 0 to 1e+06"));
    }
    part.value = 0.5;
    assert_int_equal(fixture_code(&f, "/api.Submit/CreateQueue", &queue.base),
                     RPC_OK);
    fixture_fini(&f);
}

static void test_batches_fail_item_by_item(void **state)
{
    struct fixture f;
    Api__Queue good = fixture_queue_message("good", 1),
               bad = fixture_queue_message("bad", 0);
    Api__Queue *queues[] = {&good, &bad};
    Api__QueueList list = API__QUEUE_LIST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    list.queues = queues;
    list.n_queues = 2;
    Api__BatchQueueUpdateResponse *response =
        fixture_call(&f, "/api.Submit/UpdateQueues", &list.base,
                     &api__batch_queue_update_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_failed_queues, 1);
    assert_string_equal(response->failed_queues[0]->queue->name, "bad");
    assert_string_equal(response->failed_queues[0]->error,
                        "rpc error: code = InvalidArgument desc = error: "
                        "priority factor cannot be lower than 1.0");
    assert_non_null(fixture_get_queue(&f, "good"));
    fixture_fini(&f);
}

/* TRAP-04: queues by name, as many as asked for, then one end, then OK. */
static void test_trap_04_listing_ends_with_end(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    struct fixture f;
    Api__StreamingQueueGetRequest request =
        API__STREAMING_QUEUE_GET_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "c");
    fixture_queue(&f, "a");
    fixture_queue(&f, "b");
    for (uint32_t num = 0; num < 5; num++) {
        request.num = num;
        struct rpc_stream *stream =
            fixture_stream(&f, "/api.QueueService/GetQueues", &request.base);
        uint32_t count = num == 0 || num > 3 ? 3 : num;
        for (uint32_t i = 0; i < count; i++) {
            Api__StreamingQueueMessage *message = fixture_next(
                &f, stream, &api__streaming_queue_message__descriptor);
            assert_int_equal(message->event_case,
                             API__STREAMING_QUEUE_MESSAGE__EVENT_QUEUE);
            assert_string_equal(message->queue->name, names[i]);
        }
        Api__StreamingQueueMessage *message =
            fixture_next(&f, stream, &api__streaming_queue_message__descriptor);
        assert_int_equal(message->event_case,
                         API__STREAMING_QUEUE_MESSAGE__EVENT_END);
        assert_null(fixture_next(&f, stream,
                                 &api__streaming_queue_message__descriptor));
        assert_int_equal(f.status.code, RPC_OK);
        rpc_stream_close(stream);
    }
    fixture_fini(&f);
}

static void test_cordon(void **state)
{
    struct fixture f;
    Api__QueueCordonRequest cordon = API__QUEUE_CORDON_REQUEST__INIT;
    Api__QueueUncordonRequest uncordon = API__QUEUE_UNCORDON_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CordonQueue", &cordon.base),
        RPC_UNKNOWN);
    cordon.name = uncordon.name = field("none");
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CordonQueue", &cordon.base),
        RPC_UNKNOWN);
    cordon.name = uncordon.name = field("q");
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CordonQueue", &cordon.base),
        RPC_OK);
    assert_true(fixture_get_queue(&f, "q")->cordoned);
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/UncordonQueue", &uncordon.base),
        RPC_OK);
    assert_false(fixture_get_queue(&f, "q")->cordoned);
    fixture_fini(&f);
}

/* A name is shown to others, in lines of which it must not make two. */
static void test_names_hold_no_control_characters(void **state)
{
    static const char *const names[] = {"a\x1b[2J", "a\nb", "\xc2\x9b",
                                        "a\xe2\x80\xae"};
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        Api__Queue queue = fixture_queue_message(names[i], 2);
        assert_int_equal(
            fixture_code(&f, "/api.QueueService/CreateQueue", &queue.base),
            RPC_INVALID_ARGUMENT);
    }
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_trap_03_owners_become_permissions),
        TEST(test_trap_03_upserts),
        TEST(test_queue_validation),
        TEST(test_scheduling_of_a_queue_is_checked),
        TEST(test_numbers_of_a_queue_are_checked),
        TEST(test_batches_fail_item_by_item),
        TEST(test_trap_04_listing_ends_with_end),
        TEST(test_cordon),
        TEST(test_names_hold_no_control_characters),
    };

    return RUN_TESTS(tests);
}
