/* Limits on the number and length of an item's texts. */
#include "api/submit/validate.h"
#include "wire/kube/kube_name.h"

/* Texts of an item that have a limit in bytes alone. */
static int check_text(const char *what, const char *text, size_t byte_count_max,
                      struct refusal *refusal)
{
    size_t byte_count = strlen(text);

    if (byte_count > byte_count_max) {
        return refusal_set(refusal,
                           "%s has %zu bytes, more than the %zu allowed", what,
                           byte_count, byte_count_max);
    }
    return 0;
}

static int check_count(const char *what, size_t count, size_t count_max,
                       struct refusal *refusal)
{
    if (count > count_max) {
        return refusal_set(refusal, "%zu %s, more than the %zu allowed", count,
                           what, count_max);
    }
    return 0;
}

static int check_labels(const Berth__Submission__Item *item,
                        struct refusal *refusal)
{
    int rc = check_count("labels", item->n_labels, ITEM_LABELS_MAX, refusal);

    for (size_t i = 0; i < item->n_labels && rc == 0; i++) {
        rc = check_text("key of a label", item->labels[i]->key,
                        ITEM_KEY_BYTES_MAX, refusal);
        if (rc == 0) {
            rc = check_text("value of a label", item->labels[i]->value,
                            ITEM_LABEL_BYTES_MAX, refusal);
        }
    }
    return rc;
}

static int check_annotations(const Berth__Submission__Item *item,
                             struct refusal *refusal)
{
    int rc = check_count("annotations", item->n_annotations,
                         ITEM_ANNOTATIONS_MAX, refusal);
    size_t byte_count = 0;

    for (size_t i = 0; i < item->n_annotations && rc == 0; i++) {
        rc = check_text("key of an annotation", item->annotations[i]->key,
                        ITEM_KEY_BYTES_MAX, refusal);
        byte_count += strlen(item->annotations[i]->key) +
                      strlen(item->annotations[i]->value);
    }
    if (rc == 0 && byte_count > ITEM_ANNOTATION_BYTES_MAX) {
        rc = refusal_set(refusal,
                         "annotations have %zu bytes, more than the %d allowed",
                         byte_count, ITEM_ANNOTATION_BYTES_MAX);
    }
    return rc;
}

static int check_ingresses(const Berth__Submission__Item *item,
                           struct refusal *refusal)
{
    int rc = check_count("ingresses", item->n_ingress, ITEM_PORTS_MAX, refusal);
    size_t byte_count = 0;

    for (size_t i = 0; i < item->n_ingress && rc == 0; i++) {
        const Api__IngressConfig *ingress = item->ingress[i];
        rc = check_text("cert_name of an ingress", ingress->cert_name,
                        ITEM_NAME_BYTES_MAX, refusal);
        for (size_t k = 0; k < ingress->n_annotations; k++) {
            byte_count += strlen(ingress->annotations[k]->key) +
                          strlen(ingress->annotations[k]->value);
        }
    }
    if (rc == 0 && byte_count > ITEM_ANNOTATION_BYTES_MAX) {
        rc = refusal_set(refusal,
                         "annotations of ingresses have %zu bytes, more than "
                         "the %d allowed",
                         byte_count, ITEM_ANNOTATION_BYTES_MAX);
    }
    return rc;
}

static int check_services(const Berth__Submission__Item *item,
                          struct refusal *refusal)
{
    int rc = check_count("services", item->n_services, ITEM_PORTS_MAX, refusal);

    for (size_t i = 0; i < item->n_services && rc == 0; i++) {
        rc = check_text("name of a service", item->services[i]->name,
                        ITEM_NAME_BYTES_MAX, refusal);
    }
    return rc;
}

/* It becomes part of paths that a cluster is asked for. */
static int check_namespace(const Berth__Submission__Item *item,
                           struct refusal *refusal)
{
    int rc = check_text("namespace", item->namespace_, KUBE_LABEL_BYTES_MAX,
                        refusal);

    return rc == 0 && !kube_is_dns_label(str_of(item->namespace_))
               ? refusal_set(refusal,
                             "namespace \"%s\" is no name of one: use small "
                             "letters, digits and, inside, dashes",
                             item->namespace_)
               : rc;
}

int validate_item_sizes(const Berth__Submission__Item *item,
                        struct refusal *refusal)
{
    int rc = check_namespace(item, refusal);

    if (rc == 0) {
        rc = check_text("external job uri", item->external_job_uri,
                        ITEM_URI_BYTES_MAX, refusal);
    }
    if (rc == 0) {
        rc = check_labels(item, refusal);
    }
    if (rc == 0) {
        rc = check_annotations(item, refusal);
    }
    if (rc == 0) {
        rc = check_ingresses(item, refusal);
    }
    return rc == 0 ? check_services(item, refusal) : rc;
}
