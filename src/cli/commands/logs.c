/*
 * logs: the output of a job's containers, through Binoculars.
 */
#include "armada/binoculars.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/newest.h"
#include "wire/text/rfc3339.h"

static void print_lines(const struct cli *cli,
                        const Binoculars__LogResponse *response)
{
    for (size_t i = 0; i < response->n_log; i++) {
        const Binoculars__LogLine *line = response->log[i];
        if (cli_has(cli, "timestamps")) {
            cli_put(cli->ports->out, "%s %s\n", line->timestamp, line->line);
        } else {
            cli_put(cli->ports->out, "%s\n", line->line);
        }
    }
}

enum {
    FOLLOW_PAUSE_MS = 500,
    WAITING_BYTES_MAX = 512, /* of what is compared */
    SINCE_BYTES_MAX = 64,
    /* Waiting for a server that went away: each pause is twice the one before,
     * up to this, and together they last no longer than this. */
    RETRY_PAUSE_MS_MAX = 8000,
    RETRY_MS_MAX = 300000,
    /* The same for an executor that has the rest of an ended job's logs. */
    RETRY_REST_MS_MAX = 15000,
};

/* What is asked for, again and again when it is followed. */
struct reading {
    Binoculars__LogRequest request;
    K8s__Io__Api__Core__V1__PodLogOptions options;
    char since[SINCE_BYTES_MAX]; /* lines after this time; "": all */
};

/* Whether there is more than one answer holds. */
static bool has_rest(const struct reading *reading,
                     const Binoculars__LogResponse *response)
{
    return response->cut && response->n_log > 0 &&
           /* else it would be the same lines again */
           strcmp(response->log[response->n_log - 1]->timestamp,
                  reading->since) != 0;
}

/* The next request is for what comes after this answer. */
static void go_on_after(struct reading *reading,
                        const Binoculars__LogResponse *response)
{
    if (response->n_log > 0) {
        (void)snprintf(reading->since, sizeof(reading->since), "%s",
                       response->log[response->n_log - 1]->timestamp);
        reading->options.has_taillines = false;
    }
}

/* All lines that there are now. */
static enum rpc_code print_now(struct cli *cli, struct reading *reading,
                               bool is_followed, struct rpc_status *status)
{
    ProtobufCMessage *reply;
    bool is_more = true;

    while (is_more) {
        enum rpc_code code =
            cli_try(cli, "/binoculars.Binoculars/Logs", &reading->request.base,
                    &binoculars__log_response__descriptor, &reply, status);
        if (code != RPC_OK) {
            return code;
        }
        const Binoculars__LogResponse *response = (void *)reply;
        if ((is_followed && response->n_log == 0) ||
            !cli_print_message(cli, reply)) {
            print_lines(cli, response);
        }
        is_more = has_rest(reading, response);
        go_on_after(reading, response);
    }
    return RPC_OK;
}

/* Say why there are no logs: that there is no such job, or what the server
 * says. */
static enum cli_exit fail(struct cli *cli, const struct reading *reading,
                          const struct rpc_status *status)
{
    enum cli_exit rc = status->code == RPC_NOT_FOUND
                           ? check_one_job(cli, reading->request.job_id)
                           : CLI_OK;

    return rc == CLI_OK ? cli_fail_call(cli, status) : rc;
}

/* How following goes. */
struct following {
    enum check_course course; /* before the last look */
    bool has_seen;            /* the job was there once */
    bool was_lost;            /* the server was away meanwhile */
    struct check_end end;     /* of a job that is there; as long as a look */
    char waiting[WAITING_BYTES_MAX]; /* what it did at the last look */
    bool has_said_waiting;           /* and that was said */
    int64_t pause_ms;                /* of the last try; 0: it was answered */
    int64_t waited_ms;               /* since the last answer */
};

/* One look, at the state before the lines: all that an ended job has written
 * is there.  A job that has not run yet has nothing. */
static enum rpc_code look(struct cli *cli, struct reading *reading,
                          struct following *following,
                          struct rpc_status *status)
{
    following->end = (struct check_end){0};
    following->course =
        check_course(cli, reading->request.job_id, &following->end);
    following->has_seen |= following->course <= CHECK_OVER;
    enum rpc_code code = print_now(cli, reading, true, status);
    if (code == RPC_NOT_FOUND && following->course == CHECK_GOES_ON) {
        return RPC_OK;
    }
    if (code == RPC_OK &&
        (following->course == CHECK_NO_SERVER ||
         (following->course == CHECK_NO_JOB && following->has_seen))) {
        *status = (struct rpc_status){.code = RPC_UNAVAILABLE};
        (void)snprintf(status->message, sizeof(status->message),
                       "the server does not say whether the job has ended");
        return status->code;
    }
    return code;
}

/* Whether a look that failed is worth another, and how long to wait for it. */
static bool may_try_again(const struct cli *cli, struct following *following,
                          enum rpc_code code)
{
    bool is_away = cli_exit_of(code) == CLI_UNAVAILABLE;
    /* Its executor may have to come back as well. */
    bool is_rest = code == RPC_NOT_FOUND && following->was_lost;
    int64_t waits_ms_max = is_away   ? RETRY_MS_MAX
                           : is_rest ? RETRY_REST_MS_MAX
                                     : 0;

    if (!following->has_seen || following->waited_ms >= waits_ms_max) {
        return false;
    }
    if (is_away && !following->was_lost) {
        (void)cli_fail(
            cli, CLI_OK,
            "the server does not answer; retrying for up to %d minutes",
            RETRY_MS_MAX / 60000);
    }
    following->was_lost |= is_away;
    following->pause_ms =
        following->pause_ms ? 2 * following->pause_ms : FOLLOW_PAUSE_MS;
    if (following->pause_ms > RETRY_PAUSE_MS_MAX) {
        following->pause_ms = RETRY_PAUSE_MS_MAX;
    }
    following->waited_ms += following->pause_ms;
    return true;
}

static void pause_follow(const struct cli *cli, int64_t pause_ms)
{
    (void)fflush(cli->ports->out);
    if (cli->ports->pause_ms) {
        cli->ports->pause_ms(pause_ms);
    }
}

/* Say what a job waits for that has not started, when that changes.  What it
 * does at one look alone is no waiting. */
static void tell_waiting(const struct cli *cli, const char *job_id,
                         struct following *following)
{
    const char *waiting =
        following->course == CHECK_GOES_ON && following->end.waiting
            ? following->end.waiting
            : "";
    char now[WAITING_BYTES_MAX];

    (void)snprintf(now, sizeof(now), "%s", waiting);
    bool is_same = strcmp(now, following->waiting) == 0;
    if (*now && is_same && !following->has_said_waiting) {
        cli_remark(cli, "job %s %s", job_id, now);
        following->has_said_waiting = true;
    }
    if (!is_same) {
        following->has_said_waiting = false;
        memcpy(following->waiting, now, sizeof(now));
    }
}

/* The job is over: say why it did not succeed, if the server knows. */
static enum cli_exit tell_end(struct cli *cli, const struct reading *reading,
                              const struct check_end *end)
{
    if (end->code != CLI_OK && *end->reason) {
        cli_remark(cli, "job %s did not succeed: %s", reading->request.job_id,
                   cli_one_line(cli, end->reason));
    }
    return end->code;
}

/* Print until the job has ended; a server that restarts meanwhile is waited
 * for, and asked from there on.  What a look needs is let go after it: it may
 * be the first of many. */
static enum cli_exit follow(struct cli *cli, struct reading *reading)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    struct following following = {0};
    struct arena kept = cli->arena;
    enum cli_exit rc = CLI_OK;
    bool is_done = false;

    while (!is_done) {
        cli->arena = (struct arena){0};
        enum rpc_code code = look(cli, reading, &following, status);
        if (code == RPC_OK) {
            tell_waiting(cli, reading->request.job_id, &following);
            following.pause_ms = following.waited_ms = 0;
            is_done = following.course != CHECK_GOES_ON;
            rc = following.course == CHECK_OVER
                     ? tell_end(cli, reading, &following.end)
                     : CLI_OK;
        } else if (!may_try_again(cli, &following, code)) {
            is_done = true;
            /* Without logs it may still be known how it ended. */
            rc = code == RPC_NOT_FOUND && following.course == CHECK_OVER &&
                         following.end.code != CLI_OK
                     ? tell_end(cli, reading, &following.end)
                     : fail(cli, reading, status);
        }
        arena_fini(&cli->arena);
        if (!is_done) {
            pause_follow(cli, following.pause_ms ? following.pause_ms
                                                 : FOLLOW_PAUSE_MS);
        }
    }
    cli->arena = kept;
    return rc;
}

/* Print what there is, once. */
static enum cli_exit print_once(struct cli *cli, struct reading *reading)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));

    return print_now(cli, reading, false, status) == RPC_OK
               ? CLI_OK
               : fail(cli, reading, status);
}

/* A request for the logs of a job, which takes what the reading holds. */
static void begin(struct cli *cli, const char *job_id, struct reading *reading)
{
    reading->request.job_id = cli_format(cli, "%s", job_id);
    reading->request.since_time = reading->since;
    reading->request.log_options = &reading->options;
}

enum cli_exit logs_follow(struct cli *cli, const char *job_id)
{
    struct reading reading = {
        .request = BINOCULARS__LOG_REQUEST__INIT,
        .options = K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT};

    begin(cli, job_id, &reading);
    reading.request.pod_namespace =
        cli_format(cli, "%s", cli_text(cli, "namespace", "default"));
    return follow(cli, &reading);
}

enum cli_exit cmd_logs(struct cli *cli)
{
    struct reading reading = {
        .request = BINOCULARS__LOG_REQUEST__INIT,
        .options = K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT};
    const char *tail = cli_text(cli, "tail", NULL);
    const char *since = cli_text(cli, "since", "");
    int64_t seconds;
    int32_t nanos;
    char *end;

    if (*since && wire_rfc3339_parse(str_of(since), &seconds, &nanos) < 0) {
        return cli_fail(cli, CLI_INVALID,
                        "--since takes a time such as 2026-01-31T12:00:00Z, "
                        "not \"%s\"",
                        since);
    }

    (void)snprintf(reading.since, sizeof(reading.since), "%s", since);
    char *job_id = NULL;
    enum cli_exit rc = cli_connect(cli);
    if (rc == CLI_OK) {
        rc = newest_job(cli, &job_id);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    begin(cli, job_id, &reading);
    reading.request.pod_namespace =
        cli_format(cli, "%s", cli_text(cli, "namespace", "default"));
    reading.options.container =
        cli_format(cli, "%s", cli_text(cli, "container", ""));
    if (tail) {
        reading.options.has_taillines = true;
        reading.options.taillines = (int64_t)strtoull(tail, &end, 10);
        if (*end || end == tail || reading.options.taillines < 0) {
            return cli_fail(cli, CLI_USAGE,
                            "--tail (-n) takes a whole number of lines, not "
                            "\"%s\"",
                            tail);
        }
    }
    return cli_has(cli, "follow") ? follow(cli, &reading)
                                  : print_once(cli, &reading);
}
