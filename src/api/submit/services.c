#include "api/submit/services.h"

#include "api/core/message.h"
#include "wire/kube/entries.h"

/* What is being made for one item. */
struct maker {
    const Berth__Submission__Item *item;
    const struct pod_ports *ports;
    const struct object_owner *owner;
    const struct submit_rules *rules;
    struct arena *arena;
    Armadaevents__KubernetesObject **objects;
    uint32_t object_count;
    uint32_t numbered_count; /* services without a name of their own */
};

static bool is_port_open(const K8s__Io__Api__Core__V1__ContainerPort *port)
{
    return !port->has_hostport || port->hostport <= 0;
}

/* Whether a container runs as long as the pod does. */
static bool is_lasting(const struct pod_container *container)
{
    const char *policy = container->message->restartpolicy;

    return !container->is_init || (policy && strcmp(policy, "Always") == 0);
}

static void add_ports(struct pod_ports *ports,
                      const struct pod_container *container,
                      struct arena *arena)
{
    for (size_t p = 0; p < container->message->n_ports; p++) {
        const K8s__Io__Api__Core__V1__ContainerPort *port =
            container->message->ports[p];
        if (is_port_open(port)) {
            ports->items[ports->count++] = (struct pod_port){
                arena_str(arena, container->name),
                arena_str(arena, str_of(port->protocol)), port->containerport};
        }
    }
}

struct pod_ports pod_ports_of(const struct pod_view *pod, struct arena *arena)
{
    struct pod_ports ports = {0};
    size_t count = 0;

    for (uint32_t i = 0; i < pod->container_count; i++) {
        count += pod->containers[i].message->n_ports;
    }
    ports.items = arena_alloc_array(arena, count, sizeof(ports.items[0]));
    for (uint32_t i = 0; i < pod->container_count; i++) {
        if (is_lasting(&pod->containers[i])) {
            add_ports(&ports, &pod->containers[i], arena);
        }
    }
    return ports;
}

static bool lists(const uint32_t *listed, size_t count, int32_t number)
{
    for (size_t i = 0; i < count; i++) {
        if (listed[i] == (uint32_t)number) {
            return true;
        }
    }
    return false;
}

/* Those of the pod's ports that are listed. */
static struct pod_ports choose(struct maker *maker, const uint32_t *listed,
                               size_t listed_count)
{
    struct pod_ports chosen = {arena_alloc_array(maker->arena,
                                                 maker->ports->count,
                                                 sizeof(chosen.items[0])),
                               0};

    for (uint32_t i = 0; i < maker->ports->count; i++) {
        if (lists(listed, listed_count, maker->ports->items[i].number)) {
            chosen.items[chosen.count++] = maker->ports->items[i];
        }
    }
    return chosen;
}

static K8s__Io__Api__Core__V1__ServicePort *
make_port(struct maker *maker, const struct pod_port *port)
{
    K8s__Io__Api__Core__V1__ServicePort *made = message_new(
        maker->arena, &k8s__io__api__core__v1__service_port__descriptor);

    made->name = message_format(maker->arena, "%.*s-%d",
                                STR_ARG(port->container), port->number);
    made->has_port = true;
    made->port = port->number;
    made->protocol =
        port->protocol.byte_count ? message_text(port->protocol) : NULL;
    return made;
}

/* Our labels and annotations, and `count` annotations of the user's. */
static Armadaevents__ObjectMeta *
make_meta(struct maker *maker, char *name,
          Api__IngressConfig__AnnotationsEntry **annotations, size_t count)
{
    Armadaevents__ObjectMeta *meta =
        message_new(maker->arena, &armadaevents__object_meta__descriptor);
    struct label labels[] = {
        {STR("armada_job_id"), str_of(maker->owner->job_id)},
        {STR("armada_queue_id"), str_of(maker->owner->queue)},
    };
    struct label *notes =
        arena_alloc_array(maker->arena, count + 2, sizeof(*notes));

    for (size_t i = 0; i < count; i++) {
        notes[i] = (struct label){str_of(annotations[i]->key),
                                  str_of(annotations[i]->value)};
    }
    notes[count] =
        (struct label){STR("armada_jobset_id"), str_of(maker->owner->job_set)};
    notes[count + 1] =
        (struct label){STR("armada_owner"), str_of(maker->owner->owner)};
    meta->namespace_ = maker->item->namespace_;
    meta->name = name;
    meta->n_labels = ARRAY_COUNT(labels);
    meta->labels = entries_make_labels(
        labels, meta->n_labels,
        &armadaevents__object_meta__labels_entry__descriptor, maker->arena);
    meta->n_annotations = count + 2;
    meta->annotations = entries_make_labels(
        notes, meta->n_annotations,
        &armadaevents__object_meta__annotations_entry__descriptor,
        maker->arena);
    return meta;
}

static Armadaevents__KubernetesObject *
add_object(struct maker *maker, Armadaevents__ObjectMeta *meta)
{
    Armadaevents__KubernetesObject *object =
        message_new(maker->arena, &armadaevents__kubernetes_object__descriptor);

    object->objectmeta = meta;
    maker->objects[maker->object_count++] = object;
    return object;
}

/* Add a service over `ports` (at least one). */
static Armadaevents__KubernetesObject *
add_service(struct maker *maker, const struct pod_ports *ports,
            const char *custom_name, bool is_node_port, bool is_headless)
{
    K8s__Io__Api__Core__V1__ServiceSpec *spec = message_new(
        maker->arena, &k8s__io__api__core__v1__service_spec__descriptor);
    struct label selector = {STR("armada_job_id"),
                             str_of(maker->owner->job_id)};
    bool is_custom = maker->rules->allows_custom_service_names && *custom_name;
    char *name =
        is_custom
            ? message_format(maker->arena, "%s", custom_name)
            : message_format(maker->arena, "armada-%s-0-service-%u",
                             maker->owner->job_id, maker->numbered_count++);

    spec->type =
        message_text(is_node_port ? STR("NodePort") : STR("ClusterIP"));
    spec->clusterip = is_headless ? message_text(STR("None")) : NULL;
    spec->n_selector = 1;
    spec->selector = entries_make_labels(
        &selector, 1,
        &k8s__io__api__core__v1__service_spec__selector_entry__descriptor,
        maker->arena);
    spec->ports =
        arena_alloc_array(maker->arena, ports->count, sizeof(spec->ports[0]));
    for (uint32_t i = 0; i < ports->count; i++) {
        spec->ports[spec->n_ports++] = make_port(maker, &ports->items[i]);
    }
    Armadaevents__KubernetesObject *object =
        add_object(maker, make_meta(maker, name, NULL, 0));
    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_SERVICE;
    object->service = spec;
    return object;
}

static bool covers(const K8s__Io__Api__Core__V1__ServiceSpec *spec,
                   const struct pod_ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        bool has = false;
        for (size_t p = 0; p < spec->n_ports && !has; p++) {
            has = spec->ports[p]->port == ports->items[i].number;
        }
        if (!has) {
            return false;
        }
    }
    return true;
}

/* The first of the item's services that has all the ports, or a new one. */
static Armadaevents__KubernetesObject *
service_for(struct maker *maker, uint32_t service_count,
            const struct pod_ports *ports, const Api__IngressConfig *ingress)
{
    for (uint32_t i = 0; i < service_count; i++) {
        if (covers(maker->objects[i]->service, ports)) {
            return maker->objects[i];
        }
    }
    return add_service(maker, ports, "", false, !ingress->use_clusterip);
}

static K8s__Io__Api__Networking__V1__IngressRule *
make_rule(struct maker *maker, const struct pod_port *port,
          Armadaevents__KubernetesObject *service)
{
    K8s__Io__Api__Networking__V1__HTTPIngressPath *path = message_new(
        maker->arena,
        &k8s__io__api__networking__v1__httpingress_path__descriptor);
    K8s__Io__Api__Networking__V1__IngressRule *rule = message_new(
        maker->arena, &k8s__io__api__networking__v1__ingress_rule__descriptor);

    path->path = message_text(STR("/"));
    path->pathtype = message_text(STR("Prefix"));
    path->backend =
        message_new(maker->arena,
                    &k8s__io__api__networking__v1__ingress_backend__descriptor);
    path->backend->service = message_new(
        maker->arena,
        &k8s__io__api__networking__v1__ingress_service_backend__descriptor);
    path->backend->service->name = service->objectmeta->name;
    path->backend->service->port = message_new(
        maker->arena,
        &k8s__io__api__networking__v1__service_backend_port__descriptor);
    path->backend->service->port->has_number = true;
    path->backend->service->port->number = port->number;
    rule->host = message_format(maker->arena, "%.*s-%d-armada-%s-0.%s.",
                                STR_ARG(port->container), port->number,
                                maker->owner->job_id, maker->item->namespace_);
    rule->ingressrulevalue = message_new(
        maker->arena,
        &k8s__io__api__networking__v1__ingress_rule_value__descriptor);
    rule->ingressrulevalue->http = message_new(
        maker->arena,
        &k8s__io__api__networking__v1__httpingress_rule_value__descriptor);
    rule->ingressrulevalue->http->n_paths = 1;
    rule->ingressrulevalue->http->paths =
        arena_alloc(maker->arena, sizeof(path));
    rule->ingressrulevalue->http->paths[0] = path;
    return rule;
}

static void add_tls(struct maker *maker,
                    K8s__Io__Api__Networking__V1__IngressSpec *spec,
                    const Api__IngressConfig *ingress)
{
    K8s__Io__Api__Networking__V1__IngressTLS *tls = message_new(
        maker->arena, &k8s__io__api__networking__v1__ingress_tls__descriptor);

    tls->hosts =
        arena_alloc_array(maker->arena, spec->n_rules, sizeof(tls->hosts[0]));
    for (size_t i = 0; i < spec->n_rules; i++) {
        tls->hosts[tls->n_hosts++] = spec->rules[i]->host;
    }
    /* The executor appends its own suffix to a name that ends in a dash. */
    tls->secretname =
        *ingress->cert_name
            ? ingress->cert_name
            : message_format(maker->arena, "%s-", maker->item->namespace_);
    spec->n_tls = 1;
    spec->tls = arena_alloc(maker->arena, sizeof(spec->tls[0]));
    spec->tls[0] = tls;
}

static void add_ingress(struct maker *maker, const Api__IngressConfig *ingress,
                        uint32_t service_count, uint32_t index)
{
    struct pod_ports ports = choose(maker, ingress->ports, ingress->n_ports);

    if (!ports.count) {
        return;
    }
    Armadaevents__KubernetesObject *service =
        service_for(maker, service_count, &ports, ingress);
    K8s__Io__Api__Networking__V1__IngressSpec *spec = message_new(
        maker->arena, &k8s__io__api__networking__v1__ingress_spec__descriptor);
    spec->rules =
        arena_alloc_array(maker->arena, ports.count, sizeof(spec->rules[0]));
    for (uint32_t i = 0; i < ports.count; i++) {
        spec->rules[spec->n_rules++] =
            make_rule(maker, &ports.items[i], service);
    }
    if (ingress->tls_enabled) {
        add_tls(maker, spec, ingress);
    }
    Armadaevents__KubernetesObject *object = add_object(
        maker, make_meta(maker,
                         message_format(maker->arena, "armada-%s-0-ingress-%u",
                                        maker->owner->job_id, index),
                         ingress->annotations, ingress->n_annotations));
    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_INGRESS;
    object->ingress = spec;
}

Armadaevents__KubernetesObject **
services_make(const Berth__Submission__Item *item,
              const struct pod_ports *ports, const struct object_owner *owner,
              const struct submit_rules *rules, struct arena *arena,
              uint32_t *ret_count)
{
    struct maker maker = {.item = item,
                          .ports = ports,
                          .owner = owner,
                          .rules = rules,
                          .arena = arena};
    uint32_t ingress_count = 0;

    *ret_count = 0;
    if (!item->n_services && !item->n_ingress) {
        return NULL;
    }
    maker.objects =
        arena_alloc_array(arena, item->n_services + 2 * item->n_ingress,
                          sizeof(maker.objects[0]));
    for (size_t i = 0; i < item->n_services; i++) {
        const Api__ServiceConfig *service = item->services[i];
        struct pod_ports chosen =
            choose(&maker, service->ports, service->n_ports);
        if (chosen.count) {
            bool is_headless = service->type == API__SERVICE_TYPE__Headless;
            add_service(&maker, &chosen, service->name, !is_headless,
                        is_headless);
        }
    }
    uint32_t service_count = maker.object_count;
    for (size_t i = 0; i < item->n_ingress; i++) {
        uint32_t before = maker.object_count;
        add_ingress(&maker, item->ingress[i], service_count, ingress_count);
        ingress_count += maker.object_count > before;
    }
    *ret_count = maker.object_count;
    return maker.objects;
}
