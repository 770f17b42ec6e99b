/*
 * intern - strings to dense indexes and back, counted where that is wanted.
 *
 * Indexes count from 0 in the order of first appearance, so that index order
 * is an order of iteration that does not depend on the hash.  A table of which
 * nothing is given back keeps its strings for good, and each keeps its index.
 * Where references are given back, a string lives as long as somebody refers to
 * it; its index is then reused, the last that was given up first.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/slots.h"
#include "base/str.h"

enum { INTERN_NONE = UINT32_MAX, INTERN_COUNT_MAX = 1 << 30 };

/* Zeroed memory is an empty table. */
struct intern {
    SLOTS(struct interned {
        char *bytes; /* owned, NUL-terminated; NULL: free */
        uint32_t byte_count;
        uint32_t ref_count;
    })
    strings;
    uint32_t *buckets;     /* owned; open addressing, INTERN_NONE is free */
    uint32_t bucket_count; /* power of two, or 0 */
    uint32_t last;         /* that was added or found by intern_add() */
    /* Borrowed, by index: that of a string which is given up is set to 0. */
    uint32_t *watched;
    uint32_t watched_count;
};

/* A table of its own; the caller owns it. */
struct intern *intern_create(void) must_check;
void intern_destroy(struct intern *intern);
DEFINE_AUTO(intern, intern_destroy)
/* Forget all and free all; the table is empty then. */
void intern_fini(struct intern *intern);

/* The index of `s` (copied if new), with one more reference. */
uint32_t intern_add(struct intern *intern, struct str s);
/* One more reference to an index that is in use; returns it. */
uint32_t intern_ref(struct intern *intern, uint32_t index);
/* Give one back; the string goes with the last.  INTERN_NONE is fine. */
void intern_unref(struct intern *intern, uint32_t index);
/* Whether an index is in use. */
bool intern_is_live(const struct intern *intern, uint32_t index);
/* The index of `s`, without a reference, or INTERN_NONE. */
uint32_t intern_find(const struct intern *intern, struct str s);
/* The string of an index in use, borrowed while it is referred to;
 * INTERN_NONE gives "". */
struct str intern_get(const struct intern *intern, uint32_t index);
/* One more than the largest index that was ever in use, and how many are. */
uint32_t intern_count(const struct intern *intern);
uint32_t intern_live_count(const struct intern *intern);
