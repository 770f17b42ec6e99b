/*
 * report usage: what queues and users have used.
 */
#include <inttypes.h>

#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"

static const char *const headings[] = {
    "DAY",       "QUEUE",    "USER",       "JOBS",          "SUCCEEDED",
    "FAILED",    "WAITED H", "CORE H",     "WASTED",        "CANCELLED",
    "PREEMPTED", "GPU H",    "GPU WASTED", "GPU CANCELLED", "GPU PREEMPTED"};

static void add_hours(struct table *table, double hours)
{
    table_addf(table, "%.2f", hours);
}

static void add_row(struct table *table, const Berth__Api__Usage *usage)
{
    table_add(table, usage->day);
    table_add(table, usage->queue);
    table_add(table, usage->user);
    table_addf(table, "%" PRIu64, usage->submitted);
    table_addf(table, "%" PRIu64, usage->succeeded);
    table_addf(table, "%" PRIu64, usage->failed);
    add_hours(table, usage->waited_hours);
    add_hours(table, usage->core_hours);
    add_hours(table, usage->wasted_core_hours);
    add_hours(table, usage->cancelled_core_hours);
    add_hours(table, usage->preempted_core_hours);
    add_hours(table, usage->gpu_hours);
    add_hours(table, usage->wasted_gpu_hours);
    add_hours(table, usage->cancelled_gpu_hours);
    add_hours(table, usage->preempted_gpu_hours);
}

static enum cli_exit print_usage(struct cli *cli,
                                 const Berth__Api__GetUsageResponse *response)
{
    static const char *const spare[] = {"GPU CANCELLED", "GPU PREEMPTED",
                                        "CANCELLED",     "SUCCEEDED",
                                        "WAITED H",      NULL};
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, spare, NULL, false};
    json_t *rows = json_array();

    for (size_t i = 0; i < response->n_usage; i++) {
        add_row(&table, response->usage[i]);
        (void)json_array_append_new(
            rows, wire_json_write(&response->usage[i]->base, 0));
    }
    if (cli->output == CLI_OUTPUT_TEXT) {
        cli_print_table(cli, &table);
    } else {
        cli_print_json(cli, json_incref(rows));
    }
    VEC_FREE(&table.cells);
    json_decref(rows);
    return response->has_more
               ? cli_fail(cli, CLI_FAILED,
                          "there are more rows than one report has; --from, "
                          "--to or a shorter --by show fewer")
               : CLI_OK;
}

enum cli_exit cmd_report_usage(struct cli *cli)
{
    Berth__Api__GetUsageRequest request = BERTH__API__GET_USAGE_REQUEST__INIT;
    struct cli_names by = cli_list(cli, "by");
    char queue[] = "queue", *usual[] = {queue};
    ProtobufCMessage *reply;

    request.queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    request.user = cli_format(cli, "%s", cli_text(cli, "user", ""));
    request.mine = cli_has(cli, "me");
    request.from_day = cli_format(cli, "%s", cli_text(cli, "from", ""));
    request.to_day = cli_format(cli, "%s", cli_text(cli, "to", ""));
    request.by = cli_is_given(cli, "by") ? by.items : usual;
    request.n_by = cli_is_given(cli, "by") ? by.count : ARRAY_COUNT(usual);
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/GetUsage", &request.base,
                 &berth__api__get_usage_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__GetUsageResponse *response = (void *)reply;
    rc = print_usage(cli, response);
    if (rc == CLI_OK && response->n_usage == 0 && *request.queue) {
        rc = check_queue(cli, request.queue);
    }
    return rc;
}
