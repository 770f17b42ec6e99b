/* The pods of a TrainingJob (model.md 4.2). */

#include "wire/training/training_private.h"

enum {
    MASTER_PORT = 8080,
    ETCD_PORT = 2379,
    MILLI = 1000,
};

json_t *training_amounts(const struct training_job *job,
                         enum training_component component, const char *which)
{
    json_t *spec = json_object_get(job->resource, "spec");
    json_t *object = json_object_get(spec, training_component_name(component));

    return json_object_get(json_object_get(object, "resources"), which);
}

static json_t *text_json(struct str text)
{
    return json_stringn(text.p ? text.p : "", text.byte_count);
}

static json_t *number_json(int64_t number)
{
    return json_sprintf("%lld", (long long)number);
}

/* Take the reference of `value`. */
static void add_env(json_t *env, const char *name, json_t *value)
{
    json_array_append_new(
        env, json_pack("{s:s, s:o}", "name", name, "value", value));
}

static void add_env_field(json_t *env, const char *name, const char *path)
{
    json_array_append_new(env, json_pack("{s:s, s:{s:{s:s}}}", "name", name,
                                         "valueFrom", "fieldRef", "fieldPath",
                                         path));
}

/* How many threads a trainer computes with: its gpus, or whole cores. */
static int64_t trainer_count(const struct training_job *job)
{
    int64_t milli = job->gpus_milli > 0 ? job->gpus_milli : job->cpu_milli;

    return milli > MILLI ? milli / MILLI : 1;
}

static json_t *make_env(const struct training_job *job)
{
    const struct training_replicas *trainer = &job->replicas[TRAINING_TRAINER];
    json_t *env = json_array();

    add_env(env, "PADDLE_JOB_NAME", text_json(job->name));
    add_env(env, "TRAINERS", number_json(trainer->min_count));
    add_env(env, "PSERVERS",
            number_json(job->replicas[TRAINING_PSERVER].min_count));
    add_env(env, "ENTRY", text_json(trainer->entrypoint));
    add_env(env, "TOPOLOGY", text_json(trainer->entrypoint));
    add_env(env, "TRAINER_PACKAGE", text_json(trainer->workspace));
    add_env(env, "PADDLE_INIT_PORT", number_json(job->port));
    add_env(env, "PADDLE_INIT_TRAINER_COUNT", number_json(trainer_count(job)));
    add_env(env, "PADDLE_INIT_PORTS_NUM", number_json(job->dense_port_count));
    add_env(env, "PADDLE_INIT_PORTS_NUM_FOR_SPARSE",
            number_json(job->port_count - job->dense_port_count));
    add_env(env, "PADDLE_INIT_NUM_GRADIENT_SERVERS",
            number_json(trainer->min_count));
    add_env(env, "PADDLE_INIT_NUM_PASSES", number_json(job->passes));
    add_env(env, "PADDLE_INIT_USE_GPU", number_json(job->gpus_milli > 0));
    add_env(env, "LD_LIBRARY_PATH", json_string("/usr/local/cuda/lib64"));
    if (job->etcd_endpoint.byte_count) {
        add_env(env, "ETCD_ENDPOINT", text_json(job->etcd_endpoint));
    }
    add_env_field(env, "NAMESPACE", "metadata.namespace");
    add_env_field(env, "POD_IP", "status.podIP");
    return env;
}

static void add_port(json_t *ports, json_t *name, int64_t port)
{
    json_array_append_new(ports, json_pack("{s:o, s:I}", "name", name,
                                           "containerPort", (json_int_t)port));
}

static json_t *make_ports(const struct training_job *job,
                          enum training_component component)
{
    json_t *ports = json_array();

    switch (component) {
    case TRAINING_MASTER:
        add_port(ports, json_string("master-port"), MASTER_PORT);
        break;
    case TRAINING_ETCD:
        add_port(ports, json_string("etcd-port"), ETCD_PORT);
        break;
    case TRAINING_PSERVER:
    case TRAINING_TRAINER:
    case TRAINING_COMPONENTS:
        for (int64_t i = 0; i < job->port_count; i++) {
            add_port(ports,
                     json_sprintf("jobport-%lld", (long long)(job->port + i)),
                     job->port + i);
        }
        break;
    }
    return ports;
}

static json_t *make_command(const struct training_job *job,
                            const struct training_rules *rules,
                            enum training_component component)
{
    bool is_tolerant = job->is_fault_tolerant;
    json_t *command = json_array();

    if (component == TRAINING_ETCD) {
        json_array_append_new(command, json_string("etcd"));
        json_array_append_new(command, json_string("--listen-client-urls="
                                                   "http://0.0.0.0:2379"));
        json_array_append_new(command, json_string("--advertise-client-urls="
                                                   "http://$(POD_IP):2379"));
        return command;
    }
    json_array_append_new(command, text_json(rules->launcher));
    if (component == TRAINING_MASTER) {
        json_array_append_new(command, json_string("start_master"));
    } else if (component == TRAINING_PSERVER) {
        json_array_append_new(
            command,
            json_string(is_tolerant ? "start_new_pserver" : "start_pserver"));
    } else if (is_tolerant) {
        json_array_append_new(command, json_string("start_new_trainer"));
    } else {
        json_array_append_new(command, json_string("start_trainer"));
        json_array_append_new(command, json_string("v2"));
    }
    return command;
}

static json_t *make_resources(const struct training_job *job,
                              enum training_component component)
{
    json_t *requests = training_amounts(job, component, "requests");
    json_t *limits = training_amounts(job, component, "limits");

    if (component == TRAINING_ETCD) {
        return json_pack("{s:{s:s, s:s}, s:{s:s, s:s}}", "requests", "cpu",
                         "100m", "memory", "128Mi", "limits", "cpu", "100m",
                         "memory", "128Mi");
    }
    return json_pack("{s:O, s:O}", "requests", requests, "limits", limits);
}

static json_t *make_container(const struct training_job *job,
                              const struct training_rules *rules,
                              enum training_component component)
{
    bool is_etcd = component == TRAINING_ETCD;
    json_t *spec = json_object_get(job->resource, "spec");
    json_t *mounts = json_object_get(spec, "VolumeMounts");
    json_t *container =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name",
                  training_component_name(component), "image",
                  text_json(is_etcd ? rules->etcd_image : job->image),
                  "command", make_command(job, rules, component), "ports",
                  make_ports(job, component), "env", make_env(job), "resources",
                  make_resources(job, component));

    if (json_is_array(mounts) &&
        (component == TRAINING_TRAINER || component == TRAINING_MASTER)) {
        json_object_set(container, "volumeMounts", mounts);
    }
    return container;
}

json_t *training_job_pod(const struct training_job *job,
                         const struct training_rules *rules,
                         enum training_component component)
{
    json_t *spec = json_object_get(job->resource, "spec");
    json_t *volumes = json_object_get(spec, "volumes");
    json_t *selector = json_object_get(spec, "NodeSelector");
    json_t *pod =
        json_pack("{s:s, s:o, s:[o]}", "restartPolicy", "Never",
                  "priorityClassName", text_json(job->priority_class),
                  "containers", make_container(job, rules, component));

    if (json_is_array(volumes)) {
        json_object_set(pod, "volumes", volumes);
    }
    if (json_is_object(selector)) {
        json_object_set(pod, "nodeSelector", selector);
    }
    if (job->has_host_network) {
        json_object_set_new(pod, "hostNetwork", json_true());
    }
    return pod;
}

json_t *training_job_labels(const struct training_job *job)
{
    const json_t *metadata = json_object_get(job->resource, "metadata");
    const json_t *given = json_object_get(metadata, "labels");

    return json_is_object(given) ? json_deep_copy(given) : json_object();
}

/* Those that the TrainingJob itself is made of. */
static bool is_of_job(const char *key)
{
    static const char *const keys[] = {
        "armadaproject.io/queue",
        "armadaproject.io/jobSet",
        "armadaproject.io/priorityClassName",
        "armadaproject.io/pool",
        "armadaproject.io/freezingWindowSeconds",
        "armadaproject.io/maxHops",
        "berth.dev/freezingWindowSeconds",
        "berth.dev/maxHops",
    };

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

json_t *training_job_annotations(const struct training_job *job)
{
    const json_t *metadata = json_object_get(job->resource, "metadata");
    json_t *given = json_object_get(metadata, "annotations");
    json_t *annotations = json_object();
    const char *key;
    json_t *value;

    json_object_foreach(given, key, value)
    {
        if (!is_of_job(key) && !json_is_null(value)) {
            json_object_set(annotations, key, value);
        }
    }
    if (job->pool.byte_count) {
        json_object_set_new(annotations, "armadaproject.io/pool",
                            text_json(job->pool));
    }
    if (job->has_host_network) {
        json_object_set_new(annotations, "port-manager/hostnetwork",
                            json_string("true"));
    }
    return annotations;
}
