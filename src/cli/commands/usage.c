/*
 * report usage: what queues and users have used.
 */
#include <inttypes.h>
#include <time.h>

#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"

/* What there is a row for, in the order in which the table has it. */
static const char *const groups[] = {"day", "queue", "user"};
static const char *const group_headings[] = {"DAY", "QUEUE", "USER"};
static const char *const sum_headings[] = {
    "JOBS",   "SUCCEEDED",  "FAILED",        "WAITED H",
    "CORE H", "WASTED",     "CANCELLED",     "PREEMPTED",
    "GPU H",  "GPU WASTED", "GPU CANCELLED", "GPU PREEMPTED"};

enum { COLUMNS_MAX = ARRAY_COUNT(groups) + ARRAY_COUNT(sum_headings) };

/* Whether the table has what it may have a row for; for programs it has all. */
static bool has_column(const struct cli *cli,
                       const Berth__Api__GetUsageRequest *request, size_t group)
{
    bool has = cli->is_csv;

    for (size_t i = 0; i < request->n_by; i++) {
        has = has || strcmp(request->by[i], groups[group]) == 0;
    }
    return has;
}

static void add_hours(struct table *table, double hours)
{
    table_addf(table, "%.2f", hours);
}

static void add_row(const struct cli *cli, struct table *table,
                    const Berth__Api__GetUsageRequest *request,
                    const Berth__Api__Usage *usage)
{
    const char *const names[] = {usage->day, usage->queue, usage->user};

    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        if (has_column(cli, request, i)) {
            table_add(table, names[i]);
        }
    }
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
                                 const Berth__Api__GetUsageRequest *request,
                                 const Berth__Api__GetUsageResponse *response)
{
    static const char *const spare[] = {"GPU CANCELLED", "GPU PREEMPTED",
                                        "CANCELLED",     "SUCCEEDED",
                                        "WAITED H",      NULL};
    const char *headings[COLUMNS_MAX];
    uint32_t count = 0;
    json_t *rows = json_array();

    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        if (has_column(cli, request, i)) {
            headings[count++] = group_headings[i];
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(sum_headings); i++) {
        headings[count++] = sum_headings[i];
    }
    struct table table = {&cli->arena, headings, count, {0},
                          spare,       NULL,     false};

    for (size_t i = 0; i < response->n_usage; i++) {
        add_row(cli, &table, request, response->usage[i]);
        (void)json_array_append_new(
            rows, wire_json_write(&response->usage[i]->base, 0));
    }
    enum cli_exit rc = CLI_OK;
    if (cli->output != CLI_OUTPUT_TEXT) {
        cli_print_json(cli, json_incref(rows));
    }
    if (response->n_usage == 0 && *request->queue) {
        rc = check_queue(cli, request->queue);
    }
    if (rc == CLI_OK && cli->output == CLI_OUTPUT_TEXT) {
        cli_print_table(cli, &table);
    }
    VEC_FREE(&table.cells);
    json_decref(rows);
    return rc == CLI_OK && response->has_more
               ? cli_fail(cli, CLI_FAILED,
                          "there are more rows than one report has; --from, "
                          "--to or a shorter --by show fewer")
               : rc;
}

/* What the server would refuse by the names of fields. */
static enum cli_exit check_options(const struct cli *cli,
                                   const Berth__Api__GetUsageRequest *request)
{
    static const char *const days[] = {"from", "to"};

    for (size_t i = 0; i < request->n_by; i++) {
        bool is_known = false;
        for (size_t k = 0; k < ARRAY_COUNT(groups); k++) {
            is_known = is_known || strcmp(request->by[i], groups[k]) == 0;
        }
        if (!is_known) {
            return cli_fail(cli, CLI_INVALID,
                            "--by takes queue, user and day, not \"%s\"",
                            request->by[i]);
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(days); i++) {
        const char *day = cli_text(cli, days[i], NULL);
        struct tm tm = {0};
        const char *end = day ? strptime(day, "%Y-%m-%d", &tm) : "";
        if (!end || *end) {
            return cli_fail(cli, CLI_INVALID,
                            "--%s takes a day such as 2026-01-31, not \"%s\"",
                            days[i], day);
        }
    }
    return CLI_OK;
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
    enum cli_exit rc = check_options(cli, &request);
    if (rc != CLI_OK) {
        return rc;
    }
    rc = cli_call(cli, "/berth.api.Berth/GetUsage", &request.base,
                  &berth__api__get_usage_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__GetUsageResponse *response = (void *)reply;
    return print_usage(cli, &request, response);
}
