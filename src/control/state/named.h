/*
 * named - sorts things by name.
 *
 * Where every leader needs the same order (replay, a checkpoint's bytes,
 * answers), things are first collected in such a list.  Threads: anywhere.
 * Private to src/control.
 */
#pragma once

#include "base/str.h"

/* Something with its index, wherever it lies; the name is borrowed. */
struct named {
    struct str name;
    uint32_t index;
};

/* Sort by name; no two are the same. */
void named_sort(struct named *list, uint32_t count);
