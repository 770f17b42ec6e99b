/*
 * weights - what people say of queues' shares, as the factors that queues have.
 *
 * Shares go by what weights are to each other, and a factor is at least 1: so
 * if a weight is more than 1, the factors of all queues grow by as much.  Pure.
 */
#pragma once

#include <stdint.h>

/* The factor of a queue of weight 1 where queues have these weights: the
 * largest of them, and at least 1.  A queue's factor is this / its weight. */
double weights_scale(const double *weights, uint32_t count);
