/*
 * cron - schedules as cron writes them: "0 3 * * mon-fri", "@daily".
 *
 * Five fields: minute, hour, day of the month, month, day of the week, each a
 * list of "*", numbers, names, ranges and steps.  If both day fields are
 * restricted (neither begins with a star), a day needs to match one of them.
 *
 * What changes of clocks do, as Debian's cron has it.  If the hour field begins
 * with a star, the schedule goes by the clocks as they are: what clocks skip
 * does not happen, what they show twice happens twice.  Otherwise each time of
 * a day happens once: what clocks skip, at the moment when they have skipped it
 * (several of them are one moment), and what they show twice, the first time.
 *
 * Moments are whole minutes, in seconds since 1970.  Pure.
 */
#pragma once

#include "base/str.h"
#include "base/zone.h"

enum {
    CRON_TEXT_BYTES_MAX = 256,
    CRON_YEARS_MAX = 50, /* looked ahead; no day comes less often by itself */
};

/* Bit n stands for value n; of days and months bit 0 is unused. */
struct cron {
    uint64_t minutes;
    uint32_t hours, days, months;
    uint32_t weekdays; /* 0 is Sunday */
    bool has_any_hour; /* the hour field begins with a star */
    bool has_any_day;  /* a day must match both fields, one begins so */
};

/* Read a schedule.  -ERR_INVALID: the text names field, value and what is
 * allowed; also for one that no day of CRON_YEARS_MAX years matches. */
int cron_parse(struct str text, struct cron *ret_cron,
               struct err *err) must_check;
/* The first moment after `after_s`; false: there is none in CRON_YEARS_MAX. */
bool cron_next(const struct cron *cron, const struct zone *zone,
               int64_t after_s, int64_t *ret_s) must_check;
/* The last moment up to `until_s` that is after `after_s`; false: none. */
bool cron_last(const struct cron *cron, const struct zone *zone,
               int64_t after_s, int64_t until_s, int64_t *ret_s) must_check;
