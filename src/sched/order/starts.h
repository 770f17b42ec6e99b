/*
 * starts - the limits on starts, in a round.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* Whether there are any. */
static inline bool round_counts_starts(const struct round *round)
{
    return round->starts.all.size || round->starts.queue.size ||
           round->starts.has_columns;
}
/* Count `count` starts with this request in all against them. */
void round_count_starts(struct round *round, const struct lane *lane,
                        uint32_t count, const struct resource_vec *request);

/* Count what a gang started against the rate limits. */
void gang_started(struct round *round, const struct lane *lane, uint32_t count,
                  const struct resource_vec *request);

/* The columns, as bits, of which some is asked for and which are held for who
 * was refused them before: not even less of them starts. */
uint32_t round_columns_held(const struct round *round,
                            const struct resource_vec *request);
/* Whether the limits on starts let `count` jobs with `request` start now, of
 * which `job` is one; else the lane's new work, or all, is held back as far as
 * the limit reaches. */
bool round_may_start(struct round *round, struct lane *lane, uint32_t job,
                     uint32_t count, const struct resource_vec *request);
/* A limit on starts holds `request` back for another, which may be behind it
 * by then, as flows decay: plan again when it would be let go itself. */
void round_wake_held(struct round *round, const struct resource_vec *request);
