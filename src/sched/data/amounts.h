/*
 * amounts - arithmetic on resource vectors for inner loops.
 *
 * Sums of absurd requests wrap instead of being undefined, and unwrap when
 * what was added is taken away again.  Pure.
 */
#pragma once

#include "model/resource.h"

/* What one job may ask for and one node may have; more is cut down to this,
 * so that differences never overflow. */
static const int64_t AMOUNT_ONE_MAX = (int64_t)1 << 56;

/* Whether a[r] <= b[r] in every column, without branches. */
static inline bool amounts_fit(const struct resource_vec *a,
                               const struct resource_vec *b)
{
    uint64_t signs = 0;

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        signs |= (uint64_t)b->v[r] - (uint64_t)a->v[r];
    }
    return signs >> 63 == 0;
}

/* How many times `request` fits in `room`. */
static inline uint32_t amounts_times(const struct resource_vec *request,
                                     const struct resource_vec *room)
{
    int64_t most = UINT32_MAX;

    if (!amounts_fit(request, room)) {
        return 0;
    }
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 && room->v[r] / request->v[r] < most) {
            most = room->v[r] / request->v[r];
        }
    }
    return (uint32_t)most;
}

/* Whether no column is below zero, as in every sum of what is there. */
static inline bool amounts_is_sum(const struct resource_vec *a)
{
    bool is_sum = true;

    for (int c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        is_sum = is_sum && a->v[c] >= 0;
    }
    return is_sum;
}

/* Whether every column is 0; also of sums that went around. */
static inline bool amounts_are_none(const struct resource_vec *a)
{
    bool are_none = true;

    for (int c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        are_none = are_none && a->v[c] == 0;
    }
    return are_none;
}

/* a += b. */
static inline void amounts_add(struct resource_vec *a,
                               const struct resource_vec *b)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        a->v[r] = (int64_t)((uint64_t)a->v[r] + (uint64_t)b->v[r]);
    }
}

/* a -= b. */
static inline void amounts_subtract(struct resource_vec *a,
                                    const struct resource_vec *b)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        a->v[r] = (int64_t)((uint64_t)a->v[r] - (uint64_t)b->v[r]);
    }
}

/* a += b (sign 1) or a -= b (sign -1). */
static inline void amounts_count(struct resource_vec *a,
                                 const struct resource_vec *b, int sign)
{
    if (sign < 0) {
        amounts_subtract(a, b);
    } else {
        amounts_add(a, b);
    }
}

/* a += b * times. */
static inline void amounts_add_times(struct resource_vec *a,
                                     const struct resource_vec *b,
                                     int64_t times)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        a->v[r] =
            (int64_t)((uint64_t)a->v[r] + (uint64_t)b->v[r] * (uint64_t)times);
    }
}

/* Cut what is beyond AMOUNT_ONE_MAX. */
static inline void amounts_clamp(struct resource_vec *a)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        a->v[r] = a->v[r] < AMOUNT_ONE_MAX ? a->v[r] : AMOUNT_ONE_MAX;
    }
}
