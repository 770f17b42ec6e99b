/*
 * machine - the real clock and the real randomness, for the ports of base.
 */
#pragma once

#include "base/clock.h"
#include "base/rng.h"

/* This machine's clock. */
extern const struct clock machine_clock;

/* The kernel's randomness. */
extern const struct rng machine_rng;
