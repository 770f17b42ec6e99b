/* A node's availability profile, by example. */
#include "sched/data/profile.h"
#include "unit.h"

enum { NOW_MS = 1000, RELEASES = 4 };

static const struct resource_vec ONE = {{1}}, TWO = {{2}}, FIVE = {{5}},
                                 TEN = {{10}};

/* A node with one core free: one more since 900 ms, two at 3000 and one at
 * 2000. */
static struct profile walk(struct release *items)
{
    struct release releases[RELEASES] = {
        {3000, &ONE}, {900, &ONE}, {2000, &ONE}, {3000, &ONE}};

    for (int i = 0; i < RELEASES; i++) {
        items[i] = releases[i];
    }
    return profile_begin(&ONE, items, RELEASES, NOW_MS);
}

static void what_is_released_by_now_is_free_now(void **state)
{
    struct release items[RELEASES];
    struct profile profile = walk(items);

    (void)state;
    assert_int_equal(profile.room.v[0], 2);
    assert_true(profile_first_fit(&profile, &TWO) == INT64_MIN);
    assert_true(profile_next_ms(&profile) == 2000);
}

static void the_first_fit_has_all_that_is_released_with_it(void **state)
{
    const struct resource_vec four = {{4}};
    struct release items[RELEASES];
    struct profile profile = walk(items);

    (void)state;
    assert_true(profile_first_fit(&profile, &four) == 3000);
    assert_int_equal(profile.room.v[0], 5);
    assert_true(profile_next_ms(&profile) == INT64_MAX);
}

static void what_never_fits_has_the_room_of_the_end(void **state)
{
    struct release items[RELEASES];
    struct profile profile = walk(items);

    (void)state;
    assert_true(profile_first_fit(&profile, &TEN) == INT64_MAX);
    assert_int_equal(profile.room.v[0], 5);
    assert_false(profile_next(&profile));
}

static void a_step_is_where_more_fit(void **state)
{
    struct release items[RELEASES];
    struct profile profile = walk(items);
    struct profile_step steps[RELEASES + 1];

    (void)state;
    /* Three cores at 2000 hold no second request of two. */
    assert_int_equal(profile_steps(&profile, &TWO, steps), 2);
    assert_true(steps[0].at_ms == INT64_MIN && steps[0].count == 1);
    assert_true(steps[1].at_ms == 3000 && steps[1].count == 2);
    profile = walk(items);
    assert_int_equal(profile_steps(&profile, &FIVE, steps), 1);
    assert_true(steps[0].at_ms == 3000 && steps[0].count == 1);
}

static void the_room_at_a_time_has_what_is_released_by_then(void **state)
{
    const struct release items[] = {{3000, &TWO}, {900, &ONE}};

    (void)state;
    assert_int_equal(profile_room_at(&ONE, items, 2, 2999).v[0], 2);
    assert_int_equal(profile_room_at(&ONE, items, 2, 3000).v[0], 4);
    assert_int_equal(profile_room_at(&ONE, NULL, 0, 3000).v[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_released_by_now_is_free_now),
        TEST(the_first_fit_has_all_that_is_released_with_it),
        TEST(what_never_fits_has_the_room_of_the_end),
        TEST(a_step_is_where_more_fit),
        TEST(the_room_at_a_time_has_what_is_released_by_then),
    };

    return RUN_TESTS(tests);
}
