#include "wire/text/base64.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void wire_base64_encode(struct str bytes, struct strbuf *buf)
{
    const uint8_t *p = (const uint8_t *)bytes.p;

    for (size_t i = 0; i < bytes.byte_count; i += 3) {
        size_t left = bytes.byte_count - i;
        uint32_t word = (uint32_t)p[i] << 16;
        char text[4];

        word |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        word |= left > 2 ? p[i + 2] : 0;
        text[0] = alphabet[word >> 18];
        text[1] = alphabet[word >> 12 & 63];
        text[2] = left > 1 ? alphabet[word >> 6 & 63] : '=';
        text[3] = left > 2 ? alphabet[word & 63] : '=';
        strbuf_add(buf, text, sizeof(text));
    }
}

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

static size_t without_padding(struct str text)
{
    size_t count = text.byte_count;

    for (int i = 0; i < 2 && count && text.byte_count % 4 == 0; i++) {
        count -= text.p[count - 1] == '=';
    }
    return count;
}

int wire_base64_decode(struct str text, struct strbuf *buf)
{
    size_t count = without_padding(text);
    uint32_t word = 0;
    unsigned bit_count = 0;

    if (count % 4 == 1) {
        return -ERR_INVALID;
    }
    for (size_t i = 0; i < count; i++) {
        int digit = digit_of(text.p[i]);
        if (digit < 0) {
            return -ERR_INVALID;
        }
        word = word << 6 | (uint32_t)digit;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            strbuf_add_char(buf, (char)(word >> bit_count & 0xff));
        }
    }
    return 0;
}
