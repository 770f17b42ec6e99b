/*
 * agenda - events on virtual time: a heap of (time, kind, id).
 *
 * Entries come out by time, at one time by kind, at one kind by id, so that the
 * order never depends on how they were put in.  Entries are not removed: the
 * handler of one checks whether it is still valid.
 */
#pragma once

#include "base/vec.h"

/* One thing that happens; what kind and id mean is the owner's affair. */
struct agenda_entry {
    int64_t time_ms;
    uint32_t kind;
    uint64_t id;
};

/* Zeroed memory is an empty one. */
struct agenda {
    VEC(struct agenda_entry) heap;
};

/* Free the memory. */
void agenda_fini(struct agenda *agenda);
/* Put an entry in. */
void agenda_add(struct agenda *agenda, int64_t time_ms, uint32_t kind,
                uint64_t id);
/* The time of the first entry; INT64_MAX if there is none. */
int64_t agenda_time_ms(const struct agenda *agenda);
/* Take the first entry out; there is one. */
struct agenda_entry agenda_take(struct agenda *agenda);
