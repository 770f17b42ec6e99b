/*
 * names - rows of a table by what they are called, within a number that says
 * whose: a node of an executor, a gang of a queue.
 *
 *     for (row = names_first(&names, owner, name); row != NAMES_NONE;
 *          row = names_next(&names, row)) {
 *         if (the row's owner and name are these) ...
 *     }
 *
 * The rows are the caller's and say themselves what they are called: several
 * may share a hash.  There is no iteration over all of them.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

enum { NAMES_NONE = UINT32_MAX };

/* Zeroed memory is an empty table. */
struct names {
    struct map rows;     /* a hash to the first row that has it */
    VEC(uint32_t) nexts; /* by row: the next one with its hash, or NAMES_NONE */
};

/* Free the memory and leave an empty table. */
void names_fini(struct names *names);
/* The first row that may be called so, or NAMES_NONE. */
uint32_t names_first(const struct names *names, uint32_t owner,
                     struct str name);
/* The row to look at after another. */
static inline uint32_t names_next(const struct names *names, uint32_t row)
{
    return names->nexts.items[row];
}
/* A row that is not in the table is called so from now on. */
void names_put(struct names *names, uint32_t owner, struct str name,
               uint32_t row);
/* One that is called so is called nothing any more. */
void names_remove(struct names *names, uint32_t owner, struct str name,
                  uint32_t row);
