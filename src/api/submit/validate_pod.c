/* The rules for pod specs. */
#include "api/submit/go_size.h"
#include "api/submit/job_pod.h"
#include "api/submit/node_affinity.h"
#include "api/submit/pod_expand.h"
#include "api/submit/validate.h"
#include "base/map.h"

static int refuse_size(struct refusal *refusal, size_t byte_count,
                       size_t byte_count_max)
{
    return refusal_set(
        refusal,
        "Pod spec has a size of %zu bytes which is greater than the "
        "maximum allowed size of %zu",
        byte_count, byte_count_max);
}

int validate_pod_bytes(struct str pod_spec, const struct submit_rules *rules,
                       struct refusal *refusal)
{
    return pod_spec.byte_count > rules->pod_spec_bytes_max
               ? refuse_size(refusal, pod_spec.byte_count,
                             rules->pod_spec_bytes_max)
               : 0;
}

/* I3: Go's encoding is up to GO_SIZE_RATIO_MAX times as long as ours; it is
 * only counted where that could matter. */
static int check_size(const struct pod_view *pod,
                      const struct submit_rules *rules, struct refusal *refusal)
{
    size_t ours = protobuf_c_message_get_packed_size(&pod->message->base);

    if (ours <= rules->pod_spec_bytes_max / GO_SIZE_RATIO_MAX) {
        return 0;
    }
    size_t theirs = go_size(&pod->message->base);
    return theirs > rules->pod_spec_bytes_max
               ? refuse_size(refusal, theirs, rules->pod_spec_bytes_max)
               : 0;
}

static double factor_of(const struct submit_rules *rules, struct str resource)
{
    for (uint32_t i = 0; i < rules->factor_count; i++) {
        if (str_equal(rules->factors[i].name, resource)) {
            return rules->factors[i].factor;
        }
    }
    return 1.0;
}

/* How a limit stands to its request: I9 and I10. */
static int check_limit(const struct pod_container *container,
                       const struct pod_amount *request,
                       const struct pod_amount *limit,
                       const struct submit_rules *rules,
                       struct refusal *refusal)
{
    struct str name = container->name, resource = request->name;

    if (limit->milli < request->milli) {
        return refusal_set(
            refusal,
            "container %.*s defines %.*s with limits smaller than "
            "requests",
            STR_ARG(name), STR_ARG(resource));
    }
    double factor = factor_of(rules, resource);
    bool is_equal = limit->milli == request->milli;
    if (!is_equal && !rules->allows_larger_limits &&
        (double)limit->milli > factor * (double)request->milli) {
        return refusal_set(refusal,
                           "container %.*s defines %.*s with limits great than "
                           "%.2f*requests",
                           STR_ARG(name), STR_ARG(resource), factor);
    }
    return 0;
}

/* I7 to I10 for one resource that a container requests. */
static int check_request(const struct pod_container *container,
                         const struct pod_amount *request,
                         const struct submit_rules *rules,
                         struct refusal *refusal)
{
    struct str name = container->name, resource = request->name;

    if (request->milli < 0) {
        return refusal_set(refusal,
                           "container %.*s defines negative resource request "
                           "(%.*s) for resource %.*s",
                           STR_ARG(name), STR_ARG(request->quantity),
                           STR_ARG(resource));
    }
    const struct pod_amount *limit =
        pod_amounts_find(&container->limits, resource);
    if (!limit) {
        return refusal_set(refusal,
                           "container %.*s defines %.*s for requests but not "
                           "limits",
                           STR_ARG(name), STR_ARG(resource));
    }
    if (limit->milli < 0) {
        return refusal_set(
            refusal,
            "container %.*s defines negative resource limit (%.*s) "
            "for resource %.*s",
            STR_ARG(name), STR_ARG(limit->quantity), STR_ARG(resource));
    }
    return check_limit(container, request, limit, rules, refusal);
}

/* I5 to I10 for one container. */
static int check_container(const struct pod_container *container,
                           const struct submit_rules *rules,
                           struct refusal *refusal)
{
    const struct pod_amounts *requests = &container->requests;
    int rc = 0;

    if (!requests->count && !container->limits.count) {
        return refusal_set(refusal, "container %.*s has no resources specified",
                           STR_ARG(container->name));
    }
    if (requests->count != container->limits.count) {
        return refusal_set(refusal,
                           "container %.*s defines different resources for "
                           "requests and limits",
                           STR_ARG(container->name));
    }
    for (uint32_t i = 0; i < requests->count && rc == 0; i++) {
        rc = check_request(container, &requests->items[i], rules, refusal);
    }
    return rc;
}

/* Whole units, rounded up. */
static int64_t whole(int64_t milli)
{
    return milli > 0 ? (milli - 1) / 1000 + 1 : milli / 1000;
}

/* I11 for one container. */
static int check_minimums(const struct pod_container *container,
                          const struct submit_rules *rules,
                          struct refusal *refusal)
{
    for (uint32_t i = 0; i < rules->minimum_count; i++) {
        const struct resource_minimum *minimum = &rules->minimums[i];
        const struct pod_amount *request =
            pod_amounts_find(&container->requests, minimum->name);
        if (request && whole(request->milli) < whole(minimum->milli)) {
            return refusal_set(refusal,
                               "container \"%.*s\" %.*s requests (%.*s) below "
                               "server minimum (%.*s)",
                               STR_ARG(container->name), STR_ARG(minimum->name),
                               STR_ARG(request->quantity),
                               STR_ARG(minimum->quantity));
        }
    }
    return 0;
}

/* I12 for one container. */
static int check_fractional(const struct pod_container *container,
                            struct refusal *refusal)
{
    const struct pod_amount *amounts[] = {
        pod_amounts_find(&container->requests, STR("cpu")),
        pod_amounts_find(&container->limits, STR("cpu")),
    };

    for (size_t i = 0; i < ARRAY_COUNT(amounts); i++) {
        if (amounts[i] && amounts[i]->milli > 0 &&
            amounts[i]->milli % 1000 == 0) {
            return refusal_set(refusal,
                               "Init container %.*s contains invalid cpu value "
                               "%.*s.  All init containers must set "
                               "requests/limits to fractional cpu e.g. 900m",
                               STR_ARG(container->name),
                               STR_ARG(amounts[i]->quantity));
        }
    }
    return 0;
}

static int check_containers(const struct pod_view *pod,
                            const struct submit_rules *rules,
                            struct refusal *refusal)
{
    int rc = 0;

    for (uint32_t i = 0; i < pod->container_count && rc == 0; i++) {
        rc = check_container(&pod->containers[i], rules, refusal);
    }
    for (uint32_t i = 0; i < pod->container_count && rc == 0; i++) {
        rc = check_minimums(&pod->containers[i], rules, refusal);
    }
    if (!rules->needs_fractional_init_cpu) {
        return rc;
    }
    for (uint32_t i = pod->main_count; i < pod->container_count && rc == 0;
         i++) {
        rc = check_fractional(&pod->containers[i], refusal);
    }
    return rc;
}

/* I13 and I14. */
static int check_class_and_grace(const K8s__Io__Api__Core__V1__PodSpec *pod,
                                 const struct submit_rules *rules,
                                 struct refusal *refusal)
{
    struct str class_name = str_of(pod->priorityclassname);

    if (class_name.byte_count && !submit_rules_allow_class(rules, class_name)) {
        return refusal_set(refusal, "priority class %.*s is not supported",
                           STR_ARG(class_name));
    }
    int64_t grace_s = pod->has_terminationgraceperiodseconds
                          ? pod->terminationgraceperiodseconds
                          : 0;
    if (grace_s != 0 && (grace_s < rules->grace_period_s_min ||
                         grace_s > rules->grace_period_s_max)) {
        return refusal_set(
            refusal,
            "terminationGracePeriodSeconds of %lld must be [%lld, "
            "%lld], or omitted",
            (long long)grace_s,
            (long long)rules->grace_period_s_min * 1000000000,
            (long long)rules->grace_period_s_max * 1000000000);
    }
    /* As Kubernetes has it; else the pod could never be made. */
    if (pod->has_activedeadlineseconds && pod->activedeadlineseconds < 1) {
        return refusal_set(refusal,
                           "activeDeadlineSeconds of %lld must be at least 1, "
                           "or omitted",
                           (long long)pod->activedeadlineseconds);
    }
    return 0;
}

static int check_port(const struct pod_view *pod, uint32_t container_index,
                      int32_t port, struct map *seen, struct refusal *refusal)
{
    uint32_t before =
        map_put(seen, key_of_u64((uint32_t)port), container_index);

    if (before == MAP_NONE) {
        return 0;
    }
    return refusal_set(
        refusal,
        "container port %d is exposed multiple times, specified in "
        "containers \"%.*s\" and \"%.*s\". Should only be exposed "
        "once",
        port, STR_ARG(pod->containers[before].name),
        STR_ARG(pod->containers[container_index].name));
}

/* I16. */
static int check_ports(const struct pod_view *pod, struct refusal *refusal)
{
    struct map seen = {0};
    int rc = 0;

    for (uint32_t i = 0; i < pod->container_count && rc == 0; i++) {
        const K8s__Io__Api__Core__V1__Container *container =
            pod->containers[i].message;
        for (size_t p = 0; p < container->n_ports && rc == 0; p++) {
            rc = check_port(pod, i, container->ports[p]->containerport, &seen,
                            refusal);
        }
    }
    map_fini(&seen);
    return rc;
}

/* I18. */
static int check_tolerations(const K8s__Io__Api__Core__V1__PodSpec *pod,
                             const struct submit_rules *rules,
                             struct refusal *refusal)
{
    for (size_t i = 0; i < pod->n_tolerations; i++) {
        struct str key = str_of(pod->tolerations[i]->key);
        for (uint32_t r = 0; r < rules->restricted_toleration_key_count; r++) {
            if (str_equal(key, rules->restricted_toleration_keys[r])) {
                return refusal_set(refusal,
                                   "toleration %.*s is not user settable",
                                   STR_ARG(key));
            }
        }
    }
    return 0;
}

int validate_pod(const struct pod_view *pod, const struct submit_rules *rules,
                 struct refusal *refusal)
{
    int rc = check_size(pod, rules, refusal);

    rc = rc ? rc : node_affinity_check(pod->message, rules, refusal);
    rc = rc ? rc : check_containers(pod, rules, refusal);
    rc = rc ? rc : check_class_and_grace(pod->message, rules, refusal);
    rc = rc ? rc : check_ports(pod, refusal);
    rc = rc ? rc : check_tolerations(pod->message, rules, refusal);
    rc = rc ? rc : pod_expand_check(pod->message, refusal);
    return rc ? rc : job_pod_check(pod->message, refusal);
}
