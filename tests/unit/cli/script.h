/*
 * script - a server that answers what a test says, and remembers what it was
 * asked last.
 */
#pragma once

#include <stdlib.h>

#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "rpc/rpc_server.h"
#include "run.h"
#include "unit.h"
#include "wire/message/message.h"

enum { MORE_MAX = 8 };

/* What the server was asked and what it answers. */
struct script {
    struct rpc_server *server;
    char address[32];
    enum rpc_code code;
    const char *message;
    const char *field;   /* that it refuses; NULL: none */
    struct strbuf reply; /* of a unary call, or the one stream message */
    /* Stream messages that follow it, and how many of them went out. */
    struct strbuf more[MORE_MAX];
    uint32_t more_count, sent_count;
    struct strbuf request;
    uint32_t call_count;
    /* What ListJobs answers in place of `reply`, if it does. */
    bool has_jobs;
    bool has_pages; /* it answers `reply`, then `more` */
    struct strbuf jobs;
    char *executor; /* of that job; NULL: it has none */
    /* Likewise ListPools. */
    bool has_pools;
    struct strbuf pools;
    /* GetQueueShares, which answers nothing in its place. */
    struct strbuf shares;
};

static inline void on_unary(void *ctx, struct rpc_call *call,
                            struct str request)
{
    struct script *script = ctx;

    script->call_count++;
    strbuf_clear(&script->request);
    strbuf_add_str(&script->request, request);
    if (script->field) {
        rpc_call_set_field(call, script->field);
    }
    rpc_call_finish(call, script->code, script->message,
                    strbuf_str(&script->reply));
}

/* ListJobs, which other commands ask beside their own request. */
static inline void on_list_jobs(void *ctx, struct rpc_call *call,
                                struct str request)
{
    struct script *script = ctx;

    if (script->has_jobs) {
        rpc_call_finish(call, RPC_OK, "", strbuf_str(&script->jobs));
    } else if (script->has_pages && script->call_count++ > 0) {
        rpc_call_finish(call, RPC_OK, "",
                        strbuf_str(&script->more[script->call_count - 2]));
    } else if (script->has_pages) {
        rpc_call_finish(call, RPC_OK, "", strbuf_str(&script->reply));
    } else {
        on_unary(ctx, call, request);
    }
}

/* ListPools, likewise. */
static inline void on_list_pools(void *ctx, struct rpc_call *call,
                                 struct str request)
{
    struct script *script = ctx;

    if (script->has_pools) {
        rpc_call_finish(call, RPC_OK, "", strbuf_str(&script->pools));
    } else {
        on_unary(ctx, call, request);
    }
}

/* GetQueueShares, which is not the request that a test looks at. */
static inline void on_shares(void *ctx, struct rpc_call *call,
                             struct str request)
{
    struct script *script = ctx;

    (void)request;
    rpc_call_finish(call, RPC_OK, "", strbuf_str(&script->shares));
}

/* A list in pages: `reply`, then `more`. */
static inline void on_page(void *ctx, struct rpc_call *call, struct str request)
{
    struct script *script = ctx;

    script->call_count++;
    strbuf_clear(&script->request);
    strbuf_add_str(&script->request, request);
    const struct strbuf *page = script->call_count == 1
                                    ? &script->reply
                                    : &script->more[script->call_count - 2];
    rpc_call_finish(call, RPC_OK, "", strbuf_str(page));
}

static inline void on_sent(void *ctx, struct rpc_call *call, bool is_ok)
{
    struct script *script = ctx;

    if (!is_ok || script->sent_count == script->more_count ||
        rpc_call_send(call, strbuf_str(&script->more[script->sent_count++]),
                      on_sent, script) < 0) {
        rpc_call_finish(call, script->code, script->message, (struct str){0});
    }
}

static inline void on_stream(void *ctx, struct rpc_call *call,
                             struct str request)
{
    struct script *script = ctx;

    script->call_count++;
    script->sent_count = 0;
    strbuf_clear(&script->request);
    strbuf_add_str(&script->request, request);
    if (script->reply.byte_count == 0 ||
        rpc_call_send(call, strbuf_str(&script->reply), on_sent, script) < 0) {
        rpc_call_finish(call, script->code, script->message, (struct str){0});
    }
}

static inline int start(void **state)
{
    struct script *script = mem_alloc(sizeof(*script));
    const char *address = "127.0.0.1:0";
    struct err err;
#define UNARY(path_)                                                        \
    {                                                                       \
        .path = path_, .kind = RPC_UNARY, .handle = on_unary, .ctx = script \
    }
#define STREAM(path_)                                                  \
    {                                                                  \
        .path = path_, .kind = RPC_SERVER_STREAM, .handle = on_stream, \
        .ctx = script                                                  \
    }
    struct rpc_method methods[] = {
        UNARY("/api.Submit/SubmitJobs"),
        UNARY("/berth.api.Berth/SubmitTrainingJob"),
        UNARY("/api.Executor/CancelOnExecutor"),
        UNARY("/api.Executor/PreemptOnExecutor"),
        UNARY("/api.QueueService/PreemptOnQueue"),
        UNARY("/api.Submit/CancelJobs"),
        UNARY("/api.Submit/CancelJobSet"),
        UNARY("/api.Submit/PreemptJobs"),
        UNARY("/api.Submit/ReprioritizeJobs"),
        UNARY("/api.Submit/CreateQueue"),
        UNARY("/api.Submit/UpdateQueue"),
        UNARY("/api.Submit/DeleteQueue"),
        UNARY("/api.Submit/GetQueue"),
        STREAM("/api.Submit/GetQueues"),
        STREAM("/api.Event/GetJobSetEvents"),
        {.path = "/berth.api.Berth/ListJobs",
         .kind = RPC_UNARY,
         .handle = on_list_jobs,
         .ctx = script},
        UNARY("/berth.api.Berth/ExplainJob"),
        UNARY("/berth.api.Berth/ListNodes"),
        UNARY("/berth.api.Berth/ListExecutors"),
        UNARY("/api.Executor/UpsertExecutorSettings"),
        UNARY("/api.Executor/DeleteExecutor"),
        {.path = "/berth.api.Berth/ListTrainingJobs",
         .kind = RPC_UNARY,
         .handle = on_page,
         .ctx = script},
        UNARY("/berth.api.Berth/CreatePool"),
        UNARY("/berth.api.Berth/UpdatePool"),
        UNARY("/berth.api.Berth/DeletePool"),
        {.path = "/berth.api.Berth/ListPools",
         .kind = RPC_UNARY,
         .handle = on_list_pools,
         .ctx = script},
        {.path = "/berth.api.Berth/GetQueueShares",
         .kind = RPC_UNARY,
         .handle = on_shares,
         .ctx = script},
        STREAM("/berth.api.Berth/Backup"),
    };
    struct rpc_server_options options = {
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .addresses = &address,
        .address_count = 1,
    };

    script->server = rpc_server_create(&options, &err);
    assert_non_null(script->server);
    (void)snprintf(script->address, sizeof(script->address), "127.0.0.1:%u",
                   rpc_server_port(script->server, 0));
    *state = script;
    return 0;
}

static inline int stop(void **state)
{
    struct script *script = *state;

    rpc_server_destroy(script->server);
    strbuf_fini(&script->reply);
    for (int i = 0; i < MORE_MAX; i++) {
        strbuf_fini(&script->more[i]);
    }
    strbuf_fini(&script->request);
    strbuf_fini(&script->jobs);
    strbuf_fini(&script->pools);
    strbuf_fini(&script->shares);
    mem_free(script);
    return 0;
}

/* Answer with this message from now on. */
static inline void answer(struct script *script,
                          const ProtobufCMessage *message)
{
    script->code = RPC_OK;
    strbuf_clear(&script->reply);
    wire_encode(message, &script->reply);
}

/* Let there be one job, or with an id of NULL none, for those who ask before
 * they do something. */
static inline void set_job(struct script *script, const char *id,
                           Api__JobState job_state, bool is_kept)
{
    Berth__Api__ListJobsResponse response =
        BERTH__API__LIST_JOBS_RESPONSE__INIT;
    Berth__Api__JobSummary job = BERTH__API__JOB_SUMMARY__INIT;
    Berth__Api__JobSummary *jobs[] = {&job};
    char queue[] = "q", job_set[] = "s", text[32];

    (void)snprintf(text, sizeof(text), "%s", id ? id : "");
    job.job_id = text;
    job.queue = queue;
    job.job_set = job_set;
    job.state = job_state;
    if (script->executor) {
        job.executor = script->executor;
    }
    job.not_preemptible = is_kept;
    response.jobs = jobs;
    response.n_jobs = id ? 1 : 0;
    script->has_jobs = true;
    strbuf_clear(&script->jobs);
    wire_encode(&response.base, &script->jobs);
}

/* Add one event to the stream that the server answers. */
static inline void add_event(struct script *script, Api__EventMessage *message,
                             Api__EventMessage__EventsCase kind, void *event)
{
    Api__EventStreamMessage stream = API__EVENT_STREAM_MESSAGE__INIT;
    char id[] = "5:0:0:1";

    /* Every member of the union is a pointer. */
    message->events_case = kind;
    message->submitted = event;
    stream.id = id;
    stream.message = message;
    if (script->reply.byte_count == 0) {
        answer(script, &stream.base);
        return;
    }
    assert_true(script->more_count < MORE_MAX);
    wire_encode(&stream.base, &script->more[script->more_count++]);
}

/* What the server was asked last. */
static inline void *asked(struct script *script, struct arena *arena,
                          const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message;
    struct err err = {""};

    int rc = wire_decode(type, strbuf_str(&script->request),
                         &wire_request_limits, arena, &message, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    return message;
}

#define ASK(script, input, ...) \
    RUN(input, "--berthUrl", (script)->address, __VA_ARGS__)

static inline void check(struct run_result result, enum cli_exit code,
                         const char *out, const char *err)
{
    assert_string_equal(result.err, err);
    assert_string_equal(result.out, out);
    assert_int_equal(result.code, code);
    free(result.out);
    free(result.err);
}

#define SERVED(name) cmocka_unit_test_setup_teardown(name, start, stop)
