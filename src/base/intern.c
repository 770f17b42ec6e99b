#include "base/intern.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

struct intern {
    VEC(struct str) strings;
    uint32_t last;   /* that was added or found by intern_add() */
    uint32_t *slots; /* owned, [slot_count]; index + 1, 0 is free */
    uint32_t slot_count;
    struct arena arena; /* the bytes */
};

enum { SLOTS_MIN = 64 };

struct intern *intern_create(void)
{
    struct intern *intern = mem_alloc(sizeof(*intern));

    intern->slot_count = SLOTS_MIN;
    intern->slots = mem_alloc_array(SLOTS_MIN, sizeof(uint32_t));
    return intern;
}

void intern_destroy(struct intern *intern)
{
    if (!intern) {
        return;
    }
    VEC_FREE(&intern->strings);
    mem_free(intern->slots);
    arena_fini(&intern->arena);
    mem_free(intern);
}

/* The slot that holds `s`, or the free one where it belongs. */
static uint32_t *find_slot(const struct intern *intern, struct str s)
{
    uint32_t mask = intern->slot_count - 1;
    uint32_t at = (uint32_t)hash_bytes(s.p, s.byte_count, 0) & mask;

    while (intern->slots[at] != 0 &&
           !str_equal(intern->strings.items[intern->slots[at] - 1], s)) {
        at = (at + 1) & mask;
    }
    return &intern->slots[at];
}

static void grow(struct intern *intern)
{
    mem_free(intern->slots);
    intern->slot_count *= 2;
    intern->slots = mem_alloc_array(intern->slot_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < intern->strings.count; i++) {
        *find_slot(intern, intern->strings.items[i]) = i + 1;
    }
}

uint32_t intern_add(struct intern *intern, struct str s)
{
    if (intern->last < intern->strings.count &&
        str_equal(intern->strings.items[intern->last], s)) {
        return intern->last; /* the name of the one pool, again and again */
    }
    uint32_t *slot = find_slot(intern, s);
    if (*slot) {
        intern->last = *slot - 1;
        return intern->last;
    }
    ASSERT(intern->strings.count < INTERN_COUNT_MAX);
    if ((intern->strings.count + 1) * 2 > intern->slot_count) {
        grow(intern);
        slot = find_slot(intern, s);
    }
    VEC_PUSH(&intern->strings, arena_str(&intern->arena, s));
    *slot = (uint32_t)intern->strings.count;
    intern->last = *slot - 1;
    return intern->last;
}

uint32_t intern_find(const struct intern *intern, struct str s)
{
    return *find_slot(intern, s) - 1; /* a free slot is 0: INTERN_NONE */
}

struct str intern_get(const struct intern *intern, uint32_t index)
{
    ASSERT(index < intern->strings.count);
    return intern->strings.items[index];
}

uint32_t intern_count(const struct intern *intern)
{
    return (uint32_t)intern->strings.count;
}
