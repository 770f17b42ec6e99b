/*
 * The cover of whole nodes against trying every set of them (cover.h).
 *
 *   - it says whether all nodes together have room
 *   - the set that it chooses has room, and no other is better: cheaper, or
 *     with fewer nodes, or with earlier ones
 */
#include "prop.h"
#include "sched/data/cover.h"
#include "unit.h"

enum { ITEMS_MAX = 11, ROUNDS = 4000 };

struct cases {
    struct cover_item items[ITEMS_MAX];
    uint32_t count, needed;
};

/* A set, as bits by index. */
struct set {
    uint64_t cost;
    uint32_t pod_count, node_count;
    uint64_t ranks; /* a bit for each, the earliest the highest */
};

static struct set set_of(const struct cases *cases, uint32_t bits)
{
    struct set set = {0};

    for (uint32_t i = 0; i < cases->count; i++) {
        if (bits >> i & 1) {
            set.cost += cases->items[i].cost;
            set.pod_count += cases->items[i].pod_count;
            set.node_count++;
            set.ranks |= (uint64_t)1 << (63 - cases->items[i].rank);
        }
    }
    return set;
}

static bool is_better(const struct set *a, const struct set *b)
{
    if (a->cost != b->cost) {
        return a->cost < b->cost;
    }
    if (a->node_count != b->node_count) {
        return a->node_count < b->node_count;
    }
    return a->ranks > b->ranks;
}

static void draw_cases(struct tape *tape, struct cases *cases)
{
    uint64_t cost_max = draw(tape, 0, 2) ? draw(tape, 1, 60) : 3;
    uint64_t pods_max = draw(tape, 1, 9);

    cases->count = (uint32_t)draw(tape, 0, ITEMS_MAX);
    cases->needed = (uint32_t)draw(tape, 0, 30);
    bool is_even = draw(tape, 0, 1); /* costs follow what nodes hold */
    for (uint32_t i = 0; i < cases->count; i++) {
        cases->items[i].pod_count = (uint32_t)draw(tape, 0, pods_max);
        cases->items[i].cost =
            draw(tape, 0, cost_max) +
            (is_even ? cases->items[i].pod_count * UINT64_C(20) : 0);
        cases->items[i].rank = i;
    }
    /* Their order is not that in which they are given. */
    for (uint32_t i = cases->count; i > 1; i--) {
        uint32_t other = (uint32_t)draw(tape, 0, i - 1);
        uint32_t rank = cases->items[i - 1].rank;
        cases->items[i - 1].rank = cases->items[other].rank;
        cases->items[other].rank = rank;
    }
}

static bool is_the_best(struct tape *tape)
{
    struct cases cases = {0};
    auto_arena arena = {0};
    bool chosen[ITEMS_MAX];
    struct set best = {0};
    bool has_best = false;

    draw_cases(tape, &cases);
    for (uint32_t bits = 0; bits < 1u << cases.count; bits++) {
        struct set set = set_of(&cases, bits);
        if (set.pod_count >= cases.needed &&
            (!has_best || is_better(&set, &best))) {
            best = set;
            has_best = true;
        }
    }
    bool is_found =
        cover_choose(cases.items, cases.count, cases.needed, &arena, chosen);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < cases.count; i++) {
        bits |= (uint32_t)chosen[i] << i;
    }
    struct set got = set_of(&cases, bits);
    return is_found == has_best && (!is_found || got.ranks == best.ranks);
}

static void cover_is_the_best_of_all_sets(void **state)
{
    (void)state;
    assert_true(prop_check("cover", is_the_best, ROUNDS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cover_is_the_best_of_all_sets),
    };

    return RUN_TESTS(tests);
}
