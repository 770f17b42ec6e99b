/*
 * map: by example, and against a plain array over a run of random steps.
 */
#include <string.h>

#include "base/map.h"
#include "prop.h"
#include "unit.h"

static void put_find_remove(void **state)
{
    (void)state;
    struct map map = {0};

    assert_int_equal(map_find(&map, key_of_u64(1)), MAP_NONE);
    assert_int_equal(map_put(&map, key_of_u64(1), 10), MAP_NONE);
    assert_int_equal(map_put(&map, key_of_u64(1), 11), 10);
    assert_int_equal(map_find(&map, key_of_u64(1)), 11);
    assert_int_equal(map_remove(&map, key_of_u64(1)), 11);
    assert_int_equal(map_remove(&map, key_of_u64(1)), MAP_NONE);
    map_fini(&map);
}

/* After any run of steps the map holds what an array indexed by key holds. */
static bool agrees_with_array(struct tape *tape)
{
    enum { KEYS = 40 };
    uint32_t want[KEYS];
    struct map map = {0};
    bool same = true;

    memset(want, 0xff, sizeof(want));
    for (uint64_t steps = draw(tape, 0, 200); steps > 0; steps--) {
        uint32_t key = (uint32_t)draw(tape, 0, KEYS - 1);
        uint32_t value = (uint32_t)draw(tape, 0, 99);
        uint32_t old = value < 60 ? map_put(&map, key_of_u64(key), value)
                                  : map_remove(&map, key_of_u64(key));
        same = same && old == want[key];
        want[key] = value < 60 ? value : MAP_NONE;
    }
    for (uint32_t key = 0; key < KEYS; key++) {
        same = same && map_find(&map, key_of_u64(key)) == want[key];
    }
    map_fini(&map);
    return same;
}

static void map_agrees_with_an_array(void **state)
{
    (void)state;
    assert_true(prop_check("map agrees_with_array", agrees_with_array, 500, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(put_find_remove),
        TEST(map_agrees_with_an_array),
    };
    return RUN_TESTS(tests);
}
