#include "base/map.h"

#include "base/hash.h"

enum { SLOTS_MIN = 16 };

static uint32_t home_of(const struct map *map, struct key128 key)
{
    uint64_t h = hash_mix(key.hi ^ map->seed) ^ key.lo;

    return (uint32_t)hash_mix(h) & (map->slot_count - 1);
}

static bool key_equal(struct key128 a, struct key128 b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

/* The slot of `key`, or the free slot where it belongs. */
static uint32_t find_slot(const struct map *map, struct key128 key)
{
    uint32_t at = home_of(map, key);

    while (map->values[at] != MAP_NONE && !key_equal(map->keys[at], key)) {
        at = (at + 1) & (map->slot_count - 1);
    }
    return at;
}

static void resize(struct map *map, uint32_t slot_count)
{
    struct map old = *map;

    map->slot_count = slot_count;
    map->keys = mem_alloc_array(slot_count, sizeof(*map->keys));
    map->values = mem_alloc_array(slot_count, sizeof(*map->values));
    memset(map->values, 0xff, (size_t)slot_count * sizeof(*map->values));
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.values[i] != MAP_NONE) {
            uint32_t at = find_slot(map, old.keys[i]);
            map->keys[at] = old.keys[i];
            map->values[at] = old.values[i];
        }
    }
    mem_free(old.keys);
    mem_free(old.values);
}

void map_fini(struct map *map)
{
    mem_free(map->keys);
    mem_free(map->values);
    *map = (struct map){.seed = map->seed};
}

uint32_t map_put(struct map *map, struct key128 key, uint32_t value)
{
    ASSERT(value != MAP_NONE);

    /* At most 7 of 8 slots in use: chains stay short and memory small. */
    if ((uint64_t)(map->count + 1) * 8 > (uint64_t)map->slot_count * 7) {
        resize(map, map->slot_count ? map->slot_count * 2 : SLOTS_MIN);
    }
    uint32_t at = find_slot(map, key);
    uint32_t old = map->values[at];
    map->count += old == MAP_NONE;
    map->keys[at] = key;
    map->values[at] = value;
    return old;
}

uint32_t map_find(const struct map *map, struct key128 key)
{
    return map->slot_count ? map->values[find_slot(map, key)] : MAP_NONE;
}

uint32_t map_remove(struct map *map, struct key128 key)
{
    if (map->slot_count == 0) {
        return MAP_NONE;
    }
    uint32_t mask = map->slot_count - 1;
    uint32_t hole = find_slot(map, key);
    uint32_t old = map->values[hole];
    if (old == MAP_NONE) {
        return MAP_NONE;
    }
    for (uint32_t at = (hole + 1) & mask; map->values[at] != MAP_NONE;
         at = (at + 1) & mask) {
        uint32_t home = home_of(map, map->keys[at]);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->keys[hole] = map->keys[at];
            map->values[hole] = map->values[at];
            hole = at;
        }
    }
    map->values[hole] = MAP_NONE;
    map->count--;
    return old;
}
