#include "executor/port/log_cut.h"

bool log_cut_time(struct str text, char ret_time[WIRE_RFC3339_TEXT_BYTES_MAX])
{
    int64_t seconds;
    int32_t nanos;

    if (wire_rfc3339_parse(text, &seconds, &nanos) < 0) {
        return false;
    }
    wire_rfc3339_format(seconds, nanos, 9, ret_time);
    return true;
}

struct str log_cut_since(struct str log, const char *since)
{
    size_t n = strlen(since);

    while (log.byte_count > 0) {
        const char *end = memchr(log.p, '\n', log.byte_count);
        size_t line = end ? (size_t)(end - log.p) + 1 : log.byte_count;
        if (line < n || memcmp(log.p, since, n) > 0) {
            break;
        }
        log = str_make(log.p + line, log.byte_count - line);
    }
    return log;
}

struct str log_cut_bytes(struct str log, int64_t byte_count_max)
{
    if (log.byte_count <= (size_t)byte_count_max) {
        return log;
    }
    const char *end = memrchr(log.p, '\n', (size_t)byte_count_max);
    return str_make(log.p,
                    end ? (size_t)(end - log.p) + 1 : (size_t)byte_count_max);
}
