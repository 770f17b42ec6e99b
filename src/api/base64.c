#include "api/base64.h"

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int base64_decode(struct str text, struct arena *arena, struct str *ret_bytes)
{
    while (text.byte_count && text.p[text.byte_count - 1] == '=') {
        text.byte_count--;
    }
    if (text.byte_count % 4 == 1) {
        return -ERR_INVALID;
    }
    char *bytes = arena_alloc(arena, text.byte_count + 1);
    size_t byte_count = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < text.byte_count; i++) {
        int value = value_of(text.p[i]);
        if (value < 0) {
            return -ERR_INVALID;
        }
        bits = bits << 6 | (uint32_t)value;
        /* Every character but the first of four completes a byte. */
        if (i % 4 != 0) {
            bytes[byte_count++] = (char)(bits >> (6 - 2 * (i % 4)));
        }
    }
    *ret_bytes = str_make(bytes, byte_count);
    return 0;
}
