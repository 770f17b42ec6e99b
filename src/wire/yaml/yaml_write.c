#include <stdio.h>
#include <stdlib.h>

#include "wire/text/printable.h"
#include "wire/text/yaml_scalar.h"
#include "wire/yaml/yaml.h"

enum {
    INDENT = 2,
    KEY_BYTES_MAX = 200, /* a longer one needs a mark before it */
};

/* Write `value` where the line already stands at column `indent`. */
static void write_block(const json_t *value, size_t indent, struct strbuf *buf);

static void write_indent(size_t indent, struct strbuf *buf)
{
    for (size_t i = 0; i < indent; i++) {
        strbuf_add_char(buf, ' ');
    }
}

/* Texts. */

/* How many bytes at `at` cannot stand as they are, in YAML or on a terminal,
 * and which code point they are. */
static size_t special_bytes(struct str text, size_t at, uint32_t *ret_point)
{
    size_t byte_count = wire_next_char(text, at, ret_point);

    return wire_is_hidden(*ret_point) || *ret_point == 0xfffe ||
                   *ret_point == 0xffff
               ? byte_count
               : 0;
}

static bool is_special(struct str text, size_t at)
{
    uint32_t point;

    return special_bytes(text, at, &point) > 0;
}

/* Whether some YAML reader might take it for a number: dates, 1:30, 1_000. */
static bool is_like_a_number(struct str text)
{
    if (!strchr("0123456789+-.", text.p[0])) {
        return false;
    }
    for (size_t i = 0; i < text.byte_count; i++) {
        if (!strchr("0123456789+-._:,eExXoObTZ ", text.p[i])) {
            return false;
        }
    }
    return true;
}

static bool is_plain_inside(struct str text)
{
    for (size_t i = 0; i < text.byte_count; i++) {
        char c = text.p[i];
        char next = i + 1 < text.byte_count ? text.p[i + 1] : ' ';
        if (is_special(text, i) || (c == ':' && next == ' ') ||
            (c == ' ' && next == '#')) {
            return false;
        }
    }
    return true;
}

/* Whether a text needs no quotes. */
static bool is_plain(struct str text)
{
    static const char *const words[] = {"y",    "Y",    "n",    "N",
                                        "<<",   "=",    ".inf", ".Inf",
                                        ".INF", ".nan", ".NaN", ".NAN"};

    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (str_equal(text, str_of(words[i]))) {
            return false;
        }
    }
    return yaml_scalar_is_text(text) &&
           !strchr("-?:,[]{}#&*!|>'\"%@` ", text.p[0]) &&
           text.p[text.byte_count - 1] != ' ' && !is_like_a_number(text) &&
           !str_starts_with(text, STR("...")) && is_plain_inside(text);
}

static void write_quoted(struct str text, struct strbuf *buf)
{
    size_t at = 0;

    strbuf_add_char(buf, '"');
    while (at < text.byte_count) {
        uint32_t point = 0;
        size_t byte_count = special_bytes(text, at, &point);
        char c = text.p[at];

        if (c == '"' || c == '\\') {
            strbuf_addf(buf, "\\%c", c);
        } else if (c == '\n') {
            strbuf_add_text(buf, "\\n");
        } else if (c == '\t') {
            strbuf_add_text(buf, "\\t");
        } else if (byte_count) {
            strbuf_addf(buf, point < 0x10000 ? "\\u%04x" : "\\U%08x", point);
        } else {
            strbuf_add_char(buf, c);
        }
        at += byte_count ? byte_count : 1;
    }
    strbuf_add_char(buf, '"');
}

/* Whether a text of several lines can stand as a literal block. */
static bool is_block(struct str text)
{
    if (!text.byte_count || text.p[0] == ' ' || text.p[0] == '\n' ||
        text.p[0] == '\t' || !memchr(text.p, '\n', text.byte_count)) {
        return false;
    }
    for (size_t i = 0; i < text.byte_count; i++) {
        if (text.p[i] != '\n' && text.p[i] != '\t' && is_special(text, i)) {
            return false;
        }
    }
    return true;
}

static void write_literal(struct str text, size_t indent, struct strbuf *buf)
{
    size_t column = indent ? indent : INDENT;
    bool has_end = text.p[text.byte_count - 1] == '\n';
    bool has_more =
        has_end && text.byte_count > 1 && text.p[text.byte_count - 2] == '\n';

    strbuf_add_text(buf, has_more ? "|+\n" : has_end ? "|\n" : "|-\n");
    for (size_t at = 0; at < text.byte_count;) {
        const char *end = memchr(text.p + at, '\n', text.byte_count - at);
        size_t line_bytes =
            end ? (size_t)(end - text.p) - at : text.byte_count - at;
        if (line_bytes) {
            write_indent(column, buf);
            strbuf_add(buf, text.p + at, line_bytes);
        }
        strbuf_add_char(buf, '\n');
        at += line_bytes + 1;
    }
}

static void write_text(struct str text, struct strbuf *buf)
{
    if (text.byte_count && is_plain(text)) {
        strbuf_add_str(buf, text);
    } else {
        write_quoted(text, buf);
    }
}

/* Values. */

static void write_real(double value, struct strbuf *buf)
{
    char text[40];

    /* The shortest that reads back as the same. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    strbuf_add_text(buf, text);
    if (!strpbrk(text, ".e")) {
        strbuf_add_text(buf, ".0");
    }
}

static struct str text_of(const json_t *value)
{
    return str_make(json_string_value(value), json_string_length(value));
}

/* A value that fits on the line, with its end. */
static void write_inline(const json_t *value, size_t indent, struct strbuf *buf)
{
    if (json_is_string(value) && is_block(text_of(value))) {
        write_literal(text_of(value), indent, buf);
        return;
    }
    if (json_is_string(value)) {
        write_text(text_of(value), buf);
    } else if (json_is_integer(value)) {
        strbuf_addf(buf, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        write_real(json_real_value(value), buf);
    } else {
        strbuf_add_text(buf, json_is_true(value)     ? "true"
                             : json_is_false(value)  ? "false"
                             : json_is_array(value)  ? "[]"
                             : json_is_object(value) ? "{}"
                                                     : "null");
    }
    strbuf_add_char(buf, '\n');
}

static bool is_nested(const json_t *value)
{
    return json_object_size(value) > 0 || json_array_size(value) > 0;
}

static void write_list(const json_t *list, size_t indent, struct strbuf *buf)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        if (i > 0) {
            write_indent(indent, buf);
        }
        strbuf_add_text(buf, "- ");
        write_block(item, indent + INDENT, buf);
    }
}

/* A key up to its colon. */
static void write_key(struct str key, size_t indent, struct strbuf *buf)
{
    bool is_long = key.byte_count > KEY_BYTES_MAX;

    strbuf_add_text(buf, is_long ? "? " : "");
    write_text(key, buf);
    if (is_long) {
        strbuf_add_char(buf, '\n');
        write_indent(indent, buf);
    }
    strbuf_add_char(buf, ':');
}

static void write_map(const json_t *map, size_t indent, struct strbuf *buf)
{
    const char *key;
    json_t *value;
    bool is_first = true;

    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        if (!is_first) {
            write_indent(indent, buf);
        }
        is_first = false;
        write_key(str_of(key), indent, buf);
        if (!is_nested(value)) {
            strbuf_add_char(buf, ' ');
            write_inline(value, indent + INDENT, buf);
            continue;
        }
        /* A list stands below its key, not to the right of it. */
        size_t below = json_is_array(value) ? indent : indent + INDENT;
        strbuf_add_char(buf, '\n');
        write_indent(below, buf);
        write_block(value, below, buf);
    }
}

static void write_block(const json_t *value, size_t indent, struct strbuf *buf)
{
    if (!is_nested(value)) {
        write_inline(value, indent, buf);
    } else if (json_is_array(value)) {
        write_list(value, indent, buf);
    } else {
        write_map(value, indent, buf);
    }
}

void wire_yaml_write(const json_t *value, struct strbuf *buf)
{
    write_block(value, 0, buf);
}
