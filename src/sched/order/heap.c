#include "sched/order/heap.h"

#include <string.h>

#include "base/heap.h"
#include "sched/order/lane_share.h"

/* A key is a level, the highest first, and the first bits of a cost's double:
 * its last bit is worth more than what the doubles of equal costs may differ
 * by.  So keys that are not next to each other tell which goes first. */
enum { KEY_COST_BITS = 56, KEY_CUT_BITS = 8 };

static bool entry_less_exact(const struct round *round,
                             const struct heap_entry *a,
                             const struct heap_entry *b, bool *ret_equal)
{
    const struct cost *x =
        &round->lanes[a->stream / STREAM_KINDS].cost[a->stream % STREAM_KINDS];
    const struct cost *y =
        &round->lanes[b->stream / STREAM_KINDS].cost[b->stream % STREAM_KINDS];
    int c = cost_compare(&round->pool->base, x, y);

    *ret_equal = c == 0;
    return c < 0;
}

/* Of entries whose keys do not tell. */
static bool less_by_all(const struct round *round, const struct heap_entry *a,
                        const struct heap_entry *b)
{
    bool is_equal = false;

    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->like == b->like && a->like != 0) {
        if (a->approx != b->approx) {
            return a->approx < b->approx;
        }
    } else if (entry_less_exact(round, a, b, &is_equal)) {
        return true;
    } else if (!is_equal) {
        return false;
    }
    /* What runs goes before what would take its place. */
    uint32_t a_kind = a->stream % STREAM_KINDS;
    uint32_t b_kind = b->stream % STREAM_KINDS;
    if (round->has_flow && a_kind == b_kind) {
        int c =
            share_compare_flows(round, &round->lanes[a->stream / STREAM_KINDS],
                                &round->lanes[b->stream / STREAM_KINDS]);
        if (c) {
            return c < 0;
        }
    }
    return a_kind != b_kind ? a_kind < b_kind : a->rank < b->rank;
}

static inline bool is_less(const struct round *round,
                           const struct heap_entry *a,
                           const struct heap_entry *b)
{
    return a->key - b->key + 1 > 2 ? a->key < b->key : less_by_all(round, a, b);
}

bool heap_less(const struct round *round, const struct heap_entry *a,
               const struct heap_entry *b)
{
    return is_less(round, a, b);
}

static inline void note_place(struct round *round,
                              const struct heap_entry *entry, size_t at)
{
    round->heap_places[entry->stream] = (uint32_t)at;
}

DEFINE_HEAP(streams, struct heap_entry, 2, struct round *, is_less, note_place);

static uint32_t stream_of(const struct round *round, const struct lane *lane,
                          enum stream_kind kind)
{
    return (uint32_t)(lane - round->lanes) * STREAM_KINDS + kind;
}

static uint64_t key_of(uint8_t level, double cost)
{
    uint64_t bits = 0, last = (UINT64_C(1) << KEY_COST_BITS) - 1;

    if (cost > 0) {
        memcpy(&bits, &cost, sizeof(bits));
    }
    bits >>= KEY_CUT_BITS;
    return (uint64_t)(UINT8_MAX - level) << KEY_COST_BITS |
           (bits < last ? bits : last);
}

struct heap_entry heap_entry_of(const struct round *round,
                                const struct lane *lane, enum stream_kind kind)
{
    /* Amounts below 2^48 of one column and factor differ in their doubles
     * too, so that those can be trusted; as rounded, all can. */
    const struct cost *cost = &lane->cost[kind];
    bool is_rounded = round->pool->base.is_rounded;
    bool is_plain = cost->amount < (int64_t)1 << 48 && lane->factor_id &&
                    !round->pool->base.is_sum;

    double approx = is_rounded ? cost_rounded(cost->approx) : cost->approx;

    return (struct heap_entry){
        .key = key_of(lane->level[kind], approx),
        .approx = approx,
        .stream = stream_of(round, lane, kind),
        .rank = lane->rank,
        .like = is_rounded ? 1
                : is_plain ? lane->factor_id * (COST_FRACTION + 1) +
                                 (uint32_t)cost->column
                           : 0,
        .level = lane->level[kind],
    };
}

void heap_put(struct round *round, struct lane *lane, enum stream_kind kind)
{
    struct heap_entry entry = heap_entry_of(round, lane, kind);
    uint32_t at = round->heap_places[entry.stream];

    ASSERT_SLOW(lane->level[kind] < round->sched->level_count);
    if (at == NONE) {
        round->heap_new_count += kind == STREAM_NEW;
        streams_rise(round, round->heap, round->heap_count++, entry);
    } else {
        ASSERT(at < round->heap_count &&
               round->heap[at].stream == entry.stream);
        /* What comes back from the top has mostly become the last. */
        streams_settle(round, round->heap, round->heap_count, at, entry);
    }
}

void heap_drop(struct round *round, struct lane *lane, enum stream_kind kind)
{
    uint32_t *place = &round->heap_places[stream_of(round, lane, kind)];
    uint32_t at = *place;

    if (at == NONE) {
        return;
    }
    ASSERT(at < round->heap_count &&
           round->heap[at].stream == stream_of(round, lane, kind));
    round->heap_new_count -= kind == STREAM_NEW;
    *place = NONE;
    streams_remove(round, round->heap, --round->heap_count, at);
    ASSERT(round->heap_new_count <= round->heap_count);
}

const struct heap_entry *heap_second(const struct round *round)
{
    const struct heap_entry *heap = round->heap;

    if (round->heap_count < 2) {
        return NULL;
    }
    return round->heap_count == 2 || is_less(round, &heap[1], &heap[2])
               ? &heap[1]
               : &heap[2];
}
