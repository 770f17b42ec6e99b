/* The room of a node for jobs, and whether it accepts any. */
#include "sched/state/nodes.h"

#include "sched/state/floating.h"

struct resource_vec nodes_capacity_of(const struct sched *sched,
                                      const struct node_record *record)
{
    struct resource_vec capacity =
        resource_capacity(&sched->policy->schema, &record->total);
    struct resource_vec foreign;

    (void)!resource_request(&sched->policy->schema, &record->foreign, &foreign);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t left = capacity.v[r] - foreign.v[r];
        capacity.v[r] = left > 0 ? left : 0;
    }
    amounts_clamp(&capacity);
    floating_make_room(sched, &capacity);
    return capacity;
}

enum sched_exclusion node_closed_by(const struct sched *sched, uint32_t index)
{
    const struct node *node = &sched->nodes.items[index];

    if (!sched->executors.items[node->executor].accepts) {
        return SCHED_EXCLUDED_EXECUTOR;
    }
    if (!node->record || node->record->is_unschedulable) {
        return SCHED_EXCLUDED_UNSCHEDULABLE;
    }
    return node->is_out || (node->is_on_trial && node->run_count > 0)
               ? SCHED_EXCLUDED_QUARANTINED
               : SCHED_EXCLUSIONS;
}

void node_refresh(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];
    bool is_accepting = node_closed_by(sched, index) == SCHED_EXCLUSIONS;

    if (is_accepting != node->is_accepting) {
        sched->layout_count++;
        node->is_accepting = is_accepting;
        node_touch(sched, index);
    }
}
