/*
 * place_heap - places of a list, of which the first is asked for: a binary
 * heap.
 *
 * Private to src/sched; what it holds lies in a round's arena.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"

struct place_heap {
    uint32_t *items; /* the first of all is items[0] */
    uint32_t count, capacity;
};

/* Put a place in, whether or not it is in already. */
void place_heap_push(struct arena *arena, struct place_heap *heap,
                     uint32_t place);
/* Take the first place out, as often as it is in; there is one. */
void place_heap_pop(struct place_heap *heap);
