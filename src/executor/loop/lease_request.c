#include "executor/loop/lease_request.h"

#include "armada/executorapi.pb-c.h"
#include "model/quantity.h"
#include "wire/message/message.h"

typedef K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity quantity_t;
typedef Executorapi__NodeInfo node_t;

#define NEW(arena, type, init)                                 \
    __extension__({                                            \
        type *new_ = (type *)arena_alloc(arena, sizeof(type)); \
        init(new_);                                            \
        new_;                                                  \
    })

/* Fill one of a message's maps of quantities; the generated entry types
 * differ only in name. */
#define SET_QUANTITIES(arena, list, count_field, field, type, init)            \
    do {                                                                       \
        (field) = arena_alloc_array(arena, (list)->count + 1, sizeof(type *)); \
        for (uint32_t i_ = 0; i_ < (list)->count; i_++) {                      \
            type *entry_ = NEW(arena, type, init);                             \
            entry_->key = arena_strdup(arena, (list)->items[i_].name);         \
            entry_->value = quantity_of(arena, &(list)->items[i_]);            \
            (field)[i_] = entry_;                                              \
        }                                                                      \
        (count_field) = (list)->count;                                         \
    } while (0)

static quantity_t *quantity_of(struct arena *arena,
                               const struct resource_amount *amount)
{
    char text[QUANTITY_TEXT_BYTES_MAX];
    bool is_bytes = resource_is_bytes(amount->name);
    quantity_t *quantity =
        NEW(arena, quantity_t,
            k8s__io__apimachinery__pkg__api__resource__quantity__init);

    quantity->string = arena_strdup(
        arena, str_of(quantity_format(amount->milli, is_bytes, text)));
    return quantity;
}

static char *run_text(struct arena *arena, struct run_id run)
{
    char text[ID_TEXT_BYTES_MAX];

    return arena_strdup(arena, str_of(run_id_format(run, text)));
}

static char *effect_text(enum taint_effect effect)
{
    static char *const texts[] = {
        [TAINT_ANY] = (char *)(uintptr_t) "",
        [TAINT_NO_SCHEDULE] = (char *)(uintptr_t) "NoSchedule",
        [TAINT_PREFER_NO_SCHEDULE] = (char *)(uintptr_t) "PreferNoSchedule",
        [TAINT_NO_EXECUTE] = (char *)(uintptr_t) "NoExecute",
    };

    ASSERT(effect < ARRAY_COUNT(texts));
    return texts[effect];
}

static void set_taints(struct arena *arena, const struct node_record *record,
                       node_t *node)
{
    node->taints =
        arena_alloc_array(arena, record->taint_count + 1, sizeof(void *));
    for (uint32_t i = 0; i < record->taint_count; i++) {
        K8s__Io__Api__Core__V1__Taint *taint =
            NEW(arena, K8s__Io__Api__Core__V1__Taint,
                k8s__io__api__core__v1__taint__init);
        taint->key = arena_strdup(arena, record->taints[i].key);
        taint->value = arena_strdup(arena, record->taints[i].value);
        taint->effect = effect_text(record->taints[i].effect);
        node->taints[i] = taint;
    }
    node->n_taints = record->taint_count;
}

static void set_labels(struct arena *arena, const struct node_record *record,
                       node_t *node)
{
    node->labels =
        arena_alloc_array(arena, record->label_count + 1, sizeof(void *));
    for (uint32_t i = 0; i < record->label_count; i++) {
        Executorapi__NodeInfo__LabelsEntry *label =
            NEW(arena, Executorapi__NodeInfo__LabelsEntry,
                executorapi__node_info__labels_entry__init);
        label->key = arena_strdup(arena, record->labels[i].key);
        label->value = arena_strdup(arena, record->labels[i].value);
        node->labels[i] = label;
    }
    node->n_labels = record->label_count;
}

static void set_foreign(struct arena *arena, const struct node_record *record,
                        node_t *node)
{
    if (record->foreign.count == 0) {
        return;
    }
    Executorapi__NodeInfo__NonArmadaAllocatedResourcesEntry *entry =
        NEW(arena, Executorapi__NodeInfo__NonArmadaAllocatedResourcesEntry,
            executorapi__node_info__non_armada_allocated_resources_entry__init);
    Executorapi__ComputeResource *used =
        NEW(arena, Executorapi__ComputeResource,
            executorapi__compute_resource__init);

    SET_QUANTITIES(arena, &record->foreign, used->n_resources, used->resources,
                   Executorapi__ComputeResource__ResourcesEntry,
                   executorapi__compute_resource__resources_entry__init);
    entry->value = used;
    node->non_armada_allocated_resources =
        arena_alloc_array(arena, 1, sizeof(void *));
    node->non_armada_allocated_resources[0] = entry;
    node->n_non_armada_allocated_resources = 1;
}

static node_t *node_of(struct arena *arena, const struct node_record *record,
                       struct str default_pool)
{
    node_t *node = NEW(arena, node_t, executorapi__node_info__init);

    node->name = arena_strdup(arena, record->name);
    node->pool = arena_strdup(
        arena, record->pool.byte_count > 0 ? record->pool : default_pool);
    node->node_type = arena_strdup(arena, record->node_type);
    node->unschedulable = record->is_unschedulable;
    set_taints(arena, record, node);
    set_labels(arena, record, node);
    set_foreign(arena, record, node);
    SET_QUANTITIES(arena, &record->total, node->n_total_resources,
                   node->total_resources,
                   Executorapi__NodeInfo__TotalResourcesEntry,
                   executorapi__node_info__total_resources_entry__init);
    SET_QUANTITIES(arena, &record->total, node->n_allocatable_resources,
                   node->allocatable_resources,
                   Executorapi__NodeInfo__AllocatableResourcesEntry,
                   executorapi__node_info__allocatable_resources_entry__init);
    SET_QUANTITIES(arena, &record->total, node->n_available_resources,
                   node->available_resources,
                   Executorapi__NodeInfo__AvailableResourcesEntry,
                   executorapi__node_info__available_resources_entry__init);
    return node;
}

static Api__JobState state_of(enum reconcile_phase phase)
{
    switch (phase) {
    case RECONCILE_PENDING:
        return API__JOB_STATE__PENDING;
    case RECONCILE_RUNNING:
        return API__JOB_STATE__RUNNING;
    case RECONCILE_SUCCEEDED:
        return API__JOB_STATE__SUCCEEDED;
    case RECONCILE_FAILED:
        return API__JOB_STATE__FAILED;
    case RECONCILE_NEVER:
    case RECONCILE_LOST:
    case RECONCILE_FORGOTTEN:
        break;
    }
    return API__JOB_STATE__UNKNOWN;
}

static void place_run(struct arena *arena, node_t *node,
                      const struct lease_request_run *run)
{
    Executorapi__NodeInfo__RunIdsByStateEntry *entry =
        NEW(arena, Executorapi__NodeInfo__RunIdsByStateEntry,
            executorapi__node_info__run_ids_by_state_entry__init);

    entry->key = run_text(arena, run->run);
    entry->value = state_of(run->phase);
    node->run_ids_by_state[node->n_run_ids_by_state++] = entry;
}

static void set_runs(struct arena *arena, const struct lease_request *request,
                     Executorapi__LeaseRequest *message)
{
    uint32_t *counts =
        arena_alloc_array(arena, request->node_count + 1, sizeof(*counts));
    uint32_t loose_count = 0;

    for (uint32_t i = 0; i < request->run_count; i++) {
        uint32_t node = request->runs[i].node_index;
        loose_count += node >= request->node_count;
        counts[node < request->node_count ? node : request->node_count]++;
    }
    for (uint32_t n = 0; n < request->node_count; n++) {
        message->nodes[n]->run_ids_by_state =
            arena_alloc_array(arena, counts[n] + 1, sizeof(void *));
    }
    message->unassigned_job_run_ids =
        arena_alloc_array(arena, loose_count + 1, sizeof(char *));
    for (uint32_t i = 0; i < request->run_count; i++) {
        uint32_t node = request->runs[i].node_index;
        if (node < request->node_count) {
            place_run(arena, message->nodes[node], &request->runs[i]);
        } else {
            message
                ->unassigned_job_run_ids[message->n_unassigned_job_run_ids++] =
                run_text(arena, request->runs[i].run);
        }
    }
}

static char **run_texts(struct arena *arena, const struct run_id *runs,
                        uint32_t run_count)
{
    char **texts = arena_alloc_array(arena, run_count + 1, sizeof(char *));

    for (uint32_t i = 0; i < run_count; i++) {
        texts[i] = run_text(arena, runs[i]);
    }
    return texts;
}

static void set_removed_nodes(struct arena *arena,
                              const struct lease_request *request,
                              Executorapi__LeaseRequest *message)
{
    message->node_names_removed = arena_alloc_array(
        arena, request->nodes_removed_count + 1, sizeof(char *));
    message->n_node_names_removed = request->nodes_removed_count;
    for (uint32_t i = 0; i < request->nodes_removed_count; i++) {
        message->node_names_removed[i] =
            arena_strdup(arena, request->nodes_removed[i]);
    }
}

/* The sum of what the nodes that take work have. */
static void set_sum(struct arena *arena, const struct lease_request *request,
                    Executorapi__LeaseRequest *message)
{
    struct resource_list sum = {
        .items = arena_alloc_array(arena, RESOURCE_LIST_MAX,
                                   sizeof(struct resource_amount))};

    for (uint32_t n = 0; n < request->node_count; n++) {
        const struct node_record *node = &request->nodes[n];
        for (uint32_t r = 0; !node->is_unschedulable && r < node->total.count;
             r++) {
            /* A resource beyond the list's bound is left out of the sum. */
            (void)!resource_list_add(&sum, node->total.items[r].name,
                                     node->total.items[r].milli);
        }
    }
    SET_QUANTITIES(arena, &sum, message->n_resources, message->resources,
                   Executorapi__LeaseRequest__ResourcesEntry,
                   executorapi__lease_request__resources_entry__init);
}

void lease_request_encode(const struct lease_request *request,
                          struct arena *arena, struct strbuf *buf)
{
    Executorapi__LeaseRequest message = EXECUTORAPI__LEASE_REQUEST__INIT;

    message.executor_id = arena_strdup(arena, request->executor_id);
    message.pool = arena_strdup(arena, request->pool);
    message.max_jobs_to_lease = request->lease_max;
    message.held_stream = request->is_held;
    message.instance = request->instance;
    message.is_delta = request->is_delta;
    message.nodes =
        arena_alloc_array(arena, request->node_count + 1, sizeof(void *));
    for (uint32_t n = 0; n < request->node_count; n++) {
        message.nodes[n] = node_of(arena, &request->nodes[n], request->pool);
    }
    message.n_nodes = request->node_count;
    message.says_pending = request->says_pending;
    SET_QUANTITIES(arena, &request->pending, message.n_pending_foreign,
                   message.pending_foreign,
                   Executorapi__LeaseRequest__PendingForeignEntry,
                   executorapi__lease_request__pending_foreign_entry__init);
    message.says_protected = request->says_protected;
    message.n_protected_run_ids = request->protected_count < PROTECTED_RUNS_MAX
                                      ? request->protected_count
                                      : PROTECTED_RUNS_MAX;
    message.protected_run_ids = run_texts(
        arena, request->protected_runs, (uint32_t)message.n_protected_run_ids);
    if (request->is_delta) {
        set_removed_nodes(arena, request, &message);
        message.run_ids_added =
            run_texts(arena, request->added, request->added_count);
        message.n_run_ids_added = request->added_count;
        message.run_ids_removed =
            run_texts(arena, request->removed, request->removed_count);
        message.n_run_ids_removed = request->removed_count;
    } else {
        set_sum(arena, request, &message);
        set_runs(arena, request, &message);
    }
    wire_encode(&message.base, buf);
}
