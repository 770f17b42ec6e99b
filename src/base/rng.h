/*
 * rng - randomness as a port, for the same reason as the clock.
 *
 * `fill` may be called from any thread; implementations must allow that.
 */
#pragma once

#include "base/base.h"

struct rng {
    void (*fill)(const struct rng *, void *bytes, size_t byte_count);
};
