/*
 * logs: what is said where there are none, and how a follower lives through a
 * server that goes away.
 */
#include <stdlib.h>

#include "armada/binoculars.pb-c.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "rpc/rpc_server.h"
#include "run.h"
#include "unit.h"
#include "wire/message/message.h"

enum { LOOKS_MAX = 16, SINCE_BYTES_MAX = 64 };

#define JOB_ID "01h00000000000000000000000"

/* What the server answers at one look: its state of the job, then the logs. */
struct look {
    enum rpc_code jobs_code; /* of ListJobs */
    bool has_no_job;
    Api__JobState state;
    int exit_code;
    const char *wait_reason;
    const char *reason; /* NULL: none */
    enum rpc_code code; /* of Logs */
    const char *line;   /* NULL: no line */
};

/* A server that plays a list of looks; the last one stays. */
struct player {
    struct rpc_server *server;
    char address[32];
    struct look looks[LOOKS_MAX];
    uint32_t look_count;
    uint32_t at;                 /* of the looks */
    uint32_t logs_count;         /* calls of Logs */
    char since[SINCE_BYTES_MAX]; /* of the last of them */
};

static const struct look *current(const struct player *player)
{
    return &player->looks[player->at < player->look_count
                              ? player->at
                              : player->look_count - 1];
}

static void on_jobs(void *ctx, struct rpc_call *call, struct str request)
{
    struct player *player = ctx;
    const struct look *look = current(player);
    Berth__Api__ListJobsResponse response =
        BERTH__API__LIST_JOBS_RESPONSE__INIT;
    Berth__Api__JobSummary job = BERTH__API__JOB_SUMMARY__INIT;
    Berth__Api__JobSummary *jobs[] = {&job};
    auto_strbuf reply = {0};

    (void)request;
    job.job_id = field(JOB_ID);
    job.queue = field("q");
    job.job_set = field("s");
    job.state = look->state;
    job.exit_code = look->exit_code;
    job.wait_reason = field(look->wait_reason ? look->wait_reason : "");
    job.node = field("n1");
    job.reason = field(look->reason ? look->reason : "");
    response.jobs = jobs;
    response.n_jobs = !look->has_no_job;
    wire_encode(&response.base, &reply);
    rpc_call_finish(call, look->jobs_code, "away", strbuf_str(&reply));
}

static void on_logs(void *ctx, struct rpc_call *call, struct str request)
{
    struct player *player = ctx;
    const struct look *look = current(player);
    Binoculars__LogResponse response = BINOCULARS__LOG_RESPONSE__INIT;
    Binoculars__LogLine line = BINOCULARS__LOG_LINE__INIT;
    Binoculars__LogLine *lines[] = {&line};
    auto_strbuf reply = {0};
    auto_arena arena = {0};
    ProtobufCMessage *message;
    struct err err;
    char stamp[SINCE_BYTES_MAX];

    assert_int_equal(wire_decode(&binoculars__log_request__descriptor, request,
                                 &wire_request_limits, &arena, &message, &err),
                     0);
    (void)snprintf(player->since, sizeof(player->since), "%s",
                   ((const Binoculars__LogRequest *)message)->since_time);
    (void)snprintf(stamp, sizeof(stamp), "2026-01-01T00:00:0%uZ", player->at);
    player->at++;
    player->logs_count++;
    line.timestamp = stamp;
    line.line = field(look->line ? look->line : "");
    response.log = lines;
    response.n_log = look->line != NULL;
    wire_encode(&response.base, &reply);
    rpc_call_finish(call, look->code, "no logs", strbuf_str(&reply));
}

static int start(void **state)
{
    struct player *player = mem_alloc(sizeof(*player));
    const char *address = "127.0.0.1:0";
    struct rpc_method methods[] = {
        {.path = "/berth.api.Berth/ListJobs",
         .kind = RPC_UNARY,
         .handle = on_jobs,
         .ctx = player},
        {.path = "/binoculars.Binoculars/Logs",
         .kind = RPC_UNARY,
         .handle = on_logs,
         .ctx = player},
    };
    struct rpc_server_options options = {
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .addresses = &address,
        .address_count = 1,
    };
    struct err err;

    player->server = rpc_server_create(&options, &err);
    assert_non_null(player->server);
    (void)snprintf(player->address, sizeof(player->address), "127.0.0.1:%u",
                   rpc_server_port(player->server, 0));
    *state = player;
    return 0;
}

static int stop(void **state)
{
    struct player *player = *state;

    rpc_server_destroy(player->server);
    mem_free(player);
    return 0;
}

static void play(struct player *player, const struct look *looks,
                 uint32_t count)
{
    assert_true(count <= LOOKS_MAX);
    memcpy(player->looks, looks, count * sizeof(*looks));
    player->look_count = count;
    player->at = 0;
    player->logs_count = 0;
}

static void check(struct run_result result, enum cli_exit code, const char *out,
                  const char *err)
{
    assert_string_equal(result.err, err);
    assert_string_equal(result.out, out);
    assert_int_equal(result.code, code);
    free(result.out);
    free(result.err);
}

static void a_follower_goes_on_where_it_was_after_a_restart(void **state)
{
    struct player *player = *state;
    static const struct look looks[] = {
        {.state = API__JOB_STATE__RUNNING, .line = "one"},
        {.jobs_code = RPC_UNAVAILABLE, .code = RPC_UNAVAILABLE},
        {.jobs_code = RPC_UNAVAILABLE, .code = RPC_UNAVAILABLE},
        /* It is back, and the executor is not: so nothing is over. */
        {.state = API__JOB_STATE__SUCCEEDED, .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__SUCCEEDED, .line = "two"},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID), CLI_OK,
          "one\ntwo\n",
          "berthctl: the server does not answer; retrying for up to 5 "
          "minutes\n");
    assert_int_equal(player->logs_count, 5);
    assert_string_equal(player->since, "2026-01-01T00:00:00Z");
}

static void a_follower_gives_a_server_up_in_the_end(void **state)
{
    struct player *player = *state;
    static const struct look looks[] = {
        {.state = API__JOB_STATE__RUNNING, .line = "one"},
        {.jobs_code = RPC_UNAVAILABLE, .code = RPC_UNAVAILABLE},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          CLI_UNAVAILABLE, "one\n",
          "berthctl: the server does not answer; retrying for up to 5 "
          "minutes\n"
          "berthctl: UNAVAILABLE: no logs\n");
    assert_in_range(player->logs_count, 30, 60);
}

static void a_server_that_never_answered_is_not_waited_for(void **state)
{
    struct player *player = *state;
    static const struct look looks[] = {
        {.jobs_code = RPC_UNAVAILABLE, .code = RPC_UNAVAILABLE},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          CLI_UNAVAILABLE, "", "berthctl: UNAVAILABLE: no logs\n");
    assert_int_equal(player->logs_count, 1);
}

static void what_is_no_job_is_said_with_what_to_do(void **state)
{
    struct player *player = *state;
    static const char text[] =
        "berthctl: there is no job " JOB_ID
        "; get jobs lists the jobs that exist, and those that ended recently\n";
    static const struct look looks[] = {
        {.has_no_job = true, .code = RPC_NOT_FOUND},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", JOB_ID), CLI_NOT_FOUND,
          "", text);
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          CLI_NOT_FOUND, "", text);
}

static void a_job_without_logs_has_the_reason_of_the_server(void **state)
{
    struct player *player = *state;
    static const struct look looks[] = {
        {.state = API__JOB_STATE__QUEUED, .code = RPC_NOT_FOUND},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", JOB_ID), CLI_NOT_FOUND,
          "", "berthctl: NOT_FOUND: no logs\n");
}

static void a_job_that_waits_is_followed_until_it_has_ended(void **state)
{
    struct player *player = *state;
    static const struct look looks[] = {
        {.state = API__JOB_STATE__QUEUED, .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__RUNNING, .line = "one"},
        {.state = API__JOB_STATE__FAILED, .line = "two"},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          CLI_JOB_FAILED, "one\ntwo\n", "");
    player->looks[2].exit_code = 42;
    player->at = 0;
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          (enum cli_exit)42, "one\ntwo\n", "");
    player->looks[2].state = API__JOB_STATE__CANCELLED;
    player->at = 0;
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          CLI_JOB_FAILED, "one\ntwo\n",
          "berthctl: job " JOB_ID " did not succeed: it was cancelled\n");
}

/* It is said once it is the same at two looks, and anew when it changes. */
static void what_a_job_waits_for_is_told(void **state)
{
    struct player *player = *state;
    static const struct look looks[] = {
        {.state = API__JOB_STATE__QUEUED,
         .wait_reason = "capacity",
         .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__QUEUED,
         .wait_reason = "turn",
         .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__QUEUED,
         .wait_reason = "queueLimit",
         .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__QUEUED,
         .wait_reason = "queueLimit",
         .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__QUEUED,
         .wait_reason = "queueLimit",
         .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__PENDING, .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__PENDING, .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__RUNNING, .line = "one"},
        {.state = API__JOB_STATE__SUCCEEDED},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID), CLI_OK,
          "one\n",
          "berthctl: job " JOB_ID " waits: queue limit\n"
          "berthctl: job " JOB_ID " starts on node n1\n");
}

/* It has no logs, but how it ended is known. */
static void a_job_that_never_ran_is_told(void **state)
{
    struct player *player = *state;
    static const struct look looks[] = {
        {.state = API__JOB_STATE__QUEUED, .code = RPC_NOT_FOUND},
        {.state = API__JOB_STATE__CANCELLED,
         .reason = "enough\nof it\n",
         .code = RPC_NOT_FOUND},
    };

    play(player, looks, ARRAY_COUNT(looks));
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          CLI_JOB_FAILED, "",
          "berthctl: job " JOB_ID " did not succeed: enough of it\n");
    player->looks[1].exit_code = 127;
    player->looks[1].state = API__JOB_STATE__FAILED;
    player->looks[1].code = RPC_OK;
    player->at = 0;
    check(RUN("", "--berthUrl", player->address, "logs", "-f", JOB_ID),
          (enum cli_exit)127, "",
          "berthctl: job " JOB_ID " did not succeed: enough of it\n");
}

#define SERVED(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(a_follower_goes_on_where_it_was_after_a_restart),
        SERVED(a_follower_gives_a_server_up_in_the_end),
        SERVED(a_server_that_never_answered_is_not_waited_for),
        SERVED(what_is_no_job_is_said_with_what_to_do),
        SERVED(a_job_without_logs_has_the_reason_of_the_server),
        SERVED(what_a_job_waits_for_is_told),
        SERVED(a_job_that_never_ran_is_told),
        SERVED(a_job_that_waits_is_followed_until_it_has_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
