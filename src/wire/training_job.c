#include "wire/training_job.h"

#include "base/arena.h"
#include "k8s/core.pb-c.h"
#include "model/gang_terms.h"
#include "model/quantity.h"
#include "wire/json.h"
#include "wire/training_private.h"
#include "wire/yaml.h"

enum {
    PATH_BYTES_MAX = 256,
    PORT_MAX = 65535,
    PASSES_MAX = 1 << 30,
    CPU_PER_GPU_MILLI = 1000,
    FREEZING_WINDOW_MS = 300000,
    MS_PER_S = 1000,
};

static const char gpu_name[] = "nvidia.com/gpu";
static const char old_gpu_name[] = "alpha.kubernetes.io/nvidia-gpu";

/* One resource while it is read. */
struct reading {
    const struct training_rules *rules;
    struct training_job *job;
    struct err *err;
};

/* What a value of an object must be. */
enum member_kind {
    MEMBER_TEXT,
    MEMBER_NUMBER,
    MEMBER_BOOL,
    MEMBER_OTHER, /* read elsewhere, or not at all */
};

/* One member that an object may have. */
struct member {
    const char *key;
    enum member_kind kind;
    size_t offset;    /* of a struct str, an int64_t or a bool */
    int64_t min, max; /* of numbers */
    int64_t initial;  /* of numbers that are not given */
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

static int refuse(struct reading *r, const char *path, const char *key,
                  const char *what)
{
    return err_set(r->err, -ERR_INVALID, "%s%s%s: %s", path,
                   *path && *key ? "." : "", key, what);
}

/* The value of a key, NULL when it is absent or null. */
static json_t *get(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_null(value) ? NULL : value;
}

static struct str text_of(const json_t *value)
{
    return str_make(json_string_value(value), json_string_length(value));
}

/* A text that goes into C strings. */
static bool is_text(const json_t *value)
{
    return json_is_string(value) &&
           strlen(json_string_value(value)) == json_string_length(value);
}

static const struct member *find_member(const struct member *members,
                                        size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(members[i].key, key) == 0) {
            return &members[i];
        }
    }
    return NULL;
}

static int check_keys(struct reading *r, const char *path, json_t *object,
                      const struct member *members, size_t count)
{
    const char *key;
    json_t *value;

    if (!json_is_object(object)) {
        return refuse(r, path, "", "must be an object");
    }
    json_object_foreach(object, key, value)
    {
        if (!find_member(members, count, key)) {
            return refuse(r, path, key, "there is no such field");
        }
    }
    return 0;
}

static int read_number(struct reading *r, const char *path,
                       const struct member *member, json_t *object,
                       int64_t *ret_number)
{
    const json_t *value = get(object, member->key);

    *ret_number = member->initial;
    if (!value) {
        json_object_set_new(object, member->key, json_integer(member->initial));
        return 0;
    }
    if (!json_is_integer(value)) {
        return refuse(r, path, member->key, "must be a whole number");
    }
    *ret_number = json_integer_value(value);
    if (*ret_number < member->min || *ret_number > member->max) {
        return err_set(r->err, -ERR_INVALID,
                       "%s.%s: must be from %lld to %lld, not %lld", path,
                       member->key, (long long)member->min,
                       (long long)member->max, (long long)*ret_number);
    }
    return 0;
}

static int read_member(struct reading *r, const char *path,
                       const struct member *member, json_t *object,
                       char *record)
{
    const json_t *value = get(object, member->key);
    void *place = record + member->offset;

    switch (member->kind) {
    case MEMBER_NUMBER:
        return read_number(r, path, member, object, place);
    case MEMBER_TEXT:
        if (value && !is_text(value)) {
            return refuse(r, path, member->key, "must be a text");
        }
        *(struct str *)place = value ? text_of(value) : STR("");
        return 0;
    case MEMBER_BOOL:
        if (value && !json_is_boolean(value)) {
            return refuse(r, path, member->key, "must be true or false");
        }
        *(bool *)place = json_is_true(value);
        if (!value) {
            json_object_set_new(object, member->key, json_false());
        }
        return 0;
    case MEMBER_OTHER:
        break;
    }
    return 0;
}

/* Read the members of `object` into `record`, and put the defaults of those
 * that are not there into the object. */
static int read_members(struct reading *r, const char *path, json_t *object,
                        const struct member *members, size_t count,
                        void *record)
{
    int rc = check_keys(r, path, object, members, count);

    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = read_member(r, path, &members[i], object, record);
    }
    return rc;
}

/* Labels, annotations, a node selector: scalars, which become texts. */
static int read_texts(struct reading *r, const char *path, json_t *map)
{
    const char *key;
    json_t *value;
    void *next;

    if (map && !json_is_object(map)) {
        return refuse(r, path, "", "must be a map of texts");
    }
    json_object_foreach_safe(map, next, key, value)
    {
        if (json_is_integer(value)) {
            json_object_set_new(
                map, key,
                json_sprintf("%lld", (long long)json_integer_value(value)));
        } else if (json_is_boolean(value)) {
            json_object_set_new(
                map, key, json_string(json_is_true(value) ? "true" : "false"));
        } else if (!is_text(value)) {
            return refuse(r, path, key, "must be a text");
        }
    }
    return 0;
}

/* metadata. */

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.byte_count; i++) {
        char c = name.p[i];
        bool is_inside = i > 0 && i + 1 < name.byte_count;
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            !(c == '-' && is_inside)) {
            return false;
        }
    }
    return name.byte_count > 0;
}

static int read_name(struct reading *r, const json_t *metadata)
{
    const json_t *name = get(metadata, "name");

    if (!is_text(name)) {
        return refuse(r, "metadata", "name", "a name is required");
    }
    r->job->name = text_of(name);
    if (r->job->name.byte_count > TRAINING_NAME_BYTES_MAX) {
        return err_set(r->err, -ERR_INVALID,
                       "metadata.name: may have %d characters, not %zu",
                       TRAINING_NAME_BYTES_MAX, r->job->name.byte_count);
    }
    if (!is_name(r->job->name)) {
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
    return text_of(get(annotations, key));
}

static int read_annotation_number(struct reading *r, const json_t *annotations,
                                  const char *key, int64_t max,
                                  int64_t *ret_number)
{
    struct str text = annotation(annotations, key);
    int64_t number = 0;

    *ret_number = -1;
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

static int refuse_gangs(struct reading *r, json_t *annotations)
{
    const char *key;
    json_t *value;

    json_object_foreach(annotations, key, value)
    {
        if (str_starts_with(str_of(key), STR("armadaproject.io/gang"))) {
            return refuse(r, annotations_path, key,
                          "a TrainingJob is a gang by itself");
        }
    }
    return 0;
}

static int read_annotations(struct reading *r, json_t *annotations)
{
    struct training_job *job = r->job;
    int64_t window_s = -1;

    int rc = read_texts(r, annotations_path, annotations);
    rc = rc ? rc : refuse_gangs(r, annotations);
    rc = rc ? rc
            : read_annotation_number(r, annotations,
                                     "armadaproject.io/freezingWindowSeconds",
                                     TRAINING_FREEZING_WINDOW_S_MAX, &window_s);
    rc = rc ? rc
            : read_annotation_number(r, annotations, "armadaproject.io/maxHops",
                                     HOPS_MAX, &job->hops_max);
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

static int read_metadata(struct reading *r)
{
    json_t *metadata = get(r->job->resource, "metadata");

    if (!json_is_object(metadata)) {
        return refuse(r, "metadata", "", "is required");
    }
    int rc = read_name(r, metadata);
    if (rc < 0) {
        return rc;
    }
    const json_t *namespace_ = get(metadata, "namespace");
    if (namespace_ && !is_text(namespace_)) {
        return refuse(r, "metadata", "namespace", "must be a text");
    }
    r->job->namespace_ = text_of(namespace_);
    if (r->job->namespace_.byte_count == 0) {
        r->job->namespace_ = STR("default");
        json_object_set_new(metadata, "namespace", json_string("default"));
    }
    rc = read_texts(r, "metadata.labels", get(metadata, "labels"));
    return rc ? rc : read_annotations(r, get(metadata, "annotations"));
}

/* Resources. */

/* What a component asks for that does not say. */
struct amounts {
    const char *cpu, *memory, *cpu_limit, *memory_limit;
};

static const struct amounts default_amounts[TRAINING_COMPONENTS] = {
    [TRAINING_MASTER] = {"1", "500Mi", "2", "1Gi"},
    [TRAINING_ETCD] = {"100m", "128Mi", NULL, NULL},
    [TRAINING_PSERVER] = {"1", "1Gi", NULL, NULL},
    [TRAINING_TRAINER] = {"1", "1Gi", NULL, NULL},
};

static int64_t amount_of(const json_t *amounts, const char *name)
{
    int64_t milli = 0;
    const json_t *value = get(amounts, name);

    return value && quantity_parse(text_of(value), &milli) == 0 ? milli : 0;
}

/* Amounts as texts, gpus by the name that is in use now. */
static int read_amounts(struct reading *r, const char *path, json_t *amounts)
{
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe(amounts, next, key, value)
    {
        int64_t milli;
        if (json_is_integer(value)) {
            value = json_sprintf("%lld", (long long)json_integer_value(value));
            json_object_set_new(amounts, key, value);
        } else if (json_is_real(value)) {
            value = json_sprintf("%.3f", json_real_value(value));
            json_object_set_new(amounts, key, value);
        }
        if (!is_text(value) || quantity_parse(text_of(value), &milli) < 0 ||
            milli < 0) {
            return refuse(r, path, key, "must be an amount, such as 500m");
        }
    }
    json_t *old = get(amounts, old_gpu_name);
    if (old && get(amounts, gpu_name)) {
        return refuse(r, path, old_gpu_name,
                      "is another name of nvidia.com/gpu, which is there too");
    }
    if (old) {
        json_object_set(amounts, gpu_name, old);
        json_object_del(amounts, old_gpu_name);
    }
    return 0;
}

/* The object under `key`, made if it is not there. */
static json_t *object_of(json_t *parent, const char *key)
{
    json_t *object = get(parent, key);

    if (!object) {
        object = json_object();
        json_object_set_new(parent, key, object);
    }
    return object;
}

/* What is not said: a limit is the request and a request the limit. */
static void complete_amounts(json_t *requests, json_t *limits,
                             const struct amounts *amounts)
{
    const char *key;
    json_t *value;

    if (json_object_size(requests) + json_object_size(limits) == 0 &&
        amounts->cpu_limit) {
        json_object_set_new(limits, "cpu", json_string(amounts->cpu_limit));
        json_object_set_new(limits, "memory",
                            json_string(amounts->memory_limit));
        json_object_set_new(requests, "cpu", json_string(amounts->cpu));
        json_object_set_new(requests, "memory", json_string(amounts->memory));
    }
    if (!get(requests, "cpu") && !get(limits, "cpu")) {
        json_object_set_new(requests, "cpu", json_string(amounts->cpu));
    }
    if (!get(requests, "memory") && !get(limits, "memory")) {
        json_object_set_new(requests, "memory", json_string(amounts->memory));
    }
    json_object_foreach(limits, key, value)
    {
        if (!get(requests, key)) {
            json_object_set(requests, key, value);
        }
    }
    json_object_foreach(requests, key, value)
    {
        if (!get(limits, key)) {
            json_object_set(limits, key, value);
        }
    }
}

static int check_limits(struct reading *r, const char *path, json_t *requests,
                        const json_t *limits)
{
    const char *key;
    json_t *value;

    json_object_foreach(requests, key, value)
    {
        if (amount_of(limits, key) < amount_of(requests, key)) {
            return err_set(r->err, -ERR_INVALID,
                           "%s.limits.%s: is less than the request", path, key);
        }
    }
    return 0;
}

static int read_resources(struct reading *r, enum training_component component,
                          json_t *object)
{
    static const struct member members[] = {
        {"requests", MEMBER_OTHER, 0, 0, 0, 0},
        {"limits", MEMBER_OTHER, 0, 0, 0, 0},
    };
    char path[PATH_BYTES_MAX], part[PATH_BYTES_MAX];
    json_t *resources = object_of(object, "resources");

    (void)snprintf(path, sizeof(path), "spec.%s.resources",
                   components[component].name);
    int rc = check_keys(r, path, resources, members, ARRAY_COUNT(members));
    for (size_t i = 0; i < ARRAY_COUNT(members) && rc == 0; i++) {
        (void)snprintf(part, sizeof(part), "spec.%s.resources.%s",
                       components[component].name, members[i].key);
        json_t *amounts = object_of(resources, members[i].key);
        rc = json_is_object(amounts) ? read_amounts(r, part, amounts)
                                     : refuse(r, part, "", "must be an object");
    }
    if (rc < 0) {
        return rc;
    }
    json_t *requests = get(resources, "requests");
    json_t *limits = get(resources, "limits");
    complete_amounts(requests, limits, &default_amounts[component]);
    return check_limits(r, path, requests, limits);
}

/* Enough cores to keep the gpus busy. */
static int check_gpus(struct reading *r)
{
    json_t *requests = training_amounts(r->job, TRAINING_TRAINER, "requests");
    int64_t gpus_milli = amount_of(requests, gpu_name);
    int64_t cpu_milli = amount_of(requests, "cpu");
    int64_t needed_milli = 0;
    char text[QUANTITY_TEXT_BYTES_MAX], asked[QUANTITY_TEXT_BYTES_MAX];

    r->job->gpus_milli = gpus_milli;
    r->job->cpu_milli = cpu_milli;
    if (gpus_milli % 1000 != 0) {
        return refuse(r, "spec.trainer.resources.requests", gpu_name,
                      "must be a whole number");
    }
    if (__builtin_mul_overflow(gpus_milli / 1000, r->rules->cpu_per_gpu_milli,
                               &needed_milli) ||
        cpu_milli < needed_milli) {
        return err_set(r->err, -ERR_INVALID,
                       "spec.trainer.resources.requests.cpu: %lld gpus need at "
                       "least %s cpu, not %s",
                       (long long)(gpus_milli / 1000),
                       quantity_format(needed_milli, false, text),
                       quantity_format(cpu_milli, false, asked));
    }
    return 0;
}

/* Components. */

/* What a component's object says, while it is read. */
struct said {
    int64_t min, max;
    struct str entrypoint, workspace, etcd_endpoint;
};

static int check_instances(struct reading *r, enum training_component component,
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

static int read_component(struct reading *r, enum training_component component,
                          json_t *object)
{
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
    static const struct member master_members[] = {COMMON};
    static const struct member pserver_members[] = {COMMON, INSTANCES};
    static const struct member trainer_members[] = {
        COMMON,
        INSTANCES,
        {"entrypoint", MEMBER_TEXT, offsetof(struct said, entrypoint), 0, 0, 0},
        {"workspace", MEMBER_TEXT, offsetof(struct said, workspace), 0, 0, 0},
        {"passes", MEMBER_OTHER, 0, 0, 0, 0},
    };
#undef INSTANCES
#undef COMMON
    static const struct {
        const struct member *members;
        size_t count;
    } tables[TRAINING_COMPONENTS] = {
        [TRAINING_MASTER] = {master_members, ARRAY_COUNT(master_members)},
        [TRAINING_PSERVER] = {pserver_members, ARRAY_COUNT(pserver_members)},
        [TRAINING_TRAINER] = {trainer_members, ARRAY_COUNT(trainer_members)},
    };
    struct said said = {.min = 1, .max = 1};
    struct member max = {
        "max-instance", MEMBER_NUMBER, 0, 1, TRAINING_PODS_MAX, 1};
    char path[PATH_BYTES_MAX];

    (void)snprintf(path, sizeof(path), "spec.%s", components[component].name);
    int rc = read_members(r, path, object, tables[component].members,
                          tables[component].count, &said);
    if (rc == 0 && component != TRAINING_MASTER) {
        max.initial = said.min;
        rc = read_number(r, path, &max, object, &said.max);
    }
    if (said.etcd_endpoint.byte_count) {
        r->job->etcd_endpoint = said.etcd_endpoint;
    }
    rc = rc ? rc : check_instances(r, component, &said);
    return rc ? rc : read_resources(r, component, object);
}

static int read_components(struct reading *r, json_t *spec)
{
    struct training_job *job = r->job;
    json_t *trainer = get(spec, "trainer");
    json_t *pserver = get(spec, "pserver");
    int rc = 0;

    if (!trainer) {
        return refuse(r, "spec", "trainer", "is required");
    }
    if (job->is_fault_tolerant || get(spec, "master")) {
        rc = read_component(r, TRAINING_MASTER, object_of(spec, "master"));
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
    return rc ? rc : check_gpus(r);
}

/* The rest of the spec. */

/* Items of a list in Kubernetes' own form. */
static int check_items(struct reading *r, json_t *list, const char *path,
                       const ProtobufCMessageDescriptor *type)
{
    auto_arena arena = {0};
    ProtobufCMessage *message;
    struct err err;
    size_t i;
    json_t *item;

    if (list && !json_is_array(list)) {
        return refuse(r, path, "", "must be a list");
    }
    json_array_foreach(list, i, item)
    {
        if (wire_json_read(type, item, WIRE_JSON_STRICT, &arena, &message,
                           &err) < 0) {
            return err_set(r->err, -ERR_INVALID, "%s[%zu]: %s", path, i,
                           err.text);
        }
        if (!is_text(get(item, "name"))) {
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
        if (str_equal(text_of(get(item, "name")), name)) {
            return true;
        }
    }
    return false;
}

static int read_volumes(struct reading *r, json_t *spec)
{
    json_t *volumes = get(spec, "volumes");
    json_t *mounts = get(spec, "VolumeMounts");
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
        struct str name = text_of(get(item, "name"));
        if (!has_volume(volumes, name)) {
            return err_set(r->err, -ERR_INVALID,
                           "spec.VolumeMounts[%zu].name: there is no volume "
                           "\"%.*s\"",
                           i, STR_ARG(name));
        }
    }
    return 0;
}

static int check_ports(struct reading *r, int64_t sparse_count)
{
    struct training_job *job = r->job;

    job->port_count = job->dense_port_count + sparse_count;
    if (job->port_count == 0) {
        return refuse(r, "spec", "ports_num", "there must be a port at least");
    }
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

static int read_plain(struct reading *r, json_t *spec)
{
#define IN_JOB(field) offsetof(struct said_spec, job.field)
    static const struct member members[] = {
        {"image", MEMBER_TEXT, IN_JOB(image), 0, 0, 0},
        {"host_network", MEMBER_BOOL, IN_JOB(has_host_network), 0, 0, 0},
        {"port", MEMBER_NUMBER, IN_JOB(port), 1, PORT_MAX,
         TRAINING_PORT_DEFAULT},
        {"ports_num", MEMBER_NUMBER, IN_JOB(dense_port_count), 0,
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

    int rc =
        read_members(r, "spec", spec, members, ARRAY_COUNT(members), &said);
    *r->job = said.job;
    if (rc == 0 && r->job->image.byte_count == 0) {
        r->job->image = r->rules->image;
        json_object_set_new(
            spec, "image",
            json_stringn(r->rules->image.p, r->rules->image.byte_count));
    }
    return rc ? rc : check_ports(r, said.sparse_count);
}

static int check_counts(struct reading *r)
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

static int read_spec(struct reading *r)
{
    json_t *spec = get(r->job->resource, "spec");

    if (!json_is_object(spec)) {
        return refuse(r, "spec", "", "is required");
    }
    int rc = read_plain(r, spec);
    rc = rc ? rc : read_components(r, spec);
    rc = rc ? rc : check_counts(r);
    rc =
        rc ? rc : read_texts(r, "spec.NodeSelector", get(spec, "NodeSelector"));
    return rc ? rc : read_volumes(r, spec);
}

/* The whole. */

bool training_job_is_meant(const json_t *document)
{
    return str_equal(text_of(get(document, "kind")), STR("TrainingJob"));
}

static int read_kind(struct reading *r)
{
    static const struct member members[] = {
        {"apiVersion", MEMBER_OTHER, 0, 0, 0, 0},
        {"kind", MEMBER_OTHER, 0, 0, 0, 0},
        {"metadata", MEMBER_OTHER, 0, 0, 0, 0},
        {"spec", MEMBER_OTHER, 0, 0, 0, 0},
        {"status", MEMBER_OTHER, 0, 0, 0, 0},
    };
    const json_t *resource = r->job->resource;
    struct str version = text_of(get(resource, "apiVersion"));

    int rc = check_keys(r, "", r->job->resource, members, ARRAY_COUNT(members));
    if (rc < 0) {
        return rc;
    }
    if (!training_job_is_meant(resource)) {
        return refuse(r, "kind", "", "must be TrainingJob");
    }
    if (!str_equal(version, STR("paddlepaddle.org/v1")) &&
        !str_equal(version, STR("paddlepaddle.org/v1alpha1"))) {
        return refuse(r, "apiVersion", "",
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
    struct reading r = {rules, ret_job, err};
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
        return err_set(err, -ERR_INVALID, "a TrainingJob is an object");
    }
    rc = read_kind(&r);
    rc = rc ? rc : read_metadata(&r);
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
