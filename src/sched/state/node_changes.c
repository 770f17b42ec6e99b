/* Marks a node as changed, for indexes and reservations. */
#include "sched/state/state.h"

enum { CHANGED_MAX = 1 << 16 };

void node_index_later(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (!node->is_dirty) {
        node->is_dirty = true;
        VEC_PUSH(&sched->dirty, index);
    }
}

void node_count_change(struct sched *sched, uint32_t index)
{
    sched->change_counts[index]++;
    if (sched->changed.count == CHANGED_MAX) {
        sched->changed_base += CHANGED_MAX;
        sched->changed.count = 0;
    }
    ASSERT(sched->changed.count < CHANGED_MAX);
    VEC_PUSH(&sched->changed, index);
}

void node_touch(struct sched *sched, uint32_t index)
{
    node_count_change(sched, index);
    node_index_later(sched, index);
}
