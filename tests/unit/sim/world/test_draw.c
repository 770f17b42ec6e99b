/*
 * draw: streams are apart, distributions stay within their bounds and have the
 * means that they should, and the numbers are the same everywhere.
 */
#include "sim/world/draw.h"
#include "unit.h"

enum { DRAWS = 200000 };

static double mean_of(enum draw_distribution distribution, int64_t a, int64_t b,
                      int64_t *ret_min, int64_t *ret_max)
{
    struct draw draw = draw_make(7, 3);
    double sum = 0;

    *ret_min = INT64_MAX;
    *ret_max = INT64_MIN;
    for (int i = 0; i < DRAWS; i++) {
        int64_t value = draw_from(&draw, distribution, a, b);
        *ret_min = value < *ret_min ? value : *ret_min;
        *ret_max = value > *ret_max ? value : *ret_max;
        sum += (double)value;
    }
    return sum / DRAWS;
}

static bool is_near(double value, double wanted)
{
    return value > wanted * 0.99 && value < wanted * 1.01;
}

static void distributions_have_their_means_and_bounds(void **state)
{
    int64_t min, max;

    (void)state;
    assert_true(is_near(mean_of(DRAW_FIXED, 42, 0, &min, &max), 42));
    assert_true(is_near(mean_of(DRAW_UNIFORM, 300, 900, &min, &max), 600));
    assert_true(min == 300 && max == 900);
    assert_true(
        is_near(mean_of(DRAW_EXPONENTIAL, 60000, 0, &min, &max), 60000));
    assert_true(min >= 0 && max <= 1200000);
    /* (b - a) / ln(b / a) */
    assert_true(
        is_near(mean_of(DRAW_LOG_UNIFORM, 1000, 1024000, &min, &max), 147589));
    assert_true(min >= 1000 && max <= 1024000);
}

static void streams_do_not_shift_each_other(void **state)
{
    struct draw a = draw_make(1, 1), again = draw_make(1, 1);
    struct draw b = draw_make(1, 2);

    (void)state;
    uint64_t first = draw_u64(&a);
    assert_true(first != draw_u64(&b));
    (void)draw_u64(&b);
    assert_true(first == draw_u64(&again));
    assert_true(draw_u64(&a) == draw_u64(&again));
    assert_true(draw_below(&a, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distributions_have_their_means_and_bounds),
        cmocka_unit_test(streams_do_not_shift_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
