/* cron: what schedules mean, and what is refused by which name. */
#include "model/cron.h"
#include "unit.h"

enum { HOUR_S = 3600, DAY_S = 86400 };

/* 2026-01-01 was a Thursday. */
static const int64_t YEAR_2026_S = 1767225600;
/* Central Europe: clocks go on at 2026-03-29 and back at 2026-10-25, both at
 * 1:00 UTC. */
static const int64_t SPRING_S = 1774746000, AUTUMN_S = 1792890000;

static int32_t utc_offset(const struct zone *zone, int64_t utc_s)
{
    (void)zone;
    (void)utc_s;
    return 0;
}

static int32_t berlin_offset(const struct zone *zone, int64_t utc_s)
{
    (void)zone;
    return utc_s >= SPRING_S && utc_s < AUTUMN_S ? 2 * HOUR_S : HOUR_S;
}

static const struct zone utc = {.offset_s = utc_offset};
static const struct zone berlin = {.offset_s = berlin_offset};

static int64_t next_of(const char *text, const struct zone *zone,
                       int64_t after_s)
{
    struct cron cron;
    struct err err;
    int64_t next_s;

    int rc = cron_parse(str_of(text), &cron, &err);
    assert_int_equal(rc, 0);
    assert_true(cron_next(&cron, zone, after_s, &next_s));
    return next_s;
}

static void fields_and_macros_mean_what_cron_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t next_s; /* after the year's beginning */
    } rows[] = {
        {"0 3 * * *", 3 * HOUR_S},
        {"*/15 * * * *", 900},
        {"10,20 0 * * *", 600},
        {"30/10 0 * * *", 1800},
        {"  5\t1 * * *  ", HOUR_S + 300},
        {"0 0 * * mon", 4 * DAY_S},
        {"0 0 * * 7", 3 * DAY_S},
        {"0 0 * * SUN", 3 * DAY_S},
        {"0 0 * * fri-sat", DAY_S},
        {"0 0 * * 5-7/2", DAY_S},
        {"0 0 2 feb ?", 32 * DAY_S},
        {"@hourly", HOUR_S},
        {"@daily", DAY_S},
        {"@weekly", 3 * DAY_S},
        {"@monthly", 31 * DAY_S},
        {"@yearly", 365 * DAY_S},
        {"0 0 29 2 *", (365 + 365 + 31 + 28) * DAY_S},
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_int_equal(next_of(rows[i].text, &utc, YEAR_2026_S),
                         YEAR_2026_S + rows[i].next_s);
    }
}

static void one_of_two_restricted_day_fields_is_enough(void **state)
{
    (void)state;

    /* The 13th, or a Friday. */
    assert_int_equal(next_of("0 0 13 * 5", &utc, YEAR_2026_S),
                     YEAR_2026_S + DAY_S);
    /* A field that begins with a star is not restricted: Friday the 13th. */
    assert_int_equal(next_of("0 0 13 * */5", &utc, YEAR_2026_S),
                     YEAR_2026_S + (31 + 12) * DAY_S);
}

static void errors_name_field_value_and_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "must have five fields"},
        {"0 3 * *", "\"0 3 * *\" must have five fields"},
        {"0 3 * * * *", "must have five fields"},
        {"60 3 * * *", "minute \"60\" must be *, or numbers from 0 to 59"},
        {"0 24 * * *", "hour \"24\""},
        {"0 0 0 * *", "day of the month \"0\""},
        {"0 0 * foo *", "month \"foo\" must be *, or numbers from 1 to 12 or "
                        "names like jan"},
        {"0 0 * * 8", "day of the week \"8\""},
        {"0 0 * * sat-sun", "day of the week \"sat-sun\""},
        {"5-1 * * * *", "minute \"5-1\""},
        {"*/0 * * * *", "minute \"*/0\""},
        {"1,,2 * * * *", "minute \"1,,2\""},
        {"-1 * * * *", "minute \"-1\""},
        {"1- * * * *", "minute \"1-\""},
        {"001 * * * *", "minute \"001\""},
        {"@reboot", "\"@reboot\" must be five fields, or @yearly"},
        {"@every 5m", "must be five fields"},
        {"0 0 31 2,4,6 *", "names days that no month has"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct cron cron;
        struct err err;
        assert_int_equal(cron_parse(str_of(rows[i].text), &cron, &err),
                         -ERR_INVALID);
        assert_memory_equal(err.text, "schedule: ", 10);
        assert_non_null(strstr(err.text, rows[i].says));
    }
}

static void what_clocks_skip_happens_when_they_have_skipped_it(void **state)
{
    (void)state;

    assert_int_equal(next_of("30 2 * * *", &berlin, SPRING_S - 10 * HOUR_S),
                     SPRING_S);
    assert_int_equal(next_of("30 2 * * *", &berlin, SPRING_S),
                     SPRING_S + DAY_S - HOUR_S + 1800);
    /* All that is skipped is one moment. */
    assert_int_equal(next_of("*/10 2 * * *", &berlin, SPRING_S - 60), SPRING_S);
    assert_int_equal(next_of("*/10 2 * * *", &berlin, SPRING_S),
                     SPRING_S + DAY_S - HOUR_S);
    /* By the hour nothing is skipped: 1:30, then 3:30. */
    assert_int_equal(next_of("30 * * * *", &berlin, SPRING_S - 1800),
                     SPRING_S + 1800);
}

static void what_clocks_show_twice_happens_the_first_time(void **state)
{
    (void)state;
    int64_t first_s = AUTUMN_S - 1800, second_s = AUTUMN_S + 1800;

    assert_int_equal(next_of("30 2 * * *", &berlin, AUTUMN_S - 10 * HOUR_S),
                     first_s);
    assert_int_equal(next_of("30 2 * * *", &berlin, first_s),
                     first_s + DAY_S + HOUR_S);
    /* By the hour it happens each hour. */
    assert_int_equal(next_of("30 * * * *", &berlin, first_s), second_s);
}

static void the_last_moment_is_found_without_counting_up_to_it(void **state)
{
    (void)state;
    struct cron cron;
    struct err err;
    int64_t last_s, until_s = YEAR_2026_S + 200 * DAY_S + 30;

    int rc = cron_parse(STR("* * * * *"), &cron, &err);
    assert_int_equal(rc, 0);
    assert_true(cron_last(&cron, &utc, YEAR_2026_S, until_s, &last_s));
    assert_int_equal(last_s, until_s - 30);
    assert_false(cron_last(&cron, &utc, until_s - 30, until_s, &last_s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_macros_mean_what_cron_says),
        cmocka_unit_test(one_of_two_restricted_day_fields_is_enough),
        cmocka_unit_test(errors_name_field_value_and_what_is_allowed),
        cmocka_unit_test(what_clocks_skip_happens_when_they_have_skipped_it),
        cmocka_unit_test(what_clocks_show_twice_happens_the_first_time),
        cmocka_unit_test(the_last_moment_is_found_without_counting_up_to_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
