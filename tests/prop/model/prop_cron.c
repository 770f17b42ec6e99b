/*
 * Schedules against an oracle that asks of each minute of some days whether it
 * is a moment (cron.h).
 *
 *   - the next moment is the first minute that is one
 *   - the last moment up to another is the last minute that is one
 *   - clocks that change, at any minute and by up to three hours either way,
 *     make no difference to that
 */
#include <stdio.h>
#include <time.h>

#include "model/cron.h"
#include "prop.h"
#include "unit.h"

enum {
    ROUNDS = 2000,
    MINUTE_S = 60,
    DAY_MINUTES = 1440,
    SPAN_MINUTES = 3 * DAY_MINUTES,
    BEGIN_S = 1709164800, /* 2024-02-29, where each field has an edge */
    FIELDS = 5,
    TEXT_BYTES_MAX = 200,
};

static const int least[FIELDS] = {0, 0, 1, 1, 0};
static const int most[FIELDS] = {59, 23, 31, 12, 6};

/* A schedule as it was drawn, and a zone with one change of clocks. */
struct drawn {
    bool has[FIELDS][64];
    bool is_star[FIELDS]; /* the field begins with one */
    char text[TEXT_BYTES_MAX];
    int64_t change_s;
    int32_t before_s, after_s;
    bool is_moment[SPAN_MINUTES];
};

static int32_t offset_s(const struct zone *zone, int64_t utc_s)
{
    const struct drawn *d = zone->ctx;

    return utc_s < d->change_s ? d->before_s : d->after_s;
}

static size_t draw_part(struct tape *tape, struct drawn *d, int field,
                        size_t at)
{
    int low = least[field], high = most[field], step = 1;
    size_t room = sizeof(d->text) - at;
    int added;

    switch (pick(tape, 0, 3)) {
    case 0:
        low = high = pick(tape, low, high);
        added = snprintf(d->text + at, room, "%d", low);
        break;
    case 1:
        low = pick(tape, low, high);
        high = pick(tape, low, high);
        step = pick(tape, 1, 20);
        added = snprintf(d->text + at, room, "%d-%d/%d", low, high, step);
        break;
    case 2:
        low = pick(tape, low, high);
        high = pick(tape, low, high);
        added = snprintf(d->text + at, room, "%d-%d", low, high);
        break;
    default:
        step = pick(tape, 1, 20);
        added = snprintf(d->text + at, room, "*/%d", step);
        break;
    }
    for (int value = low; value <= high; value += step) {
        d->has[field][value] = true;
    }
    return at + (size_t)added;
}

static size_t draw_field(struct tape *tape, struct drawn *d, int field,
                         size_t at)
{
    size_t begin = at;

    if (pick(tape, 0, 1) == 0) {
        for (int value = least[field]; value <= most[field]; value++) {
            d->has[field][value] = true;
        }
        d->text[at++] = '*';
    } else {
        at = draw_part(tape, d, field, at);
        if (once_in(tape, 3)) {
            d->text[at++] = ',';
            at = draw_part(tape, d, field, at);
        }
    }
    d->is_star[field] = d->text[begin] == '*';
    d->text[at++] = field < FIELDS - 1 ? ' ' : '\0';
    return at;
}

static bool matches(const struct drawn *d, int64_t local_s)
{
    time_t time = local_s;
    struct tm tm;

    gmtime_r(&time, &tm);
    bool is_day = d->has[2][tm.tm_mday], is_weekday = d->has[4][tm.tm_wday];
    bool is_right = d->is_star[2] || d->is_star[4] ? is_day && is_weekday
                                                   : is_day || is_weekday;
    return d->has[0][tm.tm_min] && d->has[1][tm.tm_hour] &&
           d->has[3][tm.tm_mon + 1] && is_right;
}

static bool is_moment(const struct drawn *d, int64_t utc_s)
{
    int64_t local_s = utc_s + (utc_s < d->change_s ? d->before_s : d->after_s);
    /* The same local time by the offset before, and if that was so then. */
    int64_t first_s = local_s - d->before_s;

    if (matches(d, local_s) &&
        (d->is_star[1] || first_s == utc_s || first_s >= d->change_s)) {
        return true;
    }
    if (utc_s != d->change_s || d->is_star[1]) {
        return false;
    }
    for (int64_t skipped_s = utc_s + d->before_s;
         skipped_s < utc_s + d->after_s; skipped_s += MINUTE_S) {
        if (matches(d, skipped_s)) {
            return true;
        }
    }
    return false;
}

static void draw_all(struct tape *tape, struct drawn *d)
{
    size_t at = 0;

    for (int field = 0; field < FIELDS; field++) {
        at = draw_field(tape, d, field, at);
    }
    d->change_s = BEGIN_S + pick(tape, 0, SPAN_MINUTES) * MINUTE_S;
    d->before_s = pick(tape, -12 * 60, 11 * 60) * MINUTE_S;
    d->after_s = d->before_s;
    if (!once_in(tape, 3)) {
        d->after_s += pick(tape, -180, 180) * MINUTE_S;
    }
    for (int i = 0; i < SPAN_MINUTES; i++) {
        d->is_moment[i] = is_moment(d, BEGIN_S + (int64_t)i * MINUTE_S);
    }
}

static bool next_is_right(const struct drawn *d, const struct cron *cron,
                          const struct zone *zone, int64_t after_s)
{
    int64_t at = (after_s - BEGIN_S) / MINUTE_S + 1, next_s;

    while (at < SPAN_MINUTES && !d->is_moment[at]) {
        at++;
    }
    bool is_found = cron_next(cron, zone, after_s, &next_s);
    int64_t expected_s = BEGIN_S + at * MINUTE_S;
    return at == SPAN_MINUTES ? !is_found || next_s >= expected_s
                              : is_found && next_s == expected_s;
}

static bool last_is_right(const struct drawn *d, const struct cron *cron,
                          const struct zone *zone, int64_t until_s)
{
    int64_t at = (until_s - BEGIN_S) / MINUTE_S, last_s;

    while (at > 0 && !d->is_moment[at]) {
        at--;
    }
    bool is_found = cron_last(cron, zone, BEGIN_S, until_s, &last_s);
    return at > 0 ? is_found && last_s == BEGIN_S + at * MINUTE_S : !is_found;
}

/* Within the span, mostly near the change. */
static int64_t draw_moment(struct tape *tape, const struct drawn *d)
{
    int64_t span_s = SPAN_MINUTES * MINUTE_S, at_s = d->change_s - BEGIN_S;

    at_s = once_in(tape, 3)
               ? pick(tape, 0, SPAN_MINUTES * MINUTE_S - 1)
               : at_s + pick(tape, -240 * MINUTE_S, 240 * MINUTE_S);
    return BEGIN_S + (at_s < 0 ? 0 : at_s < span_s ? at_s : span_s - 1);
}

static bool moments_are_those_of_the_oracle(struct tape *tape)
{
    static struct drawn d;
    struct cron cron;
    struct err err;

    memset(&d, 0, sizeof(d));
    draw_all(tape, &d);
    const struct zone zone = {offset_s, &d};
    if (cron_parse(str_of(d.text), &cron, &err) < 0) {
        return strstr(err.text, "no month has") != NULL;
    }
    for (int i = 0; i < 5; i++) {
        int64_t from_s = draw_moment(tape, &d);
        if (!next_is_right(&d, &cron, &zone, from_s) ||
            !last_is_right(&d, &cron, &zone, from_s)) {
            return false;
        }
    }
    return true;
}

static void moments_are_right(void **state)
{
    (void)state;
    assert_true(prop_check("moments_are_those_of_the_oracle",
                           moments_are_those_of_the_oracle, ROUNDS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
