#include "sample.h"

#include "field.h"
#include "wire/message/message.h"

/* Append to a protobuf-c repeated field that lives in an arena. */
#define APPEND(arena, n, items, item)                                         \
    do {                                                                      \
        void *grown_ = arena_alloc_array((arena), (n) + 1, sizeof(*(items))); \
        if (n) {                                                              \
            memcpy(grown_, (items), (n) * sizeof(*(items)));                  \
        }                                                                     \
        (items) = grown_;                                                     \
        (items)[(n)++] = (item);                                              \
    } while (0)

/* A message of a protobuf-c type, in the arena and initialised. */
#define NEW(arena, descriptor) new_message(arena, &descriptor)

static void *new_message(struct arena *arena,
                         const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = arena_alloc(arena, type->sizeof_message);

    protobuf_c_message_init(type, message);
    return message;
}

K8s__Io__Api__Core__V1__Container *
sample_container(struct arena *arena, K8s__Io__Api__Core__V1__PodSpec *pod,
                 const char *name, bool is_init)
{
    K8s__Io__Api__Core__V1__Container *container =
        NEW(arena, k8s__io__api__core__v1__container__descriptor);

    container->name = field(name);
    container->resources =
        NEW(arena, k8s__io__api__core__v1__resource_requirements__descriptor);
    if (is_init) {
        APPEND(arena, pod->n_initcontainers, pod->initcontainers, container);
    } else {
        APPEND(arena, pod->n_containers, pod->containers, container);
    }
    return container;
}

static K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *
quantity(struct arena *arena, const char *s)
{
    K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *q = NEW(
        arena, k8s__io__apimachinery__pkg__api__resource__quantity__descriptor);

    q->string = field(s);
    return q;
}

void sample_resource(struct arena *arena,
                     K8s__Io__Api__Core__V1__Container *container,
                     const char *name, const char *request, const char *limit)
{
    K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        container->resources;

    if (request) {
        K8s__Io__Api__Core__V1__ResourceRequirements__RequestsEntry *entry = NEW(
            arena,
            k8s__io__api__core__v1__resource_requirements__requests_entry__descriptor);
        entry->key = field(name);
        entry->value = quantity(arena, request);
        APPEND(arena, resources->n_requests, resources->requests, entry);
    }
    if (limit) {
        K8s__Io__Api__Core__V1__ResourceRequirements__LimitsEntry *entry = NEW(
            arena,
            k8s__io__api__core__v1__resource_requirements__limits_entry__descriptor);
        entry->key = field(name);
        entry->value = quantity(arena, limit);
        APPEND(arena, resources->n_limits, resources->limits, entry);
    }
}

const char *sample_request(const K8s__Io__Api__Core__V1__PodSpec *pod,
                           size_t index, const char *name)
{
    const K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        index < pod->n_containers
            ? pod->containers[index]->resources
            : pod->initcontainers[index - pod->n_containers]->resources;

    for (size_t i = 0; i < resources->n_requests; i++) {
        if (strcmp(resources->requests[i]->key, name) == 0) {
            return resources->requests[i]->value->string;
        }
    }
    return NULL;
}

K8s__Io__Api__Core__V1__PodSpec *sample_pod(struct arena *arena)
{
    K8s__Io__Api__Core__V1__PodSpec *pod =
        NEW(arena, k8s__io__api__core__v1__pod_spec__descriptor);
    K8s__Io__Api__Core__V1__Container *container =
        sample_container(arena, pod, "main", false);

    sample_resource(arena, container, "cpu", "1", "1");
    sample_resource(arena, container, "memory", "1Gi", "1Gi");
    return pod;
}

void sample_port(struct arena *arena,
                 K8s__Io__Api__Core__V1__Container *container, int port)
{
    K8s__Io__Api__Core__V1__ContainerPort *p =
        NEW(arena, k8s__io__api__core__v1__container_port__descriptor);

    p->has_containerport = true;
    p->containerport = port;
    APPEND(arena, container->n_ports, container->ports, p);
}

void sample_toleration(struct arena *arena,
                       K8s__Io__Api__Core__V1__PodSpec *pod, const char *key)
{
    K8s__Io__Api__Core__V1__Toleration *t =
        NEW(arena, k8s__io__api__core__v1__toleration__descriptor);

    t->key = field(key);
    t->operator_ = field("Exists");
    APPEND(arena, pod->n_tolerations, pod->tolerations, t);
}

K8s__Io__Api__Core__V1__NodeAffinity *
sample_affinity(struct arena *arena, K8s__Io__Api__Core__V1__PodSpec *pod,
                const char *key, const char *op, const char *value)
{
    K8s__Io__Api__Core__V1__NodeSelector *selector =
        NEW(arena, k8s__io__api__core__v1__node_selector__descriptor);
    K8s__Io__Api__Core__V1__NodeSelectorTerm *term =
        NEW(arena, k8s__io__api__core__v1__node_selector_term__descriptor);
    K8s__Io__Api__Core__V1__NodeSelectorRequirement *expression = NEW(
        arena, k8s__io__api__core__v1__node_selector_requirement__descriptor);

    expression->key = field(key);
    expression->operator_ = field(op);
    if (value) {
        APPEND(arena, expression->n_values, expression->values, field(value));
    }
    APPEND(arena, term->n_matchexpressions, term->matchexpressions, expression);
    APPEND(arena, selector->n_nodeselectorterms, selector->nodeselectorterms,
           term);
    pod->affinity = NEW(arena, k8s__io__api__core__v1__affinity__descriptor);
    pod->affinity->nodeaffinity =
        NEW(arena, k8s__io__api__core__v1__node_affinity__descriptor);
    pod->affinity->nodeaffinity
        ->requiredduringschedulingignoredduringexecution = selector;
    return pod->affinity->nodeaffinity;
}

Berth__Submission__Item *sample_item(struct arena *arena,
                                     const K8s__Io__Api__Core__V1__PodSpec *pod)
{
    Berth__Submission__Item *item =
        NEW(arena, berth__submission__item__descriptor);

    item->namespace_ = field("default");
    if (pod) {
        struct str bytes = wire_encode_arena(&pod->base, arena);
        ProtobufCBinaryData data = {bytes.byte_count,
                                    (uint8_t *)(uintptr_t)bytes.p};
        APPEND(arena, item->n_pod_spec, item->pod_spec, data);
    }
    return item;
}

void sample_annotation(struct arena *arena, Berth__Submission__Item *item,
                       const char *key, const char *value)
{
    Berth__Submission__Item__AnnotationsEntry *entry =
        NEW(arena, berth__submission__item__annotations_entry__descriptor);

    entry->key = field(key);
    entry->value = field(value);
    APPEND(arena, item->n_annotations, item->annotations, entry);
}

void sample_label(struct arena *arena, Berth__Submission__Item *item,
                  const char *key, const char *value)
{
    Berth__Submission__Item__LabelsEntry *entry =
        NEW(arena, berth__submission__item__labels_entry__descriptor);

    entry->key = field(key);
    entry->value = field(value);
    APPEND(arena, item->n_labels, item->labels, entry);
}

void sample_gang(struct arena *arena, Berth__Submission__Item *item,
                 const char *id, const char *cardinality)
{
    sample_annotation(arena, item, "armadaproject.io/gangId", id);
    sample_annotation(arena, item, "armadaproject.io/gangCardinality",
                      cardinality);
}

Api__IngressConfig *sample_ingress(struct arena *arena,
                                   Berth__Submission__Item *item, uint32_t port)
{
    Api__IngressConfig *ingress = NEW(arena, api__ingress_config__descriptor);

    APPEND(arena, ingress->n_ports, ingress->ports, port);
    APPEND(arena, item->n_ingress, item->ingress, ingress);
    return ingress;
}

Api__ServiceConfig *sample_service(struct arena *arena,
                                   Berth__Submission__Item *item,
                                   Api__ServiceType type, uint32_t port)
{
    Api__ServiceConfig *service = NEW(arena, api__service_config__descriptor);

    service->type = type;
    APPEND(arena, service->n_ports, service->ports, port);
    APPEND(arena, item->n_services, item->services, service);
    return service;
}

Berth__Submission__Request *sample_request_of(struct arena *arena,
                                              Berth__Submission__Item **items,
                                              size_t count)
{
    Berth__Submission__Request *request =
        NEW(arena, berth__submission__request__descriptor);

    request->queue = field("q");
    request->job_set_id = field("s");
    request->job_request_items = items;
    request->n_job_request_items = count;
    return request;
}
