#include "api/validate.h"

#include "api/go_size.h"
#include "api/node_affinity.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "wire/field.h"

enum { POD_SPEC_PRIORITY_CLASS_FIELD = 24 };

/* The part of a pod spec that R2 needs, read without decoding the rest: R2
 * comes before every rule about pod specs.  "" when it cannot be read. */
static struct str priority_class_of(struct str pod_spec)
{
    struct field_cursor cursor = field_cursor_make(pod_spec);
    struct str name = STR("");
    struct field field;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == POD_SPEC_PRIORITY_CLASS_FIELD &&
            field.type == FIELD_BYTES) {
            name = field.bytes;
        }
    }
    return name;
}

static struct str bytes_of(ProtobufCBinaryData data)
{
    return str_make(data.data, data.len);
}

/* The item's pod spec if it has one. */
static struct str any_pod_spec(const Berth__Submission__Item *item)
{
    if (item->n_pod_spec) {
        return bytes_of(item->pod_spec[item->n_pod_spec - 1]);
    }
    return item->n_pod_specs ? bytes_of(item->pod_specs[0]) : STR("");
}

/* What all members of a gang must have in common. */
struct common_terms {
    struct gang gang;
    struct str priority_class;
};

/* The gangs of one request. */
struct gang_book {
    struct intern *ids;
    VEC(struct common_terms) firsts; /* by index of the id */
};

static int inconsistent(struct refusal *refusal, const char *what,
                        struct str gang, struct str expected, struct str got)
{
    return refusal_set(
        refusal,
        "invalid gang information: inconsistent %s in gang %.*s: "
        "expected %.*s but got %.*s",
        what, STR_ARG(gang), STR_ARG(expected), STR_ARG(got));
}

static int compare_terms(const struct common_terms *first,
                         const struct common_terms *terms,
                         struct refusal *refusal)
{
    struct str id = first->gang.id;

    if (first->gang.cardinality != terms->gang.cardinality) {
        return refusal_set(refusal,
                           "invalid gang information: inconsistent gang "
                           "cardinality in gang %.*s: expected %u but got %u",
                           STR_ARG(id), first->gang.cardinality,
                           terms->gang.cardinality);
    }
    if (first->gang.minimum != terms->gang.minimum) {
        return refusal_set(
            refusal,
            "invalid gang information: inconsistent gang minimum "
            "cardinality in gang %.*s: expected %u but got %u",
            STR_ARG(id), first->gang.minimum, terms->gang.minimum);
    }
    if (!str_equal(first->priority_class, terms->priority_class)) {
        return inconsistent(refusal, "PriorityClassName", id,
                            first->priority_class, terms->priority_class);
    }
    if (first->gang.has_terms != terms->gang.has_terms ||
        first->gang.is_whole_node != terms->gang.is_whole_node ||
        first->gang.hops_max != terms->gang.hops_max ||
        first->gang.freezing_window_ms != terms->gang.freezing_window_ms) {
        return refusal_set(
            refusal,
            "invalid gang information: members of gang %.*s differ in "
            "nodeReservation, maxHops or freezingWindowSeconds",
            STR_ARG(id));
    }
    if (!str_equal(first->gang.uniformity, terms->gang.uniformity)) {
        return inconsistent(refusal, "nodeUniformityLabel", id,
                            first->gang.uniformity, terms->gang.uniformity);
    }
    return 0;
}

static int check_member(struct gang_book *book,
                        const Berth__Submission__Item *item,
                        const struct submit_rules *rules,
                        struct refusal *refusal)
{
    struct refusal detail;
    struct common_terms terms;
    int rc = annotations_gang(item, &terms.gang, &detail);

    if (rc < 0) {
        return refusal_set(refusal, "invalid gang information: %s",
                           detail.text);
    }
    if (!terms.gang.is_gang || terms.gang.cardinality == 1) {
        return 0;
    }
    terms.priority_class = priority_class_of(any_pod_spec(item));
    if (!terms.priority_class.byte_count) {
        terms.priority_class = rules->default_class;
    }
    if (!book->ids) {
        book->ids = intern_create();
    }
    uint32_t index = intern_add(book->ids, terms.gang.id);
    if (index == book->firsts.count) {
        VEC_PUSH(&book->firsts, terms);
        return 0;
    }
    return compare_terms(&book->firsts.items[index], &terms, refusal);
}

static int check_gangs(const Berth__Submission__Request *request,
                       const struct submit_rules *rules,
                       struct refusal *refusal)
{
    struct gang_book book = {0};
    int rc = 0;

    for (size_t i = 0; i < request->n_job_request_items && rc == 0; i++) {
        rc = check_member(&book, request->job_request_items[i], rules, refusal);
        refusal->item_number = rc < 0 ? (uint32_t)i + 1 : 0;
    }
    intern_destroy(book.ids);
    VEC_FREE(&book.firsts);
    return rc;
}

int validate_request(const Berth__Submission__Request *request,
                     const struct submit_rules *rules, struct refusal *refusal)
{
    size_t job_set_bytes = strlen(request->job_set_id);

    if (!*request->queue) {
        return refusal_set(refusal, "queue is a required field");
    }
    int rc = check_gangs(request, rules, refusal);
    if (rc < 0) {
        return rc;
    }
    if (!job_set_bytes) {
        return refusal_set(refusal, "job set id is a required field");
    }
    if (job_set_bytes > JOB_SET_ID_BYTES_MAX) {
        return refusal_set(refusal,
                           "job set id of length %zu must be less than max "
                           "character length %d",
                           job_set_bytes, JOB_SET_ID_BYTES_MAX + 1);
    }
    return 0;
}

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

int validate_item_shape(const Berth__Submission__Item *item,
                        const struct submit_rules *rules,
                        struct str *ret_pod_spec, struct refusal *refusal)
{
    if (!*item->namespace_) {
        return refusal_set(refusal, "namespace is a required field");
    }
    if (!item->n_pod_spec && !item->n_pod_specs) {
        return refusal_set(refusal, "Job must contain at least one PodSpec");
    }
    if (item->n_pod_spec && item->n_pod_specs) {
        return refusal_set(refusal,
                           "PodSpec must be nil if PodSpecs is provided "
                           "(i.e., these are exclusive)");
    }
    if (item->n_pod_specs > 1) {
        return refusal_set(refusal,
                           "Jobs with multiple pods are not supported");
    }
    *ret_pod_spec = any_pod_spec(item);
    return validate_pod_bytes(*ret_pod_spec, rules, refusal);
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

    rc = rc ? rc : node_affinity_check(pod->message, refusal);
    rc = rc ? rc : check_containers(pod, rules, refusal);
    rc = rc ? rc : check_class_and_grace(pod->message, rules, refusal);
    rc = rc ? rc : check_ports(pod, refusal);
    return rc ? rc : check_tolerations(pod->message, rules, refusal);
}

static int check_ingress(const Api__IngressConfig *ingress, uint32_t index,
                         struct map *seen, struct refusal *refusal)
{
    if (!ingress->n_ports) {
        return refusal_set(refusal, "ingress contains zero ports. Each ingress "
                                    "should have at least one port.");
    }
    for (size_t i = 0; i < ingress->n_ports; i++) {
        uint32_t before = map_put(seen, key_of_u64(ingress->ports[i]), index);
        if (before != MAP_NONE) {
            return refusal_set(
                refusal,
                "port %u has two ingress configurations, specified "
                "in ingress configs with indexes %u, %u. Each port "
                "should at maximum have one ingress configuration",
                ingress->ports[i], before, index);
        }
    }
    return 0;
}

/* I15. */
static int check_ingresses(const Berth__Submission__Item *item,
                           struct refusal *refusal)
{
    struct map seen = {0};
    int rc = 0;

    for (size_t i = 0; i < item->n_ingress && rc == 0; i++) {
        rc = check_ingress(item->ingress[i], (uint32_t)i, &seen, refusal);
    }
    map_fini(&seen);
    return rc;
}

/* I19. */
static int check_price_band(const Berth__Submission__Item *item,
                            struct refusal *refusal)
{
    struct str band = annotation_find(item, ANNOTATION_PRICE_BAND);
    char letter = band.byte_count == 1 ? (char)(band.p[0] | 0x20) : '\0';

    if (band.p && (letter < 'a' || letter > 'h')) {
        return refusal_set(refusal, "price band %.*s is not supported",
                           STR_ARG(band));
    }
    return 0;
}

int validate_item_rest(const Berth__Submission__Item *item,
                       struct refusal *refusal)
{
    size_t client_id_bytes = strlen(item->client_id);
    int rc = check_ingresses(item, refusal);

    if (rc < 0) {
        return rc;
    }
    if (client_id_bytes > CLIENT_ID_BYTES_MAX) {
        return refusal_set(
            refusal,
            "client id of length %zu is greater than max allowed "
            "length of  %d",
            client_id_bytes, CLIENT_ID_BYTES_MAX);
    }
    rc = check_price_band(item, refusal);
    return rc < 0 ? rc : annotations_check_own(item, refusal);
}

bool validate_is_reason_short(const char *reason)
{
    return strlen(reason) <= REASON_BYTES_MAX;
}
