#include "api/submit/job_objects.h"

#include <jansson.h>

#include "api/core/message.h"
#include "wire/json/json.h"
#include "wire/kube/entries.h"
#include "wire/kube/manifest.h"

static struct str text_of(const Berth__Submission__Item *item, size_t i)
{
    const ProtobufCBinaryData *raw = &item->objects[i]->raw;

    return raw->len > 0 ? str_make((const char *)raw->data, raw->len)
                        : STR("{}");
}

static bool is_config_map(const struct manifest *manifest)
{
    return str_equal(manifest->api_version, STR("v1")) &&
           str_equal(manifest->kind, STR(MANIFEST_CONFIG_MAP));
}

/* A config map has a message of its own, for runtimes that read it. */
static int read_config_map(const struct manifest *manifest, struct arena *arena,
                           K8s__Io__Api__Core__V1__ConfigMap **ret_map,
                           struct err *err)
{
    ProtobufCMessage *message;
    auto_json_t *json =
        json_loadb(manifest->json.p, manifest->json.byte_count, 0, NULL);

    ASSERT(json);
    int rc = wire_json_read(&k8s__io__api__core__v1__config_map__descriptor,
                            json, WIRE_JSON_STRICT, arena, &message, err);
    if (rc == 0) {
        *ret_map = (K8s__Io__Api__Core__V1__ConfigMap *)message;
    }
    return rc;
}

static int check_one(const Berth__Submission__Item *item, size_t i,
                     struct arena *arena, struct manifest *manifest,
                     struct err *err)
{
    K8s__Io__Api__Core__V1__ConfigMap *map;

    int rc = manifest_read(text_of(item, i), arena, manifest, err);
    return rc == 0 && is_config_map(manifest)
               ? read_config_map(manifest, arena, &map, err)
               : rc;
}

static int check_name(const struct manifest *manifests, size_t i,
                      struct refusal *refusal)
{
    for (size_t k = 0; k < i; k++) {
        if (str_equal(manifests[i].api_version, manifests[k].api_version) &&
            str_equal(manifests[i].kind, manifests[k].kind) &&
            str_equal(manifests[i].name, manifests[k].name)) {
            return refusal_set(
                refusal, "objects[%zu]: there is another %.*s %.*s", i,
                STR_ARG(manifests[i].kind), STR_ARG(manifests[i].name));
        }
    }
    return 0;
}

int job_objects_check(const Berth__Submission__Item *item,
                      struct refusal *refusal)
{
    auto_arena arena = {0};
    struct manifest manifests[MANIFESTS_MAX];
    size_t byte_count = 0;
    int rc = 0;

    if (item->n_objects > MANIFESTS_MAX) {
        return refusal_set(refusal, "objects: %zu, more than the %d allowed",
                           item->n_objects, MANIFESTS_MAX);
    }
    for (size_t i = 0; i < item->n_objects && rc == 0; i++) {
        struct err err;
        byte_count += text_of(item, i).byte_count;
        rc = check_one(item, i, &arena, &manifests[i], &err) < 0
                 ? refusal_set(refusal, "objects[%zu]: %s", i, err.text)
                 : check_name(manifests, i, refusal);
    }
    return rc == 0 && byte_count > MANIFESTS_BYTES_MAX
               ? refusal_set(refusal,
                             "objects: more than the %d KiB allowed together",
                             MANIFESTS_BYTES_MAX >> 10)
               : rc;
}

/* Its own, and then whose it is. */
static struct label *with_owner(const struct label *own, uint32_t count,
                                const struct label owner[2],
                                struct arena *arena)
{
    struct label *all = arena_alloc_array(arena, count + 2, sizeof(*all));

    if (count > 0) {
        memcpy(all, own, count * sizeof(*all));
    }
    memcpy(all + count, owner, 2 * sizeof(*all));
    return all;
}

static Armadaevents__ObjectMeta *make_meta(const Berth__Submission__Item *item,
                                           const struct object_owner *owner,
                                           const struct manifest *manifest,
                                           struct arena *arena)
{
    const struct label labels[2] = {
        {STR("armada_job_id"), str_of(owner->job_id)},
        {STR("armada_queue_id"), str_of(owner->queue)},
    };
    const struct label notes[2] = {
        {STR("armada_jobset_id"), str_of(owner->job_set)},
        {STR("armada_owner"), str_of(owner->owner)},
    };
    Armadaevents__ObjectMeta *meta =
        message_new(arena, &armadaevents__object_meta__descriptor);

    meta->namespace_ = item->namespace_;
    meta->name = message_copy(arena, manifest->name);
    meta->n_labels = manifest->label_count + 2;
    meta->labels = entries_make_labels(
        with_owner(manifest->labels, manifest->label_count, labels, arena),
        meta->n_labels, &armadaevents__object_meta__labels_entry__descriptor,
        arena);
    meta->n_annotations = manifest->annotation_count + 2;
    meta->annotations = entries_make_labels(
        with_owner(manifest->annotations, manifest->annotation_count, notes,
                   arena),
        meta->n_annotations,
        &armadaevents__object_meta__annotations_entry__descriptor, arena);
    return meta;
}

static void set_object(const struct manifest *manifest, struct arena *arena,
                       Armadaevents__KubernetesObject *object)
{
    struct err err;

    if (is_config_map(manifest)) {
        object->object_case =
            ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP;
        int rc = read_config_map(manifest, arena, &object->configmap, &err);
        ASSERT(rc == 0);
        return;
    }
    Berth__Api__Manifest *message =
        message_new(arena, &berth__api__manifest__descriptor);
    message->api_version = message_copy(arena, manifest->api_version);
    message->kind = message_copy(arena, manifest->kind);
    message->json = message_copy(arena, manifest->json);
    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST;
    object->manifest = message;
}

Armadaevents__KubernetesObject **
job_objects_make(const Berth__Submission__Item *item,
                 const struct object_owner *owner, struct arena *arena,
                 uint32_t *ret_count)
{
    Armadaevents__KubernetesObject **objects =
        arena_alloc_array(arena, item->n_objects, sizeof(*objects));

    *ret_count = (uint32_t)item->n_objects;
    for (size_t i = 0; i < item->n_objects; i++) {
        struct manifest manifest;
        struct err err;
        int rc = manifest_read(text_of(item, i), arena, &manifest, &err);
        ASSERT(rc == 0);
        objects[i] =
            message_new(arena, &armadaevents__kubernetes_object__descriptor);
        objects[i]->objectmeta = make_meta(item, owner, &manifest, arena);
        set_object(&manifest, arena, objects[i]);
    }
    return objects;
}
