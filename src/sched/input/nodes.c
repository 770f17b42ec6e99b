#include "sched/state/nodes.h"

#include <string.h>

#include "sched/evict/cooldown.h"
#include "sched/state/floating.h"
#include "sched/state/node_record.h"
#include "sched/state/node_shapes.h"
#include "sched/state/topology.h"
#include "sched/state/windows.h"

/* The taints that pods prefer to do without (`is_soft`), or those that keep
 * them away, as a number; 0 for none. */
static uint32_t taint_set_of(struct sched *sched,
                             const struct node_record *record, bool is_soft)
{
    auto_strbuf buf = {0};

    for (uint32_t i = 0; i < record->taint_count; i++) {
        if ((record->taints[i].effect == TAINT_PREFER_NO_SCHEDULE) == is_soft) {
            pack_u64(&buf, record->taints[i].effect);
            pack_str(&buf, record->taints[i].key);
            pack_str(&buf, record->taints[i].value);
        }
    }
    return intern_add(sched->taint_sets, strbuf_str(&buf));
}

static void set_soft_taints(struct sched *sched, struct node *node,
                            uint32_t taint_set)
{
    sched->soft_node_count += (taint_set != 0) - (node->soft_taint_set != 0);
    node->soft_taint_set = taint_set;
}

static bool has_labels_of(const struct node *node,
                          const struct node_record *record)
{
    const struct node_record *known = node->record;
    bool is_same = known->label_count == record->label_count;

    for (uint32_t i = 0; is_same && i < record->label_count; i++) {
        is_same = str_equal(known->labels[i].key, record->labels[i].key) &&
                  str_equal(known->labels[i].value, record->labels[i].value);
    }
    return is_same;
}

/* A node has another maintenance window, or none any more. */
static bool has_other_window(const struct node *node,
                             const struct node_record *record)
{
    return node->record->closes_ms != record->closes_ms ||
           node->record->endless_closes_ms != record->endless_closes_ms;
}

/* A node has so much for jobs now; `is_counted` says whether its pool counts it
 * already. */
static void set_capacity(struct sched *sched, uint32_t index,
                         const struct resource_vec *capacity, bool is_counted)
{
    struct node *node = &sched->nodes.items[index];

    amounts_subtract(&sched->free[index], &node->capacity);
    amounts_add(&sched->free[index], capacity);
    node->capacity = *capacity;
    if (!is_counted) {
        pool_nodes_count(sched, node, 1);
    }
}

uint32_t sched_node_set(struct sched *sched, struct str executor,
                        const struct node_record *record, struct str pool)
{
    uint32_t index = sched_node_index(sched, executor, record->name);
    uint32_t p = pool_get(sched, record->pool.byte_count ? record->pool : pool);
    struct node *node = &sched->nodes.items[index];
    struct resource_vec capacity = nodes_capacity_of(sched, record);
    uint32_t taint_set = taint_set_of(sched, record, false);

    /* Most reports repeat what is known, and shares and keys with it. */
    bool is_same = node->record && node->pool == p &&
                   node->record->is_unschedulable == record->is_unschedulable &&
                   memcmp(&capacity, &node->capacity, sizeof(capacity)) == 0;

    bool is_moved =
        !node->record || node->pool != p || !has_labels_of(node, record) ||
        has_other_window(node, record) || node->taint_set != taint_set;

    sched->version++;
    sched->layout_count += is_moved;
    topology_note(sched, index, p, record);
    if (node->record && !is_same) {
        pool_nodes_count(sched, node, -1);
    }
    if (node->pool != p) {
        nodes_relink_runs(sched, index, p);
        node = &sched->nodes.items[index];
    }
    mem_free(node->record);
    node->record = node_record_keep(record);
    windows_note(sched, index);
    if (!is_same || is_moved) {
        cooldown_news(sched);
    }
    node->taint_set = taint_set;
    set_soft_taints(sched, node, taint_set_of(sched, record, true));
    set_capacity(sched, index, &capacity, is_same);
    node_shapes_note_node(sched, index);
    node_touch(sched, index);
    node_refresh(sched, index);
    return index;
}

void sched_node_remove(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    ASSERT(index < sched->nodes.count && node->name);
    if (!node->record) {
        return;
    }
    sched->version++;
    cooldown_news(sched);
    topology_note(sched, index, node->pool, NULL);
    pool_nodes_count(sched, node, -1);
    amounts_subtract(&sched->free[index], &node->capacity);
    node->capacity = (struct resource_vec){0};
    mem_free(node->record);
    node->record = NULL;
    set_soft_taints(sched, node, 0);
    windows_note(sched, index);
    node_refresh(sched, index);
    pool_nodes_leave(sched, index);
    node_touch(sched, index);
}

void sched_executor_set(struct sched *sched, struct str executor,
                        bool accepts_new_leases)
{
    uint32_t e = intern_find(sched->executor_names, executor);
    bool accepted = e == INTERN_NONE || sched->executors.items[e].accepts;

    if (accepted == accepts_new_leases) {
        return;
    }
    /* One that is closed is remembered without nodes too. */
    if (!accepts_new_leases) {
        e = nodes_executor_hold(sched, executor);
    }
    sched->version++;
    cooldown_news(sched);
    sched->executors.items[e].accepts = accepts_new_leases;
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].name && sched->nodes.items[i].executor == e) {
            node_refresh(sched, i);
        }
    }
    if (accepts_new_leases) {
        intern_unref(sched->executor_names, e);
    }
}

struct str sched_node_pool(const struct sched *sched, uint32_t node)
{
    ASSERT(node < sched->nodes.count);
    uint32_t pool = sched->nodes.items[node].pool;

    return pool == NONE ? str_make(NULL, 0)
                        : intern_get(sched->pool_names, pool);
}

void sched_node_stats(const struct sched *sched, uint32_t node,
                      struct sched_node_stats *ret_stats)
{
    ASSERT(node < sched->nodes.count);
    *ret_stats = (struct sched_node_stats){
        .capacity = sched->nodes.items[node].capacity,
        .free = sched->free[node],
        .run_count = sched->nodes.items[node].run_count,
        .is_open =
            sched->nodes.items[node].record &&
            sched->nodes.items[node].is_accepting &&
            sched->executors.items[sched->nodes.items[node].executor].accepts,
    };
    floating_strip(sched, &ret_stats->capacity);
    floating_strip(sched, &ret_stats->free);
}
