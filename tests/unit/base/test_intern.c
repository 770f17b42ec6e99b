/*
 * intern: indexes count from 0 in order of first appearance; what nobody refers
 * to any more is forgotten, and its index given out again.
 */
#include <stdio.h>

#include "base/intern.h"
#include "unit.h"

static void equal_strings_share_an_index(void **state)
{
    (void)state;
    auto_ptr(intern) names = intern_create();

    assert_int_equal(intern_find(names, STR("a")), INTERN_NONE);
    assert_int_equal(intern_add(names, STR("a")), 0);
    assert_int_equal(intern_add(names, STR("")), 1);
    assert_int_equal(intern_add(names, STR("a")), 0);
    assert_true(str_equal(intern_get(names, 0), STR("a")));
    assert_int_equal(intern_count(names), 2);
}

static void indexes_survive_growth(void **state)
{
    (void)state;
    auto_ptr(intern) names = intern_create();
    char text[16];

    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(text, sizeof(text), "n%u", i);
        assert_int_equal(intern_add(names, str_make(text, (size_t)n)), i);
    }
    assert_int_equal(intern_find(names, STR("n0")), 0);
    assert_int_equal(intern_find(names, STR("n4999")), 4999);
}

static void a_string_lives_as_long_as_its_references(void **state)
{
    (void)state;
    struct intern names = {0};
    uint32_t a = intern_add(&names, STR("a")), b = intern_add(&names, STR("b"));

    assert_int_equal(intern_add(&names, STR("a")), a);
    intern_unref(&names, a);
    assert_int_equal(intern_find(&names, STR("a")), a);
    intern_unref(&names, a);
    assert_int_equal(intern_find(&names, STR("a")), INTERN_NONE);
    assert_int_equal(intern_live_count(&names), 1);
    assert_int_equal(intern_add(&names, STR("c")), a);
    assert_true(str_equal(intern_get(&names, b), STR("b")));
    assert_int_equal(intern_count(&names), 2);
    intern_unref(&names, INTERN_NONE);
    assert_int_equal(intern_get(&names, INTERN_NONE).byte_count, 0);
    intern_fini(&names);
    assert_int_equal(intern_find(&names, STR("b")), INTERN_NONE);
}

static void what_is_watched_is_cleared_with_its_string(void **state)
{
    (void)state;
    struct intern names = {0};
    uint32_t numbers[2] = {7, 8};
    uint32_t a = intern_add(&names, STR("a")), b = intern_add(&names, STR("b"));

    names.watched = numbers;
    names.watched_count = 2;
    intern_unref(&names, intern_ref(&names, a));
    assert_int_equal(numbers[a], 7);
    intern_unref(&names, b);
    assert_int_equal(numbers[b], 0);
    intern_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_strings_share_an_index),
        TEST(indexes_survive_growth),
        TEST(a_string_lives_as_long_as_its_references),
        TEST(what_is_watched_is_cleared_with_its_string),
    };
    return RUN_TESTS(tests);
}
