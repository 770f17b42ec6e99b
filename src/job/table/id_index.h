/*
 * id_index - from an id of 128 bits to the index of the row that has it.
 *
 * The rows lie elsewhere, in an array that may move between calls; each begins
 * with its id, so that the index need not keep it again: 4 bytes a slot, at
 * most three of four in use.  The bits of a slot that a row number does not
 * need distinguish most other rows without reading them.  Its owner frees
 * `slots`.
 */
#pragma once

#include "base/map.h"

/* No row. */
#define ID_INDEX_NONE UINT32_MAX

enum { ID_INDEX_ROWS_MAX = 1 << 26 };

/* All zero is an empty one. */
struct id_index {
    uint32_t *slots; /* owned; a row and a mark, or ID_INDEX_NONE: free */
    uint32_t slot_count, count;
};

/* The index of the row with this id, or ID_INDEX_NONE. */
uint32_t id_index_find(const struct id_index *index, const void *rows,
                       size_t row_bytes, struct key128 id);
/* Have the slot where an id belongs fetched from memory; and the row that it
 * most likely is, or ID_INDEX_NONE, without a look at rows. */
void id_index_fetch(const struct id_index *index, struct key128 id);
/* See id_index_fetch(). */
uint32_t id_index_guess(const struct id_index *index, struct key128 id);
/* Add row `row`, which has its id already and is not in the index. */
void id_index_add(struct id_index *index, const void *rows, size_t row_bytes,
                  uint32_t row);
/* Take the row that has this id out; it is there. */
void id_index_remove(struct id_index *index, const void *rows, size_t row_bytes,
                     struct key128 id);
