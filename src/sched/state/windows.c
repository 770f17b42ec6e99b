#include "sched/state/windows.h"

void windows_note(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];
    bool has_window = node->record && node->record->closes_ms > 0;

    if (has_window != node->has_window) {
        node->has_window = has_window;
        sched->window_node_count += has_window ? 1 : UINT32_MAX;
    }
    ASSERT(sched->window_node_count <= sched->nodes.count);
}

int64_t windows_last_start_ms(const struct sched *sched,
                              const struct class *class, uint32_t index)
{
    const struct node_record *record = sched->nodes.items[index].record;

    if (!record || record->closes_ms == 0) {
        return INT64_MAX;
    }
    if (class->deadline_ms == INT64_MAX) {
        return record->endless_closes_ms - 1;
    }
    return record->closes_ms - class->deadline_ms;
}
