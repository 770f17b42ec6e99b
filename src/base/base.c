#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where memory of that many bytes begins, pages of 2 MiB are asked for. */
enum { HUGE_BYTES_MIN = 8 << 20 };

const char *err_name(int code)
{
    static const char *const names[] = {
        [0] = "ok",
        [ERR_INVALID] = "invalid",
        [ERR_LIMIT] = "limit",
        [ERR_IO] = "io",
        [ERR_CORRUPT] = "corrupt",
        [ERR_CONFLICT] = "conflict",
        [ERR_FENCED] = "fenced",
        [ERR_FULL] = "full",
        [ERR_NOT_FOUND] = "not-found",
        [ERR_UNAVAILABLE] = "unavailable",
        [ERR_VERSION] = "version",
    };
    unsigned index = (unsigned)(code < 0 ? -code : code);

    return index < ARRAY_COUNT(names) ? names[index] : "unknown";
}

int err_set(struct err *err, int code, const char *format, ...)
{
    ASSERT(code < 0);

    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
    }
    return code;
}

_Noreturn void assert_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expr);
    abort();
}

/* Linux rarely says no, the daemons are crash-only and the log rebuilds them:
 * one place decides, and half of all error branches vanish. */
static void *must_have(void *p, size_t size)
{
    if (!p && size > 0) {
        fprintf(stderr, "out of memory: %zu bytes\n", size);
        abort();
    }
    return p;
}

/* Tables as big as this are looked up here and there, and most of what that
 * costs with a million jobs is finding pages of 4 KiB.  A kernel that knows no
 * others, or will not give them, changes nothing. */
static void *want_huge_pages(void *p, size_t size)
{
    if (p && size >= HUGE_BYTES_MIN) {
        uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t from = (uintptr_t)p & ~(page_bytes - 1);
        (void)!madvise((void *)from, (uintptr_t)p + size - from, MADV_HUGEPAGE);
    }
    return p;
}

void *mem_alloc(size_t size)
{
    return must_have(calloc(1, size), size);
}

void *mem_alloc_array(size_t count, size_t size)
{
    return want_huge_pages(must_have(calloc(count, size), count * size),
                           count * size);
}

void *mem_grow_array(void *p, size_t count, size_t size)
{
    return want_huge_pages(
        must_have(reallocarray(p, count, size), count * size), count * size);
}

void *mem_dup(const void *p, size_t size)
{
    if (size == 0) {
        return NULL;
    }
    void *copy = must_have(malloc(size), size);
    memcpy(copy, p, size);
    return copy;
}

char *mem_strdup(const char *s)
{
    return s ? mem_dup(s, strlen(s) + 1) : NULL;
}

void mem_free(void *p)
{
    free(p);
}
