/*
 * utf8 - whether bytes are text.
 *
 * Text is well-formed UTF-8 (no overlong forms, no surrogates, nothing above
 * U+10FFFF) without NUL: C would cut a string there.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "base/str.h"

/* How many bytes of `s` are text: s.byte_count when all are. */
size_t utf8_text_bytes(struct str s);

/* Whether all of `s` is text. */
static inline bool utf8_is_text(struct str s)
{
    return utf8_text_bytes(s) == s.byte_count;
}
