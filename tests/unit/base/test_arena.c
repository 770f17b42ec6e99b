/*
 * arena: zeroed, aligned, given back at once.
 */
#include <string.h>

#include "base/arena.h"
#include "unit.h"

static void memory_is_zeroed_also_after_a_reset(void **state)
{
    (void)state;
    auto_arena arena = {0};

    for (int round = 0; round < 3; round++) {
        for (size_t size = 0; size < 3000; size += 7) {
            unsigned char *p = arena_alloc(&arena, size);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t i = 0; i < size; i++) {
                assert_int_equal(p[i], 0);
            }
            memset(p, 0xaa, size);
        }
        arena_reset(&arena);
        assert_int_equal(arena.byte_count, 0);
    }
}

static void a_copied_string_is_terminated(void **state)
{
    (void)state;
    auto_arena arena = {0};

    assert_string_equal(arena_strdup(&arena, str_make("abcdef", 3)), "abc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_is_zeroed_also_after_a_reset),
        TEST(a_copied_string_is_terminated),
    };
    return RUN_TESTS(tests);
}
