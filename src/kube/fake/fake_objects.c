/* Nodes and pods: made, changed, deleted, and their versions. */
#include <stdio.h>

#include "kube/fake/fake_private.h"
#include "wire/message/message.h"

typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta meta_message;

static const ProtobufCMessageDescriptor *const types[FAKE_KINDS] = {
    [FAKE_NODES] = &k8s__io__api__core__v1__node__descriptor,
    [FAKE_PODS] = &k8s__io__api__core__v1__pod__descriptor,
};

struct fake_object *fake_api_find(struct fake_api *api, enum fake_kind kind,
                                  struct str name)
{
    for (size_t i = 0; i < api->objects.count; i++) {
        struct fake_object *object = &api->objects.items[i];
        if (object->kind == kind && str_equal(str_of(object->name), name)) {
            return object;
        }
    }
    return NULL;
}

void *fake_api_read(const struct fake_object *object, struct arena *arena)
{
    ProtobufCMessage *message = NULL;
    struct err err;

    int rc = wire_decode(types[object->kind], strbuf_str(&object->bytes),
                         &wire_request_limits, arena, &message, &err);
    ASSERT(rc == 0);
    return message;
}

static meta_message *meta_of(enum fake_kind kind, ProtobufCMessage *message)
{
    return kind == FAKE_PODS ? ((fake_pod_message *)message)->metadata
                             : ((fake_node_message *)message)->metadata;
}

static void note_event(struct fake_api *api, const struct fake_object *object,
                       const char *type)
{
    struct fake_event event = {object->kind, object->version, type,
                               strbuf_make(0)};

    strbuf_add_str(&event.bytes, strbuf_str(&object->bytes));
    VEC_PUSH(&api->events, event);
    fake_api_wake(api);
}

struct fake_object *fake_api_write(struct fake_api *api, enum fake_kind kind,
                                   ProtobufCMessage *message)
{
    meta_message *meta = meta_of(kind, message);
    struct fake_object *object = fake_api_find(api, kind, str_of(meta->name));
    char version[24];
    bool is_new = !object;

    if (is_new) {
        VEC_PUSH(&api->objects,
                 (struct fake_object){.kind = kind,
                                      .name = str_dup(str_of(meta->name)),
                                      .namespace_ =
                                          str_dup(str_of(meta->namespace_)),
                                      .due_ms = INT64_MAX});
        object = &api->objects.items[api->objects.count - 1];
    }
    object->version = ++api->version;
    (void)snprintf(version, sizeof(version), "%llu",
                   (unsigned long long)object->version);
    meta->resourceversion = version;
    strbuf_clear(&object->bytes);
    wire_encode(message, &object->bytes);
    note_event(api, object, is_new ? "ADDED" : "MODIFIED");
    return object;
}

static void free_object(struct fake_object *object)
{
    mem_free(object->name);
    mem_free(object->namespace_);
    strbuf_fini(&object->bytes);
}

void fake_api_drop(struct fake_api *api, struct fake_object *object)
{
    auto_arena arena = {0};
    char version[24];
    ProtobufCMessage *message = fake_api_read(object, &arena);

    object->version = ++api->version;
    (void)snprintf(version, sizeof(version), "%llu",
                   (unsigned long long)object->version);
    meta_of(object->kind, message)->resourceversion = version;
    strbuf_clear(&object->bytes);
    wire_encode(message, &object->bytes);
    note_event(api, object, "DELETED");
    free_object(object);
    *object = api->objects.items[--api->objects.count];
}

static void drop_snapshot(struct fake_api *api, enum fake_kind kind)
{
    for (size_t i = 0; i < api->snapshots[kind].count; i++) {
        free_object(&api->snapshots[kind].items[i]);
    }
    api->snapshots[kind].count = 0;
}

void fake_api_snapshot(struct fake_api *api, enum fake_kind kind)
{
    drop_snapshot(api, kind);
    api->snapshot_versions[kind] = api->version;
    for (size_t i = 0; i < api->objects.count; i++) {
        const struct fake_object *object = &api->objects.items[i];
        struct fake_object copy = {.kind = kind, .bytes = strbuf_make(0)};
        if (object->kind == kind) {
            strbuf_add_str(&copy.bytes, strbuf_str(&object->bytes));
            VEC_PUSH(&api->snapshots[kind], copy);
        }
    }
}

void fake_api_objects_fini(struct fake_api *api)
{
    for (int kind = 0; kind < FAKE_KINDS; kind++) {
        drop_snapshot(api, (enum fake_kind)kind);
        VEC_FREE(&api->snapshots[kind]);
    }
    for (size_t i = 0; i < api->objects.count; i++) {
        free_object(&api->objects.items[i]);
    }
    for (size_t i = 0; i < api->events.count; i++) {
        strbuf_fini(&api->events.items[i].bytes);
    }
    VEC_FREE(&api->objects);
    VEC_FREE(&api->events);
}

char *fake_api_uid(struct fake_api *api, struct arena *arena)
{
    char text[48];

    (void)snprintf(text, sizeof(text), "00000000-0000-4000-8000-%012llx",
                   (unsigned long long)++api->last_uid);
    return arena_strdup(arena, str_of(text));
}
