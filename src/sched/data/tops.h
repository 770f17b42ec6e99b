/*
 * tops - the most that any of some places has, and of which kinds they are.
 *
 * What a place has is a packed word (packed.h), what it is a kind
 * (node_shapes.h).  A search knows of some kinds that they are not for it: two
 * bits each, "known" and then "allowed", by kind.  So the largest fields of all
 * words stand apart for even and odd kinds, beside which kinds there are, and
 * places that only kinds not for the search could serve are passed over
 * together.  Nothing that would do is ever passed over.
 *
 * Pure.  Zeroed memory is the tops of no places.
 */
#pragma once

#include "sched/data/packed.h"

/* Searches among more kinds pass over none together. */
enum { TOPS_KINDS_MAX = 512 };

/* Of the bits of kinds those of even ones, and of all. */
#define TOPS_EVEN UINT64_C(0x1111111111111111)
#define TOPS_ALL (TOPS_EVEN | TOPS_EVEN << 2)

struct tops {
    uint64_t even, odd; /* the largest fields of those of such kinds */
    uint64_t kinds;     /* bit kind mod 32 x 2 of each */
};

/* Those of one place. */
static inline struct tops tops_of(uint64_t word, uint32_t kind)
{
    uint64_t odd = -(uint64_t)(kind & 1);

    return (struct tops){
        .even = word & ~odd,
        .odd = word & odd,
        .kinds = UINT64_C(1) << (kind % 32 * 2),
    };
}

/* Add those of others. */
static inline void tops_add(struct tops *tops, struct tops other)
{
    tops->even = packed_max(tops->even, other.even);
    tops->odd = packed_max(tops->odd, other.odd);
    tops->kinds |= other.kinds;
}

/* Whether a search is known to be kept from a kind, by what it learned so far
 * (NULL: nothing). */
static inline bool kinds_refuse(const uint64_t *kinds, uint32_t kind)
{
    return kinds && (kinds[kind / 32] >> (kind % 32 * 2) & 3) == 1;
}

/* The bits of kinds up to `kind_max` of which any is not known to be refused:
 * what tops_may_have() is asked for. */
static inline uint64_t kinds_asked(const uint64_t *kinds, uint32_t kind_max)
{
    uint64_t refused = TOPS_ALL;

    if (!kinds || kind_max >= TOPS_KINDS_MAX) {
        return TOPS_ALL;
    }
    for (uint32_t i = 0; i <= kind_max / 32; i++) {
        refused &= kinds[i] & ~(kinds[i] >> 1);
    }
    return TOPS_ALL & ~refused;
}

/* Whether any place may have room for a request, and is of a kind asked for. */
static inline bool tops_may_have(const struct tops *tops, uint64_t request,
                                 uint64_t asked)
{
    uint64_t kinds = tops->kinds & asked;

    return (packed_fits(request, tops->even) && kinds & TOPS_EVEN) ||
           (packed_fits(request, tops->odd) && kinds & TOPS_EVEN << 2);
}
