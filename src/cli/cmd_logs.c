/*
 * logs: what a job's containers have written, through Binoculars.
 */
#include "armada/binoculars.pb-c.h"
#include "cli/check.h"

static void print_lines(const struct cli *cli,
                        const Binoculars__LogResponse *response)
{
    for (size_t i = 0; i < response->n_log; i++) {
        const Binoculars__LogLine *line = response->log[i];
        if (cli_has(cli, "timestamps")) {
            cli_say(cli, "%s %s", line->timestamp, line->line);
        } else {
            cli_say(cli, "%s", line->line);
        }
    }
}

enum { FOLLOW_PAUSE_MS = 500, SINCE_BYTES_MAX = 64 };

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

/* All lines that there are now.  With `is_patient` a job that has not run yet
 * has none. */
static enum cli_exit print_now(struct cli *cli, struct reading *reading,
                               bool is_patient)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    const Binoculars__LogResponse *response;
    ProtobufCMessage *reply;
    bool is_more = true;

    enum cli_exit rc = cli_connect(cli);
    while (rc == CLI_OK && is_more) {
        enum rpc_code code =
            cli_try(cli, "/binoculars.Binoculars/Logs", &reading->request.base,
                    &binoculars__log_response__descriptor, &reply, status);
        if (code == RPC_NOT_FOUND && is_patient) {
            return CLI_OK;
        }
        if (code != RPC_OK) {
            return cli_fail_call(cli, status);
        }
        response = (void *)reply;
        if ((is_patient && response->n_log == 0) ||
            !cli_print_message(cli, reply)) {
            print_lines(cli, response);
        }
        is_more = has_rest(reading, response);
        go_on_after(reading, response);
    }
    return rc;
}

/* Print until the job has ended.  What a look needs is let go after it: it may
 * be the first of many. */
static enum cli_exit follow(struct cli *cli, struct reading *reading)
{
    struct arena kept = cli->arena;
    enum cli_exit rc = CLI_OK;
    bool is_over = false, was_over = false;

    while (rc == CLI_OK && !was_over) {
        cli->arena = (struct arena){0};
        was_over = is_over;
        is_over = check_is_over(cli, reading->request.job_id);
        rc = print_now(cli, reading, !was_over);
        arena_fini(&cli->arena);
        (void)fflush(cli->ports->out);
        if (!is_over && cli->ports->pause_ms) {
            cli->ports->pause_ms(FOLLOW_PAUSE_MS);
        }
    }
    cli->arena = kept;
    return rc;
}

enum cli_exit cmd_logs(struct cli *cli)
{
    struct reading reading = {
        .request = BINOCULARS__LOG_REQUEST__INIT,
        .options = K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT};
    const char *tail = cli_text(cli, "tail", NULL);
    char *end;

    (void)snprintf(reading.since, sizeof(reading.since), "%s",
                   cli_text(cli, "since", ""));
    reading.request.job_id = cli_argument(cli, 0);
    reading.request.pod_namespace =
        cli_format(cli, "%s", cli_text(cli, "namespace", "default"));
    reading.request.since_time = reading.since;
    reading.request.log_options = &reading.options;
    reading.options.container =
        cli_format(cli, "%s", cli_text(cli, "container", ""));
    if (tail) {
        reading.options.has_taillines = true;
        reading.options.taillines = (int64_t)strtoull(tail, &end, 10);
        if (*end || end == tail || reading.options.taillines < 0) {
            return cli_fail(cli, CLI_USAGE, "\"%s\" is not a number", tail);
        }
    }
    return cli_has(cli, "follow") ? follow(cli, &reading)
                                  : print_now(cli, &reading, false);
}
