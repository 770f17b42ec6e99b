#include "api/core/event_id.h"

#include <inttypes.h>
#include <stdio.h>

/* Read digits up to `end` (or the end), and take them and it away. */
static bool read_number(struct str *rest, char end, uint64_t max,
                        uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t i = 0;

    for (; i < rest->byte_count && rest->p[i] != end; i++) {
        unsigned digit = (unsigned)(rest->p[i] - '0');
        if (digit > 9 || digit > max || value > (max - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    bool is_ended = end == '\0' ? i == rest->byte_count : i < rest->byte_count;
    if (i == 0 || !is_ended) {
        return false;
    }
    size_t taken = end == '\0' ? i : i + 1;
    *rest = str_make(rest->p + taken, rest->byte_count - taken);
    *ret_value = value;
    return true;
}

int event_id_parse(struct str text, struct event_id *ret_id)
{
    struct str rest = text;
    uint64_t time_ms, seq, index = 0, last = 1;

    if (text.byte_count && memchr(text.p, ':', text.byte_count)) {
        if (!read_number(&rest, ':', INT64_MAX, &time_ms) ||
            !read_number(&rest, ':', UINT64_MAX, &seq) ||
            !read_number(&rest, ':', UINT32_MAX, &index) ||
            !read_number(&rest, '\0', 1, &last)) {
            return -ERR_INVALID;
        }
    } else if (!read_number(&rest, '-', INT64_MAX, &time_ms) ||
               !read_number(&rest, '\0', UINT64_MAX, &seq)) {
        return -ERR_INVALID;
    }
    *ret_id =
        (struct event_id){(int64_t)time_ms, seq, (uint32_t)index, last == 1};
    return 0;
}

char *event_id_format(const struct event_id *id,
                      char text[EVENT_ID_TEXT_BYTES_MAX])
{
    snprintf(text, EVENT_ID_TEXT_BYTES_MAX, "%" PRId64 ":%" PRIu64 ":%u:%d",
             id->time_ms, id->seq, id->index, id->is_last);
    return text;
}
