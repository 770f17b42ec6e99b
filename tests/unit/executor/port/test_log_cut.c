/*
 * log_cut: what of a log is wanted.
 */
#include "executor/port/log_cut.h"
#include "unit.h"

#define A "2026-01-02T03:04:05.000000001Z a\n"
#define B "2026-01-02T03:04:05.000000002Z b\n"

static void assert_log(struct str log, const char *expected)
{
    assert_int_equal(log.byte_count, strlen(expected));
    assert_memory_equal(log.p, expected, log.byte_count);
}

static void a_time_gets_nine_digits_in_utc(void **state)
{
    char time[WIRE_RFC3339_TEXT_BYTES_MAX];

    (void)state;
    assert_true(log_cut_time(STR("2026-01-02T05:04:05.5+02:00"), time));
    assert_string_equal(time, "2026-01-02T03:04:05.500000000Z");
    assert_false(log_cut_time(STR("today"), time));
}

static void lines_up_to_a_time_are_passed_over(void **state)
{
    (void)state;
    assert_log(log_cut_since(STR(A B), "2026-01-02T03:04:05.000000001Z"), B);
    assert_log(log_cut_since(STR(A B), "2026-01-02T03:04:05.000000000Z"), A B);
    assert_log(log_cut_since(STR(A B), "2027-01-01T00:00:00.000000000Z"), "");
}

static void a_cut_is_after_a_line_if_there_is_one(void **state)
{
    (void)state;
    assert_log(log_cut_bytes(STR(A B), sizeof(A B)), A B);
    assert_log(log_cut_bytes(STR(A B), sizeof(A B) - 2), A);
    assert_log(log_cut_bytes(STR(A B), 4), "2026");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_gets_nine_digits_in_utc),
        cmocka_unit_test(lines_up_to_a_time_are_passed_over),
        cmocka_unit_test(a_cut_is_after_a_line_if_there_is_one),
    };

    return RUN_TESTS(tests);
}
