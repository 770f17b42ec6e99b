/*
 * What is asked of all that is on queues, executors and nodes (armada-api.md
 * 1.6, 1.9; trap 12).
 */
#include "api/core/api_call.h"
#include "api_fixture.h"
#include "armada/binoculars.pb-c.h"
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "model/node.h"
#include "unit.h"

/* TRAP-12: what an empty list means depends on the list. */
static void test_trap_12_selections(void **state)
{
    struct fixture f;
    Api__QueueCancelRequest queue = API__QUEUE_CANCEL_REQUEST__INIT;
    Api__ExecutorCancelRequest executor = API__EXECUTOR_CANCEL_REQUEST__INIT;
    Api__NodePreemptRequest node = API__NODE_PREEMPT_REQUEST__INIT;
    Api__JobState states[] = {API__JOB_STATE__LEASED};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    uint32_t before = queue_table_count(f.queues);
    queue.name = field("q");
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CancelOnQueue", &queue.base),
        RPC_OK);
    queue.jobstates = states;
    queue.n_jobstates = 1;
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CancelOnQueue", &queue.base),
        RPC_OK);
    queue.name = field("unknown"); /* has no jobs that match */
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CancelOnQueue", &queue.base),
        RPC_OK);
    states[0] = API__JOB_STATE__SUCCEEDED;
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/CancelOnQueue", &queue.base),
        RPC_UNKNOWN);
    assert_int_equal(
        fixture_code(&f, "/api.Executor/CancelOnExecutor", &executor.base),
        RPC_UNKNOWN);
    executor.name = field("cluster");
    assert_int_equal(
        fixture_code(&f, "/api.Executor/CancelOnExecutor", &executor.base),
        RPC_OK);
    node.name = field("n");
    assert_int_equal(fixture_code(&f, "/api.Node/PreemptOnNode", &node.base),
                     RPC_UNKNOWN);
    node.executor = field("cluster");
    assert_int_equal(fixture_code(&f, "/api.Node/PreemptOnNode", &node.base),
                     RPC_OK);
    assert_int_equal(queue_table_count(f.queues), before);
    fixture_fini(&f);
}

/* So many bytes. */
static char *text_of(struct arena *arena, size_t byte_count)
{
    char *text = arena_alloc(arena, byte_count + 1);

    memset(text, 'x', byte_count);
    text[byte_count] = '\0';
    return text;
}

static void test_words_about_nodes_are_bounded(void **state)
{
    static const char *const quarantine = "/berth.api.Berth/QuarantineNode";
    static const char *const cordon_path = "/binoculars.Binoculars/Cordon";
    Berth__Api__QuarantineNodeRequest node =
        BERTH__API__QUARANTINE_NODE_REQUEST__INIT;
    Binoculars__CordonRequest cordon = BINOCULARS__CORDON_REQUEST__INIT;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    node.node_name = field("n");
    node.executor = field("e");
    node.reason = text_of(&f.arena, NOTE_BYTES_MAX);
    assert_int_equal(fixture_code(&f, quarantine, &node.base), RPC_OK);
    node.reason = text_of(&f.arena, NOTE_BYTES_MAX + 1);
    assert_int_equal(fixture_code(&f, quarantine, &node.base),
                     RPC_INVALID_ARGUMENT);
    node.reason = field("");
    node.executor = text_of(&f.arena, NODE_NAME_BYTES_MAX + 1);
    assert_int_equal(fixture_code(&f, quarantine, &node.base),
                     RPC_INVALID_ARGUMENT);
    cordon.node_name = text_of(&f.arena, NODE_NAME_BYTES_MAX + 1);
    assert_int_equal(fixture_code(&f, cordon_path, &cordon.base),
                     RPC_INVALID_ARGUMENT);
    fixture_fini(&f);
}

static void test_executor_settings(void **state)
{
    struct fixture f;
    Api__ExecutorSettingsUpsertRequest upsert =
        API__EXECUTOR_SETTINGS_UPSERT_REQUEST__INIT;
    Api__ExecutorDeleteRequest delete = API__EXECUTOR_DELETE_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    static const char *const path = "/api.Executor/UpsertExecutorSettings";
    assert_int_equal(fixture_code(&f, path, &upsert.base), RPC_UNKNOWN);
    upsert.name = delete.name = field("cluster");
    assert_int_equal(fixture_code(&f, path, &upsert.base), RPC_OK);
    upsert.cordoned = true;
    assert_int_equal(fixture_code(&f, path, &upsert.base), RPC_UNKNOWN);
    upsert.cordonreason = field("repair");
    assert_int_equal(fixture_code(&f, path, &upsert.base), RPC_OK);
    upsert.cordonreason = text_of(&f.arena, NOTE_BYTES_MAX);
    assert_int_equal(fixture_code(&f, path, &upsert.base), RPC_OK);
    upsert.cordonreason = text_of(&f.arena, NOTE_BYTES_MAX + 1);
    assert_int_equal(fixture_code(&f, path, &upsert.base),
                     RPC_INVALID_ARGUMENT);
    upsert.cordonreason = field("repair");
    upsert.name = text_of(&f.arena, NODE_NAME_BYTES_MAX + 1);
    assert_int_equal(fixture_code(&f, path, &upsert.base),
                     RPC_INVALID_ARGUMENT);
    upsert.name = field("a\nb");
    assert_int_equal(fixture_code(&f, path, &upsert.base),
                     RPC_INVALID_ARGUMENT);
    assert_int_equal(
        fixture_code(&f, "/api.Executor/DeleteExecutor", &delete.base), RPC_OK);
    fixture_fini(&f);

    fixture_init(&f);
    f.config.auth.grants[PERMISSION_UPDATE_EXECUTOR_SETTINGS] =
        (struct permission_grant){NULL, 0};
    fixture_start(&f);
    assert_int_equal(fixture_code(&f, path, &upsert.base),
                     RPC_PERMISSION_DENIED);
    assert_string_equal(
        f.status.message,
        "anonymous lacks permission "
        "update_executor_settings; the operator of the server can grant it in "
        "auth.permissionGroupMapping."
        "update_executor_settings");
    fixture_fini(&f);
}

static void test_cordon_of_a_node(void **state)
{
    struct fixture f;
    Binoculars__CordonRequest cordon = BINOCULARS__CORDON_REQUEST__INIT;
    static const char *const path = "/binoculars.Binoculars/Cordon";

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    assert_int_equal(fixture_code(&f, path, &cordon.base),
                     RPC_INVALID_ARGUMENT);
    cordon.node_name = field("n1");
    assert_int_equal(fixture_code(&f, path, &cordon.base), RPC_OK);
    fixture_fini(&f);

    fixture_init(&f);
    f.config.auth.grants[PERMISSION_CORDON_NODES] =
        (struct permission_grant){NULL, 0};
    fixture_start(&f);
    assert_int_equal(fixture_code(&f, path, &cordon.base),
                     RPC_PERMISSION_DENIED);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_trap_12_selections),
        TEST(test_words_about_nodes_are_bounded),
        TEST(test_executor_settings),
        TEST(test_cordon_of_a_node),
    };

    return RUN_TESTS(tests);
}
