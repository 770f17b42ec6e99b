#include "sched/whole_clear.h"

#include <string.h>

static void sort_items(const struct sched *sched, struct clear_item *items,
                       uint32_t count, struct arena *arena)
{
    struct clear_item *from = items;
    struct clear_item *to = arena_alloc_array(arena, count, sizeof(*to));

    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t low = 0; low < count; low += 2 * width) {
            uint32_t middle = low + width < count ? low + width : count;
            uint32_t high = low + 2 * width < count ? low + 2 * width : count;
            uint32_t a = low, b = middle;
            for (uint32_t i = low; i < high; i++) {
                bool is_left =
                    b >= high ||
                    (a < middle && victim_set_compare(sched, &from[a].set,
                                                      &from[b].set) <= 0);
                to[i] = is_left ? from[a++] : from[b++];
            }
        }
        struct clear_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof(*items));
    }
}

bool whole_clear_choose(const struct sched *sched, struct clear_item *items,
                        uint32_t count, uint32_t pod_count, struct arena *arena)
{
    uint64_t held = 0;
    uint32_t taken = 0;

    sort_items(sched, items, count, arena);
    while (taken < count && held < pod_count) {
        items[taken].is_chosen = items[taken].pod_count > 0;
        held += items[taken++].pod_count;
    }
    if (held < pod_count) {
        return false;
    }
    for (uint32_t i = taken; i > 0; i--) {
        struct clear_item *item = &items[i - 1];
        if (item->is_chosen && held - item->pod_count >= pod_count) {
            held -= item->pod_count;
            item->is_chosen = false;
        }
    }
    return true;
}
