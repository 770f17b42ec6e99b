#include "job/id_index.h"

#include "base/base.h"
#include "base/hash.h"

enum { SLOTS_MIN = 64 };

static struct key128 id_of(const void *rows, size_t row_bytes, uint32_t row)
{
    struct key128 id;

    memcpy(&id, (const char *)rows + row_bytes * row, sizeof(id));
    return id;
}

static uint32_t id_home(const struct id_index *index, struct key128 id)
{
    return (uint32_t)hash_mix(hash_mix(id.hi) ^ id.lo) &
           (index->slot_count - 1);
}

static uint32_t id_slot(const struct id_index *index, const void *rows,
                        size_t row_bytes, struct key128 id)
{
    uint32_t at = id_home(index, id);

    while (index->slots[at] != ID_INDEX_NONE) {
        struct key128 other = id_of(rows, row_bytes, index->slots[at]);
        if (other.hi == id.hi && other.lo == id.lo) {
            break;
        }
        at = (at + 1) & (index->slot_count - 1);
    }
    return at;
}

uint32_t id_index_find(const struct id_index *index, const void *rows,
                       size_t row_bytes, struct key128 id)
{
    return index->slot_count ? index->slots[id_slot(index, rows, row_bytes, id)]
                             : ID_INDEX_NONE;
}

static void id_index_grow(struct id_index *index, const void *rows,
                          size_t row_bytes)
{
    struct id_index old = *index;

    index->slot_count = old.slot_count ? old.slot_count * 2 : SLOTS_MIN;
    index->slots = mem_alloc_array(index->slot_count, sizeof(*index->slots));
    memset(index->slots, 0xff,
           (size_t)index->slot_count * sizeof(*index->slots));
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i] != ID_INDEX_NONE) {
            struct key128 id = id_of(rows, row_bytes, old.slots[i]);
            index->slots[id_slot(index, rows, row_bytes, id)] = old.slots[i];
        }
    }
    mem_free(old.slots);
}

void id_index_add(struct id_index *index, const void *rows, size_t row_bytes,
                  uint32_t row)
{
    if (((uint64_t)index->count + 1) * 4 > (uint64_t)index->slot_count * 3) {
        id_index_grow(index, rows, row_bytes);
    }
    struct key128 id = id_of(rows, row_bytes, row);
    uint32_t at = id_slot(index, rows, row_bytes, id);
    ASSERT(index->slots[at] == ID_INDEX_NONE);
    index->slots[at] = row;
    index->count++;
}

void id_index_remove(struct id_index *index, const void *rows, size_t row_bytes,
                     struct key128 id)
{
    uint32_t mask = index->slot_count - 1;
    uint32_t hole = id_slot(index, rows, row_bytes, id);

    ASSERT(index->slots[hole] != ID_INDEX_NONE);
    for (uint32_t at = (hole + 1) & mask; index->slots[at] != ID_INDEX_NONE;
         at = (at + 1) & mask) {
        uint32_t home =
            id_home(index, id_of(rows, row_bytes, index->slots[at]));
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            index->slots[hole] = index->slots[at];
            hole = at;
        }
    }
    index->slots[hole] = ID_INDEX_NONE;
    index->count--;
}
