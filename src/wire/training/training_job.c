#include "wire/training/training_job.h"

#include "base/arena.h"
#include "k8s/core.pb-c.h"
#include "wire/json/json.h"
#include "wire/training/training_fields.h"
#include "wire/training/training_private.h"
#include "wire/yaml/yaml.h"

enum {
    PORT_MAX = 65535,
    PASSES_MAX = 1 << 30,
    CPU_PER_GPU_MILLI = 1000,
    FREEZING_WINDOW_MS = 300000,
};

void training_rules_defaults(struct training_rules *ret_rules)
{
    *ret_rules = (struct training_rules){
        .cpu_per_gpu_milli = CPU_PER_GPU_MILLI,
        .launcher = STR("paddle_k8s"),
        .image = STR("paddlepaddle/paddlecloud-job"),
        .etcd_image = STR("etcd"),
        .freezing_window_ms = FREEZING_WINDOW_MS,
    };
}

static const struct {
    const char *name, *type, *label;
} components[TRAINING_COMPONENTS] = {
    [TRAINING_MASTER] = {"master", "MASTER", "paddle-job-master"},
    [TRAINING_ETCD] = {"etcd", "ETCD", "paddle-job-etcd"},
    [TRAINING_PSERVER] = {"pserver", "PSERVER", "paddle-job-pserver"},
    [TRAINING_TRAINER] = {"trainer", "TRAINER", "paddle-job"},
};

const char *training_component_name(enum training_component component)
{
    return components[component].name;
}

const char *training_component_type(enum training_component component)
{
    return components[component].type;
}

const char *training_component_label(enum training_component component)
{
    return components[component].label;
}

/* Components. */

/* What a component's object says, while it is read. */
struct said {
    int64_t min, max;
    struct str entrypoint, workspace, etcd_endpoint;
};

/* What may stand in one. */
#define INSTANCES                                \
    {"min-instance",                             \
     MEMBER_NUMBER,                              \
     offsetof(struct said, min),                 \
     1,                                          \
     TRAINING_PODS_MAX,                          \
     1},                                         \
    {                                            \
        "max-instance", MEMBER_OTHER, 0, 0, 0, 0 \
    }
#define COMMON                                                                 \
    {"resources", MEMBER_OTHER, 0, 0, 0, 0},                                   \
        {"replicaSpec", MEMBER_OTHER, 0, 0, 0, 0},                             \
    {                                                                          \
        "etcd-endpoint", MEMBER_TEXT, offsetof(struct said, etcd_endpoint), 0, \
            0, 0                                                               \
    }
static const struct training_member master_members[] = {COMMON};
static const struct training_member pserver_members[] = {COMMON, INSTANCES};
static const struct training_member trainer_members[] = {
    COMMON,
    INSTANCES,
    {"entrypoint", MEMBER_TEXT, offsetof(struct said, entrypoint), 0, 0, 0},
    {"workspace", MEMBER_TEXT, offsetof(struct said, workspace), 0, 0, 0},
    {"passes", MEMBER_OTHER, 0, 0, 0, 0},
};
#undef INSTANCES
#undef COMMON
static const struct {
    const struct training_member *members;
    size_t count;
} member_tables[TRAINING_COMPONENTS] = {
    [TRAINING_MASTER] = {master_members, ARRAY_COUNT(master_members)},
    [TRAINING_PSERVER] = {pserver_members, ARRAY_COUNT(pserver_members)},
    [TRAINING_TRAINER] = {trainer_members, ARRAY_COUNT(trainer_members)},
};

static int check_instances(struct training_reading *r,
                           enum training_component component,
                           const struct said *said)
{
    struct training_job *job = r->job;
    struct training_replicas *replicas = &job->replicas[component];

    if (said->max < said->min) {
        return err_set(r->err, -ERR_INVALID,
                       "spec.%s.max-instance: must be at least min-instance, "
                       "which is %lld, not %lld",
                       components[component].name, (long long)said->min,
                       (long long)said->max);
    }
    replicas->min_count = replicas->max_count = (uint32_t)said->min;
    replicas->entrypoint = said->entrypoint;
    replicas->workspace = said->workspace;
    if (component != TRAINING_TRAINER) {
        return 0; /* parameter servers are never scaled */
    }
    replicas->max_count = (uint32_t)said->max;
    if (said->min != said->max && !job->is_fault_tolerant) {
        job->reason = STR("spec.trainer.max-instance: max must equal min when "
                          "fault tolerance is off");
    }
    return 0;
}

static int read_component(struct training_reading *r,
                          enum training_component component, json_t *object)
{
    struct said said = {.min = 1, .max = 1};
    struct training_member max = {
        "max-instance", MEMBER_NUMBER, 0, 1, TRAINING_PODS_MAX, 1};
    char path[TRAINING_PATH_BYTES_MAX];

    (void)snprintf(path, sizeof(path), "spec.%s", components[component].name);
    int rc =
        training_read_members(r, path, object, member_tables[component].members,
                              member_tables[component].count, &said);
    if (rc == 0 && component != TRAINING_MASTER) {
        max.initial = said.min;
        rc = training_read_number(r, path, &max, object, &said.max);
    }
    if (said.etcd_endpoint.byte_count) {
        r->job->etcd_endpoint = said.etcd_endpoint;
    }
    rc = rc ? rc : check_instances(r, component, &said);
    return rc ? rc : training_read_resources(r, component, object);
}

static int read_components(struct training_reading *r, json_t *spec)
{
    struct training_job *job = r->job;
    json_t *trainer = training_field(spec, "trainer");
    json_t *pserver = training_field(spec, "pserver");
    int rc = 0;

    if (!trainer) {
        return training_refuse(r, "spec", "trainer", "is required");
    }
    if (job->is_fault_tolerant || training_field(spec, "master")) {
        rc =
            read_component(r, TRAINING_MASTER, training_object(spec, "master"));
    }
    if (rc == 0 && pserver) {
        rc = read_component(r, TRAINING_PSERVER, pserver);
    }
    rc = rc ? rc : read_component(r, TRAINING_TRAINER, trainer);
    if (!job->is_fault_tolerant) {
        job->replicas[TRAINING_MASTER] = (struct training_replicas){0};
    } else if (rc == 0 && job->etcd_endpoint.byte_count == 0) {
        job->replicas[TRAINING_ETCD] =
            (struct training_replicas){.min_count = 1, .max_count = 1};
    }
    return rc ? rc : training_check_gpus(r);
}

/* The rest of the spec. */

/* Items of a list in Kubernetes' own form. */
static int check_items(struct training_reading *r, json_t *list,
                       const char *path, const ProtobufCMessageDescriptor *type)
{
    auto_arena arena = {0};
    ProtobufCMessage *message;
    struct err err;
    size_t i;
    json_t *item;

    if (list && !json_is_array(list)) {
        return training_refuse(r, path, "", "must be a list");
    }
    json_array_foreach(list, i, item)
    {
        if (wire_json_read(type, item, WIRE_JSON_STRICT, &arena, &message,
                           &err) < 0) {
            return err_set(r->err, -ERR_INVALID, "%s[%zu]: %s", path, i,
                           err.text);
        }
        if (!training_is_text(training_field(item, "name"))) {
            return err_set(r->err, -ERR_INVALID, "%s[%zu].name: is required",
                           path, i);
        }
    }
    return 0;
}

static bool has_volume(const json_t *volumes, struct str name)
{
    size_t i;
    json_t *item;

    json_array_foreach(volumes, i, item)
    {
        if (str_equal(training_text(training_field(item, "name")), name)) {
            return true;
        }
    }
    return false;
}

static int read_volumes(struct training_reading *r, json_t *spec)
{
    json_t *volumes = training_field(spec, "volumes");
    json_t *mounts = training_field(spec, "VolumeMounts");
    json_t *item;
    size_t i;

    int rc = check_items(r, volumes, "spec.volumes",
                         &k8s__io__api__core__v1__volume__descriptor);
    rc = rc ? rc
            : check_items(r, mounts, "spec.VolumeMounts",
                          &k8s__io__api__core__v1__volume_mount__descriptor);
    if (rc < 0) {
        return rc;
    }
    json_array_foreach(mounts, i, item)
    {
        struct str name = training_text(training_field(item, "name"));
        if (!has_volume(volumes, name)) {
            return err_set(r->err, -ERR_INVALID,
                           "spec.VolumeMounts[%zu].name: there is no volume "
                           "\"%.*s\"",
                           i, STR_ARG(name));
        }
    }
    return 0;
}

static int check_ports(struct training_reading *r, int64_t sparse_count)
{
    struct training_job *job = r->job;

    job->port_count = job->dense_port_count + sparse_count;
    if (job->port + job->port_count - 1 > PORT_MAX) {
        return err_set(r->err, -ERR_INVALID,
                       "spec.port: %lld ports from %lld on go beyond %d",
                       (long long)job->port_count, (long long)job->port,
                       PORT_MAX);
    }
    return 0;
}

/* What a spec says beside what is a struct training_job's. */
struct said_spec {
    struct training_job job;
    int64_t sparse_count;
};

static int read_plain(struct training_reading *r, json_t *spec)
{
#define IN_JOB(field) offsetof(struct said_spec, job.field)
    static const struct training_member members[] = {
        {"image", MEMBER_TEXT, IN_JOB(image), 0, 0, 0},
        {"host_network", MEMBER_BOOL, IN_JOB(has_host_network), 0, 0, 0},
        {"port", MEMBER_NUMBER, IN_JOB(port), 1, PORT_MAX,
         TRAINING_PORT_DEFAULT},
        {"ports_num", MEMBER_NUMBER, IN_JOB(dense_port_count), 1,
         TRAINING_PORTS_MAX, 1},
        {"ports_num_for_sparse", MEMBER_NUMBER,
         offsetof(struct said_spec, sparse_count), 0, TRAINING_PORTS_MAX, 1},
        {"fault_tolerant", MEMBER_BOOL, IN_JOB(is_fault_tolerant), 0, 0, 0},
        {"passes", MEMBER_NUMBER, IN_JOB(passes), 1, PASSES_MAX, 1},
        {"volumes", MEMBER_OTHER, 0, 0, 0, 0},
        {"VolumeMounts", MEMBER_OTHER, 0, 0, 0, 0},
        {"NodeSelector", MEMBER_OTHER, 0, 0, 0, 0},
        {"mountPath", MEMBER_OTHER, 0, 0, 0, 0},
        {"master", MEMBER_OTHER, 0, 0, 0, 0},
        {"pserver", MEMBER_OTHER, 0, 0, 0, 0},
        {"trainer", MEMBER_OTHER, 0, 0, 0, 0},
    };
#undef IN_JOB
    struct said_spec said = {.job = *r->job};

    int rc = training_read_members(r, "spec", spec, members,
                                   ARRAY_COUNT(members), &said);
    *r->job = said.job;
    if (rc == 0 && r->job->image.byte_count == 0) {
        r->job->image = r->rules->image;
        json_object_set_new(
            spec, "image",
            json_stringn(r->rules->image.p, r->rules->image.byte_count));
    }
    return rc ? rc : check_ports(r, said.sparse_count);
}

static int check_counts(struct training_reading *r)
{
    uint32_t min, max;

    training_job_counts(r->job, &min, &max);
    return max > TRAINING_PODS_MAX
               ? err_set(r->err, -ERR_INVALID,
                         "spec.trainer.max-instance: there may be %d pods in "
                         "all, not %u",
                         TRAINING_PODS_MAX, max)
               : 0;
}

static int read_spec(struct training_reading *r)
{
    json_t *spec = training_field(r->job->resource, "spec");

    if (!json_is_object(spec)) {
        return training_refuse(r, "spec", "",
                               spec ? "must be an object" : "is required");
    }
    int rc = read_plain(r, spec);
    rc = rc ? rc : read_components(r, spec);
    rc = rc ? rc : check_counts(r);
    rc = rc ? rc
            : training_read_texts(r, "spec.NodeSelector",
                                  training_field(spec, "NodeSelector"));
    return rc ? rc : read_volumes(r, spec);
}

/* The whole. */

bool training_job_is_meant(const json_t *document)
{
    return str_equal(training_text(training_field(document, "kind")),
                     STR("TrainingJob"));
}

static int read_kind(struct training_reading *r)
{
    static const struct training_member members[] = {
        {"apiVersion", MEMBER_OTHER, 0, 0, 0, 0},
        {"kind", MEMBER_OTHER, 0, 0, 0, 0},
        {"metadata", MEMBER_OTHER, 0, 0, 0, 0},
        {"spec", MEMBER_OTHER, 0, 0, 0, 0},
        {"status", MEMBER_OTHER, 0, 0, 0, 0},
    };
    const json_t *resource = r->job->resource;
    struct str version = training_text(training_field(resource, "apiVersion"));

    int rc = training_check_keys(r, "", r->job->resource, members,
                                 ARRAY_COUNT(members));
    if (rc < 0) {
        return rc;
    }
    if (!training_job_is_meant(resource)) {
        return training_refuse(r, "kind", "", "must be TrainingJob");
    }
    if (!str_equal(version, STR("paddlepaddle.org/v1")) &&
        !str_equal(version, STR("paddlepaddle.org/v1alpha1"))) {
        return training_refuse(r, "apiVersion", "",
                               "must be paddlepaddle.org/v1 or "
                               "paddlepaddle.org/v1alpha1");
    }
    return 0;
}

/* Whether a document has at most so many values, each as often as it is
 * referred to.  Its depth is bounded. */
static bool is_within(const json_t *value, size_t *left)
{
    const char *key;
    json_t *item;
    size_t i;

    if (*left == 0) {
        return false;
    }
    (*left)--;
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        if (!is_within(item, left)) {
            return false;
        }
    }
    json_array_foreach(value, i, item)
    {
        if (!is_within(item, left)) {
            return false;
        }
    }
    return true;
}

int training_job_read(struct str text, const struct training_rules *rules,
                      struct training_job *ret_job, struct err *err)
{
    struct training_reading r = {rules, ret_job, err};
    auto_json_t *document = NULL;
    size_t left = TRAINING_VALUES_MAX;

    *ret_job = (struct training_job){.hops_max = -1};
    if (text.byte_count > TRAINING_BYTES_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "a TrainingJob may have %d bytes, not %zu",
                       TRAINING_BYTES_MAX, text.byte_count);
    }
    int rc = wire_yaml_read_first(text, &document, err);
    if (rc < 0) {
        return rc;
    }
    if (!is_within(document, &left)) {
        return err_set(err, -ERR_LIMIT,
                       "a TrainingJob may have %d values, aliases included",
                       TRAINING_VALUES_MAX);
    }
    /* What stood behind an alias is shared: each gets its own. */
    ret_job->resource = json_deep_copy(document);
    if (!json_is_object(ret_job->resource)) {
        return err_set(err, -ERR_INVALID, "a TrainingJob must be a map");
    }
    rc = read_kind(&r);
    rc = rc ? rc : training_read_metadata(&r);
    return rc ? rc : read_spec(&r);
}

void training_job_fini(struct training_job *job)
{
    json_decref(job->resource);
    job->resource = NULL;
}

static int put_json(const char *bytes, size_t byte_count, void *buf)
{
    strbuf_add(buf, bytes, byte_count);
    return 0;
}

void training_job_write(const struct training_job *job, struct strbuf *buf)
{
    (void)json_dump_callback(job->resource, put_json, buf, JSON_COMPACT);
}

void training_job_counts(const struct training_job *job, uint32_t *ret_min,
                         uint32_t *ret_max)
{
    *ret_min = *ret_max = 0;
    for (int i = 0; i < TRAINING_COMPONENTS; i++) {
        *ret_min += job->replicas[i].min_count;
        *ret_max += job->replicas[i].max_count;
    }
}
