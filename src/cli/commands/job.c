/* cancel, preempt and reprioritize for jobs and job sets. */
#include "armada/services.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "wire/settings/settings.h"

/* What the arguments name: a job, or with `is_set` a job set. */
static struct check_jobs look(struct cli *cli, bool is_set)
{
    struct check_jobs check = {
        .queue = cli_argument(cli, 0),
        .job_set = cli_argument(cli, 1),
        .id = is_set ? NULL : cli_argument(cli, 2),
    };

    check_jobs_before(cli, &check);
    return check;
}

static void print_cancelled(struct cli *cli,
                            const Api__CancellationResult *result)
{
    auto_strbuf ids = {0};

    for (size_t i = 0; i < result->n_cancelled_ids; i++) {
        strbuf_addf(&ids, "%s%s", i > 0 ? ", " : "", result->cancelled_ids[i]);
    }
    cli_say(cli, "Requested cancellation for jobs %s", strbuf_text(&ids));
}

enum cli_exit cmd_cancel_job(struct cli *cli)
{
    Api__JobCancelRequest request = API__JOB_CANCEL_REQUEST__INIT;
    ProtobufCMessage *reply;

    if (selected_is_meant(cli, 3)) {
        return selected_act(cli, CHECK_CANCEL);
    }
    struct check_jobs check = look(cli, false);

    request.queue = cli_argument(cli, 0);
    request.job_set_id = cli_argument(cli, 1);
    request.job_id = cli_argument(cli, 2);
    if (cli->output == CLI_OUTPUT_TEXT) {
        cli_say(cli,
                "Requesting cancellation of jobs matching queue: %s, job set: "
                "%s, and job ID: %s",
                request.queue, request.job_set_id, request.job_id);
    }
    enum cli_exit rc = cli_call(cli, "/api.Submit/CancelJobs", &request.base,
                                &api__cancellation_result__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    if (!cli_print_message(cli, reply)) {
        print_cancelled(cli, (void *)reply);
    }
    return check_jobs_after(cli, &check, CHECK_CANCEL);
}

enum cli_exit cmd_cancel_job_set(struct cli *cli)
{
    Api__JobSetCancelRequest request = API__JOB_SET_CANCEL_REQUEST__INIT;
    struct check_jobs check = look(cli, true);

    request.queue = cli_argument(cli, 0);
    request.job_set_id = cli_argument(cli, 1);
    enum cli_exit rc =
        cli_call_empty(cli, "/api.Submit/CancelJobSet", &request.base);
    if (rc != CLI_OK) {
        return rc;
    }
    cli_note(cli, "Requested cancellation for job set %s", request.job_set_id);
    return check_jobs_after(cli, &check, CHECK_CANCEL);
}

enum cli_exit cmd_preempt_job(struct cli *cli)
{
    Api__JobPreemptRequest request = API__JOB_PREEMPT_REQUEST__INIT;

    if (selected_is_meant(cli, 4)) {
        return selected_act(cli, CHECK_PREEMPT);
    }
    struct check_jobs check = look(cli, false);
    char *id = cli_argument(cli, 2);

    request.queue = cli_argument(cli, 0);
    request.job_set_id = cli_argument(cli, 1);
    request.job_ids = &id;
    request.n_job_ids = 1;
    request.reason = cli_argument(cli, 3);
    enum cli_exit rc =
        cli_call_empty(cli, "/api.Submit/PreemptJobs", &request.base);
    if (rc != CLI_OK) {
        return rc;
    }
    cli_note(cli, "Requested preemption for job %s", id);
    return check_jobs_after(cli, &check, CHECK_PREEMPT);
}

static void print_reprioritized(struct cli *cli,
                                const Api__JobReprioritizeResponse *response)
{
    size_t failed = 0;

    cli_say(cli, "Reprioritized jobs with ID:");
    for (size_t i = 0; i < response->n_reprioritization_results; i++) {
        const Api__JobReprioritizeResponse__ReprioritizationResultsEntry
            *entry = response->reprioritization_results[i];
        if (*entry->value) {
            failed++;
        } else {
            cli_say(cli, "%s", entry->key);
        }
    }
    if (failed > 0) {
        cli_say(cli, "Failed to reprioritize:");
    }
    for (size_t i = 0; i < response->n_reprioritization_results; i++) {
        const Api__JobReprioritizeResponse__ReprioritizationResultsEntry
            *entry = response->reprioritization_results[i];
        if (*entry->value) {
            cli_say(cli, "%s failed to reprioritize due to error %s",
                    entry->key, entry->value);
        }
    }
}

/* The server would round a fraction without a word, as Armada's does. */
enum cli_exit job_priority(struct cli *cli, const char *text,
                           double *ret_priority)
{
    static const int64_t one = 1000000;
    int64_t ppm;

    if (setting_parse_ppm(str_of(text), &ppm) < 0) {
        return cli_fail(cli, CLI_USAGE,
                        "a priority is a whole number, 0 or more, not %s",
                        text);
    }
    if (ppm < 0 || ppm % one != 0) {
        return cli_fail(cli, CLI_USAGE,
                        "a priority is a whole number, 0 or more, not %s",
                        text);
    }
    *ret_priority = (double)(ppm / one);
    return CLI_OK;
}

static enum cli_exit reprioritize(struct cli *cli, char **ids, size_t id_count,
                                  const char *priority)
{
    Api__JobReprioritizeRequest request = API__JOB_REPRIORITIZE_REQUEST__INIT;
    ProtobufCMessage *reply;

    enum cli_exit rc = job_priority(cli, priority, &request.new_priority);
    if (rc != CLI_OK) {
        return rc;
    }
    struct check_jobs check = look(cli, id_count == 0);
    request.queue = cli_argument(cli, 0);
    request.job_set_id = cli_argument(cli, 1);
    request.job_ids = ids;
    request.n_job_ids = id_count;
    rc = cli_call(cli, "/api.Submit/ReprioritizeJobs", &request.base,
                  &api__job_reprioritize_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    if (!cli_print_message(cli, reply)) {
        print_reprioritized(cli, (void *)reply);
    }
    return check_jobs_after(cli, &check, CHECK_REPRIORITIZE);
}

enum cli_exit cmd_reprioritize_job(struct cli *cli)
{
    if (selected_is_meant(cli, 4)) {
        return selected_act(cli, CHECK_REPRIORITIZE);
    }
    char *id = cli_argument(cli, 2);
    return reprioritize(cli, &id, 1, cli_argument(cli, 3));
}

enum cli_exit cmd_reprioritize_job_set(struct cli *cli)
{
    return reprioritize(cli, NULL, 0, cli_argument(cli, 2));
}
