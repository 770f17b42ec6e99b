#include "job/table/names.h"

#include "base/hash.h"

enum { SLOTS_MIN = 16, ITEMS_MIN = 16 };

static uint32_t home_of(const struct names *names, struct str s)
{
    return (uint32_t)hash_bytes(s.p, s.byte_count, 0) & (names->slot_count - 1);
}

static struct str item_str(const struct names *names, uint32_t index)
{
    return str_make(names->items[index].bytes, names->items[index].byte_count);
}

/* The slot of `s`, or the free one where it belongs. */
static uint32_t find_slot(const struct names *names, struct str s)
{
    uint32_t at = home_of(names, s);

    while (names->slots[at] != NAMES_NONE &&
           !str_equal(item_str(names, names->slots[at]), s)) {
        at = (at + 1) & (names->slot_count - 1);
    }
    return at;
}

static void grow_slots(struct names *names)
{
    uint32_t *old = names->slots;
    uint32_t old_count = names->slot_count;

    names->slot_count = old_count ? old_count * 2 : SLOTS_MIN;
    names->slots = mem_alloc_array(names->slot_count, sizeof(*names->slots));
    memset(names->slots, 0xff, names->slot_count * sizeof(*names->slots));
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i] != NAMES_NONE) {
            names->slots[find_slot(names, item_str(names, old[i]))] = old[i];
        }
    }
    mem_free(old);
}

/* An index for a new string. */
static uint32_t take_item(struct names *names)
{
    if (names->live_count < names->item_count) {
        uint32_t index = names->first_free;
        names->first_free = names->items[index].ref_count;
        return index;
    }
    ASSERT(names->item_count < NAMES_COUNT_MAX);
    if (names->item_count == names->capacity) {
        names->capacity = names->capacity ? names->capacity * 2 : ITEMS_MIN;
        names->items = mem_grow_array(names->items, names->capacity,
                                      sizeof(*names->items));
    }
    return names->item_count++;
}

void names_fini(struct names *names)
{
    for (uint32_t i = 0; i < names->item_count; i++) {
        mem_free(names->items[i].bytes);
    }
    mem_free(names->items);
    mem_free(names->slots);
    *names = (struct names){0};
}

uint32_t names_add(struct names *names, struct str s)
{
    ASSERT(s.byte_count <= UINT32_MAX);
    if ((uint64_t)(names->live_count + 1) * 4 >
        (uint64_t)names->slot_count * 3) {
        grow_slots(names);
    }
    uint32_t at = find_slot(names, s);
    if (names->slots[at] != NAMES_NONE) {
        return names_ref(names, names->slots[at]);
    }
    uint32_t index = take_item(names);
    names->items[index] = (struct name){
        .bytes = str_dup(s),
        .byte_count = (uint32_t)s.byte_count,
        .ref_count = 1,
    };
    names->slots[at] = index;
    names->live_count++;
    return index;
}

uint32_t names_ref(struct names *names, uint32_t index)
{
    ASSERT(index < names->item_count && names->items[index].bytes);
    names->items[index].ref_count++;
    return index;
}

/* Close the hole at `hole` by shifting back what follows. */
static void free_slot(struct names *names, uint32_t hole)
{
    uint32_t mask = names->slot_count - 1;

    for (uint32_t at = (hole + 1) & mask; names->slots[at] != NAMES_NONE;
         at = (at + 1) & mask) {
        uint32_t home = home_of(names, item_str(names, names->slots[at]));
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            names->slots[hole] = names->slots[at];
            hole = at;
        }
    }
    names->slots[hole] = NAMES_NONE;
}

void names_unref(struct names *names, uint32_t index)
{
    if (index == NAMES_NONE) {
        return;
    }
    ASSERT(index < names->item_count && names->items[index].bytes);
    struct name *item = &names->items[index];
    if (--item->ref_count > 0) {
        return;
    }
    if (index < names->watched_count) {
        names->watched[index] = 0;
    }
    free_slot(names, find_slot(names, item_str(names, index)));
    mem_free(item->bytes);
    *item = (struct name){.ref_count = names->first_free};
    names->first_free = index;
    names->live_count--;
}

uint32_t names_find(const struct names *names, struct str s)
{
    return names->slot_count ? names->slots[find_slot(names, s)] : NAMES_NONE;
}

struct str names_get(const struct names *names, uint32_t index)
{
    if (index == NAMES_NONE) {
        return (struct str){0};
    }
    ASSERT(index < names->item_count && names->items[index].bytes);
    return item_str(names, index);
}
