#include "wire/text/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "wire/text/utf8.h"

enum scalar_kind {
    SCALAR_TEXT,
    SCALAR_NULL,
    SCALAR_TRUE,
    SCALAR_FALSE,
    SCALAR_DECIMAL,
    SCALAR_OCTAL,
    SCALAR_HEX,
    SCALAR_REAL,
};

enum { NUMBER_BYTES_MAX = 64 };

static bool is_word(struct str text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(text, str_of(words[i]))) {
            return true;
        }
    }
    return false;
}

static size_t digits_at(struct str text, size_t at, const char *digits)
{
    size_t count = 0;

    while (at + count < text.byte_count && text.p[at + count] &&
           strchr(digits, text.p[at + count])) {
        count++;
    }
    return count;
}

/* digits [. digits] [e sign digits], at least one digit before the e. */
static bool is_real(struct str text, size_t at)
{
    size_t count = digits_at(text, at, "0123456789");

    at += count;
    if (at < text.byte_count && text.p[at] == '.') {
        size_t fraction = digits_at(text, at + 1, "0123456789");
        count += fraction;
        at += 1 + fraction;
    }
    if (count == 0) {
        return false;
    }
    if (at < text.byte_count && (text.p[at] == 'e' || text.p[at] == 'E')) {
        at++;
        if (at < text.byte_count && (text.p[at] == '+' || text.p[at] == '-')) {
            at++;
        }
        size_t exponent = digits_at(text, at, "0123456789");
        if (exponent == 0) {
            return false;
        }
        at += exponent;
    }
    return at == text.byte_count;
}

static enum scalar_kind number_kind(struct str text)
{
    bool has_sign = text.byte_count && (text.p[0] == '-' || text.p[0] == '+');
    size_t at = has_sign, left = text.byte_count - at;

    if (left == 0 || text.byte_count >= NUMBER_BYTES_MAX) {
        return SCALAR_TEXT;
    }
    if (left > 2 && text.p[at] == '0' && text.p[at + 1] == 'x') {
        return digits_at(text, at + 2, "0123456789abcdefABCDEF") == left - 2
                   ? SCALAR_HEX
                   : SCALAR_TEXT;
    }
    if (left > 2 && text.p[at] == '0' && text.p[at + 1] == 'o') {
        return digits_at(text, at + 2, "01234567") == left - 2 ? SCALAR_OCTAL
                                                               : SCALAR_TEXT;
    }
    if (digits_at(text, at, "0123456789") == left) {
        bool has_zero = left > 1 && text.p[at] == '0';
        bool is_octal = digits_at(text, at, "01234567") == left;
        return !has_zero  ? SCALAR_DECIMAL
               : is_octal ? SCALAR_OCTAL
                          : SCALAR_TEXT;
    }
    return is_real(text, at) ? SCALAR_REAL : SCALAR_TEXT;
}

static enum scalar_kind kind_of(struct str text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const trues[] = {"true", "True", "TRUE", "yes", "Yes",
                                        "YES",  "on",   "On",   "ON"};
    static const char *const falses[] = {"false", "False", "FALSE", "no", "No",
                                         "NO",    "off",   "Off",   "OFF"};

    if (is_word(text, nulls, ARRAY_COUNT(nulls))) {
        return SCALAR_NULL;
    }
    if (is_word(text, trues, ARRAY_COUNT(trues))) {
        return SCALAR_TRUE;
    }
    if (is_word(text, falses, ARRAY_COUNT(falses))) {
        return SCALAR_FALSE;
    }
    return number_kind(text);
}

static json_t *real_value(const char *text)
{
    double value = strtod(text, NULL);

    return isfinite(value) ? json_real(value) : json_string(text);
}

static json_t *whole_value(const char *text, int base)
{
    errno = 0;
    long long value = strtoll(text, NULL, base);
    return errno ? real_value(text) : json_integer(value);
}

/* A number with its base's mark taken out: strtoll wants "17" for 0o17. */
static json_t *number_value(struct str text, enum scalar_kind kind)
{
    char digits[NUMBER_BYTES_MAX + 1];
    size_t count = 0;

    for (size_t i = 0; i < text.byte_count; i++) {
        if (text.p[i] != 'o') {
            digits[count++] = text.p[i];
        }
    }
    digits[count] = '\0';
    return kind == SCALAR_REAL    ? real_value(digits)
           : kind == SCALAR_HEX   ? whole_value(digits, 16)
           : kind == SCALAR_OCTAL ? whole_value(digits, 8)
                                  : whole_value(digits, 10);
}

json_t *yaml_scalar_value(struct str text)
{
    enum scalar_kind kind = kind_of(text);

    switch (kind) {
    case SCALAR_NULL:
        return json_null();
    case SCALAR_TRUE:
        return json_true();
    case SCALAR_FALSE:
        return json_false();
    case SCALAR_DECIMAL:
    case SCALAR_OCTAL:
    case SCALAR_HEX:
    case SCALAR_REAL:
        return number_value(text, kind);
    case SCALAR_TEXT:
        break;
    }
    return utf8_is_text(text) ? json_stringn(text.p, text.byte_count) : NULL;
}

bool yaml_scalar_is_text(struct str text)
{
    return kind_of(text) == SCALAR_TEXT;
}
