/*
 * submit: a file of jobs, or a Kubernetes Job, 200 to a request; or
 * TrainingJobs.
 */
#include <stdio.h>
#include <time.h>

#include "armada/services.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/kubernetes_job.h"
#include "model/id.h"
#include "wire/training/training_job.h"

enum {
    JOBS_PER_REQUEST = 200,
    RETRY_MS = 250,
    RETRIES_MAX = 240, /* a minute */
    NS_PER_MS = 1000000,
    REMARK_JOBS_MAX = 100, /* that are looked at for unknown keys */
    REMARKS_MAX = 5,
};

/* The jobs of one file. */
struct submission {
    char *queue, *job_set;
    Api__JobSubmitRequestItem **items;
    /* Of each, the client id that the file gives it; or NULL. */
    const char **names;
    size_t item_count;
    size_t accepted_count;
    /* All are the pods of this Kubernetes Job; NULL: they are a file's. */
    const char *job_name;
};

/* An empty client id becomes a fresh one, so that a request that is sent
 * twice makes its jobs once. */
static char *fresh_client_id(struct cli *cli)
{
    char text[ID_TEXT_BYTES_MAX];
    uint8_t random[10];

    cli->ports->rng->fill(cli->ports->rng, random, sizeof(random));
    int64_t now_ms = cli->ports->clock->wall_ms(cli->ports->clock);
    struct job_id id = job_id_make(now_ms, random);
    return arena_strdup(&cli->arena, str_of(job_id_format(id, text)));
}

/* Armada passes over keys that it does not know; in a group of pods, which is
 * our own, they are mistakes.  The templates are Kubernetes'. */
static enum cli_exit check_group(struct cli *cli, const json_t *job,
                                 size_t index)
{
    auto_json_t *group = json_deep_copy(json_object_get(job, "podGroup"));
    json_t *sub_groups = json_object_get(group, "subGroups");
    ProtobufCMessage *message;
    struct err err;

    for (size_t i = 0; i < json_array_size(sub_groups); i++) {
        (void)json_object_del(json_array_get(sub_groups, i), "template");
    }
    if (group && !json_is_object(group)) {
        return cli_fail(cli, CLI_INVALID, "jobs[%zu].podGroup: must be a map",
                        index);
    }
    int rc = group
                 ? wire_json_read(&berth__api__pod_group__descriptor, group,
                                  WIRE_JSON_STRICT, &cli->arena, &message, &err)
                 : 0;
    return rc < 0 ? cli_fail(cli, CLI_INVALID, "jobs[%zu].podGroup.%s", index,
                             err.text)
                  : CLI_OK;
}

/* Armada passes over keys that it does not know, and so does the server: say
 * so of the first jobs, since most are mistakes.  Whether that was said. */
static bool remark_unknown(struct cli *cli, const json_t *json, size_t index)
{
    static const char what[] = ": unknown key";
    ProtobufCMessage *message;
    auto_arena arena = {0};
    struct err err;

    if (wire_json_read(&api__job_submit_request_item__descriptor, json,
                       WIRE_JSON_STRICT, &arena, &message, &err) == 0) {
        return false;
    }
    size_t length = strlen(err.text);
    if (length < strlen(what) ||
        strcmp(err.text + length - strlen(what), what) != 0) {
        return false;
    }
    fprintf(cli->ports->err, "berthctl: jobs[%zu].%s, ignored\n", index,
            err.text);
    return true;
}

static enum cli_exit read_job(struct cli *cli, const json_t *json, size_t index,
                              Api__JobSubmitRequestItem **ret_item)
{
    ProtobufCMessage *message;
    struct err err;

    enum cli_exit code = check_group(cli, json, index);
    if (code != CLI_OK) {
        return code;
    }

    int rc = wire_json_read(&api__job_submit_request_item__descriptor, json, 0,
                            &cli->arena, &message, &err);
    if (rc < 0) {
        return cli_fail(cli, CLI_INVALID, "jobs[%zu]: %s", index, err.text);
    }
    *ret_item = (Api__JobSubmitRequestItem *)(void *)message;
    return CLI_OK;
}

static void take_client_id(struct cli *cli, struct submission *submission,
                           size_t index)
{
    Api__JobSubmitRequestItem *item = submission->items[index];

    if (*item->client_id) {
        submission->names[index] = item->client_id;
    } else {
        item->client_id = fresh_client_id(cli);
    }
}

/* What the option of that name says, else the file's member. */
static char *text_of(struct cli *cli, const json_t *json, const char *option,
                     const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return arena_strdup(&cli->arena, str_of(cli_text(cli, option, text)));
}

static enum cli_exit read_submission(struct cli *cli, const json_t *json,
                                     struct submission *ret)
{
    const json_t *jobs = json_object_get(json, "jobs");
    size_t count = json_array_size(jobs);
    uint32_t remark_count = 0;

    const char *kind = json_string_value(json_object_get(json, "kind"));

    if (count == 0 && kind) {
        return cli_fail(cli, CLI_INVALID,
                        "a document of kind %s cannot be submitted, only a "
                        "file of jobs, a Job or a TrainingJob",
                        kind);
    }
    if (count == 0) {
        return cli_fail(cli, CLI_INVALID, "the file has no jobs");
    }
    struct submission submission = {
        .queue = text_of(cli, json, "queue", "queue"),
        .job_set = text_of(cli, json, "job-set", "jobSetId"),
        .items =
            arena_alloc_array(&cli->arena, count, sizeof(*submission.items)),
        .names =
            arena_alloc_array(&cli->arena, count, sizeof(*submission.names)),
        .item_count = count,
    };
    if (!*submission.queue) {
        return cli_fail(cli, CLI_INVALID,
                        "a queue is required, in the file or by --queue");
    }
    for (size_t i = 0; i < count; i++) {
        enum cli_exit rc =
            read_job(cli, json_array_get(jobs, i), i, &submission.items[i]);
        if (rc != CLI_OK) {
            return rc;
        }
        take_client_id(cli, &submission, i);
        if (i < REMARK_JOBS_MAX && remark_count < REMARKS_MAX) {
            remark_count += remark_unknown(cli, json_array_get(jobs, i), i);
        }
    }
    *ret = submission;
    return CLI_OK;
}

/* Say what became of each item; how many were refused. */
static size_t report(struct cli *cli, struct submission *submission,
                     const Api__JobSubmitResponse *response)
{
    size_t refused = 0;

    for (size_t i = 0; i < response->n_job_response_items; i++) {
        const Api__JobSubmitResponseItem *item =
            response->job_response_items[i];
        if (*item->error) {
            refused++;
            cli_say(cli, "Error submitting job: %s", item->error);
        } else {
            submission->accepted_count++;
            cli_say(cli, "Submitted job with id %s to job set %s", item->job_id,
                    submission->job_set);
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

    if (sscanf(status->field, "job_request_items[%u]", &offset) != 1 ||
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

static enum cli_exit send_some(struct cli *cli, struct submission *submission,
                               size_t from, size_t count)
{
    Api__JobSubmitRequest request = API__JOB_SUBMIT_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.queue = submission->queue;
    request.job_set_id = submission->job_set;
    request.job_request_items = submission->items + from;
    request.n_job_request_items = count;
    enum cli_exit rc = send_request(cli, submission, from, &request, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    if (cli_print_message(cli, reply)) {
        return CLI_OK;
    }
    return report(cli, submission, (void *)reply) > 0 ? CLI_FAILED : CLI_OK;
}

static enum cli_exit send_all(struct cli *cli, struct submission *submission)
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

enum cli_exit cmd_submit(struct cli *cli)
{
    struct submission submission = {0};
    auto_json_t *json = NULL, *file = NULL;
    struct str text;

    enum cli_exit rc = cli_read_file(cli, cli_argument(cli, 0), &text);
    if (rc == CLI_OK) {
        rc = cli_parse_document(cli, cli_argument(cli, 0), text, &json);
    }
    if (rc == CLI_OK && training_job_is_meant(json)) {
        return submit_training_jobs(cli, text);
    }
    if (rc == CLI_OK && kubernetes_job_is(json)) {
        rc = kubernetes_job_convert(cli, json, &file);
    }
    if (rc == CLI_OK) {
        rc = read_submission(cli, file ? file : json, &submission);
    }
    if (rc != CLI_OK || cli_has(cli, "dry-run")) {
        return rc;
    }
    if (file) {
        submission.job_name = kubernetes_job_name(json);
    }
    return send_all(cli, &submission);
}
