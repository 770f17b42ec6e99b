#include "cli/shared/periodic_file.h"

#include "cli/shared/kubernetes_job.h"

/* Keys that a file of jobs may have beside its jobs to make it periodic. */
static const char *const keys[] = {
    "schedule", "timeZone", "concurrencyPolicy", "startingDeadlineSeconds",
    "suspend",
};

bool periodic_is_cron_job(const json_t *document)
{
    const char *kind = json_string_value(json_object_get(document, "kind"));
    const char *version =
        json_string_value(json_object_get(document, "apiVersion"));

    return kind && version && strcmp(kind, "CronJob") == 0 &&
           strncmp(version, "batch/", strlen("batch/")) == 0;
}

bool periodic_is(const json_t *document)
{
    return json_object_get(document, "schedule") != NULL ||
           periodic_is_cron_job(document);
}

/* What a controller would do that Berth does otherwise. */
static void remark_on_keys(struct cli *cli, const json_t *spec)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)spec, key, value)
    {
        bool is_known = strcmp(key, "jobTemplate") == 0;
        for (size_t i = 0; i < ARRAY_COUNT(keys) && !is_known; i++) {
            is_known = strcmp(key, keys[i]) == 0;
        }
        if (!is_known) {
            cli_remark(cli, "spec.%s: ignored%s", key,
                       strstr(key, "HistoryLimit")
                           ? "; the server keeps ended jobs for the time of "
                             "its own configuration"
                           : "");
        }
    }
}

enum cli_exit periodic_convert(struct cli *cli, const json_t *document,
                               json_t **ret_file)
{
    json_t *metadata = json_object_get(document, "metadata");
    json_t *spec = json_object_get(document, "spec");
    json_t *inner =
        json_object_get(json_object_get(spec, "jobTemplate"), "spec");
    auto_json_t *job =
        json_pack("{s:s, s:s, s:O?, s:O?}", "apiVersion", "batch/v1", "kind",
                  "Job", "metadata", metadata, "spec", inner);

    if (!inner) {
        return cli_fail(cli, CLI_INVALID, "spec.jobTemplate.spec is missing");
    }
    enum cli_exit rc = kubernetes_job_convert(cli, job, ret_file);
    if (rc != CLI_OK) {
        return rc;
    }
    remark_on_keys(cli, spec);
    json_t *name = json_object_get(metadata, "name");
    if (name) {
        (void)json_object_set(*ret_file, "name", name);
    }
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        json_t *value = json_object_get(spec, keys[i]);
        if (value) {
            (void)json_object_set(*ret_file, keys[i], value);
        }
    }
    return CLI_OK;
}

/* The server makes client ids of its own of each run. */
static enum cli_exit take_jobs(struct cli *cli,
                               const struct submission *submission,
                               Berth__Api__PeriodicJob *periodic)
{
    for (size_t i = 0; i < submission->item_count; i++) {
        if (submission->names[i]) {
            return cli_fail(cli, CLI_INVALID,
                            "jobs[%zu].clientId: cannot stand in a periodic "
                            "job; leave it out",
                            i);
        }
        submission->items[i]->client_id = arena_strdup(&cli->arena, STR(""));
    }
    periodic->queue = submission->queue;
    periodic->job_set = submission->job_set;
    periodic->jobs = submission->items;
    periodic->n_jobs = submission->item_count;
    return CLI_OK;
}

/* Its members that are no jobs, as a message. */
static enum cli_exit read_terms(struct cli *cli, const json_t *document,
                                Berth__Api__PeriodicJob **ret_periodic)
{
    auto_json_t *terms = json_object();
    json_t *name = json_object_get(document, "name");
    ProtobufCMessage *message;
    struct err err;

    if (name) {
        (void)json_object_set(terms, "name", name);
    }
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        json_t *value = json_object_get(document, keys[i]);
        if (value && !json_is_null(value)) {
            (void)json_object_set(terms, keys[i], value);
        }
    }
    if (wire_json_read(&berth__api__periodic_job__descriptor, terms,
                       WIRE_JSON_STRICT, &cli->arena, &message, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    *ret_periodic = (Berth__Api__PeriodicJob *)(void *)message;
    return CLI_OK;
}

enum cli_exit periodic_read(struct cli *cli, const json_t *document,
                            const struct submission *submission,
                            Berth__Api__PeriodicJob **ret_periodic)
{
    enum cli_exit rc = read_terms(cli, document, ret_periodic);

    if (rc != CLI_OK) {
        return rc;
    }
    if (!*(*ret_periodic)->name) {
        return cli_fail(cli, CLI_INVALID,
                        "name: is required in a file with a schedule");
    }
    return take_jobs(cli, submission, *ret_periodic);
}

enum cli_exit periodic_of_options(struct cli *cli,
                                  const struct submission *submission,
                                  Berth__Api__PeriodicJob **ret_periodic)
{
    Berth__Api__PeriodicJob *periodic =
        wire_new(&berth__api__periodic_job__descriptor, &cli->arena);

    if (!cli_has(cli, "name")) {
        return cli_fail(cli, CLI_USAGE, "--schedule needs a --name");
    }
    periodic->name = cli_format(cli, "%s", cli_text(cli, "name", ""));
    periodic->schedule = cli_format(cli, "%s", cli_text(cli, "schedule", ""));
    periodic->time_zone = cli_format(cli, "%s", cli_text(cli, "time-zone", ""));
    periodic->concurrency_policy =
        cli_format(cli, "%s", cli_text(cli, "concurrency", ""));
    *ret_periodic = periodic;
    return take_jobs(cli, submission, periodic);
}

enum cli_exit periodic_send(struct cli *cli, bool is_update,
                            const Berth__Api__PeriodicJob *periodic)
{
    enum cli_exit rc =
        cli_call_empty(cli,
                       is_update ? "/berth.api.Berth/UpdatePeriodicJob"
                                 : "/berth.api.Berth/CreatePeriodicJob",
                       &periodic->base);

    if (rc == CLI_OK) {
        cli_note(cli, "%s periodic job %s of queue %s",
                 is_update ? "Updated" : "Created", periodic->name,
                 periodic->queue);
    }
    return rc;
}
