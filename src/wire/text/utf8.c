#include "wire/text/utf8.h"

/* The bytes of the code point at p, or 0 when it is none. */
static size_t point_bytes(const uint8_t *p, size_t left)
{
    uint8_t lead = p[0];
    size_t count = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

    if (lead == 0 || (lead >= 0x80 && lead < 0xc2) || lead > 0xf4 ||
        left < count) {
        return 0;
    }
    for (size_t i = 1; i < count; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_overlong =
        (lead == 0xe0 && p[1] < 0xa0) || (lead == 0xf0 && p[1] < 0x90);
    bool is_surrogate = lead == 0xed && p[1] >= 0xa0;
    bool is_beyond = lead == 0xf4 && p[1] >= 0x90;
    return is_overlong || is_surrogate || is_beyond ? 0 : count;
}

/* Whether all eight bytes are ASCII and none is NUL. */
static bool is_plain(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, highs = ones << 7;

    return !((word | (word - ones)) & highs);
}

size_t utf8_text_bytes(struct str s)
{
    const uint8_t *p = (const uint8_t *)s.p;
    size_t at = 0;

    while (at < s.byte_count) {
        uint64_t word;

        if (s.byte_count - at >= sizeof(word)) {
            memcpy(&word, p + at, sizeof(word));
            if (is_plain(word)) {
                at += sizeof(word);
                continue;
            }
        }
        size_t count = point_bytes(p + at, s.byte_count - at);
        if (!count) {
            break;
        }
        at += count;
    }
    return at;
}
