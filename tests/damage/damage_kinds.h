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

/* What is damaged. */
struct damage_target {
    const char *folder, *name;
    const char *twin;  /* a file that it may change places with; NULL: none */
    const char *other; /* a folder of another life; NULL: none */
};

/* Damage a file (two, where they change places): where and how follows from the
 * seed alone. */
struct damage damage_do(const struct damage_target *target, uint64_t seed);
