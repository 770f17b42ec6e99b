/* Creates, updates, suspends, resumes, deletes and gets periodic jobs. */
#include "cli/commands/commands.h"
#include "cli/shared/array.h"
#include "cli/shared/depends.h"
#include "cli/shared/periodic_file.h"

/* The periodic job of --file. */
static enum cli_exit read_file(struct cli *cli,
                               Berth__Api__PeriodicJob **ret_periodic)
{
    auto_json_t *document = NULL, *file = NULL, *array = NULL;
    struct submission submission;
    struct cli_names told;

    if (!cli_has(cli, "file")) {
        return cli_fail(cli, CLI_USAGE, "--file is required");
    }
    enum cli_exit rc =
        cli_read_document(cli, cli_text(cli, "file", ""), &document);
    if (rc == CLI_OK && !periodic_is(document)) {
        rc = cli_fail(cli, CLI_INVALID,
                      "schedule: is required in the file of a periodic job");
    }
    if (rc == CLI_OK && periodic_is_cron_job(document)) {
        rc = periodic_convert(cli, document, &file);
    }
    const json_t *source = file ? file : document;
    if (rc == CLI_OK && depends_is_used(source)) {
        rc = cli_fail(cli, CLI_INVALID,
                      "dependsOn: cannot stand in a periodic job");
    }
    if (rc == CLI_OK && array_is_used(source)) {
        rc = array_expand(cli, source, &array, &told);
        source = array ? array : source;
    }
    if (rc == CLI_OK) {
        rc = submission_read(cli, source, &submission);
    }
    return rc == CLI_OK ? periodic_read(cli, source, &submission, ret_periodic)
                        : rc;
}

static enum cli_exit put(struct cli *cli, bool is_update)
{
    Berth__Api__PeriodicJob *periodic;

    enum cli_exit rc = read_file(cli, &periodic);
    return rc == CLI_OK ? periodic_send(cli, is_update, periodic) : rc;
}

enum cli_exit cmd_create_periodic(struct cli *cli)
{
    return put(cli, false);
}

enum cli_exit cmd_update_periodic(struct cli *cli)
{
    return put(cli, true);
}

static enum cli_exit list(struct cli *cli, const char *queue, const char *name,
                          Berth__Api__ListPeriodicJobsResponse **ret_response)
{
    Berth__Api__ListPeriodicJobsRequest request =
        BERTH__API__LIST_PERIODIC_JOBS_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.queue = cli_format(cli, "%s", queue);
    request.name = cli_format(cli, "%s", name);
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListPeriodicJobs", &request.base,
                 &berth__api__list_periodic_jobs_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    *ret_response = (void *)reply;
    return *name && (*ret_response)->n_periodic_jobs == 0
               ? cli_fail(cli, CLI_NOT_FOUND, "there is no periodic job %s",
                          name)
               : CLI_OK;
}

/* The queue of the one of that name. */
static enum cli_exit find_queue(struct cli *cli, const char *name,
                                char **ret_queue)
{
    Berth__Api__ListPeriodicJobsResponse *found;

    *ret_queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    if (**ret_queue) {
        return CLI_OK;
    }
    enum cli_exit rc = list(cli, "", name, &found);
    if (rc != CLI_OK) {
        return rc;
    }
    if (found->n_periodic_jobs > 1) {
        return cli_fail(cli, CLI_USAGE,
                        "there are periodic jobs %s in queue %s and in queue "
                        "%s: name the queue with --queue",
                        name, found->periodic_jobs[0]->periodic_job->queue,
                        found->periodic_jobs[1]->periodic_job->queue);
    }
    *ret_queue = found->periodic_jobs[0]->periodic_job->queue;
    return CLI_OK;
}

static enum cli_exit suspend_one(struct cli *cli, char *name, bool is_suspended)
{
    Berth__Api__SuspendPeriodicJobRequest request =
        BERTH__API__SUSPEND_PERIODIC_JOB_REQUEST__INIT;

    request.name = name;
    request.suspend = is_suspended;
    enum cli_exit rc = find_queue(cli, name, &request.queue);
    if (rc == CLI_OK) {
        rc = cli_call_empty(cli, "/berth.api.Berth/SuspendPeriodicJob",
                            &request.base);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "%s periodic job %s of queue %s",
                 is_suspended ? "Suspended" : "Resumed", name, request.queue);
    }
    return rc;
}

static enum cli_exit suspend_all(struct cli *cli, bool is_suspended)
{
    enum cli_exit rc = CLI_OK;

    for (int i = 0; i < cli->argument_count && rc == CLI_OK; i++) {
        rc = suspend_one(cli, cli_argument(cli, i), is_suspended);
    }
    return rc;
}

enum cli_exit cmd_suspend_periodic(struct cli *cli)
{
    return suspend_all(cli, true);
}

enum cli_exit cmd_resume_periodic(struct cli *cli)
{
    return suspend_all(cli, false);
}

static enum cli_exit delete_one(struct cli *cli, char *name)
{
    Berth__Api__DeletePeriodicJobRequest request =
        BERTH__API__DELETE_PERIODIC_JOB_REQUEST__INIT;

    request.name = name;
    enum cli_exit rc = find_queue(cli, name, &request.queue);
    if (rc == CLI_OK) {
        rc = cli_call_empty(cli, "/berth.api.Berth/DeletePeriodicJob",
                            &request.base);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Deleted periodic job %s of queue %s; its runs stay",
                 name, request.queue);
    }
    return rc;
}

enum cli_exit cmd_delete_periodic(struct cli *cli)
{
    enum cli_exit rc = CLI_OK;

    for (int i = 0; i < cli->argument_count && rc == CLI_OK; i++) {
        rc = delete_one(cli, cli_argument(cli, i));
    }
    return rc;
}

/* Lists. */

static void add_row(struct cli *cli, struct table *table,
                    const Berth__Api__PeriodicJobStatus *status)
{
    const Berth__Api__PeriodicJob *periodic = status->periodic_job;

    table_add(table, cli_cell(cli, periodic->name));
    table_add(table, cli_cell(cli, periodic->queue));
    table_add(table, cli_cell(cli, periodic->schedule));
    table_add(table, *periodic->time_zone ? cli_cell(cli, periodic->time_zone)
                                          : "UTC");
    table_add(table, periodic->suspend ? "suspended" : "active");
    table_add(table, status->next_run ? cli_time(cli, status->next_run) : "-");
    table_add(table, status->last_run ? cli_time(cli, status->last_run) : "-");
    table_add(table, *status->last_outcome ? cli_cell(cli, status->last_outcome)
                                           : "-");
    table_addf(table, "%u", status->active_runs);
    table_add(table, cli_cell(cli, status->owner));
    table_add(table, *status->last_message
                         ? cli_cell(cli, status->last_message)
                         : cli_cell(cli, status->last_job_id));
}

static void print_table(struct cli *cli,
                        const Berth__Api__ListPeriodicJobsResponse *all)
{
    static const char *const headings[] = {
        "NAME", "QUEUE",   "SCHEDULE", "ZONE",  "STATE",      "NEXT",
        "LAST", "OUTCOME", "RUNNING",  "OWNER", "JOB/MESSAGE"};
    struct table table = {.arena = &cli->arena,
                          .headings = headings,
                          .column_count = ARRAY_COUNT(headings)};

    for (size_t i = 0; i < all->n_periodic_jobs; i++) {
        if (all->periodic_jobs[i]->periodic_job) {
            add_row(cli, &table, all->periodic_jobs[i]);
        }
    }
    cli_print_table(cli, &table);
}

enum cli_exit cmd_get_periodic(struct cli *cli)
{
    Berth__Api__ListPeriodicJobsResponse *response;
    const char *name = cli->argument_count ? cli_argument(cli, 0) : "";

    enum cli_exit rc = list(cli, cli_text(cli, "queue", ""), name, &response);
    if (rc == CLI_OK && !cli_print_message(cli, &response->base)) {
        print_table(cli, response);
    }
    return rc;
}
