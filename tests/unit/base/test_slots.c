/*
 * slots: indexes are dense, and what was given back last is given out first.
 */
#include "base/slots.h"
#include "unit.h"

static void fresh_slots_count_from_zero_and_are_zeroed(void **state)
{
    (void)state;
    SLOTS(uint64_t) slots = {0};

    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(SLOTS_TAKE(&slots), i);
        assert_int_equal(slots.items[i], 0);
        slots.items[i] = i + 1;
    }
    assert_int_equal(slots.count, 100);
    assert_int_equal(slots.items[99], 100);
    SLOTS_FREE(&slots);
    assert_null(slots.items);
}

static void the_last_given_back_is_given_out_first(void **state)
{
    (void)state;
    SLOTS(int) slots = {0};

    for (int i = 0; i < 5; i++) {
        uint32_t slot = SLOTS_TAKE(&slots);
        slots.items[slot] = i;
    }
    SLOTS_GIVE(&slots, 1);
    SLOTS_GIVE(&slots, 4);
    SLOTS_GIVE(&slots, 2);
    assert_int_equal(SLOTS_LIVE(&slots), 2);
    assert_int_equal(SLOTS_TAKE(&slots), 2);
    assert_int_equal(slots.items[2], 2); /* as it was given back */
    assert_int_equal(SLOTS_TAKE(&slots), 4);
    assert_int_equal(SLOTS_TAKE(&slots), 1);
    assert_int_equal(SLOTS_TAKE(&slots), 5);
    assert_int_equal(SLOTS_LIVE(&slots), 6);
    SLOTS_FREE(&slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fresh_slots_count_from_zero_and_are_zeroed),
        TEST(the_last_given_back_is_given_out_first),
    };
    return RUN_TESTS(tests);
}
