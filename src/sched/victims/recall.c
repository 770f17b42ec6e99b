#include "sched/victims/recall.h"

#include "base/heap.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/victims/sets.h"

bool recall_is_victim(const struct round *round, const struct run *run)
{
    return lending_may_recall(round) && run->state != RUN_PREEMPTED &&
           borrowed_has(round->sched, run->job);
}

void recall_add_room(const struct round *round, uint32_t index,
                     struct resource_vec *room)
{
    const struct sched *sched = round->sched;

    if (!lending_may_recall(round) ||
        !sched->nodes.items[index].borrowed_count) {
        return;
    }
    for (uint32_t at = sched->nodes.items[index].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        ASSERT_SLOW(run->node == index);
        if (recall_is_victim(round, run)) {
            amounts_add(
                room, &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
}

/* Recalling: the nodes in the order in which borrowed work goes. */

/* A node, and what it costs to make room there, when it was looked at. */
struct offer {
    uint32_t node;
    uint32_t victim_count;
    uint64_t lost;
    bool spares_groups; /* see struct victim_rules */
};

/* What a class was offered, as a heap; lives in the round's arena. */
struct borrowed {
    struct offer *offers;
    uint32_t count, capacity;
    size_t
        moved_seen; /* of round.watch.moved: a node's offer is another then */
};

static bool offer_less(const struct sched *sched, const struct offer *a,
                       const struct offer *b)
{
    if (a->victim_count != b->victim_count) {
        return a->victim_count < b->victim_count;
    }
    return a->lost != b->lost ? a->lost < b->lost
                              : sched->ranks[a->node] < sched->ranks[b->node];
}

DEFINE_HEAP(offers, struct offer, 2, const struct sched *, offer_less,
            HEAP_PLAIN);

static void push_offer(struct round *round, struct borrowed *borrowed,
                       const struct offer *offer)
{
    if (borrowed->count == borrowed->capacity) {
        uint32_t capacity = borrowed->capacity ? borrowed->capacity * 2 : 16;
        struct offer *grown =
            arena_alloc_array(round->arena, capacity, sizeof(*grown));
        for (uint32_t i = 0; i < borrowed->count; i++) {
            grown[i] = borrowed->offers[i];
        }
        borrowed->offers = grown;
        borrowed->capacity = capacity;
    }
    ASSERT(offer->victim_count > 0 && borrowed->count < borrowed->capacity);
    offers_rise(round->sched, borrowed->offers, borrowed->count++, *offer);
}

/* Nobody goes but what is borrowed. */
static const struct victim_rules LEND_RULES = {
    .depth = UINT32_MAX,
    .level_max = -1,
};

/* What a node offers to a job; false: borrowed work there is not enough. */
static bool make_offer(const struct search *search, uint32_t node,
                       struct offer *ret_offer)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);
    struct resource_vec room = round->sched->free[node];
    struct victim_set set;

    if (!round->sched->nodes.items[node].borrowed_count) {
        return false;
    }
    recall_add_room(round, node, &room);
    if (!amounts_fit(&class->request, &room) || !place_allows(search, node) ||
        !victim_sets_judge(search, node, &LEND_RULES, &set)) {
        return false;
    }
    *ret_offer = (struct offer){
        .node = node,
        .victim_count = set.count,
        .lost = set.lost,
        .spares_groups = set.spares_groups,
    };
    return true;
}

static bool offer_is_same(const struct offer *a, const struct offer *b)
{
    return a->victim_count == b->victim_count && a->lost == b->lost &&
           a->spares_groups == b->spares_groups;
}

/* Ask all nodes with borrowed work. */
static struct borrowed *ask_all(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct borrowed *borrowed = arena_alloc(round->arena, sizeof(*borrowed));
    struct offer offer;

    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (node->borrowed_count && node->pool == round->p) {
            round->counters->nodes_examined++;
            if (make_offer(search, i, &offer)) {
                push_offer(round, borrowed, &offer);
            }
        }
    }
    borrowed->moved_seen = round->watch.moved.count;
    return borrowed;
}

/* Nodes that changed since the class looked are looked at again; what they
 * offered before is found out when it is the best. */
static void ask_moved(const struct search *search, struct borrowed *borrowed)
{
    struct round *round = search->round;
    struct offer offer;

    ASSERT(borrowed->moved_seen <= round->watch.moved.count);
    for (; borrowed->moved_seen < round->watch.moved.count;
         borrowed->moved_seen++) {
        uint32_t node = round->watch.moved.items[borrowed->moved_seen];
        if (make_offer(search, node, &offer)) {
            push_offer(round, borrowed, &offer);
        }
    }
}

/* The best offer that still stands; false: there is none. */
static bool best_offer(const struct search *search, struct borrowed *borrowed,
                       struct offer *ret_offer)
{
    struct round *round = search->round;

    while (borrowed->count) {
        uint32_t node = borrowed->offers[0].node;
        round->counters->nodes_examined++;
        if (!make_offer(search, node, ret_offer)) {
            offers_remove(round->sched, borrowed->offers, --borrowed->count, 0);
        } else if (offer_is_same(ret_offer, &borrowed->offers[0])) {
            return true;
        } else {
            offers_sink(round->sched, borrowed->offers, borrowed->count, 0,
                        *ret_offer);
        }
    }
    return false;
}

static bool find_in_group(const struct search *search, struct offer *ret_offer)
{
    const struct sched *sched = search->round->sched;
    struct offer offer;
    bool has_best = false;

    for (uint32_t i = 0; i < search->only->count; i++) {
        if (make_offer(search, search->only->nodes[i], &offer) &&
            (!has_best || offer_less(sched, &offer, ret_offer))) {
            *ret_offer = offer;
            has_best = true;
        }
    }
    return has_best;
}

static bool find_offer(const struct search *search, struct offer *ret_offer)
{
    struct class *class = class_round(search->round, search->class_index);

    if (search->only) {
        return find_in_group(search, ret_offer);
    }
    if (place_is_special(search)) {
        return best_offer(search, ask_all(search), ret_offer);
    }
    if (!class->borrowed) {
        class->borrowed = ask_all(search);
    }
    ask_moved(search, class->borrowed);
    return best_offer(search, class->borrowed, ret_offer);
}

uint32_t recall_find(const struct search *search,
                     struct victim_rules *ret_rules)
{
    struct offer offer;

    if (!lending_may_recall(search->round)) {
        return NONE;
    }
    place_flush(search->round);
    if (!find_offer(search, &offer)) {
        return NONE;
    }
    *ret_rules = LEND_RULES;
    ret_rules->spares_groups = offer.spares_groups;
    return offer.node;
}
