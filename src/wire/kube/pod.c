#include "wire/kube/pod.h"

#include "wire/kube/entries.h"
#include "wire/kube/pod_affinity.h"
#include "wire/kube/pod_ports.h"

typedef K8s__Io__Api__Core__V1__Container container_message;

/* Requests. */

static struct resource_list list_create(struct arena *arena)
{
    return (struct resource_list){
        arena_alloc_array(arena, RESOURCE_LIST_MAX,
                          sizeof(struct resource_amount)),
        0};
}

static int add_amount(struct resource_list *list, struct str name,
                      int64_t milli, struct err *err)
{
    int rc = resource_list_add(list, name, milli);

    return rc < 0 ? err_set(err, rc, "more than %d kinds of resources",
                            RESOURCE_LIST_MAX)
                  : 0;
}

static int add_list(struct resource_list *sum, const struct resource_list *more,
                    struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < more->count; i++) {
        rc = add_amount(sum, more->items[i].name, more->items[i].milli, err);
    }
    return rc;
}

/* max becomes the larger of itself and `other`, resource by resource. */
static int raise_list(struct resource_list *max,
                      const struct resource_list *other, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < other->count; i++) {
        const struct resource_amount *item = &other->items[i];
        int64_t have = resource_list_get(max, item->name);

        if (item->milli > have) {
            rc = add_amount(max, item->name, item->milli - have, err);
        }
    }
    return rc;
}

/* Whether the list names the resource, be it with an amount of zero. */
static bool has_name(const struct resource_list *list, struct str name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (str_equal(list->items[i].name, name)) {
            return true;
        }
    }
    return false;
}

static int
read_resources(const K8s__Io__Api__Core__V1__ResourceRequirements *resources,
               struct arena *arena, struct resource_list *ret_requests,
               struct resource_list *ret_limits, struct err *err)
{
    *ret_requests = list_create(arena);
    *ret_limits = list_create(arena);
    if (!resources) {
        return 0;
    }
    int rc = entries_amounts(resources->requests, resources->n_requests,
                             ret_requests, err);

    return rc ? rc
              : entries_amounts(resources->limits, resources->n_limits,
                                ret_limits, err);
}

/* What a container asks: its requests, and its limits where it has none. */
static int container_requests(const container_message *container,
                              struct arena *arena,
                              struct resource_list *ret_list, struct err *err)
{
    struct resource_list requests, limits;
    int rc =
        read_resources(container->resources, arena, &requests, &limits, err);

    if (rc < 0) {
        return rc;
    }
    for (uint32_t i = 0; i < limits.count; i++) {
        const struct resource_amount *limit = &limits.items[i];
        rc = has_name(&requests, limit->name)
                 ? 0
                 : add_amount(&requests, limit->name, limit->milli, err);
        if (rc < 0) {
            return rc;
        }
    }
    *ret_list = requests;
    return 0;
}

static bool is_sidecar(const container_message *container)
{
    return container->restartpolicy &&
           str_equal(str_of(container->restartpolicy), STR("Always"));
}

struct totals {
    struct arena *arena;
    struct resource_list running;  /* containers and sidecars together */
    struct resource_list sidecars; /* those started so far */
    struct resource_list starting; /* the most that starting ever takes */
};

static int add_init_container(struct totals *totals,
                              const container_message *container,
                              struct err *err)
{
    struct resource_list own;
    int rc = container_requests(container, totals->arena, &own, err);

    if (rc < 0) {
        return rc;
    }
    if (is_sidecar(container)) {
        rc = add_list(&totals->running, &own, err);
        rc = rc ? rc : add_list(&totals->sidecars, &own, err);
        return rc ? rc : raise_list(&totals->starting, &totals->sidecars, err);
    }
    rc = add_list(&own, &totals->sidecars, err);
    return rc ? rc : raise_list(&totals->starting, &own, err);
}

static void drop_zeros(struct resource_list *list)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].milli != 0) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

static int add_containers(struct totals *totals,
                          const K8s__Io__Api__Core__V1__PodSpec *spec,
                          struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < spec->n_initcontainers; i++) {
        rc = add_init_container(totals, spec->initcontainers[i], err);
    }
    for (size_t i = 0; rc == 0 && i < spec->n_containers; i++) {
        struct resource_list own;
        rc = container_requests(spec->containers[i], totals->arena, &own, err);
        rc = rc ? rc : add_list(&totals->running, &own, err);
    }
    return rc;
}

/* What Kubernetes lets a pod ask for as a whole. */
static bool is_of_pods(struct str name)
{
    const struct str pages = STR("hugepages-");

    return str_equal(name, STR("cpu")) || str_equal(name, STR("memory")) ||
           (name.byte_count > pages.byte_count &&
            memcmp(name.p, pages.p, pages.byte_count) == 0);
}

static int check_pod_amount(const struct resource_amount *amount,
                            const struct resource_list *sum, bool is_request,
                            struct err *err)
{
    const char *what = is_request ? "request" : "limit";

    if (!is_of_pods(amount->name)) {
        return err_set(err, -ERR_INVALID,
                       "resources of the pod: %.*s can only be asked for by a "
                       "container; allowed are cpu, memory and hugepages-*",
                       STR_ARG(amount->name));
    }
    return amount->milli >= resource_list_get(sum, amount->name)
               ? 0
               : err_set(err, -ERR_INVALID,
                         "resources of the pod: the %s for %.*s is less than "
                         "%s",
                         what, STR_ARG(amount->name),
                         is_request ? "its containers ask for"
                                    : "what is requested");
}

/* What the pod asks for as a whole stands in the place of its containers' sum;
 * a limit does so if nothing is requested. */
static int add_pod_level(struct totals *totals,
                         const K8s__Io__Api__Core__V1__PodSpec *spec,
                         struct err *err)
{
    struct resource_list requests, limits;
    struct resource_list *sum = &totals->running;
    int rc =
        read_resources(spec->resources, totals->arena, &requests, &limits, err);

    for (uint32_t i = 0; rc == 0 && i < requests.count; i++) {
        rc = check_pod_amount(&requests.items[i], sum, true, err);
    }
    rc = rc ? rc : raise_list(sum, &requests, err);
    for (uint32_t i = 0; rc == 0 && i < limits.count; i++) {
        rc = check_pod_amount(&limits.items[i], sum, false, err);
        if (rc == 0 && !has_name(sum, limits.items[i].name)) {
            rc = add_amount(sum, limits.items[i].name, limits.items[i].milli,
                            err);
        }
    }
    return rc;
}

static int pod_requests(const K8s__Io__Api__Core__V1__PodSpec *spec,
                        struct arena *arena, struct resource_list *ret_list,
                        struct err *err)
{
    struct totals totals = {
        .arena = arena,
        .running = list_create(arena),
        .sidecars = list_create(arena),
        .starting = list_create(arena),
    };
    struct resource_list overhead = list_create(arena);

    int rc = add_containers(&totals, spec, err);
    if (rc == 0) {
        rc = entries_amounts(spec->overhead, spec->n_overhead, &overhead, err);
    }
    rc = rc ? rc : raise_list(&totals.running, &totals.starting, err);
    rc = rc ? rc : add_pod_level(&totals, spec, err);
    rc = rc ? rc : add_list(&totals.running, &overhead, err);
    if (rc < 0) {
        return rc;
    }
    drop_zeros(&totals.running);
    *ret_list = totals.running;
    return 0;
}

/* Placement. */

static int read_toleration(const K8s__Io__Api__Core__V1__Toleration *from,
                           struct toleration *ret_toleration, struct err *err)
{
    struct str op = str_of(from->operator_);
    bool is_exists = str_equal(op, STR("Exists"));
    int effect = effect_parse(str_of(from->effect));

    if (!is_exists && op.byte_count && !str_equal(op, STR("Equal"))) {
        return err_set(err, -ERR_INVALID, "toleration: unknown operator %s",
                       from->operator_);
    }
    if (effect < 0) {
        return err_set(err, -ERR_INVALID, "toleration: unknown effect %s",
                       from->effect);
    }
    *ret_toleration = (struct toleration){
        .key = str_of(from->key),
        .value = is_exists ? STR("") : str_of(from->value),
        .effect = (enum taint_effect)effect,
        .is_exists = is_exists,
    };
    return 0;
}

static int add_tolerations(const K8s__Io__Api__Core__V1__PodSpec *spec,
                           struct arena *arena, struct requirement *requirement,
                           struct err *err)
{
    if (spec->n_tolerations > TOLERATIONS_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d tolerations",
                       TOLERATIONS_MAX);
    }
    requirement->tolerations = arena_alloc_array(arena, spec->n_tolerations,
                                                 sizeof(struct toleration));
    for (size_t i = 0; i < spec->n_tolerations; i++) {
        int rc = read_toleration(
            spec->tolerations[i],
            &requirement->tolerations[requirement->toleration_count++], err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int64_t deadline_of(const K8s__Io__Api__Core__V1__PodSpec *spec)
{
    const int64_t s_max = INT64_MAX / 1000;

    if (!spec->has_activedeadlineseconds || spec->activedeadlineseconds <= 0) {
        return 0;
    }
    return 1000 * (spec->activedeadlineseconds < s_max
                       ? spec->activedeadlineseconds
                       : s_max);
}

int pod_requirement(const K8s__Io__Api__Core__V1__PodSpec *spec,
                    struct arena *arena, struct requirement *ret_requirement,
                    struct err *err)
{
    struct requirement requirement = {
        .priority_class = str_of(spec->priorityclassname),
        .lifetime_ms = LIFETIME_BY_CLASS,
        .deadline_ms = deadline_of(spec),
        .never_preempts =
            str_equal(str_of(spec->preemptionpolicy), STR("Never")),
    };

    if (spec->n_nodeselector > SELECTOR_PAIRS_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d node selector pairs",
                       SELECTOR_PAIRS_MAX);
    }
    requirement.selector =
        entries_labels(spec->nodeselector, spec->n_nodeselector, arena,
                       &requirement.selector_count);
    int rc = pod_requests(spec, arena, &requirement.requests, err);
    rc = rc ? rc : add_tolerations(spec, arena, &requirement, err);
    rc = rc ? rc : pod_add_affinity(spec, arena, &requirement, err);
    rc = rc ? rc : pod_add_ports(spec, arena, &requirement, err);
    if (rc < 0) {
        return rc;
    }
    requirement_canonicalise(&requirement);
    *ret_requirement = requirement;
    return 0;
}
