/*
 * TrainingJobs: submit, get, update and delete.
 */
#include "base/plural.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "wire/training/training_job.h"
#include "wire/yaml/yaml.h"

static const char *const headings[] = {
    "NAME", "QUEUE", "PHASE", "CLASS", "MIN",      "MAX",      "RUNNING",
    "SUCC", "FAIL",  "START", "COMP",  "PS_READY", "PS_TOTAL", "REASON"};

/* submit. */

/* Check one as the server will, by the rules that servers have unless they
 * are told others. */
static enum cli_exit check_job(struct cli *cli, struct str resource,
                               size_t index)
{
    struct training_rules rules;
    auto_training_job job = {0};
    struct err err;

    training_rules_defaults(&rules);
    if (training_job_read(resource, &rules, &job, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "document %zu: %s", index + 1,
                        err.text);
    }
    return CLI_OK;
}

static enum cli_exit submit_job(struct cli *cli, const json_t *document,
                                struct str resource, size_t index)
{
    const char *name = json_string_value(
        json_object_get(json_object_get(document, "metadata"), "name"));
    Berth__Api__SubmitTrainingJobRequest request =
        BERTH__API__SUBMIT_TRAINING_JOB_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    request.job_set = cli_format(cli, "%s", cli_text(cli, "job-set", ""));
    request.resource.len = resource.byte_count;
    request.resource.data = (uint8_t *)arena_strdup(&cli->arena, resource);
    cli->about = cli_format(cli, "document %zu, TrainingJob %s", index + 1,
                            name ? name : "without a name");
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/SubmitTrainingJob", &request.base,
                 &berth__api__submit_training_job_response__descriptor, &reply);
    cli->about = NULL;
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__SubmitTrainingJobResponse *response = (void *)reply;
    bool is_printed = cli_print_message(cli, reply);
    if (*response->reason) {
        return cli_fail(cli, CLI_FAILED,
                        "training job %s of queue %s failed on submission, and "
                        "none of it runs: %s",
                        response->name, response->queue, response->reason);
    }
    if (!is_printed) {
        cli_say(cli, "Submitted training job %s to queue %s, job set %s",
                response->name, response->queue, response->job_set);
    }
    return CLI_OK;
}

/* Send, or check, each document, as JSON again. */
static enum cli_exit submit_documents(struct cli *cli, json_t *documents,
                                      bool is_check)
{
    enum cli_exit worst = CLI_OK;
    json_t *document;
    size_t i;

    json_array_foreach(documents, i, document)
    {
        auto_strbuf text = {0};
        struct training_job job = {.resource = document};
        if (json_is_null(document)) {
            continue; /* after the last --- */
        }
        if (!training_job_is_meant(document)) {
            return cli_fail(cli, CLI_INVALID,
                            "document %zu: a file of TrainingJobs may not have "
                            "other documents",
                            i + 1);
        }
        training_job_write(&job, &text);
        enum cli_exit rc =
            is_check ? check_job(cli, strbuf_str(&text), i)
                     : submit_job(cli, document, strbuf_str(&text), i);
        if (rc != CLI_OK && rc != CLI_FAILED) {
            return rc;
        }
        worst = rc != CLI_OK ? rc : worst;
    }
    return worst;
}

enum cli_exit submit_training_jobs(struct cli *cli, struct str text)
{
    auto_json_t *documents = NULL;
    struct err err;

    if (wire_yaml_read(text, &documents, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    bool is_dry = cli_has(cli, "dry-run");
    enum cli_exit rc = submit_documents(cli, documents, is_dry);
    if (rc == CLI_OK && is_dry && cli->output == CLI_OUTPUT_TEXT) {
        size_t count = 0, i;
        json_t *document;
        json_array_foreach(documents, i, document)
        {
            count += !json_is_null(document);
        }
        cli_say(cli, "Read %zu TrainingJob%s; nothing was submitted", count,
                plural_s(count));
    }
    return rc;
}

/* get. */

/* A page of a list: those of `request`, which then asks for the next. */
static enum cli_exit list(struct cli *cli,
                          Berth__Api__ListTrainingJobsRequest *request,
                          Berth__Api__ListTrainingJobsResponse **ret_list)
{
    ProtobufCMessage *reply;

    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListTrainingJobs", &request->base,
                 &berth__api__list_training_jobs_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    *ret_list = (void *)reply;
    if ((*ret_list)->n_training_jobs > 0) {
        const Berth__Api__TrainingJobStatus *last =
            (*ret_list)->training_jobs[(*ret_list)->n_training_jobs - 1];
        request->after_queue = last->queue;
        request->after_name = last->name;
    }
    return CLI_OK;
}

/* The question for those of a name and a queue, "": any. */
static Berth__Api__ListTrainingJobsRequest
question(struct cli *cli, const char *queue, const char *name)
{
    Berth__Api__ListTrainingJobsRequest request =
        BERTH__API__LIST_TRAINING_JOBS_REQUEST__INIT;

    request.queue = cli_format(cli, "%s", queue);
    request.name = cli_format(cli, "%s", name);
    return request;
}

static const Berth__Api__TrainingReplicas *
replicas_of(const Berth__Api__TrainingJobStatus *job, const char *type)
{
    for (size_t i = 0; i < job->n_replicas; i++) {
        if (strcmp(job->replicas[i]->type, type) == 0) {
            return job->replicas[i];
        }
    }
    return NULL;
}

/* How many pods of a component are in a state. */
static uint32_t count_of(const Berth__Api__TrainingReplicas *replicas,
                         const char *state)
{
    for (size_t i = 0; replicas && i < replicas->n_resource_states; i++) {
        if (strcmp(replicas->resource_states[i]->key, state) == 0) {
            return replicas->resource_states[i]->value;
        }
    }
    return 0;
}

static void add_row(struct cli *cli, struct table *table,
                    const Berth__Api__TrainingJobStatus *job)
{
    const Berth__Api__TrainingReplicas *trainers = replicas_of(job, "TRAINER");
    const Berth__Api__TrainingReplicas *pservers = replicas_of(job, "PSERVER");

    table_add(table, job->name);
    table_add(table, job->queue);
    table_add(table, job->phase);
    table_add(table, job->priority_class_name);
    table_addf(table, "%u", job->min_instance);
    table_addf(table, "%u", job->max_instance);
    table_addf(table, "%u", job->running_instance);
    table_addf(table, "%u", count_of(trainers, "succeeded"));
    table_addf(table, "%u", count_of(trainers, "failed"));
    table_add(table, cli_when(cli, job->started));
    table_add(table, cli_when(cli, job->completed));
    table_addf(table, "%u", count_of(pservers, "running"));
    table_addf(table, "%u", pservers ? pservers->min : 0);
    table_add(table, cli_cell(cli, job->reason));
}

/* Add a page to the table, or to the list of -o json and yaml. */
static void add_page(struct cli *cli, struct table *table, json_t *jobs,
                     const Berth__Api__ListTrainingJobsResponse *page)
{
    for (size_t i = 0; i < page->n_training_jobs; i++) {
        const Berth__Api__TrainingJobStatus *job = page->training_jobs[i];
        if (cli->output == CLI_OUTPUT_TEXT) {
            add_row(cli, table, job);
        } else {
            (void)json_array_append_new(jobs, wire_json_write(&job->base, 0));
        }
    }
}

/* All pages; returns how many there are in `ret_count`. */
static enum cli_exit add_all(struct cli *cli, const char *name,
                             struct table *table, json_t *jobs,
                             size_t *ret_count)
{
    Berth__Api__ListTrainingJobsRequest request =
        question(cli, cli_text(cli, "queue", ""), name);
    Berth__Api__ListTrainingJobsResponse *page;
    enum cli_exit rc;

    *ret_count = 0;
    do {
        rc = list(cli, &request, &page);
        if (rc == CLI_OK) {
            add_page(cli, table, jobs, page);
            *ret_count += page->n_training_jobs;
        }
    } while (rc == CLI_OK && page->has_more && page->n_training_jobs > 0);
    return rc;
}

enum cli_exit cmd_get_training_jobs(struct cli *cli)
{
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, NULL, NULL, false};
    const char *name = cli->argument_count > 0 ? cli_argument(cli, 0) : "";
    json_t *jobs = json_array();
    size_t count;

    enum cli_exit rc = add_all(cli, name, &table, jobs, &count);
    if (rc == CLI_OK && *name && count == 0) {
        rc = cli_fail(cli, CLI_NOT_FOUND, "there is no training job %s", name);
    } else if (rc == CLI_OK && cli->output != CLI_OUTPUT_TEXT) {
        cli_print_json(cli, json_pack("{s:O}", "trainingJobs", jobs));
    }
    if (rc == CLI_OK && count == 0 && cli_has(cli, "queue")) {
        rc = check_queue(cli, cli_text(cli, "queue", ""));
    }
    if (rc == CLI_OK && cli->output == CLI_OUTPUT_TEXT) {
        cli_print_table(cli, &table);
    }
    VEC_FREE(&table.cells);
    json_decref(jobs);
    return rc;
}

/* update and delete. */

/* The queue of the one of that name. */
static enum cli_exit find_queue(struct cli *cli, const char *name,
                                char **ret_queue)
{
    Berth__Api__ListTrainingJobsResponse *found;

    *ret_queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    if (**ret_queue) {
        return CLI_OK;
    }
    Berth__Api__ListTrainingJobsRequest request = question(cli, "", name);
    enum cli_exit rc = list(cli, &request, &found);
    if (rc != CLI_OK) {
        return rc;
    }
    if (found->n_training_jobs == 0) {
        return cli_fail(cli, CLI_NOT_FOUND, "there is no training job %s",
                        name);
    }
    if (found->n_training_jobs > 1) {
        return cli_fail(cli, CLI_USAGE,
                        "there are training jobs %s in queue %s and in queue "
                        "%s: name the queue with --queue",
                        name, found->training_jobs[0]->queue,
                        found->training_jobs[1]->queue);
    }
    *ret_queue = found->training_jobs[0]->queue;
    return CLI_OK;
}

enum cli_exit cmd_update_training_job(struct cli *cli)
{
    Berth__Api__UpdateTrainingJobRequest request =
        BERTH__API__UPDATE_TRAINING_JOB_REQUEST__INIT;

    if (!cli_has(cli, "priority-class")) {
        return cli_fail(cli, CLI_USAGE, "--priority-class is required");
    }
    request.name = cli_argument(cli, 0);
    request.priority_class_name =
        cli_format(cli, "%s", cli_text(cli, "priority-class", ""));
    enum cli_exit rc = find_queue(cli, request.name, &request.queue);
    if (rc == CLI_OK) {
        rc = cli_call_empty(cli, "/berth.api.Berth/UpdateTrainingJob",
                            &request.base);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Updated training job %s of queue %s: priority class %s",
                 request.name, request.queue, request.priority_class_name);
    }
    return rc;
}

enum cli_exit cmd_delete_training_job(struct cli *cli)
{
    Berth__Api__DeleteTrainingJobRequest request =
        BERTH__API__DELETE_TRAINING_JOB_REQUEST__INIT;

    request.name = cli_argument(cli, 0);
    enum cli_exit rc = find_queue(cli, request.name, &request.queue);
    if (rc == CLI_OK) {
        rc = cli_call_empty(cli, "/berth.api.Berth/DeleteTrainingJob",
                            &request.base);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Deleted training job %s of queue %s", request.name,
                 request.queue);
    }
    return rc;
}
