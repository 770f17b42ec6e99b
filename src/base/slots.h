/*
 * slots - rows with dense indexes that are allocated and freed.
 *
 *     SLOTS(struct run) runs;
 *     uint32_t run = SLOTS_TAKE(&runs);
 *     runs.items[run] = (struct run){.job = job};
 *     SLOTS_GIVE(&runs, run);
 *
 * It is a vec too (`items`, `count`, `capacity`), of all slots that were ever
 * in use; a row says itself whether it is live.  What was given back last is
 * given out first, so that the same calls always give the same indexes.  Rows
 * move when a slot is taken: take first, then look at `items`.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/vec.h"

#define SLOTS(type)             \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
        VEC(uint32_t) spare;    \
    }

/* A slot for a new row: zeroed if it is new, else as it was given back. */
#define SLOTS_TAKE(s)                                      \
    __extension__({                                        \
        uint32_t slot_;                                    \
        if ((s)->spare.count) {                            \
            slot_ = (s)->spare.items[--(s)->spare.count];  \
        } else {                                           \
            ASSERT((s)->count < UINT32_MAX);               \
            slot_ = (uint32_t)(s)->count;                  \
            VEC_PUSH((s), (__typeof__((s)->items[0])){0}); \
        }                                                  \
        slot_;                                             \
    })

/* Give a slot back; its row is the owner's to clear. */
#define SLOTS_GIVE(s, slot)                     \
    do {                                        \
        uint32_t given_ = (slot);               \
        ASSERT(given_ < (s)->count);            \
        VEC_PUSH(&(s)->spare, given_);          \
        ASSERT((s)->spare.count <= (s)->count); \
    } while (0)

/* How many are given out. */
#define SLOTS_LIVE(s) ((s)->count - (s)->spare.count)

#define SLOTS_FREE(s)          \
    do {                       \
        VEC_FREE(&(s)->spare); \
        VEC_FREE(s);           \
    } while (0)
