#include "wire/text/rfc3339.h"

#include <stdio.h>

#define SECONDS_MIN INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */
enum { DAY_S = 86400, ERA_DAYS = 146097 };

/* Days since the epoch of a date, counting years from March so that the leap
 * day comes last. */
static int64_t days_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 -
                         year_of_era / 100 + day_of_year - 1;

    return era * ERA_DAYS + day_of_era - 719468;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year));
}

/* A number of exactly `digit_count` digits at the front of `rest`, or -1. */
static int take_number(struct str *rest, size_t digit_count)
{
    int number = 0;

    if (rest->byte_count < digit_count) {
        return -1;
    }
    for (size_t i = 0; i < digit_count; i++) {
        if (rest->p[i] < '0' || rest->p[i] > '9') {
            return -1;
        }
        number = number * 10 + (rest->p[i] - '0');
    }
    *rest = str_make(rest->p + digit_count, rest->byte_count - digit_count);
    return number;
}

static bool take_char(struct str *rest, const char *any_of)
{
    if (rest->byte_count == 0 || rest->p[0] == '\0' ||
        !strchr(any_of, rest->p[0])) {
        return false;
    }
    *rest = str_make(rest->p + 1, rest->byte_count - 1);
    return true;
}

static bool take_date(struct str *rest, int64_t *ret_days)
{
    int year = take_number(rest, 4);
    int month = take_char(rest, "-") ? take_number(rest, 2) : -1;
    int day = take_char(rest, "-") ? take_number(rest, 2) : -1;

    if (year < 1 || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, month)) {
        return false;
    }
    *ret_days = days_of(year, month, day);
    return true;
}

static bool take_time(struct str *rest, int64_t *ret_seconds)
{
    int hour = take_number(rest, 2);
    int minute = take_char(rest, ":") ? take_number(rest, 2) : -1;
    int second = take_char(rest, ":") ? take_number(rest, 2) : -1;

    /* 60 is a leap second; it counts as the next minute's first. */
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 60) {
        return false;
    }
    *ret_seconds = hour * 3600 + minute * 60 + second;
    return true;
}

static bool take_fraction(struct str *rest, int32_t *ret_nanos)
{
    int32_t nanos = 0, unit = 100000000;
    int digit;

    *ret_nanos = 0;
    if (!take_char(rest, ".")) {
        return true;
    }
    bool has_digit = false;
    while ((digit = take_number(rest, 1)) >= 0) {
        nanos += digit * unit;
        unit /= 10; /* finer than a nanosecond: dropped */
        has_digit = true;
    }
    *ret_nanos = nanos;
    return has_digit;
}

static bool take_offset(struct str *rest, int64_t *ret_seconds)
{
    if (take_char(rest, "zZ")) {
        *ret_seconds = 0;
        return true;
    }
    bool is_west = rest->byte_count && rest->p[0] == '-';
    if (!take_char(rest, "+-")) {
        return false;
    }
    int hour = take_number(rest, 2);
    int minute = take_char(rest, ":") ? take_number(rest, 2) : -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) {
        return false;
    }
    *ret_seconds = (hour * 3600 + minute * 60) * (is_west ? -1 : 1);
    return true;
}

int wire_rfc3339_parse(struct str text, int64_t *ret_seconds,
                       int32_t *ret_nanos)
{
    struct str rest = text;
    int64_t days, seconds, offset;
    int32_t nanos;

    if (!take_date(&rest, &days) || !take_char(&rest, "tT ") ||
        !take_time(&rest, &seconds) || !take_fraction(&rest, &nanos) ||
        !take_offset(&rest, &offset) || rest.byte_count > 0) {
        return -ERR_INVALID;
    }
    *ret_seconds = days * DAY_S + seconds - offset;
    *ret_nanos = nanos;
    return 0;
}

/* The date of a day since the epoch. */
static void date_of(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - (ERA_DAYS - 1)) / ERA_DAYS;
    int64_t day_of_era = days - era * ERA_DAYS;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
                           day_of_era / (ERA_DAYS - 1)) /
                          365;
    int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;

    *ret_day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = (int)(year_of_era + era * 400 + (*ret_month <= 2));
}

char *wire_rfc3339_format(int64_t seconds, int32_t nanos, int digit_count,
                          char text[WIRE_RFC3339_TEXT_BYTES_MAX])
{
    int year, month, day;

    ASSERT(digit_count >= 0 && digit_count <= 9 && digit_count % 3 == 0);
    seconds = seconds < SECONDS_MIN   ? SECONDS_MIN
              : seconds > SECONDS_MAX ? SECONDS_MAX
                                      : seconds;
    nanos = nanos < 0 ? 0 : nanos > 999999999 ? 999999999 : nanos;
    int64_t since_min = seconds - SECONDS_MIN;
    int in_day = (int)(since_min % DAY_S);
    date_of(since_min / DAY_S + SECONDS_MIN / DAY_S, &year, &month, &day);

    int at = snprintf(text, WIRE_RFC3339_TEXT_BYTES_MAX,
                      "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day,
                      in_day / 3600, in_day / 60 % 60, in_day % 60);
    if (digit_count) {
        for (int i = digit_count; i < 9; i++) {
            nanos /= 10;
        }
        at += snprintf(text + at, WIRE_RFC3339_TEXT_BYTES_MAX - (size_t)at,
                       ".%0*d", digit_count, (int)nanos);
    }
    text[at] = 'Z';
    text[at + 1] = '\0';
    return text;
}
