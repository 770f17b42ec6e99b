#include "api/leases/lease_message.h"

#include "api/submit/annotations.h"
#include "k8s/core.pb-c.h"
#include "wire/kube/entries.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

enum {
    STREAM_LEASE = 1,
    STREAM_CANCEL_RUNS = 2,
    STREAM_END = 3,
    STREAM_HEARTBEAT = 1000,
    LEASE_QUEUE = 2,
    LEASE_JOB_SET = 3,
    LEASE_USER = 4,
    LEASE_JOB = 6,
    LEASE_RUN_ID = 7,
    LEASE_WAS_REPORTED = 1000,
    CANCEL_RUN_IDS = 2,
    HEARTBEAT_REQUEST_COUNT = 1,
    SUBMIT_OBJECT_META = 4,
    SUBMIT_MAIN_OBJECT = 5,
    SUBMIT_DIGEST = 1000,
    META_ANNOTATIONS = 5,
    META_LABELS = 6,
    MAIN_OBJECT_POD_SPEC = 2,
    WITH_AVOID_LIST_POD_SPEC = 1,
    POD_NODE_SELECTOR = 7,
    POD_TOLERATIONS = 22,
    POD_PRIORITY_CLASS = 24,
    TOLERATION_KEY = 1,
    TOLERATION_OPERATOR = 2,
    TOLERATION_VALUE = 3,
    TOLERATION_EFFECT = 4,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
};

#define ANNOTATION_GANG_UNIFORMITY_VALUE \
    "armadaproject.io/gangNodeUniformityLabelValue"

/* One lease on its way. */
struct edit {
    const struct exchange_lease *lease;
    const struct lease_edits *edits;
    struct err *err;
};

static void put_pair(struct strbuf *buf, uint32_t number, struct str key,
                     struct str value)
{
    size_t entry = field_begin(buf, number);

    field_put_bytes(buf, ENTRY_KEY, key);
    field_put_bytes(buf, ENTRY_VALUE, value);
    field_end(buf, entry);
}

static bool is_kept(const struct lease_edits *edits, const char *name)
{
    for (uint32_t i = 0; i < edits->resource_type_count; i++) {
        if (str_equal(edits->resource_types[i], str_of(name))) {
            return true;
        }
    }
    return edits->resource_type_count == 0;
}

/* Whether requests or limits of a container had to be dropped. */
static bool drop_resources(const struct lease_edits *edits,
                           K8s__Io__Api__Core__V1__Container *container)
{
    K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        container->resources;
    size_t request_count = 0, limit_count = 0;

    if (!resources) {
        return false;
    }
    for (size_t i = 0; i < resources->n_requests; i++) {
        if (is_kept(edits, resources->requests[i]->key)) {
            resources->requests[request_count++] = resources->requests[i];
        }
    }
    for (size_t i = 0; i < resources->n_limits; i++) {
        if (is_kept(edits, resources->limits[i]->key)) {
            resources->limits[limit_count++] = resources->limits[i];
        }
    }
    bool is_changed = request_count < resources->n_requests ||
                      limit_count < resources->n_limits;
    resources->n_requests = request_count;
    resources->n_limits = limit_count;
    return is_changed;
}

/* The pod spec without resource types that the cluster does not know. */
static int filter_pod(struct edit *edit, struct str pod_spec,
                      struct arena *arena, struct str *ret_pod_spec)
{
    ProtobufCMessage *message;
    bool is_changed = false;

    *ret_pod_spec = pod_spec;
    if (edit->edits->resource_type_count == 0) {
        return 0;
    }
    int rc =
        wire_decode(&k8s__io__api__core__v1__pod_spec__descriptor, pod_spec,
                    &wire_request_limits, arena, &message, edit->err);
    if (rc < 0) {
        return -ERR_CORRUPT;
    }
    K8s__Io__Api__Core__V1__PodSpec *pod =
        (K8s__Io__Api__Core__V1__PodSpec *)message;
    for (size_t i = 0; i < pod->n_containers; i++) {
        is_changed |= drop_resources(edit->edits, pod->containers[i]);
    }
    for (size_t i = 0; i < pod->n_initcontainers; i++) {
        is_changed |= drop_resources(edit->edits, pod->initcontainers[i]);
    }
    if (is_changed) {
        *ret_pod_spec = wire_encode_arena(message, arena);
    }
    return 0;
}

/* That a pod may run where it is not at home. */
static void put_toleration(struct strbuf *buf, const struct taint *taint)
{
    size_t begin = field_begin(buf, POD_TOLERATIONS);
    bool is_any = str_equal(taint->value, STR("*"));

    field_put_bytes(buf, TOLERATION_KEY, taint->key);
    field_put_bytes(buf, TOLERATION_OPERATOR,
                    is_any ? STR("Exists") : STR("Equal"));
    field_put_set_bytes(buf, TOLERATION_VALUE, is_any ? STR("") : taint->value);
    field_put_set_bytes(buf, TOLERATION_EFFECT,
                        str_of(effect_name(taint->effect)));
    field_end(buf, begin);
}

/* Edits 1, 5 and 6. */
static int put_pod_spec(struct edit *edit, struct strbuf *buf,
                        struct str pod_spec)
{
    auto_arena arena = {0};
    struct str filtered;
    int rc = filter_pod(edit, pod_spec, &arena, &filtered);

    if (rc < 0) {
        return rc;
    }
    size_t pod = field_begin(buf, WITH_AVOID_LIST_POD_SPEC);
    strbuf_add_str(buf, filtered);
    put_pair(buf, POD_NODE_SELECTOR, edit->edits->node_id_label,
             edit->lease->node_name);
    for (uint32_t i = 0; i < edit->lease->away_taint_count; i++) {
        put_toleration(buf, &edit->lease->away_taints[i]);
    }
    field_put_set_bytes(buf, POD_PRIORITY_CLASS,
                        edit->edits->priority_class_override);
    field_end(buf, pod);
    return 0;
}

static int corrupt(struct edit *edit)
{
    return err_set(edit->err, -ERR_CORRUPT, "the stored job does not decode");
}

/* Takes the field that an edit is made in. */
typedef int edit_fn(struct edit *edit, struct strbuf *buf, struct str bytes);

/* Copy a message, all but field `number`, which `fn` writes anew. */
static int put_edited(struct edit *edit, struct strbuf *buf, struct str message,
                      uint32_t number, edit_fn *fn)
{
    struct field_cursor cursor = field_cursor_make(message);

    while (!field_cursor_is_done(&cursor)) {
        const uint8_t *from = cursor.p;
        struct field field;
        if (!field_read(&cursor, &field)) {
            return corrupt(edit);
        }
        bool is_it = field.number == number && field.type == FIELD_BYTES;
        int rc = is_it ? fn(edit, buf, field.bytes) : 0;
        if (rc < 0) {
            return rc;
        }
        if (!is_it) {
            strbuf_add(buf, from, (size_t)(cursor.p - from));
        }
    }
    return 0;
}

static int put_with_avoid_list(struct edit *edit, struct strbuf *buf,
                               struct str bytes)
{
    size_t begin = field_begin(buf, MAIN_OBJECT_POD_SPEC);
    int rc =
        put_edited(edit, buf, bytes, WITH_AVOID_LIST_POD_SPEC, put_pod_spec);

    field_end(buf, begin);
    return rc;
}

static int put_main_object(struct edit *edit, struct strbuf *buf,
                           struct str bytes)
{
    size_t begin = field_begin(buf, SUBMIT_MAIN_OBJECT);
    int rc =
        put_edited(edit, buf, bytes, MAIN_OBJECT_POD_SPEC, put_with_avoid_list);

    field_end(buf, begin);
    return rc;
}

/* Edits 2, 3 and 4. */
static void put_meta(struct edit *edit, struct strbuf *buf, struct str bytes)
{
    const struct exchange_lease *lease = edit->lease;
    size_t begin = field_begin(buf, SUBMIT_OBJECT_META);

    strbuf_add_str(buf, bytes);
    put_pair(buf, META_ANNOTATIONS, STR(ANNOTATION_POOL), lease->pool);
    if (lease->gang_uniformity_label.byte_count) {
        put_pair(buf, META_ANNOTATIONS, STR(ANNOTATION_GANG_UNIFORMITY),
                 lease->gang_uniformity_label);
        put_pair(buf, META_ANNOTATIONS, STR(ANNOTATION_GANG_UNIFORMITY_VALUE),
                 lease->gang_uniformity_value);
    }
    put_pair(buf, META_LABELS, STR("armada_preemptible"),
             lease->is_preemptible ? STR("true") : STR("false"));
    field_end(buf, begin);
}

static int put_job(struct edit *edit, struct strbuf *buf, struct str submit_job)
{
    struct field_cursor cursor = field_cursor_make(submit_job);
    bool has_meta = false;

    while (!field_cursor_is_done(&cursor)) {
        const uint8_t *from = cursor.p;
        struct field field;
        if (!field_read(&cursor, &field)) {
            return corrupt(edit);
        }
        if (field.number == SUBMIT_OBJECT_META && field.type == FIELD_BYTES) {
            put_meta(edit, buf, field.bytes);
            has_meta = true;
        } else if (field.number == SUBMIT_MAIN_OBJECT &&
                   field.type == FIELD_BYTES) {
            if (put_main_object(edit, buf, field.bytes) < 0) {
                return -ERR_CORRUPT;
            }
        } else if (field.number != SUBMIT_DIGEST) {
            strbuf_add(buf, from, (size_t)(cursor.p - from));
        }
    }
    if (!has_meta) {
        put_meta(edit, buf, STR(""));
    }
    return 0;
}

int lease_message_put(struct strbuf *buf, const struct exchange_lease *lease,
                      struct str submit_job, const struct lease_edits *edits,
                      struct err *err)
{
    struct edit edit = {lease, edits, err};
    char run[ID_TEXT_BYTES_MAX];
    size_t message = field_begin(buf, STREAM_LEASE);

    field_put_set_bytes(buf, LEASE_QUEUE, lease->queue);
    field_put_set_bytes(buf, LEASE_JOB_SET, lease->job_set);
    field_put_set_bytes(buf, LEASE_USER, lease->user);
    size_t job = field_begin(buf, LEASE_JOB);
    int rc = put_job(&edit, buf, submit_job);
    field_end(buf, job);
    field_put_bytes(buf, LEASE_RUN_ID, str_of(run_id_format(lease->run, run)));
    field_put_set_u64(buf, LEASE_WAS_REPORTED, lease->was_reported);
    field_end(buf, message);
    return rc;
}

void lease_message_put_cancels(struct strbuf *buf, const struct run_id *runs,
                               uint32_t run_count)
{
    size_t message = field_begin(buf, STREAM_CANCEL_RUNS);

    for (uint32_t i = 0; i < run_count; i++) {
        char run[ID_TEXT_BYTES_MAX];
        field_put_bytes(buf, CANCEL_RUN_IDS,
                        str_of(run_id_format(runs[i], run)));
    }
    field_end(buf, message);
}

void lease_message_put_end(struct strbuf *buf)
{
    field_put_bytes(buf, STREAM_END, STR(""));
}

void lease_message_put_heartbeat(struct strbuf *buf, uint64_t request_count)
{
    size_t message = field_begin(buf, STREAM_HEARTBEAT);

    field_put_set_u64(buf, HEARTBEAT_REQUEST_COUNT, request_count);
    field_end(buf, message);
}
