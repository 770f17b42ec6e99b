/*
 * heap - a heap over an array, typed and compared as its owner says.
 *
 *     DEFINE_HEAP(due_heap, struct due, 2, const void *, due_less, HEAP_PLAIN)
 *
 * defines static functions due_heap_rise(), _sink(), _move(), _settle(),
 * _remove() and _build() in the file that says so, with the comparison inlined.
 * The array and its count stay the owner's: a vec, or what lies in an arena.
 *
 *   ways                      children of an item: 2, or 4 where a way down
 *                             should touch less memory
 *   context_type              of the first argument, which is only passed on
 *   goes_before(context, a, b)  whether item *a comes out before item *b; a
 *                             function or a macro
 *   note(context, item, at)   item *item lies at place `at` now: for owners
 * that look places up; HEAP_PLAIN for others
 *
 * What comes out first is items[0].  Which of two equals comes out first is not
 * promised: where a decision hangs on it, goes_before tells them apart.  A
 * *hole* is a place whose item was copied away or is new; it is filled before
 * the function returns.
 *
 * To push: make room, then x_rise(context, items, count++, item).
 * To pop: copy items[0], then x_remove(context, items, --count, 0).
 *
 * Pure.  Threads: one owner.
 */
#pragma once

#include "base/base.h"

#define HEAP_PLAIN(context, item, at) ((void)(at))

#define DEFINE_HEAP(name, type, ways, context_type, goes_before, note)         \
    static inline void name##_set_(context_type context, type *items,          \
                                   size_t at, type item)                       \
    {                                                                          \
        (void)context;                                                         \
        items[at] = item;                                                      \
        note(context, &items[at], at);                                         \
    }                                                                          \
    static inline size_t name##_first_child_(                                  \
        context_type context, const type *items, size_t count, size_t at)      \
    {                                                                          \
        size_t best = at * (ways) + 1;                                         \
        size_t end = best + (ways) < count ? best + (ways) : count;            \
        for (size_t child = best + 1; child < end; child++) {                  \
            best = goes_before(context, &items[child], &items[best]) ? child   \
                                                                     : best;   \
        }                                                                      \
        return best;                                                           \
    }                                                                          \
    /* Put an item into the hole `at` or above it. */                          \
    __attribute__((unused)) static inline void name##_rise(                    \
        context_type context, type *items, size_t at, type item)               \
    {                                                                          \
        while (at > 0 &&                                                       \
               goes_before(context, &item, &items[(at - 1) / (ways)])) {       \
            name##_set_(context, items, at, items[(at - 1) / (ways)]);         \
            at = (at - 1) / (ways);                                            \
        }                                                                      \
        name##_set_(context, items, at, item);                                 \
    }                                                                          \
    /* Put an item into the hole `at` or below it. */                          \
    __attribute__((unused)) static inline void name##_sink(                    \
        context_type context, type *items, size_t count, size_t at, type item) \
    {                                                                          \
        while (at * (ways) + 1 < count) {                                      \
            size_t child = name##_first_child_(context, items, count, at);     \
            if (!goes_before(context, &items[child], &item)) {                 \
                break;                                                         \
            }                                                                  \
            name##_set_(context, items, at, items[child]);                     \
            at = child;                                                        \
        }                                                                      \
        name##_set_(context, items, at, item);                                 \
    }                                                                          \
    /* Put an item into the hole `at`, above or below it: quick for one that   \
     * hardly moves. */                                                        \
    __attribute__((unused)) static inline void name##_move(                    \
        context_type context, type *items, size_t count, size_t at, type item) \
    {                                                                          \
        if (at > 0 &&                                                          \
            goes_before(context, &item, &items[(at - 1) / (ways)])) {          \
            name##_rise(context, items, at, item);                             \
        } else {                                                               \
            name##_sink(context, items, count, at, item);                      \
        }                                                                      \
    }                                                                          \
    /* The same: quick for one that becomes one of the last, for the hole      \
     * goes to the bottom first. */                                            \
    __attribute__((unused)) static inline void name##_settle(                  \
        context_type context, type *items, size_t count, size_t at, type item) \
    {                                                                          \
        while (at * (ways) + 1 < count) {                                      \
            size_t child = name##_first_child_(context, items, count, at);     \
            name##_set_(context, items, at, items[child]);                     \
            at = child;                                                        \
        }                                                                      \
        name##_rise(context, items, at, item);                                 \
    }                                                                          \
    /* Take out what is at `at`; `count` is of those that are left. */         \
    __attribute__((unused)) static inline void name##_remove(                  \
        context_type context, type *items, size_t count, size_t at)            \
    {                                                                          \
        ASSERT(at <= count);                                                   \
        if (at < count) {                                                      \
            name##_settle(context, items, count, at, items[count]);            \
        }                                                                      \
    }                                                                          \
    /* Make a heap of items in whatever order they are. */                     \
    __attribute__((unused)) static inline void name##_build(                   \
        context_type context, type *items, size_t count)                       \
    {                                                                          \
        size_t parents = count > 1 ? (count - 2) / (ways) + 1 : 0;             \
        for (size_t i = parents; i < count; i++) {                             \
            note(context, &items[i], i);                                       \
        }                                                                      \
        for (size_t i = parents; i > 0; i--) {                                 \
            name##_sink(context, items, count, i - 1, items[i - 1]);           \
        }                                                                      \
    }                                                                          \
    _Static_assert((ways) >= 2, "a heap branches")
