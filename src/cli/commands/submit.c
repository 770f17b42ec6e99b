/*
 * submit: files of jobs and Kubernetes Jobs, 200 jobs per request; or
 * TrainingJobs.
 */
#include <stdio.h>
#include <time.h>

#include "armada/services.pb-c.h"
#include "base/plural.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/commands/submit_when.h"
#include "cli/shared/array.h"
#include "cli/shared/depends.h"
#include "cli/shared/job_file.h"
#include "cli/shared/kubernetes_job.h"
#include "cli/shared/periodic_file.h"
#include "cli/shared/template.h"
#include "wire/training/training_job.h"

enum {
    JOBS_PER_REQUEST = 200,
    RETRY_MS = 250,
    RETRIES_MAX = 240, /* a minute */
    NS_PER_MS = 1000000,
};

/* What became of an item, for people. */
static const char *line_of(struct cli *cli, const struct submission *submission,
                           const Api__JobSubmitResponseItem *item)
{
    return *item->error
               ? cli_format(cli, "Error submitting job: %s", item->error)
               : cli_format(cli, "Submitted job with id %s to job set %s",
                            item->job_id, submission->job_set);
}

/* Say what became of each item; how many were refused. */
static size_t report(struct cli *cli, struct submission *submission,
                     const Api__JobSubmitResponse *response)
{
    size_t refused = 0;

    for (size_t i = 0; i < response->n_job_response_items; i++) {
        const Api__JobSubmitResponseItem *item =
            response->job_response_items[i];
        const char *line = line_of(cli, submission, item);
        if (*item->error) {
            refused++;
        } else {
            submission->accepted_count++;
            submission->accepted_id = item->job_id;
        }
        if (submission->is_remarked) {
            cli_remark(cli, "%s", line);
        } else if (cli->output == CLI_OUTPUT_TEXT) {
            cli_say(cli, "%s", line);
        }
    }
    return refused;
}

static void show_progress(struct cli *cli, size_t done, size_t all)
{
    if (cli->ports->is_terminal && all > JOBS_PER_REQUEST) {
        fprintf(cli->ports->err, "%zu of %zu jobs submitted\n", done, all);
    }
}

/* Whether a refusal passes by itself: the server has too much in hand. */
static bool is_passing(const struct rpc_status *status)
{
    return status->code == RPC_RESOURCE_EXHAUSTED &&
           strstr(status->message, "try again");
}

/* Which of the jobs the server refused, as its file knows it; NULL: it does
 * not say.  `from` is where the request begins. */
static const char *refused_job(struct cli *cli,
                               const struct submission *submission, size_t from,
                               const struct rpc_status *status)
{
    unsigned offset;

    if (cli->is_of_options ||
        sscanf(status->field, "job_request_items[%u]", &offset) != 1 ||
        offset >= submission->item_count - from) {
        return NULL;
    }
    size_t index = from + offset;
    const char *name = submission->names[index];
    if (submission->job_name) {
        return cli_format(cli, "Job %s", submission->job_name);
    }
    return name ? cli_format(cli, "jobs[%zu] (clientId %s)", index, name)
                : cli_format(cli, "jobs[%zu]", index);
}

/* Send one request, again while the server says that it is full.  Client ids
 * make it safe to repeat. */
static enum cli_exit
send_request(struct cli *cli, const struct submission *submission, size_t from,
             const Api__JobSubmitRequest *request, ProtobufCMessage **ret_reply)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    struct timespec pause = {.tv_nsec = RETRY_MS * NS_PER_MS};

    enum cli_exit rc = cli_connect(cli);
    for (int i = 0; rc == CLI_OK && i < RETRIES_MAX; i++) {
        enum rpc_code code =
            cli_try(cli, "/api.Submit/SubmitJobs", &request->base,
                    &api__job_submit_response__descriptor, ret_reply, status);
        if (code == RPC_OK || !is_passing(status)) {
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    if (rc != CLI_OK || status->code == RPC_OK) {
        return rc;
    }
    cli->about = refused_job(cli, submission, from, status);
    rc = cli_fail_call(cli, status);
    cli->about = NULL;
    return rc;
}

/* What the server remarks on, once for a file. */
static void say_remarks(struct cli *cli, struct submission *submission,
                        const Berth__Api__CheckJobsResponse *response)
{
    for (size_t i = 0; i < response->n_remarks && !submission->has_remarks;
         i++) {
        cli_remark(cli, "%s", response->remarks[i]);
    }
    submission->has_remarks |= response->n_remarks > 0;
}

/* Let the server check the jobs of a request.  Those that are submitted after
 * it are refused by the submission itself, but for what only the check says. */
static enum cli_exit check_some(struct cli *cli, struct submission *submission,
                                size_t from,
                                const Api__JobSubmitRequest *request)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    enum cli_exit rc = cli_connect(cli);
    ProtobufCMessage *reply;

    if (rc != CLI_OK) {
        return rc;
    }
    enum rpc_code code =
        cli_try(cli, "/berth.api.Berth/CheckJobs", &request->base,
                &berth__api__check_jobs_response__descriptor, &reply, status);
    if (code == RPC_OK) {
        say_remarks(cli, submission, (void *)reply);
        return CLI_OK;
    }
    if (code != RPC_INVALID_ARGUMENT && !submission->is_checked) {
        return CLI_OK;
    }
    cli->about = refused_job(cli, submission, from, status);
    rc = cli_fail_call(cli, status);
    cli->about = NULL;
    return rc;
}

static enum cli_exit send_some(struct cli *cli, struct submission *submission,
                               size_t from, size_t count)
{
    Api__JobSubmitRequest request = API__JOB_SUBMIT_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.queue = submission->queue;
    request.job_set_id = submission->job_set;
    request.job_request_items = submission->items + from;
    request.n_job_request_items = count;
    enum cli_exit rc = CLI_OK;
    if (submission->is_checked || submission->is_unusual) {
        rc = check_some(cli, submission, from, &request);
    }
    if (rc == CLI_OK && submission->is_checked) {
        submission->accepted_count += count;
    }
    if (rc != CLI_OK || submission->is_checked) {
        return rc;
    }
    rc = send_request(cli, submission, from, &request, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    for (size_t i = 0; i < submission->told.count; i++) {
        cli_remark(cli, "%s", submission->told.items[i]);
    }
    submission->told.count = 0;
    size_t refused = report(cli, submission, (void *)reply);
    if (!submission->is_remarked && cli_print_message(cli, reply)) {
        return CLI_OK;
    }
    return refused > 0 ? CLI_FAILED : CLI_OK;
}

enum cli_exit submit_jobs(struct cli *cli, struct submission *submission)
{
    enum cli_exit worst = CLI_OK;

    for (size_t from = 0; from < submission->item_count;
         from += JOBS_PER_REQUEST) {
        size_t left = submission->item_count - from;
        size_t count = left < JOBS_PER_REQUEST ? left : JOBS_PER_REQUEST;
        enum cli_exit rc = send_some(cli, submission, from, count);
        if (rc != CLI_OK) {
            worst = rc;
        }
        /* What the server refuses once it refuses again: stop. */
        if (rc != CLI_OK && rc != CLI_FAILED) {
            return rc;
        }
        show_progress(cli, from + count, submission->item_count);
    }
    return worst;
}

/* Read one document, and remark on what is wrong with it. */
static enum cli_exit read_document(struct cli *cli, const json_t *document,
                                   struct submission *ret)
{
    auto_json_t *file = NULL, *array = NULL;
    struct cli_names told = {0};
    enum cli_exit rc = CLI_OK;

    if (training_job_is_meant(document)) {
        return cli_fail(cli, CLI_INVALID,
                        "a TrainingJob and jobs cannot be in the same file; "
                        "submit the TrainingJob from its own file");
    }
    if (array_is_used(document)) {
        rc = array_expand(cli, document, &array, &told);
        document = rc == CLI_OK ? array : document;
    }
    if (rc == CLI_OK && kubernetes_job_is(document)) {
        rc = kubernetes_job_convert(cli, document, &file);
    } else if (rc == CLI_OK && periodic_is_cron_job(document)) {
        rc = periodic_convert(cli, document, &file);
    } else if (rc == CLI_OK && depends_is_used(document)) {
        rc = depends_convert(cli, document, &file);
    }
    if (rc == CLI_OK) {
        rc = submission_read(cli, file ? file : document, ret);
        ret->told = told;
    }
    if (rc == CLI_OK && kubernetes_job_is(document)) {
        ret->job_name = kubernetes_job_name(document);
    }
    if (rc == CLI_OK && periodic_is(document)) {
        rc = periodic_read(cli, file ? file : document, ret, &ret->periodic);
    }
    return rc;
}

/* Where a document stands in its file, for messages; NULL if it is alone. */
static const char *place_of(struct cli *cli, size_t index, size_t count)
{
    return count > 1 ? cli_format(cli, "document %zu of %zu", index + 1, count)
                     : NULL;
}

/* Read them all before the first is sent, so that a slip in any of them leaves
 * nothing submitted. */
static enum cli_exit read_documents(struct cli *cli, const json_t *documents,
                                    struct submission *ret_submissions)
{
    size_t count = json_array_size(documents);
    enum cli_exit rc = CLI_OK;

    for (size_t i = 0; i < count && rc == CLI_OK; i++) {
        cli->place = place_of(cli, i, count);
        rc = read_document(cli, json_array_get(documents, i),
                           &ret_submissions[i]);
    }
    cli->place = NULL;
    return rc;
}

/* Whether nothing is submitted, but the server is asked. */
static bool is_checked(const struct cli *cli)
{
    return cli_has(cli, "check") || cli_has(cli, "when");
}

/* Send them in order, up to the first that the server refuses as a whole. */
static enum cli_exit
send_documents(struct cli *cli, struct submission *submissions, size_t count)
{
    enum cli_exit worst = CLI_OK;

    for (size_t i = 0; i < count; i++) {
        cli->place = place_of(cli, i, count);
        submissions[i].is_checked = is_checked(cli);
        enum cli_exit rc =
            submissions[i].periodic && !is_checked(cli)
                ? periodic_send(cli, false, submissions[i].periodic)
                : submit_jobs(cli, &submissions[i]);
        if (rc == CLI_OK && is_checked(cli)) {
            cli_note(cli, "The server accepts %zu job%s; nothing was submitted",
                     submissions[i].accepted_count,
                     plural_s(submissions[i].accepted_count));
        }
        if (rc == CLI_OK && cli_has(cli, "when")) {
            rc = submit_when(cli, &submissions[i]);
        }
        cli->place = NULL;
        worst = rc != CLI_OK ? rc : worst;
        if (rc == CLI_OK || rc == CLI_FAILED) {
            continue;
        }
        return i == 0 || is_checked(cli)
                   ? rc
                   : cli_fail(
                         cli, rc,
                         "documents 1 to %zu were submitted, the rest were not",
                         i);
    }
    return worst;
}

enum cli_exit cmd_submit(struct cli *cli)
{
    auto_json_t *documents = NULL;
    struct str text;

    if (cli_has(cli, "dry-run") && is_checked(cli)) {
        return cli_fail(cli, CLI_USAGE,
                        "--dry-run asks no server, --check and --when do; give "
                        "one of them");
    }
    if (cli_has(cli, "when") && cli->output != CLI_OUTPUT_TEXT) {
        return cli_fail(cli, CLI_USAGE,
                        "--when writes text only; for programs there is "
                        "what-if --submit FILE -o json");
    }
    enum cli_exit rc = cli_read_file(cli, cli_argument(cli, 0), &text);
    if (rc == CLI_OK) {
        rc = cli_parse_documents(cli, cli_argument(cli, 0), text, &documents);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    if (training_job_is_meant(json_array_get(documents, 0))) {
        if (cli_has(cli, "set") || cli_has(cli, "values")) {
            return cli_fail(cli, CLI_USAGE,
                            "--set and --values are for jobs, not for "
                            "TrainingJobs");
        }
        if (is_checked(cli)) {
            return cli_fail(cli, CLI_USAGE,
                            "--check and --when do not support TrainingJobs; "
                            "use --dry-run");
        }
        return submit_training_jobs(cli, text);
    }
    auto_json_t *filled = NULL;
    rc = template_expand(cli, documents, &filled);
    if (rc != CLI_OK) {
        return rc;
    }
    size_t count = json_array_size(filled);
    struct submission *submissions =
        arena_alloc_array(&cli->arena, count, sizeof(*submissions));
    rc = read_documents(cli, filled, submissions);
    if (rc == CLI_OK && cli_has(cli, "dry-run") &&
        cli->output != CLI_OUTPUT_TEXT) {
        cli_print_json(cli, json_incref(filled));
    } else if (rc == CLI_OK && cli_has(cli, "dry-run")) {
        size_t jobs = 0;
        for (size_t i = 0; i < count; i++) {
            jobs += submissions[i].item_count;
        }
        cli_say(cli, "Read %zu job%s; nothing was submitted", jobs,
                plural_s(jobs));
    }
    if (rc != CLI_OK || cli_has(cli, "dry-run")) {
        return rc;
    }
    return send_documents(cli, submissions, count);
}
