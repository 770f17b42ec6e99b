#include "model/quantity.h"

#include <inttypes.h>
#include <stdio.h>

/* A decimal number: digits * 10^exponent; digits beyond 19 are refused. */
struct decimal {
    uint64_t digits;
    int exponent;
    bool is_negative;
};

enum { DIGITS_MAX = 19, EXPONENT_MAX = 40 };

/* Read "[+-]digits[.digits]"; how many bytes it took, or -1. */
static int read_number(struct str text, struct decimal *number)
{
    size_t at = 0;
    int digit_count = 0;
    int significant_count = 0;
    bool is_fraction = false;

    if (at < text.byte_count && (text.p[at] == '-' || text.p[at] == '+')) {
        number->is_negative = text.p[at++] == '-';
    }
    for (; at < text.byte_count; at++) {
        char c = text.p[at];
        if (c == '.' && !is_fraction) {
            is_fraction = true;
        } else if (c >= '0' && c <= '9') {
            digit_count++;
            significant_count += significant_count > 0 || c != '0';
            if (significant_count > DIGITS_MAX) {
                return -1;
            }
            number->digits = number->digits * 10 + (uint64_t)(c - '0');
            number->exponent -= is_fraction;
        } else {
            break;
        }
    }
    return digit_count > 0 ? (int)at : -1;
}

/* Read "e[+-]digits"; false if it is not that or absurd. */
static bool read_exponent(struct str rest, int *ret_exponent)
{
    size_t at = 1;
    int value = 0;
    bool is_negative = false;

    if (at < rest.byte_count && (rest.p[at] == '-' || rest.p[at] == '+')) {
        is_negative = rest.p[at++] == '-';
    }
    if (at == rest.byte_count) {
        return false;
    }
    for (; at < rest.byte_count; at++) {
        if (rest.p[at] < '0' || rest.p[at] > '9' || value > EXPONENT_MAX) {
            return false;
        }
        value = value * 10 + (rest.p[at] - '0');
    }
    *ret_exponent = is_negative ? -value : value;
    return true;
}

/* Scale by a suffix; false if there is no such suffix. */
static bool apply_suffix(struct str rest, struct decimal *number,
                         int64_t *ret_factor)
{
    static const char binary[] = "KMGTPE";
    static const struct {
        char letter;
        int exponent;
    } decimals[] = {{'n', -9}, {'u', -6}, {'m', -3}, {'k', 3}, {'M', 6},
                    {'G', 9},  {'T', 12}, {'P', 15}, {'E', 18}};

    *ret_factor = 1;
    if (rest.byte_count == 0) {
        return true;
    }
    if (rest.byte_count == 2 && rest.p[1] == 'i') {
        const char *at = strchr(binary, rest.p[0]);
        if (!at || rest.p[0] == '\0') {
            return false;
        }
        *ret_factor = INT64_C(1) << (10 * (at - binary + 1));
        return true;
    }
    if (rest.byte_count == 1) {
        for (size_t i = 0; i < ARRAY_COUNT(decimals); i++) {
            if (decimals[i].letter == rest.p[0]) {
                number->exponent += decimals[i].exponent;
                return true;
            }
        }
        return false;
    }
    int exponent = 0;
    if ((rest.p[0] != 'e' && rest.p[0] != 'E') ||
        !read_exponent(rest, &exponent)) {
        return false;
    }
    number->exponent += exponent;
    return true;
}

int quantity_parse(struct str text, int64_t *ret_milli)
{
    struct decimal number = {0};
    int64_t factor = 1;
    int byte_count = read_number(text, &number);

    if (byte_count < 0 ||
        !apply_suffix(
            str_make(text.p + byte_count, text.byte_count - (size_t)byte_count),
            &number, &factor)) {
        return -ERR_INVALID;
    }
    /* digits < 10^19 < 2^64 and factor <= 2^60: the product fits 128 bits. */
    u128 value = (u128)number.digits * (u128)factor;
    int exponent = number.exponent + 3;
    for (; exponent > 0 && value > 0; exponent--) {
        if (value > INT64_MAX) {
            return -ERR_LIMIT;
        }
        value *= 10;
    }
    bool is_inexact = false;
    for (; exponent < 0 && value > 0; exponent++) {
        is_inexact = is_inexact || value % 10 != 0;
        value /= 10;
    }
    value += is_inexact;
    if (value > INT64_MAX) {
        return -ERR_LIMIT;
    }
    *ret_milli = number.is_negative ? -(int64_t)value : (int64_t)value;
    return 0;
}

char *quantity_format(int64_t milli, bool is_binary,
                      char text[QUANTITY_TEXT_BYTES_MAX])
{
    static const char *const suffixes[] = {"",   "Ki", "Mi", "Gi",
                                           "Ti", "Pi", "Ei"};
    int64_t whole = milli / 1000;
    size_t power = 0;

    if (milli % 1000 != 0) {
        snprintf(text, QUANTITY_TEXT_BYTES_MAX, "%" PRId64 "m", milli);
        return text;
    }
    while (is_binary && whole != 0 && whole % 1024 == 0 && power < 6) {
        whole /= 1024;
        power++;
    }
    snprintf(text, QUANTITY_TEXT_BYTES_MAX, "%" PRId64 "%s", whole,
             suffixes[power]);
    return text;
}
