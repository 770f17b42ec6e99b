#include "sched/gang/exclusive_clear.h"

#include <string.h>

#include "sched/data/merge_sort.h"

static void sort_items(struct round *round, struct clear_item *items,
                       uint32_t count)
{
    struct clear_item *spare =
        arena_alloc_array(round->arena, count, sizeof(*spare));

#define IS_CHEAPER(b, a) (victim_set_compare(round, &(b)->set, &(a)->set) < 0)
    struct clear_item *sorted = MERGE_SORT(items, spare, count, IS_CHEAPER);
#undef IS_CHEAPER
    if (sorted != items) {
        memcpy(items, sorted, count * sizeof(*items));
    }
}

bool exclusive_clear_choose(struct round *round, struct clear_item *items,
                            uint32_t count, uint32_t pod_count)
{
    uint64_t held = 0;
    uint32_t taken = 0;

    sort_items(round, items, count);
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
    ASSERT(held >= pod_count); /* what is left is still enough */
    return true;
}
