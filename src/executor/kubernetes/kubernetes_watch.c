/* What the cluster says of pods and nodes. */
#include "executor/kubernetes/kube_node.h"
#include "executor/kubernetes/kubernetes_private.h"
#include "kube/api/envelope.h"
#include "wire/kube/kube_name.h"

enum { POD_MILLI = 1000 };

/* Pods of others. */

struct resource_list kubernetes_requests(const struct kube_pod *pod,
                                         struct resource_amount *amounts)
{
    struct resource_list requests = {amounts, pod->requests.count};

    if (requests.count > 0) {
        memcpy(amounts, pod->requests.items, requests.count * sizeof(*amounts));
    }
    /* Of a pod with RESOURCE_LIST_MAX others it is not counted. */
    (void)!resource_list_add(&requests, STR("pods"), POD_MILLI);
    return requests;
}

/* It has its place among the pods of its node until it has ended. */
static void take_foreign(struct kubernetes *k, const struct kube_pod *pod)
{
    struct resource_amount amounts[RESOURCE_LIST_MAX];

    if (reconcile_is_ended(pod->pod.phase)) {
        kube_usage_remove(k->usage, pod->uid);
        return;
    }
    struct resource_list requests = kubernetes_requests(pod, amounts);
    kube_usage_put(k->usage, pod->uid, pod->pod.node_name, &requests);
}

static void tell_pending(struct kubernetes *k)
{
    arena_reset(&k->pending_arena);
    k->pending = kube_usage_of(k->usage, STR(""), &k->pending_arena);
}

void kubernetes_tell_usage(struct kubernetes *k)
{
    struct str name;

    while (kube_usage_next_changed(k->usage, &name)) {
        auto_arena arena = {0};
        const struct node_record *found = node_set_find(k->nodes, name);
        if (name.byte_count == 0) {
            tell_pending(k);
        } else if (found) {
            struct node_record record = *found;
            record.foreign = kube_usage_of(k->usage, name, &arena);
            node_set_put(k->nodes, &record);
        }
    }
}

/* Our pods. */

static bool is_mine(const struct kubernetes *k, const struct kube_pod *pod)
{
    return pod->is_ours && str_equal(pod->executor, k->options.executor_id);
}

static void keep_object(struct kube_row *row, struct str object)
{
    auto_strbuf kept = strbuf_make(0);
    struct err err;

    if (kube_pod_shorten(object, &kept, &err) < 0) {
        return; /* it was read just now */
    }
    mem_free(row->object);
    row->object = str_dup(strbuf_str(&kept));
    row->object_byte_count = kept.byte_count;
}

static void note_facts(struct kube_row *row, const struct kube_pod *pod)
{
    row->created_ms = pod->status.created_ms;
    row->started_ms = pod->status.started_ms;
    if (reconcile_is_ended(pod->pod.phase)) {
        row->ended_ms = pod->status.ended_ms;
    }
    row->is_ending |= pod->is_ending;
}

/* A pod of a run that had none, so far as we know. */
static void meet(struct kubernetes *k, const struct kube_pod *pod,
                 struct str object)
{
    bool has_names = kube_is_dns_label(pod->pod.namespace_) &&
                     kube_is_subdomain(pod->pod.pod_name);
    struct kube_row *row =
        has_names ? kubernetes_add(k, &pod->pod, pod->container) : NULL;

    if (!row) {
        k->stats.bad_count++;
        return;
    }
    row->uid = str_dup(pod->uid);
    note_facts(row, pod);
    if (reconcile_is_ended(row->phase)) {
        keep_object(row, object);
    }
    kubernetes_note_wait(k, row, pod);
    kubernetes_note_objects(k, row, pod);
    if (k->is_listed) {
        struct runtime_pod told = kubernetes_pod_of(row);
        change_queue_push(&k->changes,
                          &(struct runtime_change){.kind = RUNTIME_APPEARED,
                                                   .run = row->run,
                                                   .pod = &told});
    }
}

void kubernetes_take_pod(struct kubernetes *k, const struct kube_pod *pod,
                         struct str object)
{
    struct kube_row *row = kubernetes_find(k, pod->pod.run);

    if (!row) {
        meet(k, pod, object);
        return;
    }
    if (!row->uid) {
        row->uid = str_dup(pod->uid);
    } else if (!str_equal(str_of(row->uid), pod->uid)) {
        return; /* somebody made another one with its labels */
    }
    row->list = k->pod_list;
    if (row->creation) {
        kubernetes_created(k, row);
    }
    if (row->has_room) {
        take_foreign(k, pod);
    }
    if (reconcile_is_ended(row->phase)) {
        return;
    }
    note_facts(row, pod);
    if (reconcile_is_ended(pod->pod.phase)) {
        keep_object(row, object);
    }
    kubernetes_raise(k, row, pod->pod.phase);
    kubernetes_note_wait(k, row, pod);
    kubernetes_note_objects(k, row, pod);
}

/* It is there no more.  Nobody has seen its end: then it has not ended by
 * itself. */
static void vanish(struct kubernetes *k, struct kube_row *row,
                   enum runtime_cause cause)
{
    if (row->is_gone) {
        return;
    }
    row->is_gone = true;
    if (row->has_room) {
        kube_usage_remove(k->usage, str_of(row->uid));
    }
    if (row->is_forgotten) {
        kubernetes_remove(k, row);
        return;
    }
    if (!reconcile_is_ended(row->phase)) {
        if (!row->is_doomed) {
            row->cause = !node_set_find(k->nodes, row->node_name)
                             ? RUNTIME_CAUSE_NODE_LOST
                         : row->is_ending ? RUNTIME_CAUSE_STOPPED
                                          : cause;
        }
        kubernetes_raise(k, row,
                         row->is_doomed || row->cause == RUNTIME_CAUSE_STOPPED
                             ? RECONCILE_FAILED
                             : RECONCILE_LOST);
    }
    (void)kubernetes_delete_wanted(k, row);
}

static void on_pods_begin(void *ctx)
{
    struct kubernetes *k = ctx;

    k->pod_list++;
    kube_usage_begin_list(k->usage);
}

static void on_pod(void *ctx, struct str object)
{
    struct kubernetes *k = ctx;
    auto_arena arena = {0};
    struct kube_pod pod;
    struct err err;

    if (kube_pod_read(object, &arena, &pod, &err) < 0) {
        k->stats.bad_count++;
    } else if (is_mine(k, &pod)) {
        kubernetes_take_pod(k, &pod, object);
    } else {
        take_foreign(k, &pod);
    }
}

static void on_pod_gone(void *ctx, struct str object)
{
    struct kubernetes *k = ctx;
    auto_arena arena = {0};
    struct kube_pod pod;
    struct err err;

    if (kube_pod_read(object, &arena, &pod, &err) < 0) {
        k->stats.bad_count++;
        return;
    }
    if (!is_mine(k, &pod)) {
        kube_usage_remove(k->usage, pod.uid);
        return;
    }
    struct kube_row *row = kubernetes_find(k, pod.pod.run);
    if (row && row->uid && str_equal(str_of(row->uid), pod.uid)) {
        kubernetes_take_pod(k, &pod, object); /* its last words */
        vanish(k, row, RUNTIME_CAUSE_STOPPED);
    }
}

static void on_pods_listed(void *ctx)
{
    struct kubernetes *k = ctx;

    kube_usage_end_list(k->usage);
    for (size_t i = 0; i < k->rows.count; i++) {
        struct kube_row *row = &k->rows.items[i];
        if (row->is_used && !row->creation && row->list != k->pod_list) {
            vanish(k, row, RUNTIME_CAUSE_LOST);
        }
    }
}

/* Nodes. */

static void on_nodes_begin(void *ctx)
{
    struct kubernetes *k = ctx;

    intern_destroy(k->listed_nodes);
    k->listed_nodes = intern_create();
}

static void on_node(void *ctx, struct str object)
{
    struct kubernetes *k = ctx;
    const struct kube_node_labels labels = {k->options.pool_label,
                                            k->options.node_type_label};
    auto_arena arena = {0};
    struct node_record record;
    struct err err;

    if (kube_node_read(object, &labels, &arena, &record, &err) < 0) {
        k->stats.bad_count++;
        return;
    }
    record.foreign = kube_usage_of(k->usage, record.name, &arena);
    if (k->listed_nodes) {
        (void)intern_add(k->listed_nodes, record.name);
    }
    node_set_put(k->nodes, &record);
}

static void on_node_gone(void *ctx, struct str object)
{
    struct kubernetes *k = ctx;
    struct object_head head;

    if (object_head_read(object, &head) == 0) {
        (void)node_set_remove(k->nodes, head.name);
    }
}

static void on_nodes_listed(void *ctx)
{
    struct kubernetes *k = ctx;
    uint32_t count;

    (void)node_set_all(k->nodes, &count);
    for (uint32_t i = count; i-- > 0;) {
        struct str name = node_set_all(k->nodes, &count)[i].name;
        if (intern_find(k->listed_nodes, name) == INTERN_NONE) {
            (void)node_set_remove(k->nodes, name);
        }
    }
    intern_destroy(k->listed_nodes);
    k->listed_nodes = NULL;
}

void kubernetes_follow(struct kubernetes *k)
{
    k->nodes_follow = follow_create(
        k->port, k->clock, k->rng,
        &(struct follow_options){.path = "/api/v1/nodes",
                                 .query = "",
                                 .told = {on_nodes_begin, on_node, on_node_gone,
                                          on_nodes_listed, k}});
    k->pods_follow = follow_create(
        k->port, k->clock, k->rng,
        &(struct follow_options){
            .path = "/api/v1/pods",
            .query = "",
            .told = {on_pods_begin, on_pod, on_pod_gone, on_pods_listed, k}});
}
