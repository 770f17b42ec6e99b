#include "api/rfc3339.h"

#include <stdio.h>
#include <time.h>

enum { NS_PER_S = 1000000000, S_PER_MINUTE = 60 };

char *rfc3339_format(int64_t time_ns, char text[RFC3339_TEXT_BYTES_MAX])
{
    int64_t rest_ns = time_ns % NS_PER_S;

    if (rest_ns < 0) {
        rest_ns += NS_PER_S;
    }
    time_t seconds = (time_t)((time_ns - rest_ns) / NS_PER_S);
    struct tm tm;
    char head[RFC3339_TEXT_BYTES_MAX];
    gmtime_r(&seconds, &tm);
    strftime(head, sizeof(head), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, RFC3339_TEXT_BYTES_MAX, "%.24s.%09dZ", head, (int)rest_ns);
    return text;
}

/* Read `count` digits. */
static bool read_digits(struct str *rest, int count, int *ret_value)
{
    int value = 0;

    if (rest->byte_count < (size_t)count) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (rest->p[i] < '0' || rest->p[i] > '9') {
            return false;
        }
        value = value * 10 + (rest->p[i] - '0');
    }
    *rest = str_make(rest->p + count, rest->byte_count - (size_t)count);
    *ret_value = value;
    return true;
}

static bool read_char(struct str *rest, const char *set)
{
    if (!rest->byte_count || !strchr(set, rest->p[0]) || !rest->p[0]) {
        return false;
    }
    *rest = str_make(rest->p + 1, rest->byte_count - 1);
    return true;
}

/* A fraction of a second, beyond nanoseconds cut. */
static bool read_fraction(struct str *rest, int64_t *ret_ns)
{
    int64_t unit = NS_PER_S / 10, ns = 0;
    int digit;

    *ret_ns = 0;
    if (!read_char(rest, ".")) {
        return true;
    }
    if (!read_digits(rest, 1, &digit)) {
        return false;
    }
    do {
        ns += unit * digit;
        unit /= 10;
    } while (read_digits(rest, 1, &digit));
    *ret_ns = ns;
    return true;
}

/* "Z" or an offset, in minutes. */
static bool read_offset(struct str *rest, int *ret_minutes)
{
    int hours, minutes;

    *ret_minutes = 0;
    if (read_char(rest, "Zz")) {
        return true;
    }
    bool is_west = rest->byte_count && rest->p[0] == '-';
    if (!read_char(rest, "+-") || !read_digits(rest, 2, &hours) ||
        !read_char(rest, ":") || !read_digits(rest, 2, &minutes)) {
        return false;
    }
    *ret_minutes = (hours * 60 + minutes) * (is_west ? -1 : 1);
    return true;
}

int rfc3339_parse(struct str text, int64_t *ret_time_ns)
{
    struct str rest = text;
    struct tm tm = {0};
    int64_t fraction_ns;
    int offset;

    bool is_good =
        read_digits(&rest, 4, &tm.tm_year) && read_char(&rest, "-") &&
        read_digits(&rest, 2, &tm.tm_mon) && read_char(&rest, "-") &&
        read_digits(&rest, 2, &tm.tm_mday) && read_char(&rest, "Tt ") &&
        read_digits(&rest, 2, &tm.tm_hour) && read_char(&rest, ":") &&
        read_digits(&rest, 2, &tm.tm_min) && read_char(&rest, ":") &&
        read_digits(&rest, 2, &tm.tm_sec) &&
        read_fraction(&rest, &fraction_ns) && read_offset(&rest, &offset);
    if (!is_good || rest.byte_count || tm.tm_year < 1970 || tm.tm_year > 2200) {
        return -ERR_INVALID;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    int64_t seconds = (int64_t)timegm(&tm) - (int64_t)offset * S_PER_MINUTE;
    *ret_time_ns = seconds * NS_PER_S + fraction_ns;
    return 0;
}
