/*
 * rate: who asks for too much waits, and is told for how long.
 */
#include <unistd.h>

#include "api/core/rate.h"
#include "api_fixture.h"
#include "berth/api.pb-c.h"
#include "unit.h"

enum { NOW_MS = 1000000 };

static void a_burst_is_let_and_then_the_rate(void **state)
{
    struct rate_limits limits = {.requests_per_s = 10, .bytes_per_s = 0};
    static struct rate rate;
    int64_t now_ms = NOW_MS;

    (void)state;
    rate_init(&rate, &limits, 1);
    for (int i = 0; i < 10 * RATE_BURST_S; i++) {
        assert_int_equal(rate_take(&rate, STR("a"), 1, 1 << 30, now_ms), 0);
    }
    int64_t wait_ms = rate_take(&rate, STR("a"), 1, 0, now_ms);
    assert_in_range(wait_ms, 1, 100);
    assert_int_equal(rate_take(&rate, STR("b"), 1, 0, now_ms), 0);
    now_ms += wait_ms;
    assert_int_equal(rate_take(&rate, STR("a"), 1, 0, now_ms), 0);
    assert_true(rate_take(&rate, STR("a"), 1, 0, now_ms) > 0);
    /* Who waits longer than it takes has no more than a burst. */
    now_ms += 1000000;
    int count = 0;
    while (rate_take(&rate, STR("a"), 1, 0, now_ms) == 0) {
        count++;
    }
    assert_int_equal(count, 10 * RATE_BURST_S);
    rate_fini(&rate);
}

static void a_large_request_leaves_a_debt(void **state)
{
    struct rate_limits limits = {.requests_per_s = 0, .bytes_per_s = 1000};
    static struct rate rate;

    (void)state;
    rate_init(&rate, &limits, 1);
    assert_int_equal(
        rate_take(&rate, STR("a"), 1, 1000 * (RATE_BURST_S + 10), NOW_MS), 0);
    int64_t wait_ms = rate_take(&rate, STR("a"), 1, 1, NOW_MS);
    assert_in_range(wait_ms, 10000, 10001);
    assert_true(rate_take(&rate, STR("a"), 1, 1, NOW_MS + wait_ms - 2) > 0);
    assert_int_equal(rate_take(&rate, STR("a"), 1, 1, NOW_MS + wait_ms), 0);
    rate_fini(&rate);
}

static void without_limits_nobody_waits(void **state)
{
    struct rate_limits limits = {0};
    static struct rate rate;

    (void)state;
    rate_init(&rate, &limits, 1);
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(rate_take(&rate, STR("a"), 1, 1 << 30, NOW_MS), 0);
    }
    rate_fini(&rate);
}

/* Over the wire it is RESOURCE_EXHAUSTED with a hint. */
static void callers_are_told_to_wait(void **state)
{
    Berth__Api__GetPermissionsRequest request =
        BERTH__API__GET_PERMISSIONS_REQUEST__INIT;
    static const char path[] = "/berth.api.Berth/GetPermissions";
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.rate = (struct rate_limits){.requests_per_s = 1};
    fixture_start(&f);
    for (int i = 0; i < RATE_BURST_S; i++) {
        assert_int_equal(fixture_code(&f, path, &request.base), RPC_OK);
    }
    assert_int_equal(fixture_code(&f, path, &request.base),
                     RPC_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(f.status.message, "try again in"));
    fixture_fini(&f);
}

static void administrators_never_wait(void **state)
{
    Berth__Api__GetPermissionsRequest request =
        BERTH__API__GET_PERMISSIONS_REQUEST__INIT;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.rate = (struct rate_limits){.requests_per_s = 1};
    f.config.auth.has_own_user = true;
    f.config.auth.own_user_id = geteuid();
    fixture_start(&f);
    for (int i = 0; i < 3 * RATE_BURST_S; i++) {
        assert_int_equal(
            fixture_code(&f, "/berth.api.Berth/GetPermissions", &request.base),
            RPC_OK);
    }
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_burst_is_let_and_then_the_rate),
        TEST(a_large_request_leaves_a_debt),
        TEST(without_limits_nobody_waits),
        TEST(callers_are_told_to_wait),
        TEST(administrators_never_wait),
    };

    return RUN_TESTS(tests);
}
