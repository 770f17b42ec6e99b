#include "api/core/refusal.h"

#include <stdarg.h>
#include <stdio.h>

/* A status message must be UTF-8: give up the bytes of a cut character. */
static void drop_cut_character(char *text, size_t byte_count)
{
    size_t at = byte_count;

    while (at > 0 && ((unsigned char)text[at - 1] & 0xc0) == 0x80) {
        at--;
    }
    if (at > 0 && ((unsigned char)text[at - 1] & 0x80)) {
        text[at - 1] = '\0';
    }
}

int refusal_set(struct refusal *refusal, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int count = vsnprintf(refusal->text, sizeof(refusal->text), format, args);
    va_end(args);
    if (count >= (int)sizeof(refusal->text)) {
        drop_cut_character(refusal->text, sizeof(refusal->text) - 1);
    }
    return -ERR_INVALID;
}
