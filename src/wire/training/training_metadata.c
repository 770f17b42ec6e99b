/* The metadata of a TrainingJob: its name and annotations. */
#include "model/gang_terms.h"
#include "wire/kube/kube_name.h"
#include "wire/training/training_fields.h"
#include "wire/training/training_private.h"

enum { MS_PER_S = 1000 };

static int read_name(struct training_reading *r, const json_t *metadata)
{
    const json_t *name = training_field(metadata, "name");

    if (!training_is_text(name)) {
        return training_refuse(r, "metadata", "name",
                               name && !json_is_null(name)
                                   ? "must be a text: write it in quotes"
                                   : "a name is required");
    }
    r->job->name = training_text(name);
    if (r->job->name.byte_count > TRAINING_NAME_BYTES_MAX) {
        return err_set(r->err, -ERR_INVALID,
                       "metadata.name: may have %d characters, not %zu",
                       TRAINING_NAME_BYTES_MAX, r->job->name.byte_count);
    }
    if (!kube_is_dns_label(r->job->name)) {
        return err_set(r->err, -ERR_INVALID,
                       "metadata.name: may have small letters, digits and, "
                       "inside, \"-\", no \".\" or \"_\": not \"%.*s\"",
                       STR_ARG(r->job->name));
    }
    return 0;
}

static const char annotations_path[] = "metadata.annotations";

/* The text of an annotation, "" when there is none. */
static struct str annotation(const json_t *annotations, const char *key)
{
    return training_text(training_field(annotations, key));
}

static int read_annotation_number(struct training_reading *r,
                                  const json_t *annotations, const char *key,
                                  int64_t max, int64_t *ret_number)
{
    struct str text = annotation(annotations, key);
    int64_t number = 0;

    if (text.byte_count == 0) {
        return 0;
    }
    for (size_t i = 0; i < text.byte_count; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || number > max) {
            number = max + 1;
            break;
        }
        number = number * 10 + (text.p[i] - '0');
    }
    if (number > max) {
        return err_set(r->err, -ERR_INVALID,
                       "%s.%s: must be a number from 0 to %lld, not \"%.*s\"",
                       annotations_path, key, (long long)max, STR_ARG(text));
    }
    *ret_number = number;
    return 0;
}

/* The number of an annotation of ours, in either spelling; -1: none. */
static int read_own_number(struct training_reading *r,
                           const json_t *annotations,
                           const char *const spellings[2], int64_t max,
                           int64_t *ret_number)
{
    *ret_number = -1;
    int rc =
        read_annotation_number(r, annotations, spellings[1], max, ret_number);
    return rc < 0 ? rc
                  : read_annotation_number(r, annotations, spellings[0], max,
                                           ret_number);
}

static int refuse_gangs(struct training_reading *r, json_t *annotations)
{
    const char *key;
    json_t *value;

    json_object_foreach(annotations, key, value)
    {
        if (str_starts_with(str_of(key), STR("armadaproject.io/gang"))) {
            return training_refuse(r, annotations_path, key,
                                   "a TrainingJob is itself a gang");
        }
        if (strcmp(key, "berth.dev/nodeReservation") == 0 ||
            strcmp(key, "armadaproject.io/nodeReservation") == 0) {
            return training_refuse(r, annotations_path, key,
                                   "the pods of a TrainingJob share nodes");
        }
    }
    return 0;
}

static int read_annotations(struct training_reading *r, json_t *annotations)
{
    static const char *const window[] = {"berth.dev/freezingWindowSeconds",
                                         "armadaproject.io/"
                                         "freezingWindowSeconds"};
    static const char *const hops[] = {"berth.dev/maxHops",
                                       "armadaproject.io/maxHops"};
    struct training_job *job = r->job;
    int64_t window_s = -1;

    int rc = training_read_texts(r, annotations_path, annotations);
    rc = rc ? rc : refuse_gangs(r, annotations);
    rc = rc ? rc
            : read_own_number(r, annotations, window, GANG_SECONDS_MAX,
                              &window_s);
    rc = rc ? rc
            : read_own_number(r, annotations, hops, HOPS_MAX, &job->hops_max);
    if (rc < 0) {
        return rc;
    }
    job->freezing_window_ms =
        window_s < 0 ? r->rules->freezing_window_ms : window_s * MS_PER_S;
    job->queue = annotation(annotations, "armadaproject.io/queue");
    job->job_set = annotation(annotations, "armadaproject.io/jobSet");
    job->priority_class =
        annotation(annotations, "armadaproject.io/priorityClassName");
    if (job->priority_class.byte_count == 0) {
        job->priority_class = STR("normal");
    }
    job->pool = annotation(annotations, "resource.aibee.cn/pool");
    if (job->pool.byte_count == 0) {
        job->pool = annotation(annotations, "armadaproject.io/pool");
    }
    return 0;
}

int training_read_metadata(struct training_reading *r)
{
    json_t *metadata = training_field(r->job->resource, "metadata");

    if (!json_is_object(metadata)) {
        return training_refuse(r, "metadata", "",
                               metadata ? "must be an object" : "is required");
    }
    int rc = read_name(r, metadata);
    if (rc < 0) {
        return rc;
    }
    const json_t *namespace_ = training_field(metadata, "namespace");
    if (namespace_ && !training_is_text(namespace_)) {
        return training_refuse(r, "metadata", "namespace", "must be a text");
    }
    r->job->namespace_ = training_text(namespace_);
    if (r->job->namespace_.byte_count == 0) {
        r->job->namespace_ = STR("default");
        json_object_set_new(metadata, "namespace", json_string("default"));
    }
    if (!kube_is_dns_label(r->job->namespace_)) {
        return training_refuse(r, "metadata", "namespace",
                               "must be small letters, digits and, inside, "
                               "dashes, at most 63");
    }
    rc = training_read_texts(r, "metadata.labels",
                             training_field(metadata, "labels"));
    return rc ? rc
              : read_annotations(r, training_field(metadata, "annotations"));
}
