/* Nodes and executors by name: slots that are allocated and freed. */
#include <string.h>

#include "sched/state/nodes.h"

enum { NODES_MIN = 64 };

uint32_t nodes_executor_hold(struct sched *sched, struct str name)
{
    bool is_new = intern_find(sched->executor_names, name) == INTERN_NONE;
    uint32_t executor = intern_add(sched->executor_names, name);

    if (sched->executors.count <= executor) {
        VEC_PUSH(&sched->executors, (struct executor){0});
    }
    if (is_new) {
        sched->executors.items[executor] = (struct executor){
            .name = intern_get(sched->executor_names, executor),
            .accepts = true,
        };
    }
    return executor;
}

static bool node_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;
    const struct node *x = &sched->nodes.items[a];
    const struct node *y = &sched->nodes.items[b];
    int c = str_compare(nodes_name_of(x), nodes_name_of(y));

    if (c == 0) {
        c = str_compare(sched->executors.items[x->executor].name,
                        sched->executors.items[y->executor].name);
    }
    return c < 0;
}

static void grow_arrays(struct sched *sched)
{
    uint32_t capacity =
        sched->node_capacity ? sched->node_capacity * 2 : NODES_MIN;
    size_t row = sched->level_count * sizeof(struct resource_vec);

    sched->free = mem_grow_array(sched->free, capacity, sizeof(*sched->free));
    sched->urgency_preemptible =
        mem_grow_array(sched->urgency_preemptible, capacity, row);
    sched->ranks =
        mem_grow_array(sched->ranks, capacity, sizeof(*sched->ranks));
    sched->kinds_of =
        mem_grow_array(sched->kinds_of, capacity, sizeof(*sched->kinds_of));
    sched->change_counts = mem_grow_array(sched->change_counts, capacity,
                                          sizeof(*sched->change_counts));
    memset(sched->change_counts + sched->node_capacity, 0,
           (capacity - sched->node_capacity) * sizeof(*sched->change_counts));
    sched->free_words =
        mem_grow_array(sched->free_words, capacity, sizeof(*sched->free_words));
    sched->node_capacity = capacity;
    for (size_t i = 0; i < sched->pools.count; i++) {
        sched->pools.items[i].index.free = sched->free;
        sched->pools.items[i].index.ranks = sched->ranks;
        sched->pools.items[i].index.kinds = sched->kinds_of;
        sched->pools.items[i].index.node_words = sched->free_words;
    }
}

static uint32_t node_add(struct sched *sched, struct str executor_name,
                         struct str name)
{
    uint32_t executor = nodes_executor_hold(sched, executor_name);
    uint32_t node = SLOTS_TAKE(&sched->nodes);

    if (node >= sched->node_capacity) {
        grow_arrays(sched);
    }
    sched->nodes.items[node] = (struct node){
        .name = str_dup(name),
        .name_bytes = (uint32_t)name.byte_count,
        .executor = executor,
        .pool = NONE,
        .run_first = NONE,
    };
    sched->free[node] = (struct resource_vec){0};
    sched->free_words[node] = 0;
    node_count_change(sched, node);
    memset(&sched->urgency_preemptible[(size_t)node * sched->level_count], 0,
           sched->level_count * sizeof(struct resource_vec));
    names_put(&sched->node_names, executor, name, node);
    seq_insert(&sched->nodes_by_name, node, node_less, sched);
    sched->are_node_ranks_stale = true;
    return node;
}

uint32_t sched_node_index(struct sched *sched, struct str executor,
                          struct str name)
{
    uint32_t e = intern_find(sched->executor_names, executor);
    uint32_t node = e == INTERN_NONE ? (uint32_t)NAMES_NONE
                                     : names_first(&sched->node_names, e, name);

    while (node != NAMES_NONE) {
        if (sched->nodes.items[node].executor == e &&
            str_equal(nodes_name_of(&sched->nodes.items[node]), name)) {
            return node;
        }
        node = names_next(&sched->node_names, node);
    }
    return node_add(sched, executor, name);
}

void node_release(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (node->record || node->run_count || node->avoid_count ||
        node->is_indexed || node->is_dirty || node->has_health) {
        return;
    }
    names_remove(&sched->node_names, node->executor, nodes_name_of(node),
                 index);
    seq_remove(&sched->nodes_by_name, index, node_less, sched);
    intern_unref(sched->executor_names, node->executor);
    mem_free(node->name);
    node->name = NULL;
    SLOTS_GIVE(&sched->nodes, index);
}

struct str sched_node_executor(const struct sched *sched, uint32_t node)
{
    ASSERT(node < sched->nodes.count);
    return sched->executors.items[sched->nodes.items[node].executor].name;
}

struct str sched_node_name(const struct sched *sched, uint32_t node)
{
    ASSERT(node < sched->nodes.count);
    return nodes_name_of(&sched->nodes.items[node]);
}
