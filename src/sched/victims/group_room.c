#include "sched/victims/group_room.h"

#include "sched/evict/evicted.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/victims/searches.h"
#include "sched/victims/urgency_index.h"

enum { WORDS_A_LOOK = 64 /* so much cheaper they are to look at */ };

/* What a class found out about the groups of an index: what empty nodes
 * hold. */
struct group_rooms {
    struct group_rooms *next;
    const struct label_index *index; /* NULL: all nodes are one group */
    uint32_t *counts;                /* by group */
};

/* What nodes would have free if all went that may for work of one level: made
 * when first asked for in a round, then kept up to date. */
struct ceiling {
    struct ceiling *next;
    struct resource_vec *rooms; /* by node */
    uint64_t *words;            /* likewise, packed */
    size_t moved_seen, noted_seen;
    uint8_t level;
};

static bool is_allowed(struct round *round, uint32_t class_index, uint32_t node)
{
    struct search search = {round, class_index, NONE, NULL};

    /* A gang's members may be of classes that this round has not met. */
    (void)class_round(round, class_index);
    return place_matches_class(&search, node);
}

bool group_room_is_known(const struct round *round)
{
    return !round->reserve.asking && !round_has_terms(round);
}

bool group_holds_free(struct round *round, uint32_t class_index,
                      const struct label_group *group, uint32_t needed)
{
    const struct sched *sched = round->sched;
    const struct resource_vec *request =
        &class_round(round, class_index)->request;
    uint64_t word = packed_of(&round->pool->index.scale, request), count = 0;

    place_flush(round);
    for (uint32_t i = 0; i < group->count && count < needed; i++) {
        uint32_t node = group->nodes[i];
        if (!packed_fits(word, sched->free_words[node])) {
            continue;
        }
        uint32_t n = amounts_times(request, &sched->free[node]);
        count += n && is_allowed(round, class_index, node) ? n : 0;
    }
    return count >= needed;
}

/* What is evicted though its class is kept from urgency: other work is counted
 * by level. */
static void add_protected(const struct round *round, uint32_t index,
                          struct resource_vec *room)
{
    const struct sched *sched = round->sched;
    const struct node *node = &sched->nodes.items[index];

    if (!round->evicted->has_protected || node->stamp != sched->stamp) {
        return;
    }
    for (uint32_t i = node->evicted_first; i < node->evicted_end; i++) {
        const struct evicted_run *evicted_run = &round->evicted->runs[i];
        if (!evicted_run->is_urgency_preemptible && evicted_run->is_out) {
            amounts_add(room,
                        &class_at(round, evicted_run->class_index)->request);
        }
    }
}

uint32_t group_room_most(struct round *round, uint32_t class_index,
                         const struct label_group *group)
{
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_index);
    uint64_t count = 0;

    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t node = group->nodes[i];
        struct resource_vec room = sched->free[node];
        for (uint32_t l = 0; l <= class->level; l++) {
            amounts_add(
                &room,
                &sched->urgency_preemptible[(size_t)node * sched->level_count +
                                            l]);
        }
        add_protected(round, node, &room);
        uint32_t n = amounts_times(&class->request, &room);
        count += n && is_allowed(round, class_index, node) ? n : 0;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void set_ceiling(const struct round *round, struct ceiling *ceiling,
                        uint32_t node)
{
    ceiling->rooms[node] = urgent_room_most(round, node, ceiling->level);
    ceiling->words[node] =
        packed_of(&round->pool->index.scale, &ceiling->rooms[node]);
}

static struct ceiling *ceiling_make(struct round *round, uint8_t level)
{
    const struct sched *sched = round->sched;
    struct ceiling *ceiling = arena_alloc(round->arena, sizeof(*ceiling));

    *ceiling = (struct ceiling){
        .next = round->searches->ceilings,
        .rooms = arena_alloc_array(round->arena, sched->nodes.count,
                                   sizeof(*ceiling->rooms)),
        .words = arena_alloc_array(round->arena, sched->nodes.count,
                                   sizeof(*ceiling->words)),
        .moved_seen = round->watch.moved.count,
        .noted_seen = round->watch.rooms.count,
        .level = level,
    };
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].pool == round->p) {
            set_ceiling(round, ceiling, i);
        }
    }
    round->searches->ceilings = ceiling;
    round->watch.is_of_rooms = true;
    return ceiling;
}

static const struct ceiling *ceiling_of(struct round *round, uint8_t level)
{
    struct ceiling *ceiling = round->searches->ceilings;

    place_flush(round);
    while (ceiling && ceiling->level != level) {
        ceiling = ceiling->next;
    }
    if (!ceiling) {
        return ceiling_make(round, level);
    }
    for (; ceiling->moved_seen < round->watch.moved.count;
         ceiling->moved_seen++) {
        set_ceiling(round, ceiling,
                    round->watch.moved.items[ceiling->moved_seen]);
    }
    for (; ceiling->noted_seen < round->watch.rooms.count;
         ceiling->noted_seen++) {
        set_ceiling(round, ceiling,
                    round->watch.rooms.items[ceiling->noted_seen]);
    }
    return ceiling;
}

bool group_holds_most(struct round *round, uint32_t class_index,
                      const struct label_group *group, uint32_t needed)
{
    const struct class *class = class_round(round, class_index);
    const struct ceiling *ceiling = ceiling_of(round, class->level);
    uint64_t count = 0;
    uint64_t word = packed_of(&round->pool->index.scale, &class->request);

    round->counters->nodes_examined += group->count / WORDS_A_LOOK;
    for (uint32_t i = 0; i < group->count && count < needed; i++) {
        uint32_t node = group->nodes[i];
        if (!packed_fits(word, ceiling->words[node])) {
            continue;
        }
        uint32_t n = amounts_times(&class->request, &ceiling->rooms[node]);
        count += n && is_allowed(round, class_index, node) ? n : 0;
    }
    return count >= needed;
}

static uint64_t empty_of(struct round *round, uint32_t class_index,
                         uint32_t node)
{
    const struct node *record = &round->sched->nodes.items[node];
    uint32_t n = amounts_times(&class_at(round, class_index)->request,
                               &record->capacity);

    return n && is_allowed(round, class_index, node) ? n : 0;
}

static uint32_t count_empty(struct round *round, uint32_t class_index,
                            const struct label_group *group)
{
    uint32_t node_count =
        group ? group->count : (uint32_t)round->sched->nodes.count;
    uint64_t count = 0;

    for (uint32_t i = 0; i < node_count; i++) {
        uint32_t node = group ? group->nodes[i] : i;
        if (round->sched->nodes.items[node].pool == round->p) {
            count += empty_of(round, class_index, node);
        }
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* What was found out before, or room for it (`ret_is_new`). */
static struct group_rooms *rooms_of(struct round *round, struct class *class,
                                    const struct label_index *index,
                                    bool *ret_is_new)
{
    struct group_rooms *rooms = class->group_rooms;

    while (rooms && rooms->index != index) {
        rooms = rooms->next;
    }
    *ret_is_new = !rooms;
    if (!rooms) {
        rooms = arena_alloc(round->arena, sizeof(*rooms));
        rooms->index = index;
        rooms->counts =
            arena_alloc_array(round->arena, index ? index->group_count : 1,
                              sizeof(*rooms->counts));
        rooms->next = class->group_rooms;
        class->group_rooms = rooms;
    }
    return rooms;
}

uint32_t group_holds_empty(struct round *round, uint32_t class_index,
                           const struct label_index *index, uint32_t group)
{
    struct class *class = class_round(round, class_index);
    bool is_new;
    struct group_rooms *rooms = rooms_of(round, class, index, &is_new);
    uint32_t count = index ? index->group_count : 1;

    for (uint32_t i = 0; is_new && i < count; i++) {
        rooms->counts[i] =
            count_empty(round, class_index, index ? &index->groups[i] : NULL);
    }
    return rooms->counts[group];
}
