/*
 * names - strings to dense indexes and back, counted: a string lives as long
 * as somebody refers to it, and its index is then reused.
 *
 * Iteration order means nothing here: nobody iterates.
 *
 * Pure.  Threads: one owner.
 */
#pragma once

#include "base/str.h"

enum { NAMES_NONE = UINT32_MAX, NAMES_COUNT_MAX = 1 << 30 };

struct names {
    struct name {
        char *bytes; /* owned; NULL: free */
        uint32_t byte_count;
        uint32_t ref_count; /* of a free one: the next free, or NONE */
    } *items;               /* owned */
    uint32_t *slots;        /* owned; open addressing, NAMES_NONE is free */
    uint32_t slot_count;    /* power of two, or 0 */
    uint32_t item_count;    /* in use or free */
    uint32_t capacity;
    uint32_t live_count;
    uint32_t first_free; /* valid if live_count < item_count */
    /* Borrowed, by index: an item that is given up is set to 0. */
    uint32_t *watched;
    uint32_t watched_count;
};

/* Forget all and free all; zeroed memory is an empty table. */
void names_fini(struct names *names);
/* The index of `s` (copied if new), with one more reference. */
uint32_t names_add(struct names *names, struct str s) must_check;
/* One more reference to an index that is in use; returns it. */
uint32_t names_ref(struct names *names, uint32_t index);
/* Give one back; the string goes with the last.  NAMES_NONE is fine. */
void names_unref(struct names *names, uint32_t index);
/* The index of `s`, without a reference, or NAMES_NONE. */
uint32_t names_find(const struct names *names, struct str s);
/* The string of an index in use, borrowed while it is referred to;
 * NAMES_NONE gives "". */
struct str names_get(const struct names *names, uint32_t index);
