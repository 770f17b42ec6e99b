/*
 * recent - the nodes that a round moved in the index, each once, in the order
 * in which they moved last.
 *
 * A search that knows what the nodes before its cursor were like looks only at
 * those that moved since.  The same few nodes move again and again, so these
 * are few; a node that has moved again long after is left where it was as an
 * entry that nothing fits.
 *
 * Zeroed memory, with `places` set, is an empty list.  Private to src/sched,
 * for changes.c and find.c; lives with the round.
 */
#pragma once

#include "base/vec.h"

struct recent {
    VEC(uint32_t) nodes;   /* or UINT32_MAX: it moved again */
    VEC(uint32_t) serials; /* counts moves; rising */
    VEC(uint64_t) keys;    /* in the index, then */
    VEC(uint64_t) words; /* what it had free then, packed; 0: it moved again */
    uint32_t *places;    /* by node: where it is in these lists, or NONE; the
                            caller's */
    size_t dead_count;
};

/* Free the memory. */
void recent_fini(struct recent *recent);
/* A node has moved; `serial` is larger than those before. */
void recent_note(struct recent *recent, uint32_t node, uint32_t serial,
                 uint64_t key, uint64_t word);
/* The first place whose serial is not before `serial`. */
size_t recent_since(const struct recent *recent, uint32_t serial);
/* The first place from `at` on of a node with which a request may fit at or
 * before a key, as it was when it moved; the count of nodes: none. */
size_t recent_next(const struct recent *recent, size_t at, uint64_t word,
                   uint64_t key);
