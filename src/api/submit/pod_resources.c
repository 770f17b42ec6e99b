#include "api/submit/pod_resources.h"

#include "model/resource.h"
#include "wire/kube/entries.h"

/* Requests and limits, in which an amount that does not read is left out. */
struct totals {
    struct resource_list requests, limits;
};

static void lists_init(struct totals *totals, struct arena *arena)
{
    totals->requests.items = arena_alloc_array(arena, RESOURCE_LIST_MAX,
                                               sizeof(struct resource_amount));
    totals->limits.items = arena_alloc_array(arena, RESOURCE_LIST_MAX,
                                             sizeof(struct resource_amount));
}

static void read_container(struct totals *totals,
                           const K8s__Io__Api__Core__V1__Container *container)
{
    const K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        container->resources;

    totals->requests.count = totals->limits.count = 0;
    if (!resources) {
        return;
    }
    /* What was accepted reads; beyond the model's limit it is cut. */
    (void)!entries_amounts(resources->requests, resources->n_requests,
                           &totals->requests, NULL);
    (void)!entries_amounts(resources->limits, resources->n_limits,
                           &totals->limits, NULL);
}

static void add_all(struct resource_list *to, const struct resource_list *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        (void)!resource_list_add(to, from->items[i].name, from->items[i].milli);
    }
}

static void raise_all(struct resource_list *to,
                      const struct resource_list *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        int64_t has = resource_list_get(to, from->items[i].name);
        if (from->items[i].milli > has) {
            (void)!resource_list_add(to, from->items[i].name,
                                     from->items[i].milli - has);
        }
    }
}

K8s__Io__Api__Core__V1__ResourceRequirements *
pod_resources(const K8s__Io__Api__Core__V1__PodSpec *pod, struct arena *arena)
{
    K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        arena_alloc(arena, sizeof(*resources));
    struct totals sum = {0}, one = {0};

    lists_init(&sum, arena);
    lists_init(&one, arena);
    for (size_t i = 0; i < pod->n_containers; i++) {
        read_container(&one, pod->containers[i]);
        add_all(&sum.requests, &one.requests);
        add_all(&sum.limits, &one.limits);
    }
    for (size_t i = 0; i < pod->n_initcontainers; i++) {
        read_container(&one, pod->initcontainers[i]);
        raise_all(&sum.requests, &one.requests);
        raise_all(&sum.limits, &one.limits);
    }
    k8s__io__api__core__v1__resource_requirements__init(resources);
    resources->n_requests = sum.requests.count;
    resources->requests = entries_make_amounts(
        &sum.requests,
        &k8s__io__api__core__v1__resource_requirements__requests_entry__descriptor,
        arena);
    resources->n_limits = sum.limits.count;
    resources->limits = entries_make_amounts(
        &sum.limits,
        &k8s__io__api__core__v1__resource_requirements__limits_entry__descriptor,
        arena);
    return resources;
}
