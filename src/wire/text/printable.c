#include "wire/text/printable.h"

#include "wire/text/utf8.h"

enum { CHAR_BYTES_MAX = 4 };

/* The character that begins a text of UTF-8, and its length. */
static uint32_t first_of(const unsigned char *p, size_t *ret_byte_count)
{
    if (p[0] < 0x80) {
        *ret_byte_count = 1;
        return p[0];
    }
    if (p[0] < 0xe0) {
        *ret_byte_count = 2;
        return (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    }
    if (p[0] < 0xf0) {
        *ret_byte_count = 3;
        return (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 |
               (p[2] & 0x3f);
    }
    *ret_byte_count = 4;
    return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
           (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
}

size_t wire_next_char(struct str text, size_t at, uint32_t *ret_char)
{
    size_t left = text.byte_count - at;
    const char *p = text.p + at;
    size_t byte_count = 0;

    if (utf8_text_bytes(
            str_make(p, left < CHAR_BYTES_MAX ? left : CHAR_BYTES_MAX))) {
        *ret_char = first_of((const unsigned char *)p, &byte_count);
    } else {
        *ret_char = (unsigned char)*p;
    }
    return byte_count;
}

bool wire_is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

void wire_put_escape(uint32_t c, enum printable how, struct strbuf *out)
{
    if (how == PRINTABLE_JSON && c >= 0x10000) {
        c -= 0x10000;
        strbuf_addf(out, "\\u%04x\\u%04x", 0xd800 + (c >> 10),
                    0xdc00 + (c & 0x3ff));
    } else if (how == PRINTABLE_JSON) {
        strbuf_addf(out, "\\u%04x", c);
    } else if (c < 0x100) {
        strbuf_addf(out, "\\x%02x", c);
    } else {
        strbuf_addf(out, "\\u{%x}", c);
    }
}

void wire_printable(struct str text, enum printable how, struct strbuf *out)
{
    size_t at = 0;

    while (how == PRINTABLE_INDENTED && text.byte_count > 0 &&
           text.p[text.byte_count - 1] == '\n') {
        text.byte_count--;
    }
    while (at < text.byte_count) {
        struct str rest = str_make(text.p + at, text.byte_count - at);
        size_t sound = utf8_text_bytes(rest), end = at + sound;
        while (at < end) {
            size_t byte_count;
            uint32_t c =
                first_of((const unsigned char *)text.p + at, &byte_count);
            bool is_space = c == '\n' || c == '\t';
            if (wire_is_hidden(c) && !(is_space && how != PRINTABLE_LINE)) {
                wire_put_escape(c, how, out);
            } else {
                strbuf_add(out, text.p + at, byte_count);
            }
            at += byte_count;
            if (c == '\n' && how == PRINTABLE_INDENTED && text.p[at] != '\n') {
                strbuf_add_text(out, "  ");
            }
        }
        if (at < text.byte_count) {
            wire_put_escape((unsigned char)text.p[at++], how, out);
        }
    }
}

bool wire_is_printable(struct str text)
{
    uint32_t c;

    for (size_t at = 0; at < text.byte_count;) {
        size_t byte_count = wire_next_char(text, at, &c);
        if (byte_count == 0 || wire_is_hidden(c)) {
            return false;
        }
        at += byte_count;
    }
    return true;
}
