/*
 * Interned strings against a plain array of counts (intern.h).
 *
 *   - a string that somebody refers to keeps its index and its bytes
 *   - one that nobody refers to is not found
 *   - no two strings share an index
 */
#include <stdio.h>

#include "base/intern.h"
#include "prop.h"
#include "unit.h"

enum { WORDS = 60, STEPS_MAX = 300, ROUNDS = 2000 };

struct world {
    struct intern intern;
    uint32_t counts[WORDS]; /* references, by word */
    uint32_t indexes[WORDS];
};

static struct str word_of(int word, char text[8])
{
    return str_make(text, (size_t)snprintf(text, 8, "w%d", word));
}

static bool is_word_right(const struct world *world, int word)
{
    char text[8];
    struct str s = word_of(word, text);
    uint32_t index = intern_find(&world->intern, s);

    if (world->counts[word] == 0) {
        return index == INTERN_NONE;
    }
    return index == world->indexes[word] &&
           str_equal(intern_get(&world->intern, index), s);
}

static bool is_right(const struct world *world)
{
    uint32_t live_count = 0;
    bool is_fine = true;

    for (int word = 0; word < WORDS; word++) {
        live_count += world->counts[word] > 0;
        is_fine = is_fine && is_word_right(world, word);
    }
    return is_fine && intern_live_count(&world->intern) == live_count;
}

static void step(struct world *world, struct tape *tape)
{
    char text[8];
    int word = pick(tape, 0, WORDS - 1);

    if (world->counts[word] && once_in(tape, 2)) {
        world->counts[word]--;
        intern_unref(&world->intern, world->indexes[word]);
    } else {
        world->counts[word]++;
        world->indexes[word] = intern_add(&world->intern, word_of(word, text));
    }
}

static bool strings_live_while_referred_to(struct tape *tape)
{
    struct world world = {0};
    int step_count = pick(tape, 0, STEPS_MAX);
    bool is_fine = true;

    for (int i = 0; is_fine && i < step_count; i++) {
        step(&world, tape);
        is_fine = is_right(&world);
    }
    intern_fini(&world.intern);
    return is_fine;
}

static void test_strings_live_while_referred_to(void **state)
{
    (void)state;
    assert_true(
        prop_check("intern", strings_live_while_referred_to, ROUNDS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_strings_live_while_referred_to)};

    return RUN_TESTS(tests);
}
