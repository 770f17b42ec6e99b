#include "executor/kubernetes/kube_attached.h"

#include "executor/kubernetes/kube_manifest.h"
#include "executor/kubernetes/kube_mapping.h"
#include "executor/kubernetes/kube_object.h"
#include "executor/kubernetes/kube_pod.h"
#include "executor/kubernetes/kube_refs.h"
#include "k8s/core.pb-c.h"
#include "k8s/networking.pb-c.h"
#include "kube/api/envelope.h"
#include "wire/kube/entries.h"
#include "wire/kube/kube_name.h"
#include "wire/kube/manifest.h"
#include "wire/message/message.h"
#include "wire/text/base64.h"

typedef Armadaevents__KubernetesObject object_message;
typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta meta_message;
typedef K8s__Io__Api__Core__V1__ServiceSpec service_message;
typedef K8s__Io__Api__Networking__V1__IngressSpec ingress_message;
typedef K8s__Io__Api__Core__V1__ConfigMap config_message;

/* To pack. */

int kube_attached_pack(const Armadaevents__SubmitJob *submit,
                       bool withholds_secrets, struct arena *arena,
                       struct str *ret_text, struct err *err)
{
    Armadaevents__SubmitJob kept = ARMADAEVENTS__SUBMIT_JOB__INIT;
    auto_strbuf text = strbuf_make(0);

    *ret_text = STR("");
    if (submit->n_objects == 0) {
        return 0;
    }
    if (submit->n_objects > KUBE_ATTACHED_MAX) {
        return err_set(err, -ERR_INVALID,
                       "the job has %zu objects with its services and "
                       "ingresses, more than %d",
                       submit->n_objects, KUBE_ATTACHED_MAX);
    }
    kept.n_objects = submit->n_objects;
    kept.objects = withholds_secrets ? kube_manifest_withhold(submit, arena)
                                     : submit->objects;
    wire_base64_encode(wire_encode_arena(&kept.base, arena), &text);
    if (text.byte_count > KUBE_ATTACHED_BYTES_MAX) {
        return err_set(err, -ERR_INVALID,
                       "the job's objects, services and ingresses have more "
                       "than %d KiB together",
                       KUBE_ATTACHED_BYTES_MAX >> 10);
    }
    *ret_text = arena_str(arena, strbuf_str(&text));
    return 0;
}

/* To make. */

struct maker {
    const struct kube_attached_owner *owner;
    const struct kube_attached_rules *rules;
    struct arena *arena;
};

static meta_message *make_meta(const struct maker *maker,
                               const Armadaevents__ObjectMeta *from,
                               struct str name)
{
    meta_message *meta = wire_new(
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__descriptor,
        maker->arena);
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__OwnerReference *owner = wire_new(
        &k8s__io__apimachinery__pkg__apis__meta__v1__owner_reference__descriptor,
        maker->arena);
    uint32_t label_count = 0, annotation_count = 0;
    const struct label *labels =
        from ? entries_labels(from->labels, from->n_labels, maker->arena,
                              &label_count)
             : NULL;
    const struct label *annotations =
        from ? entries_labels(from->annotations, from->n_annotations,
                              maker->arena, &annotation_count)
             : NULL;

    owner->apiversion = arena_strdup(maker->arena, STR("v1"));
    owner->kind = arena_strdup(maker->arena, STR("Pod"));
    owner->name = arena_strdup(maker->arena, maker->owner->pod_name);
    owner->uid = arena_strdup(maker->arena, maker->owner->uid);
    meta->n_ownerreferences = 1;
    meta->ownerreferences = arena_alloc(maker->arena, sizeof(owner));
    meta->ownerreferences[0] = owner;
    meta->name = arena_strdup(maker->arena, name);
    meta->namespace_ = arena_strdup(maker->arena, maker->owner->namespace_);
    meta->n_labels = label_count;
    meta->labels = entries_make_labels(
        labels, label_count,
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__labels_entry__descriptor,
        maker->arena);
    meta->n_annotations = annotation_count;
    meta->annotations = entries_make_labels(
        annotations, annotation_count,
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__annotations_entry__descriptor,
        maker->arena);
    return meta;
}

static struct str put(const struct maker *maker, const char *api_version,
                      const char *kind, const ProtobufCMessage *message)
{
    auto_strbuf body = strbuf_make(0);

    envelope_write(str_of(api_version), str_of(kind),
                   wire_encode_arena(message, maker->arena), &body);
    return arena_str(maker->arena, strbuf_str(&body));
}

static struct str make_service(const struct maker *maker, meta_message *meta,
                               service_message *spec)
{
    K8s__Io__Api__Core__V1__Service service =
        K8S__IO__API__CORE__V1__SERVICE__INIT;
    const struct label selector[] = {
        {STR(KUBE_JOB_LABEL), maker->owner->job},
        {STR(KUBE_QUEUE_LABEL), maker->owner->queue},
        {STR("armada_pod_number"), STR("0")},
    };

    spec->n_selector = ARRAY_COUNT(selector);
    spec->selector = entries_make_labels(
        selector, ARRAY_COUNT(selector),
        &k8s__io__api__core__v1__service_spec__selector_entry__descriptor,
        maker->arena);
    service.metadata = meta;
    service.spec = spec;
    return put(maker, "v1", "Service", &service.base);
}

/* A name that ends so is to be completed. */
static char *complete(const struct maker *maker, char *name, char last,
                      struct str suffix)
{
    size_t byte_count = name ? strlen(name) : 0;

    if (byte_count == 0 || name[byte_count - 1] != last) {
        return name;
    }
    auto_strbuf whole = strbuf_make(0);
    strbuf_addf(&whole, "%s%.*s", name, STR_ARG(suffix));
    return arena_strdup(maker->arena, strbuf_str(&whole));
}

static struct str make_ingress(const struct maker *maker, meta_message *meta,
                               ingress_message *spec)
{
    K8s__Io__Api__Networking__V1__Ingress ingress =
        K8S__IO__API__NETWORKING__V1__INGRESS__INIT;

    for (size_t i = 0; i < spec->n_rules; i++) {
        spec->rules[i]->host = complete(maker, spec->rules[i]->host, '.',
                                        maker->rules->hostname_suffix);
    }
    for (size_t i = 0; i < spec->n_tls; i++) {
        K8s__Io__Api__Networking__V1__IngressTLS *tls = spec->tls[i];
        tls->secretname = complete(maker, tls->secretname, '-',
                                   maker->rules->certificate_suffix);
        for (size_t h = 0; h < tls->n_hosts; h++) {
            tls->hosts[h] = complete(maker, tls->hosts[h], '.',
                                     maker->rules->hostname_suffix);
        }
    }
    ingress.metadata = meta;
    ingress.spec = spec;
    return put(maker, "networking.k8s.io/v1", "Ingress", &ingress.base);
}

static struct str make_config_map(const struct maker *maker, meta_message *meta,
                                  config_message *map)
{
    map->metadata = meta;
    return put(maker, "v1", "ConfigMap", &map->base);
}

static int make_any(const struct maker *maker,
                    const Berth__Api__Manifest *manifest, meta_message *meta,
                    struct kube_attached *ret, struct err *err)
{
    ret->api_version = str_of(manifest->api_version);
    ret->kind = str_of(manifest->kind);
    ret->plural = kube_mapping_known(ret->api_version, ret->kind);
    ret->is_json = true;
    ret->is_secret = manifest_is_secret(ret->api_version, ret->kind);
    ret->is_withheld = ret->is_secret && manifest->is_withheld;
    if (ret->is_withheld) {
        return 0;
    }
    int rc = manifest_check_rest(ret->api_version, ret->kind,
                                 str_of(manifest->json), err);
    if (rc < 0) {
        return rc;
    }
    ret->body = kube_manifest_body(manifest, meta, maker->owner->node_name,
                                   maker->arena);
    return 0;
}

/* Its name in the cluster: the server has chosen those of services and
 * ingresses. */
static struct str name_of(const struct maker *maker,
                          const object_message *object)
{
    struct str name =
        object->objectmeta ? str_of(object->objectmeta->name) : STR("");
    bool is_own =
        object->object_case ==
            ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP ||
        object->object_case == ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST;

    return is_own && kube_is_subdomain(name)
               ? kube_refs_name(maker->owner->pod_name, name, maker->arena)
               : name;
}

static void set_kind(const char *api_version, const char *kind,
                     const char *plural, struct str body,
                     struct kube_attached *ret)
{
    ret->api_version = str_of(api_version);
    ret->kind = str_of(kind);
    ret->plural = str_of(plural);
    ret->body = body;
}

static int make(const struct maker *maker, object_message *object,
                struct kube_attached *ret, struct err *err)
{
    ret->name = name_of(maker, object);
    ret->namespace_ = maker->owner->namespace_;
    if (!kube_is_subdomain(ret->name)) {
        return err_set(err, -ERR_INVALID, "\"%.*s\" is no name of an object",
                       STR_ARG(ret->name));
    }
    meta_message *meta = make_meta(maker, object->objectmeta, ret->name);
    switch (object->object_case) {
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_SERVICE:
        set_kind("v1", "Service", "services",
                 make_service(maker, meta, object->service), ret);
        return 0;
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_INGRESS:
        set_kind("networking.k8s.io/v1", "Ingress", "ingresses",
                 make_ingress(maker, meta, object->ingress), ret);
        return 0;
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP:
        set_kind("v1", "ConfigMap", "configmaps",
                 make_config_map(maker, meta, object->configmap), ret);
        return 0;
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST:
        return make_any(maker, object->manifest, meta, ret, err);
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT__NOT_SET:
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_POD_SPEC:
    case _ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT__CASE_IS_INT_SIZE:
        break;
    }
    return err_set(err, -ERR_INVALID, "object %.*s is of no kind",
                   STR_ARG(ret->name));
}

void kube_attached_path(const struct kube_attached *item, bool has_name,
                        struct strbuf *path)
{
    kube_mapping_group(item->api_version, path);
    strbuf_addf(path, "/namespaces/%.*s/%.*s", STR_ARG(item->namespace_),
                STR_ARG(item->plural));
    if (has_name) {
        strbuf_addf(path, "/%.*s", STR_ARG(item->name));
    }
}

/* Secrets come first. */
static int make_all(const struct maker *maker,
                    const Armadaevents__SubmitJob *kept,
                    struct kube_attached *items, struct err *err)
{
    uint32_t made = 0;

    for (int wants_secrets = 1; wants_secrets >= 0; wants_secrets--) {
        for (uint32_t i = 0; i < kept->n_objects; i++) {
            if (kube_manifest_is_secret(kept->objects[i]) !=
                (wants_secrets == 1)) {
                continue;
            }
            items[made] = (struct kube_attached){.index = i};
            int rc = make(maker, kept->objects[i], &items[made++], err);
            if (rc < 0) {
                return rc;
            }
        }
    }
    return 0;
}

int kube_attached_unpack(struct str text,
                         const struct kube_attached_owner *owner,
                         const struct kube_attached_rules *rules,
                         struct arena *arena, struct kube_attached **ret_items,
                         uint32_t *ret_count, struct err *err)
{
    const struct maker maker = {owner, rules, arena};
    auto_strbuf bytes = strbuf_make(KUBE_ATTACHED_BYTES_MAX);
    ProtobufCMessage *base = NULL;

    int rc = wire_base64_decode(text, &bytes);
    if (rc < 0) {
        return err_set(err, -ERR_INVALID, "annotation %s is no base64",
                       KUBE_OBJECTS_ANNOTATION);
    }
    rc = wire_decode(&armadaevents__submit_job__descriptor, strbuf_str(&bytes),
                     &wire_request_limits, arena, &base, err);
    if (rc < 0) {
        return rc;
    }
    const Armadaevents__SubmitJob *kept = (const Armadaevents__SubmitJob *)base;
    if (kept->n_objects > KUBE_ATTACHED_MAX) {
        return err_set(err, -ERR_LIMIT, "annotation %s has %zu objects",
                       KUBE_OBJECTS_ANNOTATION, kept->n_objects);
    }
    /* Again, for the list may be shorter now, or another wrote the pod. */
    rc = kube_allowed_check(kept, &rules->allowed, err);
    *ret_items = arena_alloc_array(arena, kept->n_objects, sizeof(**ret_items));
    *ret_count = (uint32_t)kept->n_objects;
    return rc < 0 ? rc : make_all(&maker, kept, *ret_items, err);
}

/* What was made. */

/* All kinds have their metadata in the same field; NULL: it does not read. */
static const meta_message *meta_of(struct str answer, struct arena *arena)
{
    struct envelope envelope;
    ProtobufCMessage *base;
    struct err err;

    return envelope_read(answer, &envelope) < 0 ||
                   kube_object_decode(
                       &k8s__io__api__core__v1__config_map__descriptor,
                       envelope.object, arena, &base, &err) < 0
               ? NULL
               : ((const config_message *)base)->metadata;
}

bool kube_attached_is_of(struct str answer, struct str uid)
{
    auto_arena arena = {0};
    const meta_message *meta = meta_of(answer, &arena);

    for (size_t i = 0; meta && i < meta->n_ownerreferences; i++) {
        if (str_equal(str_of(meta->ownerreferences[i]->uid), uid)) {
            return true;
        }
    }
    return false;
}

void kube_attached_note(struct str answer, struct arena *arena,
                        struct kube_attached *item)
{
    auto_arena read = {0};
    const meta_message *meta = meta_of(answer, &read);

    /* An answer that does not read says all the same that it is there. */
    item->uid =
        arena_str(arena, meta && meta->uid && *meta->uid ? str_of(meta->uid)
                                                         : STR("unknown"));
    item->generation = meta ? meta->generation : 0;
    item->changed_ms = meta ? kube_time_ms(meta->creationtimestamp) : 0;
}

static void expose(struct kube_exposed exposed, struct kube_exposed *items,
                   uint32_t *count)
{
    uint32_t at = 0;

    while (at < *count && items[at].port < exposed.port) {
        at++;
    }
    if (at < *count && items[at].port == exposed.port) {
        items[at] = exposed;
    } else if (*count < KUBE_EXPOSED_MAX) {
        memmove(items + at + 1, items + at, (*count - at) * sizeof(*items));
        items[at] = exposed;
        ++*count;
    }
}

static void expose_service(struct str object, struct arena *arena,
                           struct kube_exposed *items, uint32_t *count)
{
    ProtobufCMessage *base;
    struct err err;

    if (kube_object_decode(&k8s__io__api__core__v1__service__descriptor, object,
                           arena, &base, &err) < 0) {
        return;
    }
    const service_message *spec =
        ((const K8s__Io__Api__Core__V1__Service *)base)->spec;
    for (size_t i = 0; spec && i < spec->n_ports; i++) {
        if (spec->ports[i]->nodeport > 0) {
            expose((struct kube_exposed){.port = spec->ports[i]->port,
                                         .node_port = spec->ports[i]->nodeport},
                   items, count);
        }
    }
}

static void expose_rule(const K8s__Io__Api__Networking__V1__IngressRule *rule,
                        struct arena *arena, struct kube_exposed *items,
                        uint32_t *count)
{
    const K8s__Io__Api__Networking__V1__HTTPIngressRuleValue *http =
        rule->ingressrulevalue ? rule->ingressrulevalue->http : NULL;

    for (size_t i = 0; http && i < http->n_paths; i++) {
        const K8s__Io__Api__Networking__V1__HTTPIngressPath *path =
            http->paths[i];
        if (path->backend && path->backend->service &&
            path->backend->service->port) {
            auto_strbuf text = strbuf_make(0);
            strbuf_add_str(&text, str_of(rule->host));
            strbuf_add_str(&text, str_of(path->path));
            expose(
                (struct kube_exposed){
                    .port = path->backend->service->port->number,
                    .address = arena_str(arena, strbuf_str(&text))},
                items, count);
        }
    }
}

static void expose_ingress(struct str object, struct arena *arena,
                           struct kube_exposed *items, uint32_t *count)
{
    ProtobufCMessage *base;
    struct err err;

    if (kube_object_decode(&k8s__io__api__networking__v1__ingress__descriptor,
                           object, arena, &base, &err) < 0) {
        return;
    }
    const ingress_message *spec =
        ((const K8s__Io__Api__Networking__V1__Ingress *)base)->spec;
    for (size_t i = 0; spec && i < spec->n_rules; i++) {
        expose_rule(spec->rules[i], arena, items, count);
    }
}

void kube_attached_expose(struct str answer, struct arena *arena,
                          struct kube_exposed *items, uint32_t *count)
{
    struct envelope envelope;

    if (envelope_read(answer, &envelope) < 0) {
        return;
    }
    if (str_equal(envelope.kind, STR("Service"))) {
        expose_service(envelope.object, arena, items, count);
    } else if (str_equal(envelope.kind, STR("Ingress"))) {
        expose_ingress(envelope.object, arena, items, count);
    }
}
