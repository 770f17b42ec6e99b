/*
 * logs: what a job's containers have written, through Binoculars.
 */
#include "armada/binoculars.pb-c.h"
#include "cli/command.h"

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

/* Whether there is more than one answer holds; the request is then for what
 * comes after it. */
static bool wants_rest(struct cli *cli, const Binoculars__LogResponse *response,
                       Binoculars__LogRequest *request)
{
    if (!response->cut || response->n_log == 0) {
        return false;
    }
    const char *last = response->log[response->n_log - 1]->timestamp;
    if (strcmp(last, request->since_time) == 0) {
        return false; /* it would be the same lines again */
    }
    request->since_time = cli_format(cli, "%s", last);
    request->log_options->has_taillines = false;
    return true;
}

enum cli_exit cmd_logs(struct cli *cli)
{
    Binoculars__LogRequest request = BINOCULARS__LOG_REQUEST__INIT;
    K8s__Io__Api__Core__V1__PodLogOptions options =
        K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT;
    ProtobufCMessage *reply;
    const char *tail = cli_text(cli, "tail", NULL);
    char *end;

    request.job_id = cli_argument(cli, 0);
    request.pod_namespace =
        cli_format(cli, "%s", cli_text(cli, "namespace", "default"));
    request.since_time = cli_format(cli, "%s", cli_text(cli, "since", ""));
    request.log_options = &options;
    options.container = cli_format(cli, "%s", cli_text(cli, "container", ""));
    if (tail) {
        options.has_taillines = true;
        options.taillines = (int64_t)strtoull(tail, &end, 10);
        if (*end || end == tail || options.taillines < 0) {
            return cli_fail(cli, CLI_USAGE, "\"%s\" is not a number", tail);
        }
    }
    const Binoculars__LogResponse *response;
    do {
        enum cli_exit rc =
            cli_call(cli, "/binoculars.Binoculars/Logs", &request.base,
                     &binoculars__log_response__descriptor, &reply);
        if (rc != CLI_OK || cli_print_message(cli, reply)) {
            return rc;
        }
        response = (void *)reply;
        print_lines(cli, response);
    } while (wants_rest(cli, response, &request));
    return CLI_OK;
}
