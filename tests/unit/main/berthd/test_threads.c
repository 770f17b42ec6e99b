/* Where no thread can be had there is an error, and nothing is left over. */
#include <errno.h>
#include <pthread.h>

#include "api/core/event_hub.h"
#include "api/logs/log_hub.h"
#include "elog/elog_memory.h"
#include "executor/fake/fake.h"
#include "executor/helper/helper.h"
#include "executor/loop/log_server.h"
#include "executor/loop/transport.h"
#include "main/berthd/checkpointer.h"
#include "main/berthd/forecaster.h"
#include "main/berthd/what_if_thread.h"
#include "main/common/machine.h"
#include "rpc/rpc_server.h"
#include "unit.h"

/* How many more threads can be had; the linker sends our calls here. */
static int threads_left = 1000;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *ctx);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *ctx);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *ctx)
{
    return threads_left-- > 0 ? __real_pthread_create(thread, attr, run, ctx)
                              : EAGAIN;
}

static void handle(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    (void)request;
    rpc_call_finish(call, RPC_OK, NULL, STR(""));
}

static void assert_said(const struct err *err)
{
    assert_string_equal(err->text, "cannot start a thread");
}

static int open_fake(void *ctx, struct runtime **ret_runtime,
                     struct err *ret_info, struct err *err)
{
    struct fake_options options;

    (void)ctx;
    (void)ret_info;
    fake_options_default(&options);
    return fake_open(&options, &machine_clock, ret_runtime, err);
}

/* Without its thread no query of logs would ever be answered. */
static void test_a_helper_without_a_thread_opens_nothing(void **state)
{
    const struct helper_options options = {.open = open_fake};
    struct runtime *runtime;
    struct err info, err;

    (void)state;
    threads_left = 0;
    struct helper *helper = helper_start(&options, &err);
    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &runtime, &info, &err), -ERR_IO);
    assert_said(&err);
    helper_stop(helper);
}

static void test_a_server_with_too_few_threads_is_none(void **state)
{
    struct rpc_method method = {
        .path = "/s/m", .kind = RPC_UNARY, .handle = handle};
    const char *address = "127.0.0.1:0";
    struct rpc_server_options options = {.methods = &method,
                                         .method_count = 1,
                                         .addresses = &address,
                                         .address_count = 1,
                                         .thread_count = 2};
    struct err err;

    (void)state;
    /* The guard, its probe, and two that serve. */
    for (int count = 0; count < 4; count++) {
        threads_left = count;
        assert_null(rpc_server_create(&options, &err));
        assert_said(&err);
    }
    threads_left = 4;
    struct rpc_server *server = rpc_server_create(&options, &err);
    assert_non_null(server);
    rpc_server_destroy(server);
}

/* Open a channel that finds all the threads that it wants; `left` are left. */
static struct rpc_channel *open_channel(int left)
{
    struct rpc_channel_options options = {.address = "127.0.0.1:1"};
    struct err err;

    threads_left = 1000;
    struct rpc_channel *channel = rpc_channel_open(&options, &err);
    threads_left = left;
    return channel;
}

/* gRPC's threads are tried first (rpc/thread_room.h), then ours is started. */
static void test_a_channel_without_a_thread_is_none(void **state)
{
    struct rpc_channel_options options = {.address = "127.0.0.1:1"};
    struct rpc_channel *channel = NULL;
    struct err err = {0};
    struct err last = {0};
    (void)state;

    for (int left = 0; !channel && left < 100; left++) {
        last = err;
        threads_left = left;
        channel = rpc_channel_open(&options, &err);
        assert_true(channel || strstr(err.text, "threads are needed") ||
                    strstr(err.text, "cannot start a thread"));
    }
    assert_non_null(channel);
    assert_said(&last);
    rpc_channel_close(channel);
}

static void test_a_transport_without_a_thread_is_none(void **state)
{
    struct transport_options options = {0};
    struct err err;

    (void)state;
    struct rpc_channel *channel = open_channel(0);
    assert_non_null(channel);
    assert_null(transport_create(channel, &options, &err));
    assert_said(&err);
}

static void test_a_hub_without_a_thread_is_none(void **state)
{
    struct err err;

    (void)state;
    threads_left = 0;
    assert_null(event_hub_create(10, &err));
    assert_said(&err);
}

static void test_a_log_hub_without_a_thread_is_none(void **state)
{
    struct err err;

    (void)state;
    threads_left = 0;
    assert_null(log_hub_create(1000, &err));
    assert_said(&err);
}

static void test_a_log_server_without_a_thread_is_none(void **state)
{
    struct log_server_options options = {.executor_id = STR("e")};
    struct err err;

    (void)state;
    struct rpc_channel *channel = open_channel(0);
    assert_non_null(channel);
    assert_null(log_server_start(channel, &options, &err));
    assert_said(&err);
    /* There is a reader, but nobody who asks it. */
    channel = open_channel(1);
    assert_null(log_server_start(channel, &options, &err));
    assert_said(&err);
    /* One that has no server yet stops at once. */
    channel = open_channel(1000);
    struct log_server *server = log_server_start(channel, &options, &err);
    assert_non_null(server);
    log_server_stop(server);
}

static void test_a_checkpointer_without_a_thread_is_none(void **state)
{
    struct elog_memory_storage *storage = elog_memory_storage_create();
    struct elog *log = elog_memory_open(storage);
    struct err err;

    (void)state;
    threads_left = 0;
    assert_null(checkpointer_start(log, &err));
    assert_said(&err);
    elog_close(log);
    elog_memory_storage_destroy(storage);
}

static void test_a_what_if_thread_without_a_thread_is_none(void **state)
{
    struct err err;

    (void)state;
    threads_left = 0;
    assert_null(what_if_thread_start(&machine_clock, NULL, &err));
    assert_said(&err);
}

static void test_a_forecaster_without_a_thread_is_none(void **state)
{
    struct inbox *inbox = inbox_create(NULL, NULL);
    struct err err;

    (void)state;
    threads_left = 0;
    assert_null(forecaster_start(inbox, 1000, &err));
    assert_said(&err);
    inbox_destroy(inbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_helper_without_a_thread_opens_nothing),
        TEST(test_a_server_with_too_few_threads_is_none),
        TEST(test_a_channel_without_a_thread_is_none),
        TEST(test_a_transport_without_a_thread_is_none),
        TEST(test_a_hub_without_a_thread_is_none),
        TEST(test_a_log_hub_without_a_thread_is_none),
        TEST(test_a_log_server_without_a_thread_is_none),
        TEST(test_a_checkpointer_without_a_thread_is_none),
        TEST(test_a_what_if_thread_without_a_thread_is_none),
        TEST(test_a_forecaster_without_a_thread_is_none),
    };

    return RUN_TESTS(tests);
}
