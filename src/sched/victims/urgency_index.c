#include "sched/victims/urgency_index.h"

#include "sched/evict/evicted.h"
#include "sched/place/place.h"
#include "sched/victims/recall.h"
#include "sched/victims/searches.h"

/* The order for one bound on levels. */
struct urgent {
    struct urgent *next;
    struct node_index index;
    struct resource_vec *rooms; /* by node */
    uint64_t *keys;             /* by node */
    uint32_t below, level_max, ordinal_min;
    size_t moved_seen, noted_seen;
};

/* The room without urgency-preemptible work of levels below `below`, and
 * without what is evicted up to `level_max` and from `ordinal_min` on. */
static struct resource_vec room_within(const struct round *round,
                                       uint32_t index, uint32_t below,
                                       uint32_t level_max, uint32_t ordinal_min)
{
    const struct sched *sched = round->sched;
    const struct node *node = &sched->nodes.items[index];
    const struct resource_vec *urgency_preemptible =
        &sched->urgency_preemptible[(size_t)index * sched->level_count];
    struct resource_vec room = sched->free[index];

    for (uint32_t l = 0; l < below; l++) {
        amounts_add(&room, &urgency_preemptible[l]);
    }
    if (node->stamp != sched->stamp ||
        (level_max < below && !round->evicted->has_protected)) {
        return room;
    }
    for (uint32_t i = node->evicted_first; i < node->evicted_end; i++) {
        const struct evicted_run *evicted_run = &round->evicted->runs[i];
        bool is_counted =
            evicted_run->is_urgency_preemptible && evicted_run->level < below;
        if (evicted_run->is_out && !is_counted &&
            evicted_run->level <= level_max &&
            evicted_run->ordinal >= ordinal_min) {
            amounts_add(&room,
                        &class_at(round, evicted_run->class_index)->request);
        }
    }
    return room;
}

struct resource_vec urgent_room(const struct round *round, uint32_t node,
                                uint32_t evicted_max, uint32_t below)
{
    return room_within(round, node, below, evicted_max,
                       round->reserve.ordinal_min);
}

struct resource_vec urgent_room_most(const struct round *round, uint32_t node,
                                     uint32_t level)
{
    const struct sched *sched = round->sched;
    bool has_urgency =
        !sched->policy->is_urgency_preemption_off && !sched->is_preemption_off;
    struct resource_vec room =
        room_within(round, node, has_urgency ? level : 0, level, 0);

    recall_add_room(round, node, &room); /* some of it twice, at the most */
    return room;
}

static void set_room(const struct round *round, struct urgent *urgent,
                     uint32_t node)
{
    urgent->rooms[node] = room_within(round, node, urgent->below,
                                      urgent->level_max, urgent->ordinal_min);
}

static void fill(struct round *round, struct urgent *urgent)
{
    const struct sched *sched = round->sched;
    uint32_t count = (uint32_t)sched->nodes_by_name.count, indexed = 0;
    struct node_index_entry *entries =
        arena_alloc_array(round->arena, count, sizeof(*entries));
    struct node_index_entry *spare =
        arena_alloc_array(round->arena, count, sizeof(*spare));

    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t node = seq_get(&sched->nodes_by_name, at);
        if (sched->nodes.items[node].pool != round->p ||
            !sched->nodes.items[node].is_accepting) {
            continue;
        }
        set_room(round, urgent, node);
        urgent->keys[node] = pool_weigh(round->pool, &urgent->rooms[node]);
        entries[indexed++] =
            (struct node_index_entry){urgent->keys[node], node};
    }
    node_index_clear(&urgent->index);
    urgent->index.free = urgent->rooms;
    urgent->index.ranks = sched->ranks;
    urgent->index.kinds = sched->kinds_of;
    urgent->index.scale = round->pool->index.scale;
    node_index_fill(&urgent->index, entries, spare, indexed);
    urgent->moved_seen = round->watch.moved.count;
    urgent->noted_seen = round->watch.rooms.count;
}

static void update(struct round *round, struct urgent *urgent, uint32_t node)
{
    if (round->sched->nodes.items[node].pool != round->p ||
        !round->sched->nodes.items[node].is_accepting) {
        return;
    }
    set_room(round, urgent, node);
    uint64_t key = pool_weigh(round->pool, &urgent->rooms[node]);
    node_index_move(&urgent->index, node, urgent->keys[node], key);
    urgent->keys[node] = key;
}

static struct urgent *urgent_of(struct round *round, uint32_t below,
                                uint32_t level_max, uint32_t ordinal_min)
{
    const struct sched *sched = round->sched;
    struct urgent *urgent = round->searches->urgents;

    ASSERT(!urgent || urgent->moved_seen <= round->watch.moved.count);
    while (urgent &&
           (urgent->below != below || urgent->level_max != level_max)) {
        urgent = urgent->next;
    }
    if (urgent && urgent->ordinal_min == ordinal_min) {
        for (; urgent->moved_seen < round->watch.moved.count;
             urgent->moved_seen++) {
            update(round, urgent, round->watch.moved.items[urgent->moved_seen]);
        }
        for (; urgent->noted_seen < round->watch.rooms.count;
             urgent->noted_seen++) {
            update(round, urgent, round->watch.rooms.items[urgent->noted_seen]);
        }
        return urgent;
    }
    if (!urgent) {
        urgent = arena_alloc(round->arena, sizeof(*urgent));
        urgent->below = below;
        urgent->level_max = level_max;
        urgent->rooms = arena_alloc_array(round->arena, sched->nodes.count,
                                          sizeof(*urgent->rooms));
        urgent->keys = arena_alloc_array(round->arena, sched->nodes.count,
                                         sizeof(*urgent->keys));
        urgent->next = round->searches->urgents;
        round->searches->urgents = urgent;
        round->watch.is_of_rooms = true;
    }
    urgent->ordinal_min = ordinal_min;
    fill(round, urgent);
    return urgent;
}

uint32_t urgent_find(const struct search *search, uint32_t below,
                     uint32_t evicted_max, node_match_fn *match, void *context)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);
    uint32_t level_max = evicted_max < round->evicted->level_max
                             ? evicted_max
                             : round->evicted->level_max;
    bool has_evicted = round->evicted->count &&
                       (level_max >= below || round->evicted->has_protected);

    ASSERT(level_max <= round->evicted->level_max);
    place_flush(round);
    struct urgent *urgent =
        urgent_of(round, below, has_evicted || !below ? level_max : below - 1,
                  has_evicted ? round->reserve.ordinal_min : 0);
    struct node_query query = {
        .request = &class->request,
        .key_min = pool_weigh(round->pool, &class->request),
        .kinds = place_kinds(round, class),
        .match = match,
        .context = context,
    };
    return node_index_find(&urgent->index, &query,
                           &round->counters->nodes_examined);
}

void urgent_forget(struct round *round)
{
    for (struct urgent *urgent = round->searches->urgents; urgent;
         urgent = urgent->next) {
        node_index_fini(&urgent->index);
    }
    round->searches->urgents = NULL;
    round->searches->ceilings = NULL;
}
