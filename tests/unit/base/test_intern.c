/*
 * intern: indexes count from 0 in order of first appearance.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_strings_share_an_index),
        TEST(indexes_survive_growth),
    };
    return RUN_TESTS(tests);
}
