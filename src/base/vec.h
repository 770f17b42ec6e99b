/*
 * vec - a growing array, typed by the caller's struct.
 *
 *     struct { uint32_t *items; size_t count, capacity; } ids = {0};
 *     VEC_PUSH(&ids, 7);
 *
 * Growth doubles; memory is the caller's to free with VEC_FREE.  A vec that a
 * client can grow is checked against its named _MAX before the push.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/base.h"

#define VEC(type)               \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
    }

/* Make room for `more` further items. */
#define VEC_RESERVE(v, more)                                           \
    do {                                                               \
        size_t need_ = (v)->count + (more);                            \
        if (need_ > (v)->capacity) {                                   \
            size_t cap_ = (v)->capacity ? (v)->capacity * 2 : 8;       \
            while (cap_ < need_) {                                     \
                cap_ *= 2;                                             \
            }                                                          \
            (v)->items =                                               \
                mem_grow_array((v)->items, cap_, sizeof(*(v)->items)); \
            (v)->capacity = cap_;                                      \
        }                                                              \
    } while (0)

#define VEC_PUSH(v, ...)                          \
    do {                                          \
        VEC_RESERVE(v, 1);                        \
        (v)->items[(v)->count++] = (__VA_ARGS__); \
    } while (0)

#define VEC_FREE(v)                     \
    do {                                \
        mem_free((v)->items);           \
        (v)->items = NULL;              \
        (v)->count = (v)->capacity = 0; \
    } while (0)
