#include "cli/shared/job_file.h"

#include "cli/shared/pod_remarks.h"
#include "model/id.h"
#include "wire/text/input_files.h"

enum {
    REMARK_JOBS_MAX = 100, /* that are looked at for unknown keys */
    REMARKS_MAX = 5,
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
    cli_remark(cli, "jobs[%zu].%s, ignored", index, err.text);
    return true;
}

/* An annotation, unless the job has it already. */
static void annotate(json_t *job, const char *key, const char *value)
{
    json_t *annotations = json_object_get(job, "annotations");

    if (!annotations) {
        annotations = json_object();
        (void)json_object_set_new(job, "annotations", annotations);
    }
    if (!json_object_get(annotations, key)) {
        (void)json_object_set_new(annotations, key, json_string(value));
    }
}

/* inputFiles: a map of paths to texts. */
static enum cli_exit translate_inputs(struct cli *cli, size_t index,
                                      json_t *job)
{
    json_t *inputs = json_object_get(job, "inputFiles"), *value;
    auto_strbuf text = {0};
    const char *path;

    json_object_foreach(inputs, path, value)
    {
        if (!json_is_string(value)) {
            return cli_fail(cli, CLI_INVALID,
                            "jobs[%zu].inputFiles: \"%s\" must be a text",
                            index, path);
        }
        input_files_add(
            &text, str_of(path),
            str_make(json_string_value(value), json_string_length(value)));
    }
    if (text.byte_count > 0) {
        annotate(job, "berth.dev/inputFiles", strbuf_text(&text));
    }
    (void)json_object_del(job, "inputFiles");
    return CLI_OK;
}

/* The job as Armada has it, which the caller lets go: what keys of ours ask
 * for as annotations. */
static enum cli_exit translate(struct cli *cli, size_t index, json_t *json,
                               json_t **ret_job)
{
    const char *path = json_string_value(json_object_get(json, "outputPath"));
    bool has_inputs = json_is_object(json_object_get(json, "inputFiles"));

    *ret_job = json_incref(json);
    if (!path && !has_inputs) {
        return CLI_OK;
    }
    json_decref(json);
    *ret_job = json_deep_copy(json);
    if (path) {
        annotate(*ret_job, "berth.dev/outputPath", path);
        (void)json_object_del(*ret_job, "outputPath");
    }
    return has_inputs ? translate_inputs(cli, index, *ret_job) : CLI_OK;
}

/* The server would round a fraction without a word, as Armada's does. */
static enum cli_exit check_priority(struct cli *cli, size_t index,
                                    double priority)
{
    if (priority >= 0 && priority <= UINT32_MAX &&
        priority == (double)(uint32_t)priority) {
        return CLI_OK;
    }
    return cli_fail(cli, CLI_INVALID,
                    "jobs[%zu].priority: must be a whole number from 0 to "
                    "4294967295, not %g",
                    index, priority);
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
    if (!json_is_object(json)) {
        return cli_fail(cli, CLI_INVALID, "jobs[%zu]: must be a map", index);
    }
    int rc = wire_json_read(&api__job_submit_request_item__descriptor, json, 0,
                            &cli->arena, &message, &err);
    if (rc < 0) {
        return cli_fail(cli, CLI_INVALID, "jobs[%zu].%s", index, err.text);
    }
    *ret_item = (Api__JobSubmitRequestItem *)(void *)message;
    return check_priority(cli, index, (*ret_item)->priority);
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

enum cli_exit submission_read(struct cli *cli, const json_t *json,
                              struct submission *ret)
{
    const json_t *jobs = json_object_get(json, "jobs");
    size_t count = json_array_size(jobs);
    struct pod_remarks remarks = {0};
    uint32_t remark_count = 0;

    const char *kind = json_string_value(json_object_get(json, "kind"));

    if (count == 0 && kind) {
        return cli_fail(cli, CLI_INVALID,
                        "a document of kind %s cannot be submitted, only a "
                        "file of jobs, a Job or a TrainingJob; create -f "
                        "takes queues, pools and retry policies",
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
        auto_json_t *job = NULL;
        enum cli_exit rc = translate(cli, i, json_array_get(jobs, i), &job);
        if (rc == CLI_OK) {
            rc = read_job(cli, job, i, &submission.items[i]);
        }
        if (rc != CLI_OK) {
            return rc;
        }
        take_client_id(cli, &submission, i);
        pod_remarks_make(&remarks, cli, job, i);
        if (i < REMARK_JOBS_MAX && remark_count < REMARKS_MAX) {
            remark_count += remark_unknown(cli, job, i);
        }
    }
    submission.is_unusual = remarks.is_unusual;
    *ret = submission;
    return CLI_OK;
}
