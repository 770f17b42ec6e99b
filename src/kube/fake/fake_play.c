/* What others do in the cluster, on demand. */
#include "kube/fake/fake_private.h"
#include "wire/message/message.h"

typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta meta_message;

static char *copy(const char *text, struct arena *arena)
{
    return arena_strdup(arena, str_of(text));
}

static meta_message *make_meta(struct fake_api *api, const char *name,
                               struct arena *arena)
{
    meta_message *meta = wire_new(
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__descriptor,
        arena);

    meta->name = copy(name, arena);
    meta->uid = fake_api_uid(api, arena);
    return meta;
}

/* An amount of cpu, as an entry of this map. */
static void *make_cpu(const ProtobufCMessageDescriptor *type, const char *cpu,
                      struct arena *arena)
{
    /* All maps of quantities have this shape. */
    K8s__Io__Api__Core__V1__NodeStatus__AllocatableEntry *entry =
        wire_new(type, arena);
    K8s__Io__Api__Core__V1__NodeStatus__AllocatableEntry **entries =
        arena_alloc_array(arena, 1, sizeof(*entries));

    entry->key = copy("cpu", arena);
    entry->value = wire_new(
        &k8s__io__apimachinery__pkg__api__resource__quantity__descriptor,
        arena);
    entry->value->string = copy(cpu, arena);
    entries[0] = entry;
    return entries;
}

void fake_api_put_node(struct fake_api *api, const char *name, bool is_ready)
{
    auto_arena arena = {0};
    fake_node_message *node =
        wire_new(&k8s__io__api__core__v1__node__descriptor, &arena);
    K8s__Io__Api__Core__V1__NodeCondition **conditions =
        arena_alloc_array(&arena, 1, sizeof(*conditions));

    node->metadata = make_meta(api, name, &arena);
    node->status =
        wire_new(&k8s__io__api__core__v1__node_status__descriptor, &arena);
    node->status->n_allocatable = 1;
    node->status->allocatable = make_cpu(
        &k8s__io__api__core__v1__node_status__allocatable_entry__descriptor,
        "8", &arena);
    conditions[0] =
        wire_new(&k8s__io__api__core__v1__node_condition__descriptor, &arena);
    conditions[0]->type = copy("Ready", &arena);
    conditions[0]->status = copy(is_ready ? "True" : "Unknown", &arena);
    node->status->n_conditions = 1;
    node->status->conditions = conditions;
    (void)fake_api_write(api, FAKE_NODES, &node->base);
}

static struct fake_object *find(struct fake_api *api, enum fake_kind kind,
                                const char *name)
{
    struct fake_object *object = fake_api_find(api, kind, str_of(name));

    ASSERT(object);
    return object;
}

void fake_api_remove_node(struct fake_api *api, const char *name)
{
    fake_api_drop(api, find(api, FAKE_NODES, name));
}

void fake_api_put_pod(struct fake_api *api, const char *name, const char *node,
                      const char *cpu)
{
    auto_arena arena = {0};
    fake_pod_message *pod =
        wire_new(&k8s__io__api__core__v1__pod__descriptor, &arena);
    K8s__Io__Api__Core__V1__Container **containers =
        arena_alloc_array(&arena, 1, sizeof(*containers));

    pod->metadata = make_meta(api, name, &arena);
    pod->metadata->namespace_ = copy("default", &arena);
    pod->spec = wire_new(&k8s__io__api__core__v1__pod_spec__descriptor, &arena);
    pod->spec->nodename = copy(node, &arena);
    containers[0] =
        wire_new(&k8s__io__api__core__v1__container__descriptor, &arena);
    containers[0]->name = copy("main", &arena);
    containers[0]->resources = wire_new(
        &k8s__io__api__core__v1__resource_requirements__descriptor, &arena);
    containers[0]->resources->n_requests = 1;
    containers[0]->resources->requests = make_cpu(
        &k8s__io__api__core__v1__resource_requirements__requests_entry__descriptor,
        cpu, &arena);
    pod->spec->n_containers = 1;
    pod->spec->containers = containers;
    (void)fake_api_write(api, FAKE_PODS, &pod->base);
}

void fake_api_copy_pod(struct fake_api *api, const char *name,
                       const char *copy_name, const char *run)
{
    auto_arena arena = {0};
    fake_pod_message *pod = fake_api_read(find(api, FAKE_PODS, name), &arena);

    pod->metadata->name = copy(copy_name, &arena);
    pod->metadata->uid = fake_api_uid(api, &arena);
    for (size_t i = 0; i < pod->metadata->n_labels; i++) {
        if (strcmp(pod->metadata->labels[i]->key, "armada_job_run_id") == 0) {
            pod->metadata->labels[i]->value = copy(run, &arena);
        }
    }
    (void)fake_api_write(api, FAKE_PODS, &pod->base);
}

void fake_api_fail_pod(struct fake_api *api, const char *name,
                       const char *reason, int exit_code)
{
    fake_api_end_pod(api, find(api, FAKE_PODS, name), reason, exit_code);
}

void fake_api_delete_pod(struct fake_api *api, const char *name)
{
    auto_arena arena = {0};
    fake_pod_message *pod = fake_api_read(find(api, FAKE_PODS, name), &arena);

    pod->metadata->deletiontimestamp = pod->metadata->creationtimestamp;
    fake_api_write(api, FAKE_PODS, &pod->base)->due_ms = fake_api_now_ms(api);
}

void fake_api_remove_pod(struct fake_api *api, const char *name)
{
    fake_api_drop(api, find(api, FAKE_PODS, name));
}

uint32_t fake_api_pod_count(const struct fake_api *api)
{
    uint32_t count = 0;

    for (size_t i = 0; i < api->objects.count; i++) {
        count += api->objects.items[i].kind == FAKE_PODS;
    }
    return count;
}
