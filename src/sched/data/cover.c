#include "sched/data/cover.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 i128;

/* An item in play. */
struct part {
    struct cover_item item;
    uint32_t index; /* in the caller's array */
};

struct cover {
    struct arena *arena;
    struct part *parts;
    uint32_t count;
    uint32_t needed; /* pods that still have no room */
    bool *chosen;
};

static int compare_ranks(const struct cover_item *x, const struct cover_item *y)
{
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_cost(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->item.cost != y->item.cost) {
        return x->item.cost < y->item.cost ? -1 : 1;
    }
    return compare_ranks(&x->item, &y->item);
}

static int by_rank(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return compare_ranks(&x->item, &y->item);
}

/* By cost for each pod. */
static int by_worth(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    u128 left = (u128)x->item.cost * y->item.pod_count;
    u128 right = (u128)y->item.cost * x->item.pod_count;

    if (left != right) {
        return left < right ? -1 : 1;
    }
    return compare_ranks(&x->item, &y->item);
}

/* What goes before an item by cost and holds as much can replace it, so when
 * all such hold everything, the item is in no best set.  `tree` sums by what
 * items hold, the most first. */
static void drop_dominated(struct cover *cover)
{
    uint32_t size = cover->needed, kept = 0;
    uint64_t *tree =
        arena_alloc_array(cover->arena, (size_t)size + 1, sizeof(*tree));

    qsort(cover->parts, cover->count, sizeof(*cover->parts), by_cost);
    for (uint32_t i = 0; i < cover->count; i++) {
        struct part part = cover->parts[i];
        uint32_t at = size - part.item.pod_count + 1;
        uint64_t sum = 0;
        for (uint32_t k = at; k > 0; k &= k - 1) {
            sum += tree[k];
        }
        if (sum >= cover->needed) {
            continue;
        }
        for (uint32_t k = at; k <= size; k += k & -k) {
            tree[k] += part.item.pod_count;
        }
        cover->parts[kept++] = part;
    }
    cover->count = kept;
}

/* The first items by worth that do not yet hold all; the rest begins there. */
static uint32_t prefix_of(const struct cover *cover, uint64_t *ret_held,
                          u128 *ret_cost)
{
    uint32_t at = 0;

    *ret_held = 0;
    *ret_cost = 0;
    while (*ret_held + cover->parts[at].item.pod_count < cover->needed) {
        *ret_held += cover->parts[at].item.pod_count;
        *ret_cost += cover->parts[at].item.cost;
        at++;
    }
    return at;
}

/* A set that holds all, not yet the best: the first items by worth, perhaps
 * without one of the last few of them, and the cheapest one that completes
 * them.  Its cost. */
static u128 some_cost(const struct cover *cover)
{
    uint64_t held;
    u128 cost, best = ~(u128)0;
    uint32_t prefix = prefix_of(cover, &held, &cost);

    for (uint32_t drop = 0; drop <= prefix && drop <= 64; drop++) {
        uint64_t has = held;
        u128 sum = cost;
        if (drop > 0) {
            has -= cover->parts[prefix - drop].item.pod_count;
            sum -= cover->parts[prefix - drop].item.cost;
        }
        for (uint32_t i = prefix; i < cover->count; i++) {
            const struct cover_item *item = &cover->parts[i].item;
            if (has + item->pod_count >= cover->needed &&
                sum + item->cost < best) {
                best = sum + item->cost;
            }
        }
    }
    return best;
}

/* With the price for a pod that the item at the edge has, no set costs less
 * than all pods at that price, and what each of its items costs above it.
 * What would then cost more than a known set is out; what is so cheap that
 * without it all sets would is in. */
static void fix_by_price(struct cover *cover)
{
    uint64_t held;
    u128 cost;
    qsort(cover->parts, cover->count, sizeof(*cover->parts), by_worth);
    const struct cover_item edge =
        cover->parts[prefix_of(cover, &held, &cost)].item;
    i128 known = (i128)some_cost(cover) * edge.pod_count;
    i128 least = (i128)edge.cost * cover->needed;
    uint32_t kept = 0, missing = cover->needed;

    for (uint32_t i = 0; i < cover->count; i++) {
        const struct cover_item *item = &cover->parts[i].item;
        i128 above = (i128)item->cost * edge.pod_count -
                     (i128)edge.cost * item->pod_count;
        least += above < 0 ? above : 0;
    }
    for (uint32_t i = 0; i < cover->count; i++) {
        struct part part = cover->parts[i];
        i128 above = (i128)part.item.cost * edge.pod_count -
                     (i128)edge.cost * part.item.pod_count;
        if (above < 0 && least - above > known) {
            cover->chosen[part.index] = true;
            missing -=
                part.item.pod_count < missing ? part.item.pod_count : missing;
        } else if (above <= 0 || least + above <= known) {
            cover->parts[kept++] = part;
        }
    }
    cover->count = kept;
    cover->needed = missing;
}

/* The cost of a set, and how many nodes it has; UINT64_MAX nodes: no set. */
struct price {
    u128 cost;
    uint64_t count;
};

static bool is_cheaper(const struct price *a, const struct price *b)
{
    return a->cost != b->cost ? a->cost < b->cost : a->count < b->count;
}

/* The knapsack.  From the last item to the first: best[k] is the price of
 * room for k pods among the items so far; a bit notes whether the item is
 * taken for it, which it is where that is no dearer, so that of equals the
 * first in order win. */
static void choose_exactly(struct cover *cover)
{
    size_t width = (size_t)cover->needed + 1;
    struct price *best = arena_alloc_array(cover->arena, width, sizeof(*best));
    uint8_t *taken =
        arena_alloc_array(cover->arena, (width * cover->count + 7) / 8, 1);

    qsort(cover->parts, cover->count, sizeof(*cover->parts), by_rank);
    for (uint32_t k = 1; k <= cover->needed; k++) {
        best[k] = (struct price){~(u128)0 >> 1, 0};
    }
    for (uint32_t i = cover->count; i > 0; i--) {
        const struct cover_item *item = &cover->parts[i - 1].item;
        size_t row = width * (i - 1);
        for (uint32_t k = cover->needed; k > 0; k--) {
            uint32_t rest = k > item->pod_count ? k - item->pod_count : 0;
            struct price with = {best[rest].cost + item->cost,
                                 best[rest].count + 1};
            if (!is_cheaper(&best[k], &with)) {
                best[k] = with;
                taken[(row + k) / 8] |= (uint8_t)(1 << (row + k) % 8);
            }
        }
    }
    for (uint32_t i = 0, k = cover->needed; i < cover->count && k > 0; i++) {
        const struct part *part = &cover->parts[i];
        size_t bit = width * i + k;
        if (taken[bit / 8] >> bit % 8 & 1) {
            cover->chosen[part->index] = true;
            k = k > part->item.pod_count ? k - part->item.pod_count : 0;
        }
    }
}

/* The first by worth, without those that are not needed after all, the
 * dearest first. */
static void choose_quickly(struct cover *cover)
{
    uint64_t held = 0;
    uint32_t count = 0;

    qsort(cover->parts, cover->count, sizeof(*cover->parts), by_worth);
    while (held < cover->needed) {
        held += cover->parts[count++].item.pod_count;
    }
    qsort(cover->parts, count, sizeof(*cover->parts), by_cost);
    for (uint32_t i = count; i > 0; i--) {
        const struct part *part = &cover->parts[i - 1];
        bool is_spare = held - part->item.pod_count >= cover->needed;
        held -= is_spare ? part->item.pod_count : 0;
        cover->chosen[part->index] = !is_spare;
    }
}

bool cover_choose(const struct cover_item *items, uint32_t item_count,
                  uint32_t pod_count, struct arena *arena, bool *ret_chosen)
{
    struct cover cover = {
        .arena = arena,
        .parts = arena_alloc_array(arena, item_count, sizeof(*cover.parts)),
        .needed = pod_count,
        .chosen = ret_chosen,
    };
    uint64_t held = 0;

    memset(ret_chosen, 0, item_count * sizeof(*ret_chosen));
    for (uint32_t i = 0; i < item_count; i++) {
        struct cover_item item = items[i];
        item.pod_count =
            item.pod_count < pod_count ? item.pod_count : pod_count;
        held += item.pod_count;
        if (item.pod_count) {
            cover.parts[cover.count++] = (struct part){item, i};
        }
    }
    if (held < pod_count) {
        return false;
    }
    if (pod_count == 0) {
        return true;
    }
    drop_dominated(&cover);
    fix_by_price(&cover);
    if ((uint64_t)cover.count * cover.needed > COVER_STEPS_MAX) {
        choose_quickly(&cover);
    } else {
        choose_exactly(&cover);
    }
    return true;
}
