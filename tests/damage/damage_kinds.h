/*
 * damage_kinds - what disks and people do to files, each by a seed.
 */
#pragma once

#include "base/str.h"

/* A damage, and what it did, for the table. */
struct damage {
    const char *kind;
    const char *file;
    bool is_swap;    /* two files changed places */
    bool changed_it; /* else there was nothing to change */
};

/* Damage one file of `folder` (two, where they change places): which, where
 * and how follows from the seed alone.  `other` is a folder of another life. */
struct damage damage_do(const char *folder, const char *other, uint64_t seed);
