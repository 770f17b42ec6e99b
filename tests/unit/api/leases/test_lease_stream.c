/*
 * The held stream of an executor (armada-api.md 6.2): what is pushed on it, and
 * how it ends.
 */
#include "field.h"
#include "lease_fixture.h"
#include "unit.h"
#include "wire/message/message.h"

/* The executor leaves, and the leader hears of it. */
static void close_and_wait(struct fixture *f, const struct leader_says *says,
                           struct rpc_stream *stream)
{
    rpc_stream_close(stream);
    do {
        fixture_settle(f);
    } while (says->session_end_count == 0);
}

/* A held stream: an answer ends in a heartbeat, pushes come unasked, deltas
 * are heard as such, and the leader hears of its end. */
static void test_held_stream(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    char run[ID_TEXT_BYTES_MAX];
    char *added[] = {run}, *gone[] = {field("node-9")};

    (void)state;
    lease_begin(&f, &says);
    struct job_id first = lease_submit(&f), second = lease_submit(&f);
    says.jobs[says.job_count++] = first;
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = lease_ask(&f, &request);
    assert_int_equal(lease_next(&f, stream)->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);
    Executorapi__LeaseStreamMessage *message = lease_next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT);
    assert_int_equal(message->heartbeat->request_count, 1);

    says.to_push = second;
    fixture_settle(&f);
    message = lease_next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);

    auto_strbuf bytes = strbuf_make(0);
    run_id_format(run_id_make(first, 0), run);
    request.is_delta = true;
    request.run_ids_added = added;
    request.n_run_ids_added = 1;
    request.node_names_removed = gone;
    request.n_node_names_removed = 1;
    request.says_protected = true;
    request.protected_run_ids = added;
    request.n_protected_run_ids = 1;
    wire_encode(&request.base, &bytes);
    assert_int_equal(rpc_stream_send(stream, strbuf_str(&bytes), 10000),
                     RPC_WAIT_READY);
    message = lease_next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT);
    assert_int_equal(message->heartbeat->request_count, 2);
    fixture_settle(&f);
    assert_false(says.heard.is_full);
    assert_true(says.heard.has_nodes);
    assert_int_equal(says.heard.nodes_gone_count, 1);
    assert_true(says.heard.has_protected);
    assert_int_equal(says.heard.protected_count, 1);
    assert_int_equal(says.run_count, 1);
    close_and_wait(&f, &says, stream);
    fixture_fini(&f);
}

/* Nothing of a pushed lease is looked at after the push. */
static void a_pushed_lease_is_copied_whole(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    lease_begin(&f, &says);
    struct job_id job = lease_submit(&f);
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = lease_ask(&f, &request);
    assert_int_equal(lease_next(&f, stream)->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT);
    says.to_push = job;
    fixture_settle(&f);
    const K8s__Io__Api__Core__V1__PodSpec *pod =
        lease_next(&f, stream)->lease->job->mainobject->pod_spec->pod_spec;
    const K8s__Io__Api__Core__V1__Toleration *last =
        pod->tolerations[pod->n_tolerations - 1];
    assert_string_equal(last->key, "gpu");
    assert_string_equal(last->effect, "NoSchedule");
    close_and_wait(&f, &says, stream);
    fixture_fini(&f);
}

/* When the leader lets go (another stream took over) the call ends. */
static void test_held_stream_released_by_the_leader(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    lease_begin(&f, &says);
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = lease_ask(&f, &request);
    assert_non_null(lease_next(&f, stream));
    says.is_to_release = true;
    fixture_settle(&f);
    assert_null(lease_next(&f, stream));
    assert_int_equal(f.status.code, RPC_ABORTED);
    rpc_stream_close(stream);
    fixture_settle(&f);
    assert_int_equal(says.session_end_count, 0);
    fixture_fini(&f);
}

/* A stream that goes on under the name of another executor is ended: the
 * leader knows a session by one executor. */
static void test_held_stream_is_one_executors(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    auto_strbuf bytes = strbuf_make(0);

    (void)state;
    lease_begin(&f, &says);
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = lease_ask(&f, &request);
    assert_non_null(lease_next(&f, stream));
    request.executor_id = field("another");
    wire_encode(&request.base, &bytes);
    assert_int_equal(rpc_stream_send(stream, strbuf_str(&bytes), 10000),
                     RPC_WAIT_READY);
    assert_null(lease_next(&f, stream));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    close_and_wait(&f, &says, stream);
    assert_int_equal(says.exchange_count, 1);
    fixture_fini(&f);
}

static void test_refused_exchange(void **state)
{
    struct leader_says says = {.result = COMMAND_UNAVAILABLE};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    lease_begin(&f, &says);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = lease_ask(&f, &request);
    assert_null(lease_next(&f, stream));
    assert_int_equal(f.status.code, RPC_UNAVAILABLE);
    assert_string_equal(f.status.message, "not now");
    rpc_stream_close(stream);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_held_stream),
        TEST(a_pushed_lease_is_copied_whole),
        TEST(test_held_stream_released_by_the_leader),
        TEST(test_held_stream_is_one_executors),
        TEST(test_refused_exchange),
    };

    return RUN_TESTS(tests);
}
