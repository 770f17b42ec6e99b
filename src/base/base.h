/*
 * base - what every other folder uses: error codes, assertions, memory and
 * cleanup.
 *
 * Three kinds of failure.  A programming error fails an assertion.  An error
 * from outside is a negative code from `enum err_code` that is returned
 * unchanged.  An expected outcome ("does not fit") is a documented enum value
 * or a positive number.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Error codes are returned negated: `return -ERR_LIMIT;`. */
enum err_code {
    ERR_INVALID = 1, /* an argument from outside broke its documented rule */
    ERR_LIMIT,       /* a documented bound would be passed */
    ERR_IO,          /* the outside world failed; errno or text says how */
    ERR_CORRUPT,     /* stored or received data does not decode */
    ERR_CONFLICT,    /* someone else got there first; reread and retry */
    ERR_FENCED,      /* a newer leader has taken over; stop */
    ERR_FULL,        /* no space left on the device; may pass */
    ERR_NOT_FOUND,   /* what was named does not exist */
    ERR_UNAVAILABLE, /* not now: no leader, shutting down, peer away */
    ERR_VERSION,     /* written by a newer release than this one */
};

/* The code's name in lower case ("invalid", "io", ...); takes either sign. */
const char *err_name(int code);

#define must_check __attribute__((warn_unused_result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))

enum { ERR_TEXT_BYTES_MAX = 512 };

/* Text for people, beside the code.  Functions whose failure a person must
 * understand take one last; it is written on failure only. */
struct err {
    char text[ERR_TEXT_BYTES_MAX];
};

/* Format into `err` (NULL is fine; longer texts are cut) and return `code`
 * (negative), so that one line both says and returns. */
int err_set(struct err *err, int code, const char *format, ...)
    printf_like(3, 4);

/* Programmer errors.  ASSERT is on in every build; ASSERT_SLOW, for checks
 * that cost more than the code they guard, only where -Dslow_asserts=true. */
_Noreturn void assert_fail(const char *expr, const char *file, int line);
#define ASSERT(e) ((e) ? (void)0 : assert_fail(#e, __FILE__, __LINE__))
#ifdef SLOW_ASSERTS
#define ASSERT_SLOW(e) ASSERT(e)
#else
#define ASSERT_SLOW(e) ((void)sizeof(!(e)))
#endif

/* Memory.  These never return NULL: running out of memory is fatal.  Sizes
 * that a client can choose are checked against a limit before they get here.
 * Fresh memory is zeroed (mem_grow_array: what is new of it is not). */
void *mem_alloc(size_t size) must_check;
void *mem_alloc_array(size_t count, size_t size) must_check;
void *mem_grow_array(void *p, size_t count, size_t size) must_check;
/* Copy of `size` bytes at `p`; NULL when size is 0. */
void *mem_dup(const void *p, size_t size) must_check;
/* Copy of a string, NUL-terminated.  NULL gives NULL. */
char *mem_strdup(const char *s) must_check;
/* Free what the functions above gave.  NULL is fine. */
void mem_free(void *p);

/* Declare `auto_ptr(type)`: a `struct type *` destroyed at end of scope. */
#define DEFINE_AUTO(type, destroy)                     \
    static inline void auto_##type##_(struct type **p) \
    {                                                  \
        destroy(*p);                                   \
    }
#define auto_ptr(type) __attribute__((cleanup(auto_##type##_))) struct type *

/* A `T *` from mem_alloc and its kin, freed at end of scope. */
static inline void auto_mem_(void *p)
{
    mem_free(*(void **)p);
}
#define auto_mem __attribute__((cleanup(auto_mem_)))

/* Hand over what an auto pointer holds: returns it and leaves NULL behind. */
#define steal_ptr(p)                 \
    __extension__({                  \
        __typeof__(p) stolen_ = (p); \
        (p) = NULL;                  \
        stolen_;                     \
    })

/* 128-bit integers: exact products of two int64. */
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

#define ARRAY_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define container_of(p, type, member) \
    ((type *)(void *)((char *)(p)-offsetof(type, member)))
