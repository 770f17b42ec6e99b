/* Unary calls over real loopback sockets. */
#include <stdio.h>

#include "rpc/rpc_channel.h"
#include "rpc/rpc_server.h"
#include "unit.h"

static void echo(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    rpc_call_finish(call, RPC_OK, NULL, request);
}

static void an_answer_comes_back(void **state)
{
    static const struct rpc_method methods[] = {
        {.path = "/t.T/Echo", .kind = RPC_UNARY, .handle = echo},
    };
    static const char *const addresses[] = {"127.0.0.1:0"};
    const struct rpc_server_options options = {.methods = methods,
                                               .method_count = 1,
                                               .addresses = addresses,
                                               .address_count = 1};
    struct err err;
    struct rpc_server *server = rpc_server_create(&options, &err);
    char address[64];
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;

    (void)state;
    assert_non_null(server);
    snprintf(address, sizeof(address), "127.0.0.1:%u",
             rpc_server_port(server, 0));
    struct rpc_channel *channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = address}, &err);
    assert_non_null(channel);
    assert_int_equal(rpc_channel_call(channel, "/t.T/Echo", STR("hello"), NULL,
                                      &reply, &status),
                     RPC_OK);
    assert_string_equal(strbuf_text(&reply), "hello");
    assert_int_equal(rpc_channel_call(channel, "/t.T/Nothing", STR("hello"),
                                      NULL, &reply, &status),
                     RPC_UNIMPLEMENTED);
    rpc_channel_close(channel);
    rpc_server_destroy(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(an_answer_comes_back)};

    return RUN_TESTS(tests);
}
