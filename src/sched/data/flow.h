/*
 * flow - past usage (model.md 2.5): a flow rises with usage at once, and falls
 * towards it with a half-life.
 *
 * A flow is the usage itself, which the caller has exactly, and an *excess*
 * over it, which is kept here: only the excess decays, so that with constant
 * usage it does not matter how often the flow is advanced, the flow is never
 * below the usage, and a queue whose past is forgotten has exactly its
 * usage.  All are fractions of a pool; when the pool changes size, the excess
 * stays the fraction that it is.
 *
 * The results do not depend on the machine: there is nothing here but
 * addition, multiplication and division of IEEE doubles.
 *
 * Pure.  Threads: none of its own; values.
 */
#pragma once

#include "base/base.h"

struct flow {
    double excess; /* over the usage, at `at_ms`; never negative */
    int64_t at_ms; /* the last change; without an excess it means nothing */
};

/* 0.5 ^ (dt_ms / half_ms); 1 for dt_ms <= 0, and 0 for half_ms <= 0. */
double flow_decay(int64_t dt_ms, int64_t half_ms);

/* The excess as it will be at `now_ms`, if the usage stays. */
double flow_excess(const struct flow *flow, int64_t half_ms, int64_t now_ms);

/* The usage changes at `now_ms`: both values, before and after.  What is
 * over the new one by no more than rounding makes is nothing. */
void flow_change(struct flow *flow, int64_t half_ms, int64_t now_ms,
                 double usage_before, double usage_after);

/* The first time from `now_ms` on when the excess is at most `excess_max`
 * (> 0; else only a flow without excess will do), or INT64_MAX. */
int64_t flow_when(const struct flow *flow, int64_t half_ms, int64_t now_ms,
                  double excess_max);
