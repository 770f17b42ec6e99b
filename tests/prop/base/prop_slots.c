/*
 * Slots against a plain stack of what was given back (slots.h).
 *
 *   - a slot that is given out was not given out already
 *   - it is the last that was given back, or else the next new one
 *   - rows stay what their owners made them
 */
#include "base/slots.h"
#include "prop.h"
#include "unit.h"

enum { STEPS_MAX = 200, ROUNDS = 3000 };

struct world {
    SLOTS(uint32_t) slots;
    uint32_t live[STEPS_MAX], live_count;
    uint32_t rows[STEPS_MAX]; /* what each slot's owner wrote there */
    uint32_t back[STEPS_MAX], back_count;
    uint32_t new_count;
};

static bool take(struct world *world, uint32_t value)
{
    uint32_t slot = SLOTS_TAKE(&world->slots);
    uint32_t expected = world->back_count ? world->back[--world->back_count]
                                          : world->new_count++;

    if (slot != expected) {
        return false;
    }
    world->slots.items[slot] = world->rows[slot] = value;
    world->live[world->live_count++] = slot;
    return true;
}

static void give(struct world *world, uint32_t at)
{
    uint32_t slot = world->live[at];

    world->live[at] = world->live[--world->live_count];
    world->back[world->back_count++] = slot;
    SLOTS_GIVE(&world->slots, slot);
}

static bool is_right(const struct world *world)
{
    for (uint32_t i = 0; i < world->live_count; i++) {
        uint32_t slot = world->live[i];
        if (world->slots.items[slot] != world->rows[slot]) {
            return false;
        }
    }
    return SLOTS_LIVE(&world->slots) == world->live_count &&
           world->slots.count == world->new_count;
}

static bool slots_are_a_stack(struct tape *tape)
{
    struct world world = {0};
    uint32_t step_count = (uint32_t)pick(tape, 0, STEPS_MAX);
    bool is_fine = true;

    for (uint32_t i = 0; is_fine && i < step_count; i++) {
        if (world.live_count && once_in(tape, 2)) {
            give(&world, (uint32_t)pick(tape, 0, (int)world.live_count - 1));
        } else {
            is_fine = take(&world, i);
        }
        is_fine = is_fine && is_right(&world);
    }
    SLOTS_FREE(&world.slots);
    return is_fine;
}

static void test_slots_are_a_stack(void **state)
{
    (void)state;
    assert_true(prop_check("slots", slots_are_a_stack, ROUNDS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_slots_are_a_stack)};

    return RUN_TESTS(tests);
}
