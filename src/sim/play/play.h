/*
 * play - simulates a scenario on virtual time, from beginning to end.
 *
 * Each stream of jobs draws from a stream of the scenario's seed, each
 * cluster's failures from one of their own: to change one leaves the draws of
 * the others.
 *
 * Threads: one.
 */
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/world/tally.h"

struct play_options {
    struct elog *log; /* see world_config */
    /* Forecast starts at each sample, and judge the first of each job, in
     * tally.forecasts. */
    bool has_forecasts;
    /* Told now and then how far it is; NULL: nobody. */
    void (*progress)(void *ctx, const struct world *world,
                     const struct tally *tally);
    void *ctx;
};

/* Play a scenario.  On 0 the caller destroys `*ret_world` and tally_fini()s
 * `tally`, which was zeroed; on a negative code both are gone. */
int play(const struct scenario *scenario, const struct play_options *options,
         struct tally *tally, struct world **ret_world,
         struct err *err) must_check;
