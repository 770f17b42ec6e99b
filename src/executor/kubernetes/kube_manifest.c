#include "executor/kubernetes/kube_manifest.h"

#include <jansson.h>

#include "wire/json/json.h"
#include "wire/kube/manifest.h"
#include "wire/message/message.h"

typedef Armadaevents__KubernetesObject object_message;
typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta meta_message;

bool kube_manifest_is_secret(const object_message *object)
{
    return object->object_case ==
               ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST &&
           manifest_is_secret(str_of(object->manifest->api_version),
                              str_of(object->manifest->kind));
}

bool kube_manifest_has_secrets(const Armadaevents__SubmitJob *submit)
{
    for (size_t i = 0; i < submit->n_objects; i++) {
        if (kube_manifest_is_secret(submit->objects[i])) {
            return true;
        }
    }
    return false;
}

/* The same object without what it keeps. */
static object_message *withhold(const object_message *object,
                                struct arena *arena)
{
    object_message *copy = arena_alloc(arena, sizeof(*copy));
    Berth__Api__Manifest *manifest = arena_alloc(arena, sizeof(*manifest));

    *manifest = *object->manifest;
    manifest->json = arena_strdup(arena, STR(""));
    manifest->is_withheld = true;
    *copy = *object;
    copy->manifest = manifest;
    return copy;
}

object_message **kube_manifest_withhold(const Armadaevents__SubmitJob *submit,
                                        struct arena *arena)
{
    object_message **kept =
        arena_alloc_array(arena, submit->n_objects, sizeof(*kept));

    for (size_t i = 0; i < submit->n_objects; i++) {
        kept[i] = kube_manifest_is_secret(submit->objects[i])
                      ? withhold(submit->objects[i], arena)
                      : submit->objects[i];
    }
    return kept;
}

/* The node of a claim, which otherwise waits for a scheduler to name it. */
static void add_node(struct str node_name, struct arena *arena,
                     meta_message *meta)
{
    typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta__AnnotationsEntry
        entry_message;
    entry_message **entries =
        arena_alloc_array(arena, meta->n_annotations + 1, sizeof(*entries));
    entry_message *entry = wire_new(
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__annotations_entry__descriptor,
        arena);

    entry->key = arena_strdup(arena, STR(KUBE_SELECTED_NODE_ANNOTATION));
    entry->value = arena_strdup(arena, node_name);
    memcpy(entries, meta->annotations, meta->n_annotations * sizeof(*entries));
    entries[meta->n_annotations++] = entry;
    meta->annotations = entries;
}

struct str kube_manifest_body(const Berth__Api__Manifest *manifest,
                              meta_message *meta, struct str node_name,
                              struct arena *arena)
{
    auto_json_t *json =
        json_loadb(manifest->json, strlen(manifest->json), 0, NULL);

    ASSERT(json); /* it was checked */
    if (strcmp(manifest->kind, MANIFEST_CLAIM) == 0) {
        add_node(node_name, arena, meta);
    }
    (void)json_object_set_new(json, "apiVersion",
                              json_string(manifest->api_version));
    (void)json_object_set_new(json, "kind", json_string(manifest->kind));
    (void)json_object_set_new(json, "metadata",
                              wire_json_write(&meta->base, 0));
    auto_strbuf text = strbuf_make(0);
    wire_json_text(json, &text);
    return arena_str(arena, strbuf_str(&text));
}
