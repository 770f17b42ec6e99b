#include <inttypes.h>
#include <stdio.h>

#include "executor/process/process_spec.h"
#include "model/quantity.h"
#include "wire/kube/expand.h"

typedef K8s__Io__Api__Core__V1__Container container_t;
typedef K8s__Io__Api__Core__V1__EnvVar env_t;

static const char default_path[] =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static const char *find_variable(const struct process_variables *variables,
                                 const char *name, size_t byte_count)
{
    for (uint32_t i = 0; i < variables->count; i++) {
        const char *have = variables->items[i].name;
        if (strncmp(have, name, byte_count) == 0 && !have[byte_count]) {
            return variables->items[i].value;
        }
    }
    return NULL;
}

int process_variable_set(struct process_job *job,
                         struct process_variables *variables, const char *name,
                         const char *value, struct err *err)
{
    if (!*name || strchr(name, '=')) {
        return err_set(err, -ERR_INVALID,
                       "\"%s\" is not the name of a variable", name);
    }
    struct process_variable variable = {
        arena_strdup(job->arena, str_of(name)),
        arena_strdup(job->arena, str_of(value)),
    };
    for (uint32_t i = 0; i < variables->count; i++) {
        if (strcmp(variables->items[i].name, name) == 0) {
            variables->items[i] = variable;
            return 0;
        }
    }
    if (variables->count == PROCESS_VARIABLES_MAX) {
        return err_set(err, -ERR_INVALID, "more than %d variables",
                       PROCESS_VARIABLES_MAX);
    }
    variables->items[variables->count++] = variable;
    return 0;
}

int process_expand(struct process_job *job,
                   const struct process_variables *variables, const char *text,
                   const char **ret_text, struct err *err)
{
    auto_strbuf out = strbuf_make(EXPAND_VALUE_BYTES_MAX);
    struct expand_piece piece;
    size_t byte_count = 0;

    while (byte_count <= EXPAND_POD_BYTES_MAX && expand_next(&text, &piece)) {
        const char *value =
            piece.name.byte_count > 0
                ? find_variable(variables, piece.name.p, piece.name.byte_count)
                : NULL;
        struct str whole = value ? str_of(value) : piece.text;
        strbuf_add_str(&out, whole);
        byte_count += whole.byte_count;
    }
    int rc = expand_count(&job->expanded_byte_count, byte_count, err);
    if (rc == 0) {
        *ret_text = arena_strdup(job->arena, strbuf_str(&out));
    }
    return rc;
}

/* Values from elsewhere. */

/* metadata.labels['x'] and its like. */
static bool is_indexed(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);
    size_t length = strlen(path);

    return length > n + 4 && strncmp(path, prefix, n) == 0 &&
           strncmp(path + n, "['", 2) == 0 &&
           strcmp(path + length - 2, "']") == 0;
}

static const char *indexed_value(const struct process_job *job,
                                 const char *path, const char *prefix,
                                 bool is_label)
{
    const Armadaevents__ObjectMeta *meta = job->run->submit->objectmeta;
    size_t skip = strlen(prefix) + 2;
    struct str key = str_make(path + skip, strlen(path) - skip - 2);
    size_t count = !meta ? 0 : is_label ? meta->n_labels : meta->n_annotations;

    for (size_t i = 0; i < count; i++) {
        const char *have =
            is_label ? meta->labels[i]->key : meta->annotations[i]->key;
        if (str_equal(str_of(have), key)) {
            return is_label ? meta->labels[i]->value
                            : meta->annotations[i]->value;
        }
    }
    return "";
}

static const char *field_value(struct process_job *job, const char *path)
{
    const struct runtime_run *run = job->run;
    char text[ID_TEXT_BYTES_MAX];

    if (strcmp(path, "metadata.name") == 0) {
        return arena_strdup(job->arena, run->pod_name);
    }
    if (strcmp(path, "metadata.namespace") == 0) {
        return arena_strdup(job->arena, run->namespace_);
    }
    if (strcmp(path, "metadata.uid") == 0) {
        return arena_strdup(job->arena, str_of(run_id_format(run->run, text)));
    }
    if (strcmp(path, "spec.nodeName") == 0) {
        return arena_strdup(job->arena, run->node_name);
    }
    if (strcmp(path, "status.podIP") == 0 ||
        strcmp(path, "status.hostIP") == 0) {
        return "127.0.0.1";
    }
    if (is_indexed(path, "metadata.labels")) {
        return indexed_value(job, path, "metadata.labels", true);
    }
    if (is_indexed(path, "metadata.annotations")) {
        return indexed_value(job, path, "metadata.annotations", false);
    }
    return NULL;
}

int64_t process_amount(const container_t *container, const char *name,
                       bool is_limit)
{
    const K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        container->resources;
    size_t count = !resources ? 0
                   : is_limit ? resources->n_limits
                              : resources->n_requests;

    for (size_t i = 0; i < count; i++) {
        const char *key =
            is_limit ? resources->limits[i]->key : resources->requests[i]->key;
        const K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *value =
            is_limit ? resources->limits[i]->value
                     : resources->requests[i]->value;
        int64_t milli;
        if (key && strcmp(key, name) == 0 && value && value->string &&
            quantity_parse(str_of(value->string), &milli) == 0) {
            return milli;
        }
    }
    return -1;
}

static const char *
resource_value(struct process_job *job, const container_t *container,
               const K8s__Io__Api__Core__V1__ResourceFieldSelector *selector)
{
    const char *resource = process_or_empty(selector->resource);
    bool is_limit = strncmp(resource, "limits.", 7) == 0;
    bool is_request = strncmp(resource, "requests.", 9) == 0;
    int64_t divisor_milli = 0;
    char text[32];

    if (!is_limit && !is_request) {
        return NULL;
    }
    if (selector->divisor && selector->divisor->string &&
        quantity_parse(str_of(selector->divisor->string), &divisor_milli) < 0) {
        return NULL;
    }
    divisor_milli = divisor_milli > 0 ? divisor_milli : 1000;
    int64_t milli =
        process_amount(container, resource + (is_limit ? 7 : 9), is_limit);
    if (milli < 0) {
        return NULL;
    }
    int64_t units = milli / divisor_milli + (milli % divisor_milli != 0);
    snprintf(text, sizeof(text), "%" PRId64, units);
    return arena_strdup(job->arena, str_of(text));
}

static const char *map_value(const K8s__Io__Api__Core__V1__ConfigMap *map,
                             const char *key)
{
    for (size_t i = 0; map && i < map->n_data; i++) {
        if (map->data[i]->key && strcmp(map->data[i]->key, key) == 0) {
            return process_or_empty(map->data[i]->value);
        }
    }
    return NULL;
}

/* Where a variable takes its value from.  NULL in `ret_value`: leave it out. */
static int value_from(struct process_job *job, const container_t *container,
                      const env_t *env, const char **ret_value, struct err *err)
{
    const K8s__Io__Api__Core__V1__EnvVarSource *from = env->valuefrom;

    *ret_value = NULL;
    if (from->fieldref) {
        *ret_value =
            field_value(job, process_or_empty(from->fieldref->fieldpath));
    } else if (from->resourcefieldref) {
        *ret_value = resource_value(job, container, from->resourcefieldref);
    } else if (from->configmapkeyref) {
        const K8s__Io__Api__Core__V1__LocalObjectReference *name =
            from->configmapkeyref->localobjectreference;
        *ret_value = map_value(
            process_config_map(job, name ? process_or_empty(name->name) : ""),
            process_or_empty(from->configmapkeyref->key));
        if (!*ret_value && !from->configmapkeyref->optional) {
            return err_set(
                err, -ERR_INVALID,
                "variable %s: the job brings no such config map or key",
                env->name);
        }
        return 0;
    } else if (from->secretkeyref) {
        return from->secretkeyref->optional
                   ? 0
                   : err_set(err, -ERR_INVALID,
                             "variable %s: the runtime process does not "
                             "support secrets",
                             env->name);
    }
    if (!*ret_value) {
        strbuf_addf(job->warnings,
                    "variable %s is not set: the runtime process does not "
                    "support its source\n",
                    env->name);
    }
    return 0;
}

static int add_from_map(struct process_job *job,
                        struct process_variables *variables,
                        const K8s__Io__Api__Core__V1__EnvFromSource *from,
                        struct err *err)
{
    const K8s__Io__Api__Core__V1__LocalObjectReference *name =
        from->configmapref->localobjectreference;
    const K8s__Io__Api__Core__V1__ConfigMap *map =
        process_config_map(job, name ? process_or_empty(name->name) : "");

    if (!map && !from->configmapref->optional) {
        return err_set(err, -ERR_INVALID,
                       "envFrom: the job brings no config map \"%s\"",
                       name ? process_or_empty(name->name) : "");
    }
    for (size_t i = 0; map && i < map->n_data; i++) {
        char key[512];
        snprintf(key, sizeof(key), "%.255s%.255s",
                 process_or_empty(from->prefix),
                 process_or_empty(map->data[i]->key));
        int rc = process_variable_set(
            job, variables, key, process_or_empty(map->data[i]->value), err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int add_env_from(struct process_job *job, const container_t *container,
                        struct process_variables *variables, struct err *err)
{
    for (size_t i = 0; i < container->n_envfrom; i++) {
        const K8s__Io__Api__Core__V1__EnvFromSource *from =
            container->envfrom[i];
        int rc = 0;
        if (from->secretref && !from->secretref->optional) {
            return err_set(
                err, -ERR_INVALID,
                "envFrom: the runtime process does not support secrets");
        }
        if (from->configmapref) {
            rc = add_from_map(job, variables, from, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int add_own(struct process_job *job, const container_t *container,
                   struct process_variables *variables, struct err *err)
{
    for (size_t i = 0; i < container->n_env; i++) {
        const env_t *env = container->env[i];
        const char *value = process_or_empty(env->value);
        int rc = env->valuefrom
                     ? value_from(job, container, env, &value, err)
                     : process_expand(job, variables, value, &value, err);
        if (rc == 0 && value) {
            rc = process_variable_set(job, variables,
                                      process_or_empty(env->name), value, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* What everybody gets. */

static int add_gang(struct process_job *job,
                    struct process_variables *variables, struct err *err)
{
    static const struct {
        const char *annotation, *first, *second;
    } names[] = {
        {"armadaproject.io/gangId", "ARMADA_GANG_ID", "BERTH_GANG_ID"},
        {"armadaproject.io/gangCardinality", "ARMADA_GANG_CARDINALITY",
         "BERTH_GANG_CARDINALITY"},
        {"armadaproject.io/gangNodeUniformityLabel",
         "ARMADA_GANG_NODE_UNIFORMITY_LABEL_NAME",
         "BERTH_GANG_NODE_UNIFORMITY_LABEL_NAME"},
        {"armadaproject.io/gangNodeUniformityLabelValue",
         "ARMADA_GANG_NODE_UNIFORMITY_LABEL_VALUE",
         "BERTH_GANG_NODE_UNIFORMITY_LABEL_VALUE"},
    };
    char index[16];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(names); i++) {
        const char *value = process_annotation(job->run, names[i].annotation);
        if (value) {
            rc = process_variable_set(job, variables, names[i].first, value,
                                      err);
        }
        if (value && rc == 0) {
            rc = process_variable_set(job, variables, names[i].second, value,
                                      err);
        }
    }
    if (rc == 0 && *job->place->gang_dir) {
        rc = process_variable_set(job, variables, "BERTH_GANG_DIR",
                                  job->place->gang_dir, err);
    }
    if (rc == 0 && job->place->gang_index >= 0) {
        snprintf(index, sizeof(index), "%d", job->place->gang_index);
        rc = process_variable_set(job, variables, "BERTH_GANG_MEMBER_INDEX",
                                  index, err);
    }
    return rc;
}

static int add_names(struct process_job *job,
                     struct process_variables *variables, struct err *err)
{
    const struct runtime_run *run = job->run;
    char id[ID_TEXT_BYTES_MAX], run_text[ID_TEXT_BYTES_MAX];
    char home[PROCESS_PATH_BYTES_MAX];
    const char *job_id = job_id_format(run->job, id);
    const char *queue = arena_strdup(job->arena, run->queue);
    const char *job_set = arena_strdup(job->arena, run->job_set);
    const char *name = arena_strdup(job->arena, run->pod_name);
    const char *node = arena_strdup(job->arena, run->node_name);

    snprintf(home, sizeof(home), "%s/%s", job->place->space_dir, RUN_WORK_NAME);
    const struct process_variable all[] = {
        {"PATH", default_path},
        {"HOME", home},
        {"HOSTNAME", name},
        {"ARMADA_JOB_ID", job_id},
        {"ARMADA_QUEUE", queue},
        {"ARMADA_JOB_SET_ID", job_set},
        {"BERTH_JOB_ID", job_id},
        {"BERTH_RUN_ID", run_id_format(run->run, run_text)},
        {"BERTH_QUEUE", queue},
        {"BERTH_JOB_SET", job_set},
        {"BERTH_NODE", node},
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(all); i++) {
        rc = process_variable_set(job, variables, all[i].name, all[i].value,
                                  err);
    }
    if (rc == 0 && !(job->policy->layers & RUN_LAYER_MOUNT)) {
        /* Where /tmp is everybody's, who asks is shown a private one. */
        char temporary[PROCESS_PATH_BYTES_MAX];
        snprintf(temporary, sizeof(temporary), "%.900s/%s",
                 job->place->space_dir, RUN_TMP_NAME);
        rc = process_variable_set(job, variables, "TMPDIR", temporary, err);
    }
    return rc;
}

int process_env_build(struct process_job *job, const container_t *container,
                      struct process_variables *variables, struct err *err)
{
    int rc = add_names(job, variables, err);

    if (rc == 0) {
        rc = add_gang(job, variables, err);
    }
    if (rc == 0) {
        rc = add_env_from(job, container, variables, err);
    }
    return rc == 0 ? add_own(job, container, variables, err) : rc;
}
