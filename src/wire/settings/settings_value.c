#include "model/quantity.h"
#include "wire/settings/settings.h"

/* Decimal with at most `digits` after the point, scaled by 10^digits. */
static int parse_decimal(struct str text, int digits, int64_t *ret_scaled)
{
    size_t i = 0;
    bool is_negative = text.byte_count > 0 && text.p[0] == '-';
    int64_t value = 0;
    int seen = 0;

    i += is_negative;
    if (i == text.byte_count) {
        return -ERR_INVALID;
    }
    for (; i < text.byte_count && text.p[i] != '.'; i++, seen++) {
        if (text.p[i] < '0' || text.p[i] > '9' ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text.p[i] - '0', &value)) {
            return -ERR_INVALID;
        }
    }
    i += i < text.byte_count;
    for (int d = 0; d < digits; d++) {
        int digit = 0;
        if (i < text.byte_count) {
            if (text.p[i] < '0' || text.p[i] > '9') {
                return -ERR_INVALID;
            }
            digit = text.p[i++] - '0';
        }
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return -ERR_INVALID;
        }
    }
    if (i != text.byte_count || seen == 0) {
        return -ERR_INVALID;
    }
    *ret_scaled = is_negative ? -value : value;
    return 0;
}

/* `scaled` / 10^digits without trailing zeros. */
static void print_decimal(int64_t scaled, int digits, struct strbuf *out)
{
    uint64_t size = scaled < 0 ? 0 - (uint64_t)scaled : (uint64_t)scaled;
    uint64_t one = 1;

    for (int d = 0; d < digits; d++) {
        one *= 10;
    }
    strbuf_addf(out, "%s%llu", scaled < 0 ? "-" : "",
                (unsigned long long)(size / one));
    uint64_t rest = size % one;
    if (rest > 0) {
        strbuf_add_char(out, '.');
    }
    while (rest > 0) {
        one /= 10;
        strbuf_add_char(out, (char)('0' + rest / one));
        rest %= one;
    }
}

int setting_parse_ppm(struct str text, int64_t *ret_ppm)
{
    return parse_decimal(text, 6, ret_ppm);
}

static const struct {
    const char *name;
    int64_t ms;
} units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

/* The unit at the start of `text`, the longest name first. */
static int64_t take_unit(struct str *text)
{
    for (size_t u = ARRAY_COUNT(units); u-- > 0;) {
        struct str name = str_of(units[u].name);
        if (str_starts_with(*text, name)) {
            text->p += name.byte_count;
            text->byte_count -= name.byte_count;
            return units[u].ms;
        }
    }
    return 0;
}

int setting_parse_duration(struct str text, int64_t *ret_ms)
{
    int64_t sum = 0;

    if (text.byte_count == 0) {
        return -ERR_INVALID;
    }
    if (str_equal(text, STR("0"))) {
        *ret_ms = 0;
        return 0;
    }
    while (text.byte_count > 0) {
        int64_t value = 0;
        size_t digits = 0;
        for (; digits < text.byte_count && text.p[digits] >= '0' &&
               text.p[digits] <= '9';
             digits++) {
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, text.p[digits] - '0', &value)) {
                return -ERR_INVALID;
            }
        }
        text = str_make(text.p + digits, text.byte_count - digits);
        int64_t unit = take_unit(&text);
        if (digits == 0 || unit == 0 ||
            __builtin_mul_overflow(value, unit, &value) ||
            __builtin_add_overflow(sum, value, &sum)) {
            return -ERR_INVALID;
        }
    }
    *ret_ms = sum;
    return 0;
}

void setting_print_duration(int64_t ms, struct strbuf *out)
{
    if (ms == 0) {
        strbuf_add_text(out, "0s");
        return;
    }
    /* Days are read but hours are written: 72h reads better than 3d. */
    for (size_t u = 1; u < ARRAY_COUNT(units); u++) {
        if (ms / units[u].ms > 0) {
            strbuf_addf(out, "%lld%s", (long long)(ms / units[u].ms),
                        units[u].name);
            ms %= units[u].ms;
        }
    }
}

static bool is_choice(const char *choices, struct str text)
{
    const char *word = choices;

    while (*word) {
        size_t length = strcspn(word, " ");
        if (str_equal(str_make(word, length), text)) {
            return true;
        }
        word += length + (word[length] == ' ');
    }
    return false;
}

static const char *const type_words[] = {
    [SETTING_BOOL] = "true or false",
    [SETTING_INT] = "a whole number",
    [SETTING_DURATION] = "a duration such as 90s, 5m or 1h30m",
    [SETTING_BYTES] = "a number of bytes such as 65536 or 4Mi",
    [SETTING_PPM] = "a decimal number",
    [SETTING_MILLI] = "a decimal number",
    [SETTING_QUANTITY] = "a quantity such as 500m, 2 or 4Gi",
    [SETTING_TEXT] = "a text",
    [SETTING_TEXTS] = "a list",
    [SETTING_AMOUNTS] = "a map",
    [SETTING_FRACTIONS] = "a map",
    [SETTING_RECORD] = "a map",
    [SETTING_RECORDS] = "a list",
};

/* The number that `text` stands for, in the unit of the struct. */
static int parse_number(enum setting_type type, struct str text,
                        int64_t *ret_value)
{
    if (type == SETTING_DURATION) {
        return setting_parse_duration(text, ret_value);
    }
    if (type == SETTING_PPM || type == SETTING_MILLI) {
        return parse_decimal(text, type == SETTING_PPM ? 6 : 3, ret_value);
    }
    if (type == SETTING_INT) {
        return parse_decimal(text, 0, ret_value);
    }
    int64_t milli = 0;
    int rc = quantity_parse(text, &milli);
    bool is_bytes = type == SETTING_BYTES;
    if (rc < 0 || (is_bytes && milli % 1000 != 0)) {
        return -ERR_INVALID;
    }
    *ret_value = is_bytes ? milli / 1000 : milli;
    return 0;
}

static void print_number(enum setting_type type, int64_t value,
                         struct strbuf *out)
{
    char text[QUANTITY_TEXT_BYTES_MAX];

    if (type == SETTING_DURATION) {
        setting_print_duration(value, out);
    } else if (type == SETTING_PPM || type == SETTING_MILLI) {
        print_decimal(value, type == SETTING_PPM ? 6 : 3, out);
    } else if (type == SETTING_BYTES || type == SETTING_QUANTITY) {
        int64_t milli = type == SETTING_BYTES ? value * 1000 : value;
        bool is_size = milli >= 1024 * 1000;
        strbuf_add_text(out, quantity_format(milli, is_size, text));
    } else {
        strbuf_addf(out, "%lld", (long long)value);
    }
}

static int read_number(const struct setting *setting, struct str text,
                       void *place, struct err *err)
{
    int64_t value = 0;
    bool is_free = setting->min == 0 && setting->max == 0;
    int64_t max = is_free ? INT64_MAX / 1000 : setting->max;

    int rc = parse_number(setting->type, text, &value);
    if (rc == 0 && value >= setting->min && value <= max) {
        *(int64_t *)place = value;
        return 0;
    }
    auto_strbuf range = {0};
    if (!is_free) {
        strbuf_add_text(&range, " from ");
        print_number(setting->type, setting->min, &range);
        if (setting->max < INT64_MAX / 1000) {
            strbuf_add_text(&range, " to ");
            print_number(setting->type, max, &range);
        }
    }
    return err_set(err, -ERR_INVALID, "\"%.*s\" is not %s%s", STR_ARG(text),
                   type_words[setting->type], strbuf_text(&range));
}

static int read_text(const struct setting *setting, struct str text,
                     struct arena *arena, void *place, struct err *err)
{
    if (text.byte_count > SETTING_TEXT_BYTES_MAX) {
        return err_set(err, -ERR_INVALID, "longer than %d bytes",
                       SETTING_TEXT_BYTES_MAX);
    }
    if (setting->choices && !is_choice(setting->choices, text)) {
        return err_set(err, -ERR_INVALID, "\"%.*s\" is not one of: %s",
                       STR_ARG(text), setting->choices);
    }
    *(struct str *)place = arena_str(arena, text);
    return 0;
}

int setting_read_scalar(const struct setting *setting, struct str text,
                        struct arena *arena, void *record, struct err *err)
{
    void *place = (char *)record + setting->offset;

    if (setting->type == SETTING_TEXT) {
        return read_text(setting, text, arena, place, err);
    }
    if (setting->type != SETTING_BOOL) {
        return read_number(setting, text, place, err);
    }
    bool is_true = str_equal(text, STR("true"));
    if (!is_true && !str_equal(text, STR("false"))) {
        return err_set(err, -ERR_INVALID, "\"%.*s\" is not true or false",
                       STR_ARG(text));
    }
    *(bool *)place = is_true;
    return 0;
}

/* Whether YAML reads `text` unquoted as this very string. */
static bool is_plain(struct str text)
{
    static const char *const others[] = {"true", "false", "null", "yes", "no",
                                         "on",   "off",   "y",    "n",   "~"};

    for (size_t i = 0; i < text.byte_count; i++) {
        char c = text.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_inner = (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                        c == '_' || c == '/';
        if (!is_letter && !(i > 0 && is_inner) && !(i == 0 && c == '/')) {
            return false;
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        if (text.byte_count == strlen(others[i]) &&
            strncasecmp(text.p, others[i], text.byte_count) == 0) {
            return false;
        }
    }
    return text.byte_count > 0;
}

void setting_print_text(struct str text, struct strbuf *out)
{
    if (is_plain(text)) {
        strbuf_add_str(out, text);
        return;
    }
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.byte_count; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '"' || c == '\\') {
            strbuf_addf(out, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            strbuf_addf(out, "\\x%02x", c);
        } else {
            strbuf_add_char(out, (char)c);
        }
    }
    strbuf_add_char(out, '"');
}

void setting_print_scalar(const struct setting *setting, const void *record,
                          struct strbuf *out)
{
    const void *place = (const char *)record + setting->offset;

    if (setting->type == SETTING_BOOL) {
        strbuf_add_text(out, *(const bool *)place ? "true" : "false");
    } else if (setting->type == SETTING_TEXT) {
        setting_print_text(*(const struct str *)place, out);
    } else {
        print_number(setting->type, *(const int64_t *)place, out);
    }
}

uint32_t settings_distance(struct str a, struct str b)
{
    uint32_t row[SETTING_PATH_BYTES_MAX];

    if (b.byte_count >= SETTING_PATH_BYTES_MAX) {
        return UINT32_MAX;
    }
    for (uint32_t j = 0; j <= b.byte_count; j++) {
        row[j] = j;
    }
    for (uint32_t i = 1; i <= a.byte_count; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b.byte_count; j++) {
            uint32_t best = diagonal + (a.p[i - 1] != b.p[j - 1]);
            diagonal = row[j];
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = diagonal + 1 < best ? diagonal + 1 : best;
        }
    }
    return row[b.byte_count];
}
