/*
 * heap: the first item is always items[0], whatever was pushed, moved or taken
 * out; owners that note places always know where their items lie.
 */
#include <string.h>

#include "base/heap.h"
#include "unit.h"

enum { ITEMS_MAX = 64 };

struct item {
    uint32_t value, id;
};

/* Places by id, of a heap whose owner looks them up. */
struct owner {
    uint32_t places[ITEMS_MAX];
};

static bool is_smaller(const void *context, const struct item *a,
                       const struct item *b)
{
    (void)context;
    return a->value < b->value;
}

static void note(struct owner *owner, const struct item *item, size_t at)
{
    owner->places[item->id] = (uint32_t)at;
}

DEFINE_HEAP(pairs, struct item, 2, const void *, is_smaller, HEAP_PLAIN);
DEFINE_HEAP(fours, struct item, 4, const void *, is_smaller, HEAP_PLAIN);
DEFINE_HEAP(noted, struct item, 2, struct owner *, is_smaller, note);

static uint32_t scrambled(uint32_t i)
{
    return i * 37 % ITEMS_MAX;
}

static void what_was_pushed_comes_out_in_order(void **state)
{
    (void)state;
    struct item two[ITEMS_MAX], four[ITEMS_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < ITEMS_MAX; i++) {
        pairs_rise(NULL, two, count, (struct item){scrambled(i), i});
        fours_rise(NULL, four, count++, (struct item){scrambled(i), i});
    }
    for (uint32_t i = 0; i < ITEMS_MAX; i++) {
        assert_int_equal(two[0].value, i);
        assert_int_equal(four[0].value, i);
        pairs_remove(NULL, two, --count, 0);
        fours_remove(NULL, four, count, 0);
    }
}

static void a_heap_is_built_of_items_in_any_order(void **state)
{
    (void)state;
    struct item items[ITEMS_MAX];

    for (uint32_t i = 0; i < ITEMS_MAX; i++) {
        items[i] = (struct item){scrambled(i), i};
    }
    fours_build(NULL, items, ITEMS_MAX);
    for (uint32_t i = 0; i < ITEMS_MAX; i++) {
        assert_int_equal(items[0].value, i);
        fours_remove(NULL, items, ITEMS_MAX - 1 - i, 0);
    }
    pairs_build(NULL, items, 0); /* of nothing: items is not read */
}

static void places_are_noted_as_items_move(void **state)
{
    (void)state;
    struct owner owner;
    struct item items[ITEMS_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < 8; i++) {
        noted_rise(&owner, items, count++, (struct item){10 + i, i});
    }
    noted_move(&owner, items, count, owner.places[7], (struct item){1, 7});
    assert_int_equal(owner.places[7], 0);
    noted_move(&owner, items, count, owner.places[7], (struct item){90, 7});
    assert_int_equal(owner.places[0], 0);
    noted_settle(&owner, items, count, owner.places[0], (struct item){80, 0});
    assert_int_equal(owner.places[1], 0);
    noted_remove(&owner, items, --count, owner.places[3]);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(owner.places[items[i].id], i);
        assert_int_not_equal(items[i].id, 3);
    }
}

static void the_last_place_is_removed_without_a_look(void **state)
{
    (void)state;
    struct item items[1] = {{5, 0}};

    pairs_remove(NULL, items, 0, 0);
    assert_int_equal(items[0].value, 5); /* nothing is left to move there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_pushed_comes_out_in_order),
        TEST(a_heap_is_built_of_items_in_any_order),
        TEST(places_are_noted_as_items_move),
        TEST(the_last_place_is_removed_without_a_look),
    };
    return RUN_TESTS(tests);
}
