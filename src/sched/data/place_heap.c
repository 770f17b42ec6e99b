#include "sched/data/place_heap.h"

#include <string.h>

#include "base/heap.h"

enum { PLACES_MIN = 8 };

#define IS_BEFORE(context, a, b) ((void)(context), *(a) < *(b))
DEFINE_HEAP(places, uint32_t, 2, const void *, IS_BEFORE, HEAP_PLAIN);

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
    places_rise(NULL, heap->items, heap->count++, place);
}

void place_heap_pop(struct place_heap *heap)
{
    ASSERT(heap->count > 0);
    uint32_t first = heap->items[0];

    while (heap->count && heap->items[0] == first) {
        places_remove(NULL, heap->items, --heap->count, 0);
    }
}
