/* sim_what_if: the confidence intervals of what seeds differ in. */
#include <math.h>

#include "main/sim/sim_what_if.h"
#include "unit.h"

/* Its course's number is what a test measures. */
static const struct history_result *first_course;

static double number_of(const struct history_result *result, uint32_t index)
{
    (void)index;
    return (double)(result - first_course);
}

/* The factor by which the interval of so many seeds is wider than the standard
 * error of the mean. */
static double factor(uint32_t seed_count)
{
    static struct history_result courses[SIM_WHAT_IF_SEEDS_MAX];
    struct sim_what_if_results results = {
        .same = courses, .what_if = courses, .seed_count = seed_count};
    double n = seed_count, variance = n * (n + 1) / 12; /* of 0 to n - 1 */

    first_course = courses;
    struct sim_what_if_line line = sim_what_if_line_of(&results, number_of, 0);
    assert_true(fabs(line.same.mean - (n - 1) / 2) < 1e-9);
    assert_true(fabs(line.difference.half) < 1e-9);
    return line.same.half / sqrt(variance / n);
}

/* From any book's table; 95 %, two-sided. */
static void the_factor_is_students_t(void **state)
{
    static const double expected[] = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
        2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    };

    (void)state;
    for (uint32_t i = 0; i < ARRAY_COUNT(expected); i++) {
        assert_true(fabs(factor(i + 2) - expected[i]) < 1e-6);
    }
}

/* Beyond the table the interval is not too narrow, and hardly too wide. */
static void many_seeds_are_not_too_sure(void **state)
{
    (void)state;
    assert_true(factor(40) >= 2.022 && factor(40) < 2.05); /* 39: 2.0227 */
    assert_true(factor(60) >= 2.001 && factor(60) < 2.03);
    assert_true(factor(100) >= 1.984 && factor(100) < 2.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_factor_is_students_t),
        cmocka_unit_test(many_seeds_are_not_too_sure),
    };

    return RUN_TESTS(tests);
}
