#include "sched/evict/eviction_order.h"

#include "base/heap.h"
#include "sched/evict/evicted.h"
#include "sched/order/heap.h"
#include "sched/order/lane_share.h"

/* What lies this far ahead is fetched, for nearly all of it is in no cache. */
enum { AHEAD = 8 };

/* The lanes by what each would win back first: a heap like that of the round,
 * but of a place in it no lane need know. */
struct race {
    struct heap_entry *heap;
    uint32_t count;
};

DEFINE_HEAP(race, struct heap_entry, 2, const struct round *, heap_less,
            HEAP_PLAIN);

/* Where a lane stands with its next unit. */
static struct heap_entry entry_of(struct round *round, struct lane *lane)
{
    const struct unit *unit = &round->units.items[lane->unit_next];

    ASSERT(lane->unit_next < lane->unit_end); /* it has a next one */
    lane->level[STREAM_EVICTED] = unit->level;
    lane->cost[STREAM_EVICTED] = cost_of(&round->pool->base, &lane->placed,
                                         unit->sum, lane->factor_micro);
    return heap_entry_of(round, lane, STREAM_EVICTED);
}

static struct race race_begin(struct round *round)
{
    struct race race = {
        .heap = arena_alloc_array(round->arena, round->lane_count,
                                  sizeof(*race.heap)),
    };

    for (uint32_t i = 0; i < round->lane_count; i++) {
        struct lane *lane = &round->lanes[i];
        if (lane->unit_next == lane->unit_end) {
            continue;
        }
        if (lane->flow) {
            share_note(round, lane);
        }
        race_rise(round, race.heap, race.count++, entry_of(round, lane));
    }
    return race;
}

/* The lane at the top goes on to its next unit. */
static void advance(struct round *round, struct race *race, struct lane *lane)
{
    amounts_add(&lane->placed, round->units.items[lane->unit_next].sum);
    if (++lane->unit_next < lane->unit_end) {
        race_settle(round, race->heap, race->count, 0, entry_of(round, lane));
    } else {
        race_remove(round, race->heap, --race->count, 0);
    }
}

static uint32_t *order_units(struct round *round)
{
    uint32_t *order =
        arena_alloc_array(round->arena, round->units.count, sizeof(*order));
    struct race race = race_begin(round);
    struct resource_vec *placed =
        arena_alloc_array(round->arena, round->lane_count, sizeof(*placed));

    if (round->reserve.has_window) {
        round->evicted->turns = arena_alloc_array(
            round->arena, round->units.count, sizeof(*round->evicted->turns));
        round->evicted->turn_units = order;
    }
    for (uint32_t i = 0; i < round->lane_count; i++) {
        placed[i] = round->lanes[i].placed;
    }
    for (uint32_t count = 0; race.count > 0; count++) {
        struct lane *lane = &round->lanes[race.heap[0].stream / STREAM_KINDS];
        round->units.items[lane->unit_next].ordinal =
            round->units.ordinal_first + count;
        if (round->evicted->turns) {
            round->evicted->turns[count] = lane->cost[STREAM_EVICTED];
        }
        ASSERT(count < round->units.count); /* each has one turn */
        order[count] = lane->unit_next;
        advance(round, &race, lane);
    }
    for (uint32_t i = 0; i < round->lane_count; i++) {
        round->lanes[i].placed = placed[i];
        round->lanes[i].unit_next = round->lanes[i].unit_first;
    }
    return order;
}

/* Which nodes have any of it, and where in the evicted runs each has its own.
 */
static void part_evicted_runs(struct round *round)
{
    struct sched *sched = round->sched;
    uint32_t member_count = round->units.member_count;
    uint32_t total = 0;

    round->evicted->runs = arena_alloc_array(round->arena, member_count,
                                             sizeof(*round->evicted->runs));
    round->evicted->nodes = arena_alloc_array(round->arena, member_count,
                                              sizeof(*round->evicted->nodes));
    round->evicted->queues = arena_alloc_array(round->arena, sched->nodes.count,
                                               sizeof(*round->evicted->queues));
    for (uint32_t m = 0; m < member_count; m++) {
        uint32_t index = round->units.members[m].node;
        struct node *node = &sched->nodes.items[index];
        if (node->stamp != sched->stamp) {
            node->stamp = sched->stamp;
            node->evicted_end = 0;
            round->evicted->nodes[round->evicted->node_count++] = index;
        }
        node->evicted_end++;
    }
    for (uint32_t i = 0; i < round->evicted->node_count; i++) {
        struct node *node = &sched->nodes.items[round->evicted->nodes[i]];
        uint32_t count = node->evicted_end;
        node->evicted_first = node->evicted_end = total;
        total += count;
    }
    ASSERT(total == member_count); /* each run is on one node */
}

/* Give each node its evicted runs, in the order of `order`. */
static void fill_evicted_runs(struct round *round, const uint32_t *order)
{
    struct sched *sched = round->sched;

    for (uint32_t i = 0; i < round->units.count; i++) {
        const struct unit *unit = &round->units.items[order[i]];
        if (i + AHEAD < round->units.count) {
            const struct unit *next = &round->units.items[order[i + AHEAD]];
            const struct unit_run *member =
                &round->units.members[next->member_first];
            __builtin_prefetch(&sched->runs.items[member->run].evicted_run, 1);
            __builtin_prefetch(&sched->nodes.items[member->node].evicted_end,
                               1);
        }
        uint32_t queue = round->lanes[unit->lane].queue;
        for (uint32_t m = 0; m < unit->member_count; m++) {
            const struct unit_run *member =
                &round->units.members[unit->member_first + m];
            struct node *node = &sched->nodes.items[member->node];
            uint32_t at = node->evicted_end++;
            ASSERT(at < round->units.member_count);
            round->evicted->queues[member->node] |= evicted_queue_bit(queue);
            ASSERT_SLOW(
                sched->accounts.items[sched->runs.items[member->run].account]
                    .queue == queue);
            sched->runs.items[member->run].evicted_run = at;
            round->evicted->runs[at] = (struct evicted_run){
                .run = member->run,
                .node = member->node,
                .job = member->job,
                .class_index = member->class_index,
                .gang = member->gang,
                .unit = order[i],
                .queue = queue,
                .ordinal = unit->ordinal,
                .level = member->level,
                .is_urgency_preemptible = member->is_urgency_preemptible,
                .is_out = true,
            };
        }
    }
}

void evict_order(struct round *round)
{
    const uint32_t *order = order_units(round);

    part_evicted_runs(round);
    fill_evicted_runs(round, order);
}
