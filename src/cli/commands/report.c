/* The scheduler's reports, explain and get shares. */
#include "armada/scheduler_reporting.pb-c.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/newest.h"
#include "cli/shared/selection.h"

static int32_t verbosity(const struct cli *cli)
{
    return (int32_t)cli_option(cli, "verbose")->count;
}

static enum cli_exit print_report(struct cli *cli, const char *text)
{
    cli_put(cli->ports->out, "%s", text);
    if (*text && text[strlen(text) - 1] != '\n') {
        fputc('\n', cli->ports->out);
    }
    return CLI_OK;
}

enum cli_exit cmd_get_scheduling_report(struct cli *cli)
{
    Schedulerobjects__SchedulingReportRequest request =
        SCHEDULEROBJECTS__SCHEDULING_REPORT_REQUEST__INIT;
    Schedulerobjects__MostRecentForQueue queue =
        SCHEDULEROBJECTS__MOST_RECENT_FOR_QUEUE__INIT;
    Schedulerobjects__MostRecentForJob job =
        SCHEDULEROBJECTS__MOST_RECENT_FOR_JOB__INIT;
    ProtobufCMessage *reply;

    if (cli_has(cli, "queue") && cli_has(cli, "job-id")) {
        return cli_fail(cli, CLI_USAGE, "give --queue or --job-id, not both");
    }
    request.verbosity = verbosity(cli);
    if (cli_has(cli, "queue")) {
        queue.queue_name = cli_format(cli, "%s", cli_text(cli, "queue", ""));
        request.most_recent_for_queue = &queue;
        request.filter_case =
            SCHEDULEROBJECTS__SCHEDULING_REPORT_REQUEST__FILTER_MOST_RECENT_FOR_QUEUE;
    }
    if (cli_has(cli, "job-id")) {
        job.job_id = cli_format(cli, "%s", cli_text(cli, "job-id", ""));
        request.most_recent_for_job = &job;
        request.filter_case =
            SCHEDULEROBJECTS__SCHEDULING_REPORT_REQUEST__FILTER_MOST_RECENT_FOR_JOB;
    }
    enum cli_exit rc = cli_call(
        cli, "/schedulerobjects.SchedulerReporting/GetSchedulingReport",
        &request.base, &schedulerobjects__scheduling_report__descriptor,
        &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    return print_report(
        cli, ((Schedulerobjects__SchedulingReport *)(void *)reply)->report);
}

enum cli_exit cmd_get_queue_report(struct cli *cli)
{
    Schedulerobjects__QueueReportRequest request =
        SCHEDULEROBJECTS__QUEUE_REPORT_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.queue_name = cli_argument(cli, 0);
    request.verbosity = verbosity(cli);
    enum cli_exit rc = cli_call(
        cli, "/schedulerobjects.SchedulerReporting/GetQueueReport",
        &request.base, &schedulerobjects__queue_report__descriptor, &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    (void)print_report(
        cli, ((Schedulerobjects__QueueReport *)(void *)reply)->report);
    return check_queue(cli, request.queue_name);
}

enum cli_exit cmd_get_job_report(struct cli *cli)
{
    Schedulerobjects__JobReportRequest request =
        SCHEDULEROBJECTS__JOB_REPORT_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.job_id = cli_argument(cli, 0);
    enum cli_exit rc = cli_call(
        cli, "/schedulerobjects.SchedulerReporting/GetJobReport", &request.base,
        &schedulerobjects__job_report__descriptor, &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    return print_report(cli,
                        ((Schedulerobjects__JobReport *)(void *)reply)->report);
}

enum cli_exit cmd_explain(struct cli *cli)
{
    Berth__Api__ExplainJobRequest request =
        BERTH__API__EXPLAIN_JOB_REQUEST__INIT;
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    ProtobufCMessage *reply;

    enum cli_exit rc = cli_connect(cli);
    if (rc == CLI_OK) {
        rc = newest_job(cli, &request.job_id);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    if (!selection_is_id(request.job_id)) {
        return check_no_job(cli, request.job_id);
    }
    enum rpc_code code =
        cli_try(cli, "/berth.api.Berth/ExplainJob", &request.base,
                &berth__api__explain_job_response__descriptor, &reply, status);
    if (code != RPC_OK) {
        return code == RPC_NOT_FOUND ? check_no_job(cli, request.job_id)
                                     : cli_fail_call(cli, status);
    }
    const Berth__Api__ExplainJobResponse *response = (void *)reply;
    if (cli->output == CLI_OUTPUT_TEXT) {
        return print_report(cli, response->text);
    }
    json_t *data = json_loads(response->json, JSON_DECODE_ANY, NULL);
    if (!data) {
        return cli_fail(cli, CLI_FAILED, "the answer is not JSON");
    }
    cli_print_json(cli, data);
    return CLI_OK;
}

/* A limit, or a dash for none. */
static void add_limit(struct table *table,
                      const Google__Protobuf__DoubleValue *limit, bool is_part)
{
    if (!limit) {
        table_add(table, "-");
    } else if (is_part) {
        table_addf(table, "%.1f%%", limit->value * 100);
    } else {
        table_addf(table, "%.6g", limit->value);
    }
}

static void add_share(struct table *table, const Berth__Api__QueueShare *share)
{
    table_add(table, share->queue);
    table_add(table, share->pool);
    table_addf(table, "%g", share->weight);
    table_addf(table, "%.1f%%", share->fair_share * 100);
    table_addf(table, "%.1f%%", share->adjusted_share * 100);
    table_addf(table, "%.1f%%", share->actual_share * 100);
    table_addf(table, "%.1f%%", share->demand_share * 100);
    table_addf(table, "%.1f%%", share->usage * 100);
    table_addf(table, "%.1f%%", share->flow * 100);
    table_addf(table, "%.1f%%", share->infinite_flow * 100);
    add_limit(table, share->infinite_limit, true);
    add_limit(table, share->budget, false);
    add_limit(table, share->budget_left, false);
    table_addf(table, "%u", share->queued_count);
    table_addf(table, "%u", share->leased_count);
    table_addf(table, "%u", share->pending_count);
    table_addf(table, "%u", share->running_count);
    table_add(table, share->cordoned ? "yes" : "no");
}

enum cli_exit cmd_get_shares(struct cli *cli)
{
    static const char *const headings[] = {
        "QUEUE",  "POOL",   "WEIGHT", "FAIR",    "ADJUSTED", "ACTUAL",
        "DEMAND", "USAGE",  "FLOW",   "FIXED",   "LIMIT",    "BUDGET",
        "LEFT",   "QUEUED", "LEASED", "PENDING", "RUNNING",  "CORDONED"};
    Berth__Api__GetQueueSharesRequest request =
        BERTH__API__GET_QUEUE_SHARES_REQUEST__INIT;
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, NULL, NULL, false};
    ProtobufCMessage *reply;

    request.pool = cli_format(cli, "%s", cli_text(cli, "pool", ""));
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/GetQueueShares", &request.base,
                 &berth__api__get_queue_shares_response__descriptor, &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    const Berth__Api__GetQueueSharesResponse *response = (void *)reply;
    if (response->n_shares == 0 && cli_has(cli, "pool")) {
        return cli_fail(cli, CLI_NOT_FOUND,
                        "there is no pool %s, or no queue in it", request.pool);
    }
    for (size_t i = 0; i < response->n_shares; i++) {
        add_share(&table, response->shares[i]);
    }
    cli_print_table(cli, &table);
    return CLI_OK;
}
