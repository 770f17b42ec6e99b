#include "sched/data/place_heap.h"

#include <string.h>

#include "base/base.h"

enum { PLACES_MIN = 8 };

void place_heap_push(struct arena *arena, struct place_heap *heap,
                     uint32_t place)
{
    if (heap->count == heap->capacity) {
        uint32_t capacity = heap->count ? heap->count * 2 : PLACES_MIN;
        uint32_t *items = arena_alloc_array(arena, capacity, sizeof(*items));
        if (heap->count) {
            memcpy(items, heap->items, heap->count * sizeof(*items));
        }
        heap->items = items;
        heap->capacity = capacity;
    }
    uint32_t at = heap->count++;

    while (at > 0 && place < heap->items[(at - 1) / 2]) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = place;
}

static void pop_one(struct place_heap *heap)
{
    uint32_t *items = heap->items;
    uint32_t last = items[--heap->count], at = 0, below;

    while ((below = 2 * at + 1) < heap->count) {
        below +=
            below + 1 < heap->count && items[below + 1] < items[below] ? 1 : 0;
        if (items[below] >= last) {
            break;
        }
        items[at] = items[below];
        at = below;
    }
    items[at] = last;
}

void place_heap_pop(struct place_heap *heap)
{
    ASSERT(heap->count > 0);
    uint32_t first = heap->items[0];

    while (heap->count && heap->items[0] == first) {
        pop_one(heap);
    }
}
