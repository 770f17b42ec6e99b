/*
 * A heap against an array that is looked through from end to end (heap.h).
 *
 *   - after any operation items[0] is the least of what is in it
 *   - it holds what was put in and not taken out, each once
 *   - every item is where its owner was told that it is
 */
#include "base/heap.h"
#include "prop.h"
#include "unit.h"

enum { IDS = 40, STEPS_MAX = 120, ROUNDS = 3000, ABSENT = UINT32_MAX };

struct item {
    int value;
    uint32_t id;
};

struct world {
    struct item items[IDS];
    size_t count;
    uint32_t places[IDS]; /* as the heap noted them, or ABSENT */
    int values[IDS];      /* the oracle's: of ids that are in */
};

static bool is_smaller(const struct world *world, const struct item *a,
                       const struct item *b)
{
    (void)world;
    return a->value < b->value;
}

static void note(struct world *world, const struct item *item, size_t at)
{
    world->places[item->id] = (uint32_t)at;
}

DEFINE_HEAP(pairs, struct item, 2, struct world *, is_smaller, note);
DEFINE_HEAP(fours, struct item, 4, struct world *, is_smaller, note);

static bool is_right(const struct world *world)
{
    size_t count = 0;

    for (uint32_t id = 0; id < IDS; id++) {
        uint32_t at = world->places[id];
        if (at == ABSENT) {
            continue;
        }
        count++;
        if (at >= world->count || world->items[at].id != id ||
            world->items[at].value != world->values[id] ||
            world->values[id] < world->items[0].value) {
            return false;
        }
    }
    return count == world->count;
}

static void take_out(struct world *world, uint32_t id, bool is_wide)
{
    size_t at = world->places[id];

    world->places[id] = ABSENT;
    (is_wide ? fours_remove : pairs_remove)(world, world->items, --world->count,
                                            at);
}

static void change(struct world *world, struct tape *tape, struct item item,
                   bool is_wide)
{
    bool is_settled = once_in(tape, 2);
    size_t at = world->places[item.id];

    if (is_settled) {
        (is_wide ? fours_settle : pairs_settle)(world, world->items,
                                                world->count, at, item);
    } else {
        (is_wide ? fours_move : pairs_move)(world, world->items, world->count,
                                            at, item);
    }
}

static void build(struct world *world, struct tape *tape, bool is_wide)
{
    for (size_t i = 0; i < world->count; i++) {
        struct item *item = &world->items[i];
        item->value = world->values[item->id] = pick(tape, 0, 20);
    }
    (is_wide ? fours_build : pairs_build)(world, world->items, world->count);
}

static void step(struct world *world, struct tape *tape, bool is_wide)
{
    struct item item = {.value = pick(tape, 0, 20),
                        .id = (uint32_t)pick(tape, 0, IDS - 1)};

    if (once_in(tape, 20)) {
        build(world, tape, is_wide);
    } else if (world->places[item.id] == ABSENT) {
        world->values[item.id] = item.value;
        (is_wide ? fours_rise : pairs_rise)(world, world->items, world->count++,
                                            item);
    } else if (once_in(tape, 3)) {
        take_out(world, item.id, is_wide);
    } else {
        world->values[item.id] = item.value;
        change(world, tape, item, is_wide);
    }
}

static bool the_first_is_the_least(struct tape *tape)
{
    struct world world = {0};
    bool is_wide = once_in(tape, 2);
    int step_count = pick(tape, 0, STEPS_MAX);

    for (uint32_t id = 0; id < IDS; id++) {
        world.places[id] = ABSENT;
    }
    for (int i = 0; i < step_count; i++) {
        step(&world, tape, is_wide);
        if (!is_right(&world)) {
            return false;
        }
    }
    return true;
}

static void test_the_first_is_the_least(void **state)
{
    (void)state;
    assert_true(prop_check("heap", the_first_is_the_least, ROUNDS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_the_first_is_the_least)};

    return RUN_TESTS(tests);
}
