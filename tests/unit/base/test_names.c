/*
 * names: a row is found by what it is called, within its owner, until it is
 * called nothing any more; rows that share a hash do not hide one another.
 */
#include "base/names.h"
#include "unit.h"

enum { ROWS = 6 };

/* Rows that all are called alike: so all share a hash. */
static bool is_there(const struct names *names, uint32_t row)
{
    uint32_t at = names_first(names, 1, STR("a"));

    while (at != NAMES_NONE && at != row) {
        at = names_next(names, at);
    }
    return at == row;
}

static void rows_are_found_within_their_owner(void **state)
{
    (void)state;
    struct names names = {0};

    assert_int_equal(names_first(&names, 1, STR("a")), NAMES_NONE);
    names_put(&names, 1, STR("a"), 7);
    names_put(&names, 2, STR("a"), 3);
    names_put(&names, 1, STR(""), 0);
    assert_int_equal(names_first(&names, 1, STR("a")), 7);
    assert_int_equal(names_next(&names, 7), NAMES_NONE);
    assert_int_equal(names_first(&names, 2, STR("a")), 3);
    assert_int_equal(names_first(&names, 1, STR("")), 0);
    names_remove(&names, 1, STR("a"), 7);
    assert_int_equal(names_first(&names, 1, STR("a")), NAMES_NONE);
    assert_int_equal(names_first(&names, 2, STR("a")), 3);
    names_fini(&names);
    assert_int_equal(names_first(&names, 2, STR("a")), NAMES_NONE);
}

static void any_row_of_a_chain_can_go(void **state)
{
    (void)state;
    const uint32_t gone[] = {3, 5, 0, 2, 4, 1}; /* inner, first, last, ... */
    struct names names = {0};

    for (uint32_t row = 0; row < ROWS; row++) {
        names_put(&names, 1, STR("a"), row);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        names_remove(&names, 1, STR("a"), gone[i]);
        for (uint32_t k = 0; k < ROWS; k++) {
            assert_int_equal(is_there(&names, gone[k]), k > i);
        }
    }
    names_put(&names, 1, STR("a"), 3);
    assert_true(is_there(&names, 3));
    names_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_found_within_their_owner),
        TEST(any_row_of_a_chain_can_go),
    };
    return RUN_TESTS(tests);
}
