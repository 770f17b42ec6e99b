/*
 * weights: factors are at least 1, and are to each other as weights are.
 */
#include "model/weights.h"
#include "unit.h"

static void no_factor_is_less_than_one(void **state)
{
    const double small[] = {0.5, 0.25}, large[] = {0.5, 4, 2};

    (void)state;
    assert_float_equal(weights_scale(NULL, 0), 1, 0);
    assert_float_equal(weights_scale(small, 2), 1, 0);
    assert_float_equal(weights_scale(large, 3), 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_factor_is_less_than_one),
    };

    return RUN_TESTS(tests);
}
