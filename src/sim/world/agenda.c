#include "sim/world/agenda.h"

#include "base/heap.h"

/* Children of an entry: with four a way down touches half as much memory as
 * with two. */
enum { WAYS = 4 };

static bool is_before(const void *context, const struct agenda_entry *a,
                      const struct agenda_entry *b)
{
    (void)context;
    if (a->time_ms != b->time_ms) {
        return a->time_ms < b->time_ms;
    }
    return a->kind != b->kind ? a->kind < b->kind : a->id < b->id;
}

DEFINE_HEAP(entries, struct agenda_entry, WAYS, const void *, is_before,
            HEAP_PLAIN);

void agenda_fini(struct agenda *agenda)
{
    VEC_FREE(&agenda->heap);
}

void agenda_add(struct agenda *agenda, int64_t time_ms, uint32_t kind,
                uint64_t id)
{
    struct agenda_entry entry = {time_ms, kind, id};

    VEC_RESERVE(&agenda->heap, 1);
    entries_rise(NULL, agenda->heap.items, agenda->heap.count++, entry);
}

int64_t agenda_time_ms(const struct agenda *agenda)
{
    return agenda->heap.count ? agenda->heap.items[0].time_ms : INT64_MAX;
}

struct agenda_entry agenda_take(struct agenda *agenda)
{
    ASSERT(agenda->heap.count > 0);
    struct agenda_entry first = agenda->heap.items[0];

    entries_remove(NULL, agenda->heap.items, --agenda->heap.count, 0);
    return first;
}
