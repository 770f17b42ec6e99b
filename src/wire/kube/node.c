#include "wire/kube/node.h"

#include "wire/kube/entries.h"
#include "wire/message/message.h"

/* From a report. */

static struct resource_list list_create(struct arena *arena)
{
    return (struct resource_list){
        arena_alloc_array(arena, RESOURCE_LIST_MAX,
                          sizeof(struct resource_amount)),
        0};
}

static int read_taints(const Executorapi__NodeInfo *info, struct arena *arena,
                       struct node_record *record, struct err *err)
{
    struct taint *taints =
        arena_alloc_array(arena, info->n_taints, sizeof(*taints));

    for (size_t i = 0; i < info->n_taints; i++) {
        const K8s__Io__Api__Core__V1__Taint *from = info->taints[i];
        int effect = effect_parse(str_of(from->effect));

        if (effect < 0) {
            return err_set(err, -ERR_INVALID,
                           "node %.100s: unknown taint effect %.100s",
                           info->name, from->effect);
        }
        taints[i] = (struct taint){str_of(from->key), str_of(from->value),
                                   (enum taint_effect)effect};
    }
    record->taints = taints;
    record->taint_count = (uint32_t)info->n_taints;
    return 0;
}

static int read_foreign(const Executorapi__NodeInfo *info, struct arena *arena,
                        struct resource_list *ret_list, struct err *err)
{
    struct resource_list sum = list_create(arena);

    for (size_t i = 0; i < info->n_non_armada_allocated_resources; i++) {
        const Executorapi__ComputeResource *part =
            info->non_armada_allocated_resources[i]->value;
        struct resource_list list = list_create(arena);
        int rc = part ? entries_amounts(part->resources, part->n_resources,
                                        &list, err)
                      : 0;
        for (uint32_t r = 0; rc == 0 && r < list.count; r++) {
            rc = resource_list_add(&sum, list.items[r].name,
                                   list.items[r].milli);
        }
        if (rc < 0) {
            return rc;
        }
    }
    *ret_list = sum;
    return 0;
}

static int check_sizes(const Executorapi__NodeInfo *info, struct err *err)
{
    const char *what = NULL;

    if (str_of(info->name).byte_count > NODE_NAME_BYTES_MAX) {
        what = "too long a name";
    } else if (info->n_labels > LABELS_MAX) {
        what = "too many labels";
    } else if (info->n_taints > TAINTS_MAX) {
        what = "too many taints";
    }
    return what ? err_set(err, -ERR_LIMIT, "node %.100s: %s", info->name, what)
                : 0;
}

int node_from_info(const Executorapi__NodeInfo *info, struct arena *arena,
                   struct node_record *ret_record, struct err *err)
{
    struct node_record record = {
        .name = str_of(info->name),
        .pool = str_of(info->pool),
        .node_type = str_of(info->node_type),
        .total = list_create(arena),
        .is_unschedulable = info->unschedulable,
    };

    int rc = check_sizes(info, err);
    rc = rc ? rc : read_taints(info, arena, &record, err);
    rc = rc ? rc
            : entries_amounts(info->total_resources, info->n_total_resources,
                              &record.total, err);
    rc = rc ? rc : read_foreign(info, arena, &record.foreign, err);
    if (rc < 0) {
        return rc;
    }
    record.labels = entries_labels(info->labels, info->n_labels, arena,
                                   &record.label_count);
    *ret_record = record;
    return 0;
}

/* To a report. */

static void put_amounts(Executorapi__NodeInfo *info,
                        const struct node_record *record, struct arena *arena)
{
    info->n_total_resources = record->total.count;
    info->total_resources = entries_make_amounts(
        &record->total,
        &executorapi__node_info__total_resources_entry__descriptor, arena);
    /* Armada's executors report the same amounts under both names. */
    info->n_allocatable_resources = record->total.count;
    info->allocatable_resources = entries_make_amounts(
        &record->total,
        &executorapi__node_info__allocatable_resources_entry__descriptor,
        arena);
}

static void put_foreign(Executorapi__NodeInfo *info,
                        const struct node_record *record, struct arena *arena)
{
    if (record->foreign.count == 0) {
        return;
    }
    Executorapi__NodeInfo__NonArmadaAllocatedResourcesEntry *entry = wire_new(
        &executorapi__node_info__non_armada_allocated_resources_entry__descriptor,
        arena);
    entry->value = wire_new(&executorapi__compute_resource__descriptor, arena);
    entry->value->n_resources = record->foreign.count;
    entry->value->resources = entries_make_amounts(
        &record->foreign,
        &executorapi__compute_resource__resources_entry__descriptor, arena);
    info->non_armada_allocated_resources = arena_alloc(arena, sizeof(void *));
    info->non_armada_allocated_resources[0] = entry;
    info->n_non_armada_allocated_resources = 1;
}

static void put_taints(Executorapi__NodeInfo *info,
                       const struct node_record *record, struct arena *arena)
{
    info->taints =
        arena_alloc_array(arena, record->taint_count, sizeof(void *));
    info->n_taints = record->taint_count;
    for (uint32_t i = 0; i < record->taint_count; i++) {
        const struct taint *from = &record->taints[i];
        K8s__Io__Api__Core__V1__Taint *taint =
            wire_new(&k8s__io__api__core__v1__taint__descriptor, arena);
        taint->key = arena_strdup(arena, from->key);
        taint->value = arena_strdup(arena, from->value);
        taint->effect = arena_strdup(arena, str_of(effect_name(from->effect)));
        info->taints[i] = taint;
    }
}

Executorapi__NodeInfo *node_to_info(const struct node_record *record,
                                    struct arena *arena)
{
    Executorapi__NodeInfo *info =
        wire_new(&executorapi__node_info__descriptor, arena);

    info->name = arena_strdup(arena, record->name);
    info->pool = arena_strdup(arena, record->pool);
    info->node_type = arena_strdup(arena, record->node_type);
    info->unschedulable = record->is_unschedulable;
    info->n_labels = record->label_count;
    info->labels = entries_make_labels(
        record->labels, record->label_count,
        &executorapi__node_info__labels_entry__descriptor, arena);
    put_taints(info, record, arena);
    put_amounts(info, record, arena);
    put_foreign(info, record, arena);
    return info;
}
