/* Reads schedules. */
#include <strings.h>

#include "model/cron.h"

struct field {
    const char *name;
    int least, most;
    const char *const *names; /* of values from `least`, or NULL */
};

/* A field's text while it is read. */
struct reading {
    const struct field *field;
    struct str text; /* all of it, for errors */
    struct err *err;
};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELD_COUNT, NAME_BYTES = 3 };

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may",
                                          "jun", "jul", "aug", "sep", "oct",
                                          "nov", "dec", NULL};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed",
                                            "thu", "fri", "sat", NULL};

static const struct field fields[FIELD_COUNT] = {
    [MINUTE] = {"minute", 0, 59, NULL},
    [HOUR] = {"hour", 0, 23, NULL},
    [DAY] = {"day of the month", 1, 31, NULL},
    [MONTH] = {"month", 1, 12, month_names},
    [WEEKDAY] = {"day of the week", 0, 7, weekday_names},
};

static const struct {
    const char *name, *fields;
} macros[] = {
    {"@yearly", "0 0 1 1 *"},  {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

static int refuse(const struct reading *r)
{
    const struct field *field = r->field;

    return err_set(r->err, -ERR_INVALID,
                   "schedule: %s \"%.*s\" must be *, or numbers from %d to "
                   "%d%s%s%s, with ranges (a-b), steps (/n) and commas",
                   field->name, STR_ARG(r->text), field->least, field->most,
                   field->names ? " or names like " : "",
                   field->names ? field->names[0] : "",
                   field->names ? " and their like" : "");
}

/* Up to the first `separator`, and behind it; false: there is none. */
static bool split(struct str text, char separator, struct str *ret_before,
                  struct str *ret_after)
{
    const char *at =
        text.byte_count ? memchr(text.p, separator, text.byte_count) : NULL;
    size_t before = at ? (size_t)(at - text.p) : text.byte_count;

    *ret_before = str_make(text.p, before);
    *ret_after =
        at ? str_make(at + 1, text.byte_count - before - 1) : str_make(NULL, 0);
    return at != NULL;
}

/* A number of one or two digits, or -1. */
static int read_number(struct str text)
{
    int value = 0;

    if (text.byte_count == 0 || text.byte_count > 2) {
        return -1;
    }
    for (size_t i = 0; i < text.byte_count; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return -1;
        }
        value = value * 10 + (text.p[i] - '0');
    }
    return value;
}

/* A number or name of the field, or -1. */
static int read_value(const struct field *field, struct str text)
{
    for (int i = 0; field->names && field->names[i]; i++) {
        if (text.byte_count == NAME_BYTES &&
            strncasecmp(text.p, field->names[i], NAME_BYTES) == 0) {
            return field->least + i;
        }
    }
    int value = read_number(text);
    return value >= field->least && value <= field->most ? value : -1;
}

static bool is_star(struct str text)
{
    return str_equal(text, STR("*")) || str_equal(text, STR("?"));
}

/* One part of a list: "*", "a", "a-b", each with or without "/n". */
static int read_part(const struct reading *r, struct str part,
                     uint64_t *ret_values)
{
    const struct field *field = r->field;
    struct str range, step_text, low_text, high_text;
    int step = 1, low = field->least, high = field->most;

    bool has_step = split(part, '/', &range, &step_text);
    if (has_step) {
        step = read_number(step_text);
    }
    if (is_star(range)) {
        high -= field == &fields[WEEKDAY]; /* 7 is 0 again */
    } else {
        bool has_end = split(range, '-', &low_text, &high_text);
        low = read_value(field, low_text);
        high = has_end    ? read_value(field, high_text)
               : has_step ? field->most
                          : low;
    }
    if (step < 1 || low < 0 || high < low) {
        return refuse(r);
    }
    for (int value = low; value <= high; value += step) {
        *ret_values |= UINT64_C(1) << value;
    }
    return 0;
}

static int read_field(const struct field *field, struct str text,
                      uint64_t *ret_values, struct err *err)
{
    const struct reading r = {field, text, err};
    struct str part, rest = text;
    bool has_more = true;
    int rc = 0;

    *ret_values = 0;
    while (has_more && rc == 0) {
        has_more = split(rest, ',', &part, &rest);
        rc = read_part(&r, part, ret_values);
    }
    return rc;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word, taken off `text`; "": none is left. */
static struct str take_word(struct str *text)
{
    size_t begin = 0, end;

    while (begin < text->byte_count && is_space(text->p[begin])) {
        begin++;
    }
    end = begin;
    while (end < text->byte_count && !is_space(text->p[end])) {
        end++;
    }
    struct str word = str_make(text->p + begin, end - begin);
    *text = str_make(text->p + end, text->byte_count - end);
    return word;
}

static int expand_macro(struct str *text, struct err *err)
{
    struct str rest = *text, word = take_word(&rest);

    if (word.byte_count == 0 || word.p[0] != '@') {
        return 0;
    }
    for (size_t i = 0; i < ARRAY_COUNT(macros); i++) {
        if (str_equal(word, str_of(macros[i].name)) &&
            take_word(&rest).byte_count == 0) {
            *text = str_of(macros[i].fields);
            return 0;
        }
    }
    return err_set(err, -ERR_INVALID,
                   "schedule: \"%.*s\" must be five fields, or @yearly, "
                   "@monthly, @weekly, @daily or @hourly",
                   STR_ARG(*text));
}

static int split_fields(struct str text, struct str words[FIELD_COUNT],
                        struct err *err)
{
    struct str rest = text;
    int count = 0;

    while (count < FIELD_COUNT &&
           (words[count] = take_word(&rest)).byte_count > 0) {
        count++;
    }
    if (count < FIELD_COUNT || take_word(&rest).byte_count > 0) {
        return err_set(
            err, -ERR_INVALID,
            "schedule: \"%.*s\" must have five fields: minute, hour, "
            "day of the month, month, day of the week",
            STR_ARG(text));
    }
    return 0;
}

/* Whether some month has a day of the month that is meant, if it must. */
static bool has_day(const struct cron *cron)
{
    static const int most[] = {0,  31, 29, 31, 30, 31, 30,
                               31, 31, 30, 31, 30, 31};
    bool is_either = !cron->has_any_day;

    for (int month = 1; month <= 12; month++) {
        uint32_t days = (uint32_t)((UINT64_C(2) << most[month]) - 2);
        if (cron->months >> month & 1 && (is_either || cron->days & days)) {
            return true;
        }
    }
    return false;
}

int cron_parse(struct str text, struct cron *ret_cron, struct err *err)
{
    struct str words[FIELD_COUNT];
    uint64_t values[FIELD_COUNT];
    struct str given = text;

    if (text.byte_count > CRON_TEXT_BYTES_MAX ||
        (text.byte_count && memchr(text.p, '\0', text.byte_count))) {
        return err_set(err, -ERR_INVALID,
                       "schedule: must be a text of at most %d bytes",
                       CRON_TEXT_BYTES_MAX);
    }
    int rc = expand_macro(&text, err);
    rc = rc < 0 ? rc : split_fields(text, words, err);
    for (int i = 0; i < FIELD_COUNT && rc == 0; i++) {
        rc = read_field(&fields[i], words[i], &values[i], err);
    }
    if (rc < 0) {
        return rc;
    }
    uint64_t weekdays = values[WEEKDAY];
    *ret_cron = (struct cron){
        .minutes = values[MINUTE],
        .hours = (uint32_t)values[HOUR],
        .days = (uint32_t)values[DAY],
        .months = (uint32_t)values[MONTH],
        .weekdays = (uint32_t)((weekdays | weekdays >> 7) & 0x7f),
        .has_any_hour = words[HOUR].p[0] == '*' || words[HOUR].p[0] == '?',
        .has_any_day = words[DAY].p[0] == '*' || words[DAY].p[0] == '?' ||
                       words[WEEKDAY].p[0] == '*' || words[WEEKDAY].p[0] == '?',
    };
    return has_day(ret_cron)
               ? 0
               : err_set(err, -ERR_INVALID,
                         "schedule: \"%.*s\" names days that no month has",
                         STR_ARG(given));
}
