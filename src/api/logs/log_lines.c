#include "api/logs/log_lines.h"

#include "wire/text/rfc3339.h"
#include "wire/text/utf8.h"

/* Take "2026-01-02T03:04:05.678Z " off a line's text. */
static void take_time(struct log_line *line)
{
    struct str *text = &line->text;
    const char *space = memchr(text->p, ' ', text->byte_count);
    size_t length = space ? (size_t)(space - text->p) : text->byte_count;

    if (wire_rfc3339_parse(str_make(text->p, length), &line->seconds,
                           &line->nanos) == 0) {
        length += space != NULL;
        *text = str_make(text->p + length, text->byte_count - length);
    }
}

static struct str mend(struct str text, struct arena *arena)
{
    size_t at = utf8_text_bytes(text);

    if (at == text.byte_count) {
        return text;
    }
    char *copy = arena_strdup(arena, text);
    while (at < text.byte_count) {
        copy[at++] = '?';
        at += utf8_text_bytes(str_make(copy + at, text.byte_count - at));
    }
    return str_make(copy, text.byte_count);
}

static size_t count_lines(struct str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.byte_count; i++) {
        count += text.p[i] == '\n';
    }
    return count + (text.byte_count > 0 && text.p[text.byte_count - 1] != '\n');
}

uint32_t log_lines_split(struct log_answer *answer, struct arena *arena,
                         struct log_line **ret_lines)
{
    struct str text = answer->text;
    size_t count = count_lines(text);

    if (count > LOG_LINES_MAX) {
        count = LOG_LINES_MAX;
        answer->is_cut = true;
    }
    struct log_line *lines = arena_alloc_array(arena, count, sizeof(*lines));
    for (size_t n = 0; n < count; n++) {
        const char *end = memchr(text.p, '\n', text.byte_count);
        size_t length = end ? (size_t)(end - text.p) : text.byte_count;
        lines[n] = (struct log_line){.text = str_make(text.p, length)};
        take_time(&lines[n]);
        lines[n].text = mend(lines[n].text, arena);
        length += end != NULL;
        text = str_make(text.p + length, text.byte_count - length);
    }
    *ret_lines = lines;
    return (uint32_t)count;
}
