#include "notify/positions.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"

enum { HEAD_BYTES = 21 }; /* "sum ", 16 digits, the end of the line */

static void print_head(struct str lines, char ret_text[HEAD_BYTES + 1])
{
    (void)snprintf(ret_text, HEAD_BYTES + 1, "sum %016" PRIx64 "\n",
                   hash_bytes(lines.p, lines.byte_count, 0));
}

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

void positions_seal(struct str lines, struct strbuf *out)
{
    char head[HEAD_BYTES + 1];

    print_head(lines, head);
    strbuf_add_text(out, head);
    strbuf_add_str(out, lines);
}

/* Of an older release: nothing but lines of targets. */
static bool is_of_lines(struct str text)
{
    uint64_t seq;
    struct str name;
    size_t at = 0;

    for (size_t end = 0; end < text.byte_count; end++) {
        if (text.p[end] == '\n') {
            if (!read_line(str_make(text.p + at, end - at), &seq, &name)) {
                return false;
            }
            at = end + 1;
        }
    }
    return at > 0 && at == text.byte_count;
}

bool positions_is_whole(struct str text)
{
    char head[HEAD_BYTES + 1];

    if (!str_starts_with(text, STR("sum "))) {
        return is_of_lines(text);
    }
    if (text.byte_count < HEAD_BYTES) {
        return false;
    }
    print_head(str_make(text.p + HEAD_BYTES, text.byte_count - HEAD_BYTES),
               head);
    return memcmp(text.p, head, HEAD_BYTES) == 0;
}
