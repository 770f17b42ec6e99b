/*
 * map - from 16-byte keys or 64-bit keys to u32, open addressing.
 *
 * Deletion is by backward shift, so the table never fills with tombstones.
 * There is no iteration: keep what must be walked in an array of your own.
 * Keys from strangers: pass a random seed.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/base.h"

enum { MAP_NONE = UINT32_MAX };

/* A key: an id, or a hash that is trusted to be unique. */
struct key128 {
    uint64_t hi, lo;
};

struct map {
    struct key128 *keys; /* owned, [slot_count] */
    uint32_t *values;    /* owned, [slot_count]; MAP_NONE is free */
    uint32_t slot_count; /* power of two, or 0 */
    uint32_t count;
    uint64_t seed;
};

/* Free the memory and leave an empty map. */
void map_fini(struct map *map);
/* Set `key` to `value` (not MAP_NONE); the old value, or MAP_NONE. */
uint32_t map_put(struct map *map, struct key128 key, uint32_t value);
/* The value of `key`, or MAP_NONE. */
uint32_t map_find(const struct map *map, struct key128 key);
/* Take `key` out; its value, or MAP_NONE if it was not there. */
uint32_t map_remove(struct map *map, struct key128 key);

/* A 64-bit number as a key. */
static inline struct key128 key_of_u64(uint64_t v)
{
    return (struct key128){0, v};
}
