/*
 * named - things put in order of their names.
 *
 * What goes by names in an order that every leader must share (what is folded
 * again, a checkpoint's bytes, answers) is gathered as such a list first.
 * Threads: anywhere.  Private to src/control.
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
