#include "cli/shared/kubernetes_job.h"

#include "cli/shared/array.h"
#include "wire/kube/kube_name.h"

/* The member of a member ...; NULL when one of them is not there. */
static json_t *member(const json_t *json, const char *first, const char *second,
                      const char *third)
{
    json_t *at = json_object_get(json, first);

    at = second ? json_object_get(at, second) : at;
    return third ? json_object_get(at, third) : at;
}

bool kubernetes_job_is(const json_t *document)
{
    const char *kind = json_string_value(json_object_get(document, "kind"));
    const char *version =
        json_string_value(json_object_get(document, "apiVersion"));

    return kind && version && strcmp(kind, "Job") == 0 &&
           strncmp(version, "batch/", strlen("batch/")) == 0;
}

const char *kubernetes_job_name(const json_t *document)
{
    const char *name =
        json_string_value(member(document, "metadata", "name", NULL));

    return name ? name : "";
}

static enum cli_exit read_count(struct cli *cli, const json_t *document,
                                json_int_t *ret_count)
{
    const json_t *count = member(document, "spec", "completions", NULL);

    count = count ? count : member(document, "spec", "parallelism", NULL);
    *ret_count = count ? json_integer_value(count) : 1;
    if ((count && !json_is_integer(count)) || *ret_count < 1 ||
        *ret_count > KUBERNETES_JOB_PODS_MAX) {
        return cli_fail(cli, CLI_INVALID,
                        "spec.completions must be a whole number from 1 to %d",
                        (int)KUBERNETES_JOB_PODS_MAX);
    }
    return CLI_OK;
}

/* Of the first key of the spec that a Job has not: a slip, such as in the
 * number of completions. */
static void remark_on_keys(struct cli *cli, const json_t *document)
{
    static const char *const known[] = {
        "activeDeadlineSeconds",
        "backoffLimit",
        "backoffLimitPerIndex",
        "completionMode",
        "completions",
        "managedBy",
        "manualSelector",
        "maxFailedIndexes",
        "parallelism",
        "podFailurePolicy",
        "podReplacementPolicy",
        "selector",
        "successPolicy",
        "suspend",
        "template",
        "ttlSecondsAfterFinished",
    };
    const char *key;
    json_t *value;

    json_object_foreach(json_object_get(document, "spec"), key, value)
    {
        bool is_known = false;
        for (size_t i = 0; i < ARRAY_COUNT(known) && !is_known; i++) {
            is_known = strcmp(key, known[i]) == 0;
        }
        if (!is_known) {
            cli_remark(cli, "spec.%s: unknown key, ignored", key);
            return;
        }
    }
}

/* Whether each pod gets an index. */
static bool is_indexed(const json_t *document)
{
    const char *mode =
        json_string_value(member(document, "spec", "completionMode", NULL));

    return mode && strcmp(mode, "Indexed") == 0;
}

/* How many may run at once; unchanged: any number. */
static enum cli_exit read_parallelism(struct cli *cli, const json_t *document,
                                      json_int_t *parallel)
{
    const json_t *key = member(document, "spec", "parallelism", NULL);

    if (!key || json_is_null(key)) {
        return CLI_OK;
    }
    if (!json_is_integer(key) || json_integer_value(key) < 1) {
        return cli_fail(cli, CLI_INVALID,
                        "spec.parallelism: must be a number from 1 on");
    }
    *parallel = json_integer_value(key);
    return CLI_OK;
}

/* What would be another job without it is refused. */
static enum cli_exit check_modes(struct cli *cli, const json_t *document)
{
    const json_t *suspend = member(document, "spec", "suspend", NULL);
    const json_t *mode = member(document, "spec", "completionMode", NULL);
    const char *text = json_string_value(mode);

    if (suspend && !json_is_false(suspend) && !json_is_null(suspend)) {
        return cli_fail(cli, CLI_INVALID,
                        "spec.suspend: a suspended Job cannot be submitted");
    }
    if (mode && !json_is_null(mode) &&
        (!text || (strcmp(text, "NonIndexed") != 0 && !is_indexed(document)))) {
        return cli_fail(cli, CLI_INVALID,
                        "spec.completionMode: must be NonIndexed or Indexed, "
                        "not \"%.64s\"",
                        text ? text : "");
    }
    return CLI_OK;
}

/* One completion; a new reference. */
static json_t *make_job(const json_t *document)
{
    json_t *deadline = member(document, "spec", "activeDeadlineSeconds", NULL);
    json_t *template = member(document, "spec", "template", "metadata");
    json_t *space = member(document, "metadata", "namespace", NULL);
    json_t *job = json_object();
    json_t *pod = json_deep_copy(member(document, "spec", "template", "spec"));

    if (deadline && !json_object_get(pod, "activeDeadlineSeconds")) {
        (void)json_object_set(pod, "activeDeadlineSeconds", deadline);
    }
    (void)json_object_set_new(job, "podSpecs", json_pack("[o]", pod));
    (void)json_object_set_new(
        job, "namespace", space ? json_incref(space) : json_string("default"));
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "annotations" : "labels";
        json_t *map = json_object_get(template, key);
        if (map) {
            (void)json_object_set(job, key, map);
        }
    }
    return job;
}

/* A text of the Job's annotations, else its own name, if that may stand for
 * it; a borrowed reference or NULL. */
static json_t *annotated(const json_t *document, const char *key)
{
    return json_object_get(member(document, "metadata", "annotations", NULL),
                           key);
}

enum cli_exit kubernetes_job_convert(struct cli *cli, const json_t *document,
                                     json_t **ret_file)
{
    json_t *queue = annotated(document, "armadaproject.io/queue");
    json_t *set = annotated(document, "armadaproject.io/jobSet");
    json_int_t count, parallel = INT64_MAX;

    if (!json_is_object(member(document, "spec", "template", "spec"))) {
        return cli_fail(cli, CLI_INVALID, "spec.template.spec is missing");
    }
    const json_t *space = member(document, "metadata", "namespace", NULL);
    if (space && (!json_is_string(space) ||
                  !kube_is_dns_label(str_of(json_string_value(space))))) {
        return cli_fail(cli, CLI_INVALID,
                        "metadata.namespace must be at most 63 lower-case "
                        "letters, digits and inner dashes");
    }
    enum cli_exit rc = read_count(cli, document, &count);
    rc = rc == CLI_OK ? check_modes(cli, document) : rc;
    rc = rc == CLI_OK ? read_parallelism(cli, document, &parallel) : rc;
    if (rc != CLI_OK) {
        return rc;
    }
    remark_on_keys(cli, document);
    set = set ? set : member(document, "metadata", "name", NULL);
    json_t *file = json_object();
    json_t *jobs = json_array();
    struct array_terms terms = array_begin(cli);
    terms.limit = parallel < count ? parallel : 0;
    for (json_int_t i = 0; i < count; i++) {
        json_t *job = make_job(document);
        if (is_indexed(document)) {
            json_t *indexed = array_member(job, i, &terms);
            json_decref(job);
            job = indexed;
        } else if (terms.limit > 0) {
            array_join(job, &terms);
        }
        (void)json_array_append_new(jobs, job);
    }
    if (queue) {
        (void)json_object_set(file, "queue", queue);
    }
    if (set) {
        (void)json_object_set(file, "jobSetId", set);
    }
    (void)json_object_set_new(file, "jobs", jobs);
    *ret_file = file;
    return CLI_OK;
}
