/*
 * strbuf - a growing run of bytes with an upper bound.
 *
 * `bytes` is always NUL-terminated once anything was appended.  An append
 * that would pass `byte_count_max` is dropped whole and sets `is_over`: the
 * caller asks once, at the end.  Zeroed memory is an empty buffer whose bound
 * is STRBUF_DEFAULT_MAX.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/str.h"

enum { STRBUF_DEFAULT_MAX = 256 << 20 };

struct strbuf {
    char *bytes; /* owned */
    size_t byte_count;
    size_t capacity;
    size_t byte_count_max; /* 0: STRBUF_DEFAULT_MAX */
    bool is_over;
};

/* An empty buffer that will hold at most `byte_count_max` bytes. */
static inline struct strbuf strbuf_make(size_t byte_count_max)
{
    return (struct strbuf){.byte_count_max = byte_count_max};
}

/* Free the contents and leave an empty buffer with the same bound. */
void strbuf_fini(struct strbuf *buf);

/* Forget the contents, keep the memory. */
void strbuf_clear(struct strbuf *buf);

/* Append bytes, a str, a C string, a character, formatted text. */
void strbuf_add(struct strbuf *buf, const void *bytes, size_t byte_count);
void strbuf_add_str(struct strbuf *buf, struct str s);
void strbuf_add_text(struct strbuf *buf, const char *text);
void strbuf_add_char(struct strbuf *buf, char c);
void strbuf_addf(struct strbuf *buf, const char *format, ...) printf_like(2, 3);

/* Room for `byte_count` more bytes at the returned place, which the caller
 * then fills; NULL (and is_over) when they would pass the bound. */
void *strbuf_reserve(struct strbuf *buf, size_t byte_count) must_check;

/* The contents, borrowed until the next change. */
static inline struct str strbuf_str(const struct strbuf *buf)
{
    return str_make(buf->bytes, buf->byte_count);
}

/* The contents as a C string, borrowed until the next change; never NULL. */
static inline const char *strbuf_text(const struct strbuf *buf)
{
    return buf->bytes ? buf->bytes : "";
}

/* Hand over the bytes (mem_free them; never NULL) and leave buf empty. */
char *strbuf_steal(struct strbuf *buf) must_check;

#define auto_strbuf __attribute__((cleanup(strbuf_fini))) struct strbuf
