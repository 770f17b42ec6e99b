/*
 * str - a borrowed run of bytes.  Not NUL-terminated, may hold NUL; its creator
 * defines how long it stays valid.  The empty string may have p NULL.
 *
 * Pure.  Threads: any that may read the bytes.
 */
#pragma once

#include <string.h>

#include "base/base.h"

struct str {
    const char *p;
    size_t byte_count;
};

/* A C string as a str; NULL gives the empty one. */
static inline struct str str_of(const char *s)
{
    return (struct str){s, s ? strlen(s) : 0};
}

/* Some bytes as a str. */
static inline struct str str_make(const void *p, size_t byte_count)
{
    return (struct str){p, byte_count};
}

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
/* For printf: "%.*s", STR_ARG(s). */
#define STR_ARG(s) (int)(s).byte_count, (s).p ? (s).p : ""

/* Whether the bytes are the same. */
static inline bool str_equal(struct str a, struct str b)
{
    return a.byte_count == b.byte_count &&
           (a.byte_count == 0 || memcmp(a.p, b.p, a.byte_count) == 0);
}

/* Bytewise order, a prefix first: <0, 0, >0. */
static inline int str_compare(struct str a, struct str b)
{
    size_t n = a.byte_count < b.byte_count ? a.byte_count : b.byte_count;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    return c                             ? c
           : a.byte_count < b.byte_count ? -1
                                         : a.byte_count > b.byte_count;
}

/* Whether `s` begins with `prefix`. */
static inline bool str_starts_with(struct str s, struct str prefix)
{
    return s.byte_count >= prefix.byte_count &&
           (prefix.byte_count == 0 ||
            memcmp(s.p, prefix.p, prefix.byte_count) == 0);
}

/* NUL-terminated copy; the caller frees it with mem_free. */
static inline char *str_dup(struct str s)
{
    char *copy = (char *)mem_alloc(s.byte_count + 1);

    if (s.byte_count) {
        memcpy(copy, s.p, s.byte_count);
    }
    return copy;
}
