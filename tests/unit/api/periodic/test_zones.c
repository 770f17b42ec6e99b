/* zones: what the system's database says, and names that are none. */
#include "api/periodic/zones.h"
#include "unit.h"

enum { HOUR_S = 3600 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int32_t offset_of(const char *name, int64_t utc_s)
{
    struct zone zone;
    struct err err;

    int rc = zone_open(str_of(name), &lock, &zone, &err);
    assert_int_equal(rc, 0);
    int32_t offset = zone.offset_s(&zone, utc_s);
    zone_close(&zone);
    return offset;
}

static void offsets_are_those_of_the_database(void **state)
{
    (void)state;
    const int64_t winter_s = 1767225600, summer_s = 1782864000; /* of 2026 */
    const int64_t far_s = 3045600000; /* July 2066, after the last table row */

    assert_int_equal(offset_of("", summer_s), 0);
    assert_int_equal(offset_of("UTC", summer_s), 0);
    assert_int_equal(offset_of("Europe/Berlin", winter_s), HOUR_S);
    assert_int_equal(offset_of("Europe/Berlin", summer_s), 2 * HOUR_S);
    assert_int_equal(offset_of("Europe/Berlin", far_s), 2 * HOUR_S);
    assert_int_equal(offset_of("America/New_York", summer_s), -4 * HOUR_S);
    assert_int_equal(offset_of("Asia/Kathmandu", winter_s),
                     5 * HOUR_S + 45 * 60);
    /* Clocks go on at 1:00 UTC. */
    assert_int_equal(offset_of("Europe/Berlin", 1774746000 - 1), HOUR_S);
    assert_int_equal(offset_of("Europe/Berlin", 1774746000), 2 * HOUR_S);
}

static void what_is_no_name_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "Mars/Olympus",
        "../../../etc/passwd",
        "/etc/localtime",
        "Europe/",
        "+02:00",
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "Europe/Be\nrl",
        ":Europe/Berlin",
        "Europe//Berlin",
        "A0123456789012345678901234567890123456789012345678901234567890123456",
    };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct zone zone = {0};
        struct err err;
        assert_int_equal(zone_open(str_of(names[i]), &lock, &zone, &err),
                         -ERR_INVALID);
        assert_memory_equal(err.text, "timeZone: \"", 11);
        zone_close(&zone); /* nothing */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_database),
        cmocka_unit_test(what_is_no_name_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
