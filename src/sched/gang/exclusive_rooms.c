/* The nodes that a gang with exclusive nodes may choose from. */
#include "sched/data/merge_sort.h"
#include "sched/gang/exclusive_choose.h"
#include "sched/place/place.h"

static void add_room(struct exclusive_choice *choice, uint32_t index)
{
    const struct sched *sched = choice->round->sched;
    const struct node *node = &sched->nodes.items[index];

    if (!node->is_accepting || node->pool != choice->round->p) {
        return;
    }
    uint32_t holder = exclusive_node_holder(sched, node);
    bool is_held = holder && holder == choice->holder;
    bool is_busy = holder ? !is_held : !exclusive_node_is_unused(sched, index);
    if (!is_busy || choice->may_clear) {
        choice->rooms[choice->room_count++] = (struct exclusive_candidate){
            .node = index,
            .is_held = is_held,
            .is_busy = is_busy,
            .left = is_busy ? node->capacity : sched->free[index],
        };
    }
}

static void add_ranked(struct exclusive_choice *choice,
                       const struct label_group *only)
{
    struct round *round = choice->round;
    const uint32_t *ranks = round->sched->ranks;
    uint32_t count = only->count;
    uint32_t *items = arena_alloc_array(round->arena, count, sizeof(*items));
    uint32_t *spare = arena_alloc_array(round->arena, count, sizeof(*spare));

    for (uint32_t i = 0; i < count; i++) {
        items[i] = only->nodes[i];
    }
#define GOES_BEFORE(b, a) (ranks[*(b)] < ranks[*(a)])
    items = MERGE_SORT(items, spare, count, GOES_BEFORE);
#undef GOES_BEFORE
    for (uint32_t i = 0; i < count; i++) {
        add_room(choice, items[i]);
    }
}

void exclusive_choose_rooms(struct exclusive_choice *choice,
                            const struct label_group *only)
{
    const struct sched *sched = choice->round->sched;
    const struct seq *all = &sched->nodes_by_name;
    uint32_t count = only ? only->count : all->count;

    choice->rooms =
        arena_alloc_array(choice->round->arena, count, sizeof(*choice->rooms));
    if (only) {
        ASSERT(only->count <= sched->nodes.count);
        add_ranked(choice, only);
        return;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(all, at); seq_next(all, &at)) {
        add_room(choice, seq_get(all, at));
    }
}
