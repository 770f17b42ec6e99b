/*
 * Compression and sizes of messages, of Armada's transport rules (1.1).
 */
#include <stdlib.h>

#include "rpc_fixture.h"

static struct str bytes_of(char *bytes, size_t byte_count, char c)
{
    memset(bytes, c, byte_count);
    return str_make(bytes, byte_count);
}

/* Answers with as many bytes as the request says. */
static void answer_bytes(void *ctx, struct rpc_call *call, struct str request)
{
    auto_strbuf text = strbuf_make(0);

    /* A message has no NUL behind it. */
    strbuf_add_str(&text, request);
    size_t byte_count = (size_t)atoi(strbuf_text(&text));
    char *bytes = mem_alloc(byte_count + 1);

    (void)ctx;
    rpc_call_finish(call, RPC_OK, NULL, bytes_of(bytes, byte_count, 'r'));
    mem_free(bytes);
}

/* TRAP-01. */
static void compressed_requests_and_replies_are_inflated(void **state)
{
    enum { BYTES = 1 << 20 };
    const enum rpc_gzip modes[] = {RPC_GZIP_IF_SENT, RPC_GZIP_IF_ACCEPTED,
                                   RPC_GZIP_NEVER};
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_UNARY, .handle = fixture_echo};
    char *bytes = mem_alloc(BYTES);
    struct str request = bytes_of(bytes, BYTES, 'q');
    auto_strbuf reply = strbuf_make(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
        struct fixture f;

        fixture_start(&f, (struct rpc_server_options){.methods = &method,
                                                      .method_count = 1,
                                                      .gzip = modes[i]});
        for (int is_gzip = 0; is_gzip <= 1; is_gzip++) {
            assert_int_equal(
                rpc_channel_call(f.channel, "/t.T/M", request,
                                 &(struct rpc_call_options){.is_gzip = is_gzip},
                                 &reply, NULL),
                RPC_OK);
            assert_true(str_equal(strbuf_str(&reply), request));
        }
        fixture_stop(&f);
    }
    mem_free(bytes);
}

static void tell_peer(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    (void)request;
    rpc_call_finish(call, RPC_OK, NULL, str_of(rpc_call_peer(call)));
}

static void
an_oversize_request_is_refused_and_the_connection_stays(void **state)
{
    enum { BYTES = RPC_RECEIVE_BYTES_DEFAULT_MAX + 1 };
    const struct rpc_method methods[] = {
        {.path = "/t.T/M", .kind = RPC_UNARY, .handle = fixture_echo},
        {.path = "/t.T/Small",
         .kind = RPC_UNARY,
         .handle = fixture_echo,
         .receive_bytes_max = 10},
        {.path = "/t.T/Peer", .kind = RPC_UNARY, .handle = tell_peer},
    };
    char *bytes = mem_alloc(BYTES);
    struct str request = bytes_of(bytes, BYTES, 'q');
    auto_strbuf reply = strbuf_make(0);
    auto_strbuf peer = strbuf_make(0);
    struct rpc_status status;
    struct fixture f;

    (void)state;
    fixture_start(
        &f, (struct rpc_server_options){.methods = methods, .method_count = 3});
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/Peer", STR(""), NULL, &peer, NULL),
        RPC_OK);
    /* Plain, then one that is small until it is inflated (a bomb). */
    for (int is_gzip = 0; is_gzip <= 1; is_gzip++) {
        assert_int_equal(
            rpc_channel_call(f.channel, "/t.T/M", request,
                             &(struct rpc_call_options){.is_gzip = is_gzip},
                             &reply, &status),
            RPC_RESOURCE_EXHAUSTED);
        assert_non_null(strstr(status.message, "larger than max"));
    }
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/Small",
                                      STR("0123456789"), NULL, &reply, NULL),
                     RPC_OK);
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/Small",
                                      STR("01234567890"), NULL, &reply, NULL),
                     RPC_RESOURCE_EXHAUSTED);
    request.byte_count = BYTES - 1;
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", request, NULL, &reply, NULL),
        RPC_OK);
    assert_int_equal(reply.byte_count, BYTES - 1);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/Peer", STR(""), NULL, &reply, NULL),
        RPC_OK);
    assert_string_equal(strbuf_text(&reply), strbuf_text(&peer));
    fixture_stop(&f);
    mem_free(bytes);
}

static void an_oversize_reply_is_refused(void **state)
{
    auto_strbuf reply = strbuf_make(0);
    struct fixture f;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, answer_bytes, NULL);
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/M", STR("4194304"), NULL,
                                      &reply, NULL),
                     RPC_OK);
    assert_int_equal(reply.byte_count, 4194304);
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/M", STR("4194305"), NULL,
                                      &reply, NULL),
                     RPC_RESOURCE_EXHAUSTED);
    fixture_stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(compressed_requests_and_replies_are_inflated),
        TEST(an_oversize_request_is_refused_and_the_connection_stays),
        TEST(an_oversize_reply_is_refused),
    };

    return RUN_TESTS(tests);
}
