/* Schedules. */
#include "fuzz.h"
#include "model/cron.h"

enum { MOMENT_S = 1710000000, CHANGE_S = 1711846800, AHEAD_S = 3600 };

/* Clocks go on by an hour once. */
static int32_t offset_s(const struct zone *zone, int64_t utc_s)
{
    (void)zone;
    return utc_s < CHANGE_S ? AHEAD_S : 2 * AHEAD_S;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    const struct zone zone = {.offset_s = offset_s};
    struct cron cron;
    int64_t next_s, last_s;
    struct err err;

    if (cron_parse(str_make(bytes, byte_count), &cron, &err) < 0) {
        ASSERT(str_starts_with(str_of(err.text), STR("schedule: ")));
        return 0;
    }
    bool is_found = cron_next(&cron, &zone, MOMENT_S, &next_s);
    ASSERT(is_found && next_s > MOMENT_S && next_s % 60 == 0);
    is_found = cron_last(&cron, &zone, MOMENT_S, next_s, &last_s);
    ASSERT(is_found && last_s == next_s);
    is_found = cron_last(&cron, &zone, MOMENT_S, next_s - 1, &last_s);
    ASSERT(!is_found);
    return 0;
}
