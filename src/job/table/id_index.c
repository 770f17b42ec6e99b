#include "job/table/id_index.h"

#include "base/base.h"
#include "base/hash.h"

/* What is left of a slot beside a row: some bits of the id's hash. */
enum { SLOTS_MIN = 64, MARK_BITS = 6, MARK_MAX = (1 << MARK_BITS) - 1 };

/* Slots that a guess looks at: one line of the cache. */
enum { GUESS_MAX = 16 };

_Static_assert((uint64_t)ID_INDEX_ROWS_MAX << MARK_BITS == (uint64_t)1 << 32,
               "a slot is a row and a mark");

static struct key128 id_of(const void *rows, size_t row_bytes, uint32_t row)
{
    struct key128 id;

    memcpy(&id, (const char *)rows + row_bytes * row, sizeof(id));
    return id;
}

static uint64_t hash_of(struct key128 id)
{
    return hash_mix(hash_mix(id.hi) ^ id.lo);
}

/* Never that of a free slot, which has all bits. */
static uint32_t mark_of(uint64_t hash)
{
    uint32_t mark = (uint32_t)(hash >> (64 - MARK_BITS));

    return mark < MARK_MAX ? mark : MARK_MAX - 1;
}

static uint32_t row_of(uint32_t slot)
{
    return slot & (ID_INDEX_ROWS_MAX - 1);
}

/* The slot of an id, or the free one where it belongs.  Rows lie far apart:
 * only what bears the id's mark is looked at. */
static uint32_t id_slot(const struct id_index *index, const void *rows,
                        size_t row_bytes, struct key128 id)
{
    uint64_t hash = hash_of(id);
    uint32_t at = (uint32_t)hash & (index->slot_count - 1);
    uint32_t mark = mark_of(hash);

    while (index->slots[at] != ID_INDEX_NONE) {
        if (index->slots[at] / ID_INDEX_ROWS_MAX == mark) {
            struct key128 other =
                id_of(rows, row_bytes, row_of(index->slots[at]));
            if (other.hi == id.hi && other.lo == id.lo) {
                break;
            }
        }
        at = (at + 1) & (index->slot_count - 1);
    }
    return at;
}

uint32_t id_index_find(const struct id_index *index, const void *rows,
                       size_t row_bytes, struct key128 id)
{
    if (index->slot_count == 0) {
        return ID_INDEX_NONE;
    }
    uint32_t slot = index->slots[id_slot(index, rows, row_bytes, id)];
    return slot == ID_INDEX_NONE ? ID_INDEX_NONE : row_of(slot);
}

void id_index_fetch(const struct id_index *index, struct key128 id)
{
    if (index->slot_count) {
        __builtin_prefetch(
            &index->slots[(uint32_t)hash_of(id) & (index->slot_count - 1)]);
    }
}

uint32_t id_index_guess(const struct id_index *index, struct key128 id)
{
    uint64_t hash = hash_of(id);
    uint32_t at = (uint32_t)hash;
    uint32_t mark = mark_of(hash);

    for (uint32_t i = 0; i < GUESS_MAX && index->slot_count; i++, at++) {
        uint32_t slot = index->slots[at & (index->slot_count - 1)];
        if (slot == ID_INDEX_NONE || slot / ID_INDEX_ROWS_MAX == mark) {
            return slot == ID_INDEX_NONE ? ID_INDEX_NONE : row_of(slot);
        }
    }
    return ID_INDEX_NONE;
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
            struct key128 id = id_of(rows, row_bytes, row_of(old.slots[i]));
            index->slots[id_slot(index, rows, row_bytes, id)] = old.slots[i];
        }
    }
    mem_free(old.slots);
}

void id_index_add(struct id_index *index, const void *rows, size_t row_bytes,
                  uint32_t row)
{
    ASSERT(row < ID_INDEX_ROWS_MAX);
    if (((uint64_t)index->count + 1) * 4 > (uint64_t)index->slot_count * 3) {
        id_index_grow(index, rows, row_bytes);
    }
    struct key128 id = id_of(rows, row_bytes, row);
    uint32_t at = id_slot(index, rows, row_bytes, id);
    ASSERT(index->slots[at] == ID_INDEX_NONE);
    index->slots[at] = mark_of(hash_of(id)) * ID_INDEX_ROWS_MAX + row;
    index->count++;
    ASSERT(index->count < index->slot_count); /* a search ends */
    ASSERT_SLOW(id_index_find(index, rows, row_bytes, id) == row);
}

void id_index_remove(struct id_index *index, const void *rows, size_t row_bytes,
                     struct key128 id)
{
    uint32_t mask = index->slot_count - 1;
    uint32_t hole = id_slot(index, rows, row_bytes, id);

    ASSERT(index->slots[hole] != ID_INDEX_NONE);
    for (uint32_t at = (hole + 1) & mask; index->slots[at] != ID_INDEX_NONE;
         at = (at + 1) & mask) {
        struct key128 other = id_of(rows, row_bytes, row_of(index->slots[at]));
        uint32_t home = (uint32_t)hash_of(other) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            index->slots[hole] = index->slots[at];
            hole = at;
        }
    }
    index->slots[hole] = ID_INDEX_NONE;
    index->count--;
    ASSERT_SLOW(id_index_find(index, rows, row_bytes, id) == ID_INDEX_NONE);
}
