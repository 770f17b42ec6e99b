/* Updates all nodes at once: their order, their indexes, and their amounts when
 * the policy changes. */
#include <string.h>

#include "sched/state/floating.h"
#include "sched/state/node_shapes.h"
#include "sched/state/nodes.h"
#include "sched/state/topology.h"

static void rank_nodes(struct sched *sched)
{
    uint32_t rank = 0;

    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        sched->ranks[seq_get(&sched->nodes_by_name, at)] = rank++;
    }
    ASSERT(rank == sched->nodes_by_name.count);
    sched->are_node_ranks_stale = false;
}

void nodes_sync(struct sched *sched)
{
    node_shapes_sync(sched);
    /* Ranks of nodes in an index keep their order, so it stays sorted. */
    if (sched->are_node_ranks_stale) {
        rank_nodes(sched);
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        topology_sync(sched, p);
        if (!pool->is_stale) {
            continue;
        }
        pool_nodes_reindex(sched, p);
    }
    for (size_t i = 0; i < sched->dirty.count; i++) {
        uint32_t index = sched->dirty.items[i];
        ASSERT(sched->nodes.items[index].is_dirty);
        sched->nodes.items[index].is_dirty = false;
        node_reindex(sched, index);
        node_release(sched, index);
    }
    sched->dirty.count = 0;
}

void nodes_rebuild(struct sched *sched)
{
    size_t row = sched->level_count * sizeof(struct resource_vec);

    sched->are_kinds_stale = true; /* they tell of GPUs */

    memset(sched->urgency_preemptible_count, 0,
           sizeof(sched->urgency_preemptible_count));
    for (size_t p = 0; p < sched->pools.count; p++) {
        sched->pools.items[p].total = (struct resource_vec){0};
        sched->pools.items[p].used = (struct resource_vec){0};
        floating_set_totals(sched, &sched->pools.items[p]);
        sched->pools.items[p].is_stale = true;
        sched->pools.items[p].is_base_stale = true;
        sched->pools.items[p].is_foreign_known = false;
    }
    mem_free(sched->urgency_preemptible);
    sched->urgency_preemptible =
        mem_alloc_array(sched->node_capacity ? sched->node_capacity : 1, row);
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        struct node *node = &sched->nodes.items[i];
        if (node->name && node->record) {
            struct pool *pool = &sched->pools.items[node->pool];
            node->capacity = nodes_capacity_of(sched, node->record);
            ASSERT(amounts_is_sum(&node->capacity));
            sched->free[i] = node->capacity;
            struct resource_vec capacity = node->capacity;
            floating_strip(sched, &capacity);
            if (node_is_in_total(node)) {
                amounts_add(&pool->total, &capacity);
            }
        } else {
            sched->free[i] = (struct resource_vec){0};
        }
    }
}

void nodes_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->nodes.count; i++) {
        mem_free(sched->nodes.items[i].name);
        mem_free(sched->nodes.items[i].record);
    }
    for (size_t i = 0; i < sched->pools.count; i++) {
        node_index_fini(&sched->pools.items[i].index);
        labels_forget(&sched->pools.items[i]);
        topology_forget(&sched->pools.items[i]);
    }
    SLOTS_FREE(&sched->nodes);
    VEC_FREE(&sched->executors);
    VEC_FREE(&sched->pools);
    VEC_FREE(&sched->dirty);
    names_fini(&sched->node_names);
    seq_fini(&sched->nodes_by_name);
    mem_free(sched->free);
    mem_free(sched->urgency_preemptible);
    mem_free(sched->ranks);
    mem_free(sched->kinds_of);
    mem_free(sched->free_words);
    mem_free(sched->change_counts);
    VEC_FREE(&sched->changed);
    intern_destroy(sched->pool_names);
    intern_destroy(sched->executor_names);
    intern_destroy(sched->taint_sets);
}
