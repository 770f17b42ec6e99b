#include "notify/positions.h"

/* The number that a line begins with, and what follows its space; false: it is
 * none. */
static bool read_line(struct str line, uint64_t *ret_seq, struct str *ret_name)
{
    uint64_t seq = 0;
    size_t at = 0;

    for (; at < line.byte_count && line.p[at] >= '0' && line.p[at] <= '9';
         at++) {
        if (__builtin_mul_overflow(seq, 10u, &seq) ||
            __builtin_add_overflow(seq, (uint64_t)(line.p[at] - '0'), &seq)) {
            return false;
        }
    }
    if (at == 0 || at == line.byte_count || line.p[at] != ' ') {
        return false;
    }
    *ret_seq = seq;
    *ret_name = str_make(line.p + at + 1, line.byte_count - at - 1);
    return true;
}

bool positions_find(struct str text, struct str name, uint64_t *ret_seq)
{
    struct str found;

    for (size_t at = 0, end; at < text.byte_count; at = end + 1) {
        for (end = at; end < text.byte_count && text.p[end] != '\n';) {
            end++;
        }
        if (read_line(str_make(text.p + at, end - at), ret_seq, &found) &&
            str_equal(found, name)) {
            return true;
        }
    }
    return false;
}

void positions_put(struct str name, uint64_t seq, struct strbuf *out)
{
    strbuf_addf(out, "%llu ", (unsigned long long)seq);
    strbuf_add_str(out, name);
    strbuf_add_char(out, '\n');
}
