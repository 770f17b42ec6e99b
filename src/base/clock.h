/*
 * clock - time as a port: the loops take one of these and never ask the
 * machine, so that a simulator can drive them on virtual time.
 *
 * Threads: the real one answers any; virtual time belongs to the simulation's
 * thread.
 */
#pragma once

#include "base/base.h"

struct clock {
    /* Nanoseconds since some fixed point; never goes back. */
    uint64_t (*mono_ns)(const struct clock *);
    /* Milliseconds since the epoch, UTC; may jump either way. */
    int64_t (*wall_ms)(const struct clock *);
};
