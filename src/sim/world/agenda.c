#include "sim/world/agenda.h"

/* Children of an entry: with four a way down touches half as much memory as
 * with two. */
enum { WAYS = 4 };

static bool is_before(const struct agenda_entry *a,
                      const struct agenda_entry *b)
{
    if (a->time_ms != b->time_ms) {
        return a->time_ms < b->time_ms;
    }
    return a->kind != b->kind ? a->kind < b->kind : a->id < b->id;
}

void agenda_fini(struct agenda *agenda)
{
    VEC_FREE(&agenda->heap);
}

void agenda_add(struct agenda *agenda, int64_t time_ms, uint32_t kind,
                uint64_t id)
{
    struct agenda_entry entry = {time_ms, kind, id};

    VEC_PUSH(&agenda->heap, entry);
    struct agenda_entry *items = agenda->heap.items;
    size_t i = agenda->heap.count - 1;
    while (i > 0 && is_before(&entry, &items[(i - 1) / WAYS])) {
        items[i] = items[(i - 1) / WAYS];
        i = (i - 1) / WAYS;
    }
    items[i] = entry;
}

int64_t agenda_time_ms(const struct agenda *agenda)
{
    return agenda->heap.count ? agenda->heap.items[0].time_ms : INT64_MAX;
}

struct agenda_entry agenda_take(struct agenda *agenda)
{
    ASSERT(agenda->heap.count > 0);
    struct agenda_entry *items = agenda->heap.items;
    struct agenda_entry first = items[0];
    struct agenda_entry last = items[--agenda->heap.count];
    size_t count = agenda->heap.count;
    size_t i = 0;

    for (size_t child; (child = WAYS * i + 1) < count; i = child) {
        size_t end = child + WAYS < count ? child + WAYS : count;
        for (size_t other = child + 1; other < end; other++) {
            if (is_before(&items[other], &items[child])) {
                child = other;
            }
        }
        if (!is_before(&items[child], &last)) {
            break;
        }
        items[i] = items[child];
    }
    if (count > 0) {
        items[i] = last;
    }
    return first;
}
