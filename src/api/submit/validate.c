#include "api/submit/validate.h"

#include "api/submit/job_objects.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "wire/message/field.h"
#include "wire/text/printable.h"

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
    return refusal_set(refusal,
                       "inconsistent %s in gang %.*s: "
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
                           "inconsistent gang "
                           "cardinality in gang %.*s: expected %u but got %u",
                           STR_ARG(id), first->gang.cardinality,
                           terms->gang.cardinality);
    }
    if (first->gang.minimum != terms->gang.minimum) {
        return refusal_set(refusal,
                           "inconsistent gang minimum "
                           "cardinality in gang %.*s: expected %u but got %u",
                           STR_ARG(id), first->gang.minimum,
                           terms->gang.minimum);
    }
    if (!str_equal(first->priority_class, terms->priority_class)) {
        return inconsistent(refusal, "PriorityClassName", id,
                            first->priority_class, terms->priority_class);
    }
    if (first->gang.has_terms != terms->gang.has_terms ||
        first->gang.has_exclusive_nodes != terms->gang.has_exclusive_nodes ||
        first->gang.hops_max != terms->gang.hops_max ||
        first->gang.freezing_window_ms != terms->gang.freezing_window_ms) {
        return refusal_set(refusal,
                           "members of gang %.*s differ in "
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
    if (!wire_is_printable(terms.gang.id)) {
        return refusal_set(refusal,
                           "invalid gang information: gang id cannot contain "
                           "control characters, line breaks or characters that "
                           "hide or reorder text");
    }
    terms.priority_class = priority_class_of(any_pod_spec(item));
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
                       struct refusal *refusal)
{
    struct gang_book book = {0};
    int rc = 0;

    for (size_t i = 0; i < request->n_job_request_items && rc == 0; i++) {
        rc = check_member(&book, request->job_request_items[i], refusal);
        refusal->item_number = rc < 0 ? (uint32_t)i + 1 : 0;
    }
    intern_destroy(book.ids);
    VEC_FREE(&book.firsts);
    return rc;
}

int validate_request(const Berth__Submission__Request *request,
                     struct refusal *refusal)
{
    size_t job_set_bytes = strlen(request->job_set_id);

    if (!*request->queue) {
        return refusal_set(refusal, "queue is a required field");
    }
    int rc = check_gangs(request, refusal);
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
                       const struct submit_rules *rules,
                       struct refusal *refusal)
{
    size_t client_id_bytes = strlen(item->client_id);
    int rc = validate_item_sizes(item, refusal);

    rc = rc < 0 ? rc : check_ingresses(item, refusal);
    rc = rc < 0 ? rc : job_objects_check(item, refusal);
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
    rc = rc < 0 ? rc : annotations_check_own(item, refusal);
    return rc < 0 ? rc : annotations_check_notify(item, rules, refusal);
}

bool validate_is_reason_short(const char *reason)
{
    return strlen(reason) <= REASON_BYTES_MAX;
}
