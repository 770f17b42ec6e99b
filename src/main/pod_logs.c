#include "main/pod_logs.h"

#include <stdio.h>
#include <time.h>

#include "executor/process.h"

/* "2026-01-02T03:04:05.678Z text": nanoseconds of the time, and what is left
 * of the line. */
static int64_t take_time(struct str *line)
{
    struct tm parts = {0};
    char text[64];
    size_t length = 0;
    char *end;

    while (length < line->byte_count && line->p[length] != ' ') {
        length++;
    }
    if (length == 0 || length >= sizeof(text)) {
        return 0;
    }
    memcpy(text, line->p, length);
    text[length] = '\0';
    end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    if (!end) {
        return 0;
    }
    int64_t fraction_ns = 0;
    int64_t unit = 100000000;
    if (*end == '.') {
        for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10) {
            fraction_ns += (*end - '0') * unit;
        }
    }
    size_t used = length + (length < line->byte_count);
    line->p += used;
    line->byte_count -= used;
    return (int64_t)timegm(&parts) * 1000000000 + fraction_ns;
}

static int split_lines(struct str text, struct arena *arena,
                       struct log_line **ret_lines)
{
    size_t count = 0;

    for (size_t i = 0; i < text.byte_count; i++) {
        count += text.p[i] == '\n';
    }
    count += text.byte_count > 0 && text.p[text.byte_count - 1] != '\n';
    if (count > LOG_LINES_MAX) {
        count = LOG_LINES_MAX;
    }
    struct log_line *lines = arena_alloc_array(arena, count, sizeof(*lines));
    for (size_t n = 0; n < count; n++) {
        const char *end = memchr(text.p, '\n', text.byte_count);
        size_t length = end ? (size_t)(end - text.p) : text.byte_count;
        struct str line = str_make(text.p, length);
        lines[n].time_ns = take_time(&line);
        lines[n].text = line;
        length += end != NULL;
        text = str_make(text.p + length, text.byte_count - length);
    }
    *ret_lines = lines;
    return (int)count;
}

static struct str since_text(int64_t since_ms, struct arena *arena)
{
    char text[64];
    struct tm parts;
    time_t seconds = (time_t)(since_ms / 1000);

    if (since_ms == INT64_MIN || since_ms < 0 || !gmtime_r(&seconds, &parts)) {
        return (struct str){0};
    }
    size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text + length, sizeof(text) - length, ".%03dZ",
                   (int)(since_ms % 1000));
    return arena_str(arena, str_of(text));
}

static int read_logs(const struct log_source *source,
                     const struct log_query *query, struct arena *arena,
                     struct log_line **ret_lines, struct err *err)
{
    auto_strbuf text = {0};
    struct runtime_log_query wanted = {
        .job = query->job,
        .container = query->container,
        .since = since_text(query->since_ms, arena),
        .line_count_max = query->tail_lines,
        .byte_count_max = query->byte_count_max < RUNTIME_LOG_BYTES_MAX
                              ? (int64_t)query->byte_count_max
                              : RUNTIME_LOG_BYTES_MAX,
    };

    int rc = process_logs(source->ctx, &wanted, &text, err);
    if (rc < 0) {
        return rc;
    }
    return split_lines(arena_str(arena, strbuf_str(&text)), arena, ret_lines);
}

struct log_source *pod_logs_make(const char *jobs_dir, struct arena *arena)
{
    struct log_source *source = arena_alloc(arena, sizeof(*source));

    *source = (struct log_source){
        .read = read_logs,
        .ctx = arena_strdup(arena, str_of(jobs_dir)),
    };
    return source;
}
