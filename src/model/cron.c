/* When a schedule's moments are.  A local time of a matching day is looked for
 * in UTC by the offsets that the zone has some hours before and after it. */
#include "model/cron.h"

enum {
    DAY_S = 86400,
    HOUR_S = 3600,
    MINUTE_S = 60,
    DAY_MINUTES = 1440,
    /* No zone is further ahead of UTC, or behind it. */
    AHEAD_S_MAX = 16 * HOUR_S,
    DAYS_MAX = CRON_YEARS_MAX * 366,
};

static const int64_t MOMENT_S_MAX = INT64_C(253402300799); /* of year 9999 */

/* What is looked for: the first or the last moment in (after, until]. */
struct search {
    const struct cron *cron;
    const struct zone *zone;
    int64_t after_s, until_s;
    bool is_for_last;
    bool is_found;
    int64_t found_s;
};

static int64_t divide_down(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

static int64_t offset_at(const struct search *s, int64_t utc_s)
{
    return s->zone->offset_s(s->zone, utc_s);
}

/* Month and day of the month of a day since 1970, by eras of 400 years that
 * begin in March. */
static void date_of(int64_t day, int *ret_month, int *ret_day)
{
    int64_t shifted = day + 719468;
    int64_t of_era = shifted - divide_down(shifted, 146097) * 146097;
    int64_t year =
        (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;

    *ret_day = (int)(of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
}

static bool matches_day(const struct cron *cron, int64_t day)
{
    int64_t weekday = day + 4 - divide_down(day + 4, 7) * 7;
    int month, of_month;

    date_of(day, &month, &of_month);
    bool is_day = cron->days >> of_month & 1;
    bool is_weekday = cron->weekdays >> weekday & 1;
    return cron->months >> month & 1 &&
           (cron->has_any_day ? is_day && is_weekday : is_day || is_weekday);
}

static void take(struct search *s, int64_t moment_s)
{
    if (moment_s <= s->after_s || moment_s > s->until_s) {
        return;
    }
    if (!s->is_found ||
        (s->is_for_last ? moment_s > s->found_s : moment_s < s->found_s)) {
        s->is_found = true;
        s->found_s = moment_s;
    }
}

/* When the offset becomes another than the one at `low`, which it is at
 * `high`. */
static int64_t change_between(const struct search *s, int64_t low, int64_t high)
{
    int64_t before = offset_at(s, low);

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (offset_at(s, middle) == before) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/* The moments of a local time that matches. */
static void take_local(struct search *s, int64_t local_s)
{
    int64_t low = local_s - AHEAD_S_MAX, high = local_s + AHEAD_S_MAX;

    if (high <= s->after_s || low > s->until_s) {
        return;
    }
    int64_t before = offset_at(s, low), after = offset_at(s, high);
    /* Clocks that were set back show it first by what was before. */
    bool is_first = offset_at(s, local_s - before) == before;
    bool is_second = after != before && offset_at(s, local_s - after) == after;
    if (is_first) {
        take(s, local_s - before);
    }
    if (is_second && (!is_first || s->cron->has_any_hour)) {
        take(s, local_s - after);
    }
    if (!is_first && !is_second && !s->cron->has_any_hour) {
        int64_t change_s = change_between(s, low, high);
        take(s, divide_down(change_s + MINUTE_S - 1, MINUTE_S) * MINUTE_S);
    }
}

static void take_day(struct search *s, int64_t day)
{
    if (!matches_day(s->cron, day)) {
        return;
    }
    for (int minute = 0; minute < DAY_MINUTES; minute++) {
        if (s->cron->hours >> minute / 60 & 1 &&
            s->cron->minutes >> minute % 60 & 1) {
            take_local(s, day * DAY_S + (int64_t)minute * MINUTE_S);
        }
    }
}

bool cron_next(const struct cron *cron, const struct zone *zone,
               int64_t after_s, int64_t *ret_s)
{
    struct search s = {.cron = cron,
                       .zone = zone,
                       .after_s = after_s,
                       .until_s = MOMENT_S_MAX};
    int64_t day = divide_down(after_s - AHEAD_S_MAX, DAY_S);
    int64_t last = day + DAYS_MAX;

    while (day <= last && !s.is_found) {
        take_day(&s, day++);
    }
    /* Where clocks are set back over midnight, two days mix. */
    if (s.is_found) {
        take_day(&s, day);
        *ret_s = s.found_s;
    }
    return s.is_found;
}

bool cron_last(const struct cron *cron, const struct zone *zone,
               int64_t after_s, int64_t until_s, int64_t *ret_s)
{
    struct search s = {.cron = cron,
                       .zone = zone,
                       .after_s = after_s,
                       .until_s = until_s,
                       .is_for_last = true};
    int64_t day = divide_down(until_s + AHEAD_S_MAX, DAY_S);
    int64_t first = divide_down(after_s - AHEAD_S_MAX, DAY_S);

    if (first < day - DAYS_MAX) {
        first = day - DAYS_MAX;
    }
    while (day >= first && !s.is_found) {
        take_day(&s, day--);
    }
    if (s.is_found) {
        take_day(&s, day);
        *ret_s = s.found_s;
    }
    return s.is_found;
}
