/*
 * run_times_private - the layout of run_times in memory.
 */
#pragma once

#include "base/vec.h"
#include "job/run_times/run_times.h"

enum { RUN_TIMES_NONE = UINT32_MAX };

struct run_times_row {
    struct key128 key;
    uint64_t gang;         /* of the newest; 0: none */
    uint32_t older, newer; /* rows, by when something was added; or NONE */
    uint32_t count;
    int64_t ms[RUN_TIMES_KEPT]; /* oldest first */
};

struct run_times {
    struct map index; /* of `rows`, by key */
    VEC(struct run_times_row) rows;
    uint32_t oldest, newest; /* rows, or NONE */
};

/* The row of a key, as the newest; an empty one if there was none. */
struct run_times_row *run_times_row_of(struct run_times *times,
                                       struct key128 key);
