/*
 * nearest - the name that is most like one that somebody mistyped.
 *
 * Threads: one.
 */
#pragma once

#include "base/str.h"

/* The name that is most like another, if one is like it at all. */
struct nearest {
    struct str wanted, name; /* name "": none is */
    uint32_t distance;
};

/* Begin to look for what `wanted` (borrowed) may have meant. */
struct nearest nearest_to(const char *wanted);
/* Take a name (borrowed) if it is more like it than the best so far. */
void nearest_try(struct nearest *nearest, struct str name);
