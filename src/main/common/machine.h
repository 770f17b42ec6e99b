/*
 * machine - the real clock and the real randomness, for the ports of base,
 * and what this process asks of its machine.
 *
 * Threads: any.
 */
#pragma once

#include "base/clock.h"
#include "base/rng.h"

enum { MACHINE_FILES_MAX = 1 << 16 };

/* This machine's clock. */
extern const struct clock machine_clock;

/* The kernel's randomness. */
extern const struct rng machine_rng;

/* Raise the soft limit on open files as far as the hard one lets, but not
 * beyond MACHINE_FILES_MAX: each connection is one, and service managers set
 * it to 1,024.  Not higher, since jobs inherit it, and some programs close
 * every number below it. */
void machine_raise_file_limit(void);
