#include "executor/kubernetes/kube_node.h"

#include "executor/kubernetes/kube_object.h"
#include "k8s/core.pb-c.h"
#include "wire/kube/entries.h"

typedef K8s__Io__Api__Core__V1__Node node_message;

static struct str value_of(const struct node_record *record, struct str key)
{
    const struct label *label =
        key.byte_count > 0
            ? label_find(record->labels, record->label_count, key)
            : NULL;

    return label ? label->value : STR("");
}

/* Effects that the model does not know are left to the kubelet. */
static void set_taints(const node_message *node, struct arena *arena,
                       struct node_record *record)
{
    size_t count = node->spec ? node->spec->n_taints : 0;
    struct taint *taints = arena_alloc_array(arena, count, sizeof(*taints));

    for (size_t i = 0; i < count; i++) {
        const K8s__Io__Api__Core__V1__Taint *from = node->spec->taints[i];
        int effect = effect_parse(str_of(from->effect));
        if (effect > TAINT_ANY) {
            taints[record->taint_count++] =
                (struct taint){str_of(from->key), str_of(from->value),
                               (enum taint_effect)effect};
        }
    }
    record->taints = taints;
}

static bool is_ready(const node_message *node)
{
    for (size_t i = 0; node->status && i < node->status->n_conditions; i++) {
        const K8s__Io__Api__Core__V1__NodeCondition *condition =
            node->status->conditions[i];
        if (str_equal(str_of(condition->type), STR("Ready"))) {
            return str_equal(str_of(condition->status), STR("True"));
        }
    }
    return false;
}

static int check_sizes(const node_message *node, struct err *err)
{
    const char *name =
        node->metadata && node->metadata->name ? node->metadata->name : "";
    const char *what = NULL;

    if (!*name || str_of(name).byte_count > NODE_NAME_BYTES_MAX) {
        what = "no name, or too long a name";
    } else if (node->metadata->n_labels > LABELS_MAX) {
        what = "too many labels";
    } else if (node->spec && node->spec->n_taints > TAINTS_MAX) {
        what = "too many taints";
    }
    return what ? err_set(err, -ERR_LIMIT, "node %.100s: %s", name, what) : 0;
}

static int set_total(const node_message *node, struct arena *arena,
                     struct node_record *record, struct err *err)
{
    struct err why = {""};

    record->total.items = arena_alloc_array(arena, RESOURCE_LIST_MAX,
                                            sizeof(*record->total.items));
    int rc = node->status ? entries_amounts(node->status->allocatable,
                                            node->status->n_allocatable,
                                            &record->total, &why)
                          : 0;
    return rc < 0 ? err_set(err, rc, "node %.*s: %.300s", STR_ARG(record->name),
                            why.text)
                  : 0;
}

int kube_node_read(struct str object, const struct kube_node_labels *labels,
                   struct arena *arena, struct node_record *ret_record,
                   struct err *err)
{
    struct node_record record = {0};
    ProtobufCMessage *message;

    int rc = kube_object_decode(&k8s__io__api__core__v1__node__descriptor,
                                object, arena, &message, err);
    const node_message *node = (const node_message *)message;
    rc = rc ? rc : check_sizes(node, err);
    if (rc < 0) {
        return rc;
    }
    record.name = str_of(node->metadata->name);
    record.labels =
        entries_labels(node->metadata->labels, node->metadata->n_labels, arena,
                       &record.label_count);
    record.pool = value_of(&record, labels->pool);
    record.node_type = value_of(&record, labels->node_type);
    record.is_unschedulable =
        !is_ready(node) || (node->spec && node->spec->unschedulable);
    set_taints(node, arena, &record);
    rc = set_total(node, arena, &record, err);
    *ret_record = record;
    return rc;
}
