/* What is kept of forecasts, and how they are judged. */
#include "control/command/forecasts.h"
#include "unit.h"

enum { HOUR_MS = 3600000, DAY_MS = 24 * HOUR_MS };

static const int64_t now_ms = INT64_C(500000) * HOUR_MS;

static struct job_id id(uint64_t number)
{
    return (struct job_id){{1, number}};
}

/* A forecast for job `number`, made `ago_ms` before now. */
static struct forecast made(uint64_t number, int64_t ago_ms, int64_t p50_in,
                            int64_t p90_in)
{
    return (struct forecast){id(number), now_ms - ago_ms, now_ms + p50_in,
                             p90_in ? now_ms + p90_in : 0};
}

static void put(struct forecasts *forecasts, const struct forecast *list,
                uint32_t count)
{
    struct forecast *copy = mem_alloc_array(count + 1, sizeof(*copy));

    memcpy(copy, list, count * sizeof(*copy));
    forecasts_put(forecasts, copy, count);
}

static void test_the_newest_is_told(void **state)
{
    auto_ptr(forecasts) forecasts = forecasts_create();
    struct forecast found;

    (void)state;
    assert_false(forecasts_find(forecasts, id(1), &found));
    put(forecasts, (struct forecast[]){made(1, 9, 5, 0), made(2, 9, 6, 8)}, 2);
    put(forecasts, (struct forecast[]){made(2, 1, 7, 9), made(4, 1, 3, 4)}, 2);
    assert_false(forecasts_find(forecasts, id(1), &found)); /* it has gone */
    assert_true(forecasts_find(forecasts, id(2), &found));
    assert_int_equal(found.p50_ms, now_ms + 7);
    assert_int_equal(found.p90_ms, now_ms + 9);
    assert_int_equal(found.made_ms, now_ms - 1);
    assert_true(forecasts_find(forecasts, id(4), &found));
    assert_false(forecasts_find(forecasts, id(3), &found));
    assert_int_equal(forecasts_count(forecasts), 2);
}

static void test_the_first_is_judged(void **state)
{
    auto_ptr(forecasts) forecasts = forecasts_create();
    struct forecast_quality quality;
    struct forecast found;

    (void)state;
    put(forecasts,
        (struct forecast[]){made(1, 10, 100, 200), made(2, 10, 100, 200),
                            made(3, 10, 100, 200), made(4, 10, 100, 0)},
        4);
    put(forecasts,
        (struct forecast[]){made(1, 0, 900, 900), made(2, 0, 900, 900),
                            made(3, 0, 900, 900), made(4, 0, 900, 900)},
        4);
    forecasts_started(forecasts, id(1), now_ms + 70);
    forecasts_started(forecasts, id(1), now_ms + 300); /* a second run */
    forecasts_started(forecasts, id(2), now_ms + 150);
    forecasts_started(forecasts, id(3), now_ms + 290);
    forecasts_started(forecasts, id(4), now_ms + 100);
    forecasts_started(forecasts, id(5), now_ms + 100); /* had none */
    forecasts_quality(forecasts, now_ms, &quality);
    assert_int_equal(quality.started_count, 4);
    assert_int_equal(quality.within_p50_count, 2);
    assert_int_equal(quality.p90_count, 3);
    assert_int_equal(quality.within_p90_count, 2);
    assert_int_equal(quality.error_ms_sum, 30 + 50 + 190 + 0);
    assert_int_equal(quality.wait_ms_sum, 80 + 160 + 300 + 110);
    assert_false(forecasts_find(forecasts, id(1), &found)); /* it runs */
    assert_int_equal(forecasts_count(forecasts), 0);
}

static void test_who_waits_again_begins_anew(void **state)
{
    auto_ptr(forecasts) forecasts = forecasts_create();
    struct forecast_quality quality;

    (void)state;
    put(forecasts, (struct forecast[]){made(1, 10, 100, 200)}, 1);
    forecasts_started(forecasts, id(1), now_ms + 100);
    put(forecasts, (struct forecast[]){made(1, 0, 500, 600)}, 1);
    forecasts_started(forecasts, id(1), now_ms + 510);
    forecasts_quality(forecasts, now_ms, &quality);
    assert_int_equal(quality.started_count, 2);
    assert_int_equal(quality.error_ms_sum, 10);
}

static void test_a_day_later_it_is_forgotten(void **state)
{
    auto_ptr(forecasts) forecasts = forecasts_create();
    struct forecast_quality quality;

    (void)state;
    put(forecasts,
        (struct forecast[]){made(1, 10, 100, 200), made(2, 10, 100, 200)}, 2);
    forecasts_started(forecasts, id(1), now_ms);
    forecasts_quality(forecasts, now_ms + DAY_MS - 1, &quality);
    assert_int_equal(quality.started_count, 1);
    forecasts_quality(forecasts, now_ms + DAY_MS, &quality);
    assert_int_equal(quality.started_count, 0);
    forecasts_started(forecasts, id(2), now_ms + DAY_MS); /* in its place */
    forecasts_quality(forecasts, now_ms + DAY_MS, &quality);
    assert_int_equal(quality.started_count, 1);
    assert_int_equal(quality.within_p50_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_newest_is_told),
        cmocka_unit_test(test_the_first_is_judged),
        cmocka_unit_test(test_who_waits_again_begins_anew),
        cmocka_unit_test(test_a_day_later_it_is_forgotten),
    };

    return RUN_TESTS(tests);
}
