/* Objects beside pods: services, ingresses, config maps, and others, which come
 * as JSON.  They go with the pod that owns them. */
#include <jansson.h>
#include <stdio.h>

#include "k8s/discovery.pb-c.h"
#include "kube/api/envelope.h"
#include "kube/fake/fake_private.h"
#include "wire/json/json.h"
#include "wire/message/message.h"

enum {
    STATUS_OK = 200,
    STATUS_CREATED = 201,
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409,
    NODE_PORT_FIRST = 30000,
};

/* Those that have "/services" and so on in their path; widgets are a kind that
 * only this server has. */
static const char *const plurals[] = {
    "/services",
    "/ingresses",
    "/configmaps",
    "/secrets",
    "/persistentvolumeclaims",
    "/widgets",
};

static const char group_path[] = "/apis/example.com/v1";

bool fake_api_is_other(const char *path)
{
    for (size_t i = 0; i < ARRAY_COUNT(plurals); i++) {
        if (strstr(path, plurals[i])) {
            return true;
        }
    }
    return strcmp(path, group_path) == 0;
}

static struct fake_other *find(struct fake_api *api, const char *path)
{
    for (size_t i = 0; i < api->others.count; i++) {
        if (strcmp(api->others.items[i].path, path) == 0) {
            return &api->others.items[i];
        }
    }
    return NULL;
}

/* What a server does to a service of type NodePort. */
static void add_node_ports(struct fake_api *api,
                           K8s__Io__Api__Core__V1__ServiceSpec *spec)
{
    for (size_t i = 0; i < spec->n_ports; i++) {
        spec->ports[i]->has_nodeport = true;
        spec->ports[i]->nodeport = NODE_PORT_FIRST + (int32_t)api->others.count;
    }
}

static struct strbuf stored(struct fake_api *api, const struct fake_ask *ask,
                            const struct envelope *envelope)
{
    struct strbuf body = strbuf_make(0);
    auto_arena arena = {0};
    ProtobufCMessage *base;
    struct err err;

    if (str_equal(envelope->kind, STR("Service")) &&
        wire_decode(&k8s__io__api__core__v1__service__descriptor,
                    envelope->object, &wire_request_limits, &arena, &base,
                    &err) == 0) {
        K8s__Io__Api__Core__V1__Service *service =
            (K8s__Io__Api__Core__V1__Service *)base;
        if (strcmp(service->spec->type, "NodePort") == 0) {
            add_node_ports(api, service->spec);
        }
        envelope_write(STR("v1"), STR("Service"),
                       wire_encode_arena(base, &arena), &body);
        return body;
    }
    strbuf_add_str(&body, strbuf_str(&ask->body));
    return body;
}

/* Of an object in JSON its metadata is kept, which is what clients ask for. */
static void take_json(struct fake_ask *ask)
{
    K8s__Io__Api__Core__V1__ConfigMap object =
        K8S__IO__API__CORE__V1__CONFIG_MAP__INIT;
    auto_arena arena = {0};
    ProtobufCMessage *meta;
    struct err err;
    auto_json_t *json =
        json_loadb(strbuf_text(&ask->body), ask->body.byte_count, 0, NULL);

    int rc = wire_json_read(
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__descriptor,
        json_object_get(json, "metadata"), WIRE_JSON_STRICT, &arena, &meta,
        &err);
    ASSERT(rc == 0);
    object.metadata =
        (K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta *)meta;
    object.metadata->uid = arena_strdup(&arena, STR("uid-of-json"));
    strbuf_clear(&ask->body);
    envelope_write(STR("meta.k8s.io/v1"), STR("PartialObjectMetadata"),
                   wire_encode_arena(&object.base, &arena), &ask->body);
}

/* What the server says it has: widgets in namespaces, and gadgets. */
static void answer_group(struct fake_api *api, struct fake_ask *ask)
{
    typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__APIResource
        resource_message;
    resource_message widgets =
        K8S__IO__APIMACHINERY__PKG__APIS__META__V1__APIRESOURCE__INIT;
    resource_message gadgets = widgets;
    resource_message *all[] = {&widgets, &gadgets};
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__APIResourceList list =
        K8S__IO__APIMACHINERY__PKG__APIS__META__V1__APIRESOURCE_LIST__INIT;
    auto_arena arena = {0};
    auto_strbuf body = strbuf_make(0);

    widgets.name = arena_strdup(&arena, STR("widgets"));
    widgets.kind = arena_strdup(&arena, STR("Widget"));
    widgets.has_namespaced = widgets.namespaced = true;
    gadgets.name = arena_strdup(&arena, STR("gadgets"));
    gadgets.kind = arena_strdup(&arena, STR("Gadget"));
    list.n_resources = ARRAY_COUNT(all);
    list.resources = all;
    envelope_write(STR("v1"), STR("APIResourceList"),
                   wire_encode_arena(&list.base, &arena), &body);
    fake_api_end_ask(api, ask, STATUS_OK, strbuf_str(&body));
}

static void create(struct fake_api *api, struct fake_ask *ask)
{
    struct envelope envelope;
    struct object_head head;
    auto_strbuf path = strbuf_make(0);

    if (ask->body.byte_count > 0 && ask->body.bytes[0] == '{') {
        take_json(ask);
    }
    bool is_good = envelope_read(strbuf_str(&ask->body), &envelope) == 0 &&
                   object_head_read(envelope.object, &head) == 0;
    ASSERT(is_good);
    strbuf_addf(&path, "%s/%.*s", ask->path, STR_ARG(head.name));
    if (find(api, strbuf_text(&path))) {
        fake_api_end_with_status(api, ask, STATUS_CONFLICT, "AlreadyExists",
                                 "it already exists");
        return;
    }
    struct fake_other other = {.path = str_dup(strbuf_str(&path)),
                               .body = stored(api, ask, &envelope)};
    VEC_PUSH(&api->others, other);
    api->made_other_count++;
    fake_api_end_ask(api, ask, STATUS_CREATED, strbuf_str(&other.body));
}

void fake_api_answer_other(struct fake_api *api, struct fake_ask *ask)
{
    const struct fake_other *other = find(api, ask->path);

    if (strcmp(ask->path, group_path) == 0) {
        answer_group(api, ask);
    } else if (strcmp(ask->method, "POST") == 0) {
        create(api, ask);
    } else if (!other) {
        fake_api_end_with_status(api, ask, STATUS_NOT_FOUND, "NotFound",
                                 "there is no such object");
    } else {
        fake_api_end_ask(api, ask, STATUS_OK, strbuf_str(&other->body));
    }
}

static void free_other(struct fake_other *other)
{
    mem_free(other->path);
    strbuf_fini(&other->body);
}

static bool has_owner(const struct fake_api *api,
                      const struct fake_other *other)
{
    for (size_t i = 0; i < api->objects.count; i++) {
        struct object_head head;
        if (api->objects.items[i].kind == FAKE_PODS &&
            object_head_read(strbuf_str(&api->objects.items[i].bytes), &head) ==
                0 &&
            memmem(other->body.bytes, other->body.byte_count, head.uid.p,
                   head.uid.byte_count)) {
            return true;
        }
    }
    return false;
}

void fake_api_collect(struct fake_api *api)
{
    size_t kept = 0;

    for (size_t i = 0; i < api->others.count; i++) {
        if (has_owner(api, &api->others.items[i])) {
            api->others.items[kept++] = api->others.items[i];
        } else {
            free_other(&api->others.items[i]);
        }
    }
    api->others.count = kept;
}

void fake_api_others_fini(struct fake_api *api)
{
    for (size_t i = 0; i < api->others.count; i++) {
        free_other(&api->others.items[i]);
    }
    VEC_FREE(&api->others);
}

uint32_t fake_api_other_count(const struct fake_api *api)
{
    return (uint32_t)api->others.count;
}

uint32_t fake_api_made_other_count(const struct fake_api *api)
{
    return api->made_other_count;
}
