#include "main/common/say.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <unistd.h>

#include "main/common/machine.h"
#include "wire/text/printable.h"
#include "wire/text/rfc3339.h"

static atomic_int level_now = SAY_INFO;
static atomic_int format_now = SAY_LOGFMT;

void say_set(enum say_level level, enum say_format format)
{
    atomic_store(&level_now, (int)level);
    atomic_store(&format_now, (int)format);
}

static const char *const level_names[] = {
    [SAY_ERROR] = "error",
    [SAY_WARN] = "warn",
    [SAY_INFO] = "info",
    [SAY_DEBUG] = "debug",
};

void say_set_by_name(struct str level, struct str format)
{
    enum say_level wanted = SAY_INFO;

    for (size_t i = 0; i < ARRAY_COUNT(level_names); i++) {
        if (str_equal(level, str_of(level_names[i]))) {
            wanted = (enum say_level)i;
        }
    }
    say_set(wanted, str_equal(format, STR("json")) ? SAY_JSON : SAY_LOGFMT);
}

bool say_is_on(enum say_level level)
{
    return (int)level <= atomic_load(&level_now);
}

/* As a JSON string; what is not text becomes U+FFFD. */
static void put_quoted(struct strbuf *out, struct str text)
{
    strbuf_add_char(out, '"');
    for (size_t at = 0, byte_count; at < text.byte_count;
         at += byte_count ? byte_count : 1) {
        uint32_t c;
        byte_count = wire_next_char(text, at, &c);
        if (byte_count == 0) {
            strbuf_add_text(out, "\xef\xbf\xbd");
        } else if (c == '"' || c == '\\') {
            strbuf_addf(out, "\\%c", (char)c);
        } else if (c == '\n' || c == '\t') {
            strbuf_add_text(out, c == '\n' ? "\\n" : "\\t");
        } else if (wire_is_hidden(c)) {
            wire_put_escape(c, PRINTABLE_JSON, out);
        } else {
            strbuf_add(out, text.p + at, byte_count);
        }
    }
    strbuf_add_char(out, '"');
}

/* Whether every parser of logfmt takes the text for one word. */
static bool is_word(struct str text)
{
    for (size_t i = 0; i < text.byte_count; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c <= ' ' || c >= 0x7f || strchr("=\"\\", c)) {
            return false;
        }
    }
    return text.byte_count > 0;
}

static void put_field(enum say_format format, const struct say_field *field,
                      struct strbuf *out)
{
    struct str text = field->text;

    strbuf_addf(out, format == SAY_JSON ? ",\"%s\":" : " %s=", field->key);
    if (!text.p) {
        strbuf_addf(out, "%" PRId64, field->number);
        return;
    }
    if (text.byte_count > SAY_VALUE_BYTES_MAX) {
        text.byte_count = SAY_VALUE_BYTES_MAX;
    }
    if (format == SAY_LOGFMT && is_word(text)) {
        strbuf_add_str(out, text);
    } else {
        put_quoted(out, text);
    }
}

void say_line(enum say_format format, int64_t wall_ms, enum say_level level,
              const char *event, const struct say_field *fields,
              struct strbuf *out)
{
    char time[WIRE_RFC3339_TEXT_BYTES_MAX];

    wire_rfc3339_format(wall_ms / 1000, (int32_t)(wall_ms % 1000) * 1000000, 3,
                        time);
    strbuf_addf(out,
                format == SAY_JSON
                    ? "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\""
                    : "time=%s level=%s event=%s",
                time, level_names[level], event);
    for (; fields->key; fields++) {
        put_field(format, fields, out);
    }
    strbuf_add_text(out, format == SAY_JSON ? "}\n" : "\n");
}

void say_fields(enum say_level level, const char *event,
                const struct say_field *fields)
{
    auto_strbuf line = {0};

    if (!say_is_on(level)) {
        return;
    }
    say_line((enum say_format)atomic_load(&format_now),
             machine_clock.wall_ms(&machine_clock), level, event, fields,
             &line);
    ssize_t written = write(STDERR_FILENO, line.bytes, line.byte_count);
    (void)written;
}

void say_each(enum say_level level, const char *event, const char *key,
              const struct setting_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        say(level, event, say_str(key, texts->items[i]));
    }
}
