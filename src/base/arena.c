#include "base/arena.h"

enum { BLOCK_BYTES_MIN = 16 << 10, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *next;
    size_t capacity;
    size_t used;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

static struct arena_block *block_create(size_t capacity)
{
    struct arena_block *block =
        mem_grow_array(NULL, sizeof(*block) + capacity, 1);

    block->next = NULL;
    block->capacity = capacity;
    block->used = 0;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    ASSERT(size <= SIZE_MAX / 2);
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct arena_block *block = arena->first;

    if (rounded == 0) {
        rounded = ALIGNMENT;
    }
#ifdef ARENA_MALLOC
    bool need_block = true;
    size_t capacity = size ? size : 1;
#else
    bool need_block = !block || block->capacity - block->used < rounded;
    size_t capacity = block ? block->capacity * 2 : BLOCK_BYTES_MIN;
    while (capacity < rounded) {
        capacity *= 2;
    }
#endif
    if (need_block) {
        struct arena_block *fresh = block_create(capacity);
        fresh->next = block;
        arena->first = block = fresh;
    }
    void *place = block->bytes + block->used;
    block->used += rounded < block->capacity ? rounded : block->capacity;
    arena->byte_count += size;
    return memset(place, 0, size);
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size)
{
    ASSERT(size == 0 || count <= SIZE_MAX / 2 / size);
    return arena_alloc(arena, count * size);
}

char *arena_strdup(struct arena *arena, struct str s)
{
    char *copy = arena_alloc(arena, s.byte_count + 1);

    if (s.byte_count) {
        memcpy(copy, s.p, s.byte_count);
    }
    return copy;
}

struct str arena_str(struct arena *arena, struct str s)
{
    return str_make(arena_strdup(arena, s), s.byte_count);
}

static void free_blocks(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;
        mem_free(block);
        block = next;
    }
}

void arena_reset(struct arena *arena)
{
    struct arena_block *keep = arena->first;

    arena->byte_count = 0;
#ifdef ARENA_MALLOC
    free_blocks(keep);
    arena->first = NULL;
#else
    if (keep) {
        free_blocks(keep->next);
        keep->next = NULL;
        keep->used = 0;
    }
#endif
}

void arena_fini(struct arena *arena)
{
    free_blocks(arena->first);
    *arena = (struct arena){0};
}
