/*
 * fraction - exact numbers, for small ones only.
 */
#pragma once

#include "base/base.h"

/* `down` is above 0. */
struct fraction {
    i128 up, down;
};

/* up / down, in lowest terms. */
struct fraction fraction_of(i128 up, i128 down);
/* a + b. */
struct fraction fraction_add(struct fraction a, struct fraction b);
/* a - b, or 0 when that is below it. */
struct fraction fraction_less(struct fraction a, struct fraction b);
/* a * b. */
struct fraction fraction_times(struct fraction a, struct fraction b);
/* Below 0, 0 or above 0. */
int fraction_compare(struct fraction a, struct fraction b);
/* The nearest double. */
double fraction_value(struct fraction a);
