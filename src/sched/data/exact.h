/*
 * exact - arithmetic that does not round: products of 128-bit numbers
 * compared, fractions as binary fixed point rounded to a chosen side, and
 * whole numbers in the ratio of inverses.
 *
 * Pure.  Threads: none of its own; values.
 */
#pragma once

#include "base/base.h"

/* A fraction in units of 2^-64. */
#define EXACT_ONE ((u128)1 << 64)

/* The nearest double, or one beside it. */
static inline double exact_to_double(u128 v)
{
    return (double)(uint64_t)(v >> 64) * 18446744073709551616.0 +
           (double)(uint64_t)v;
}

/* <0, 0 or >0 as a * b is less, equal or more than c * d. */
int exact_compare_products(u128 a, u128 b, u128 c, u128 d);

/* a / b in units of 2^-64, rounded down or up; b is not 0 and below 2^127.
 * What is 2^32 or more is taken for that. */
u128 exact_ratio(u128 a, u128 b, bool is_up);

/* a * b / 2^64, rounded down or up; b is below 2^64, the result below 2^127. */
u128 exact_scale(u128 a, u128 b, bool is_up);

/* The least common multiple of `multiple` and `divisor` (both > 0), or `max`
 * when it would be larger: `max` / divisor is near enough a whole number
 * then, for a large `max`. */
u128 exact_common_multiple(u128 multiple, int64_t divisor, u128 max);
