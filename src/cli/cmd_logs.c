/*
 * logs: what a job's containers have written, through Binoculars.
 */
#include "armada/binoculars.pb-c.h"
#include "cli/command.h"

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
    enum cli_exit rc =
        cli_call(cli, "/binoculars.Binoculars/Logs", &request.base,
                 &binoculars__log_response__descriptor, &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    const Binoculars__LogResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_log; i++) {
        const Binoculars__LogLine *line = response->log[i];
        if (cli_has(cli, "timestamps")) {
            cli_say(cli, "%s %s", line->timestamp, line->line);
        } else {
            cli_say(cli, "%s", line->line);
        }
    }
    return CLI_OK;
}
