/*
 * page - the first few of many, in an order, without sorting them all: each is
 * offered once, in any order, and those that come first are kept.
 *
 * Pure.
 */
#pragma once

#include "base/base.h"

/* Less than 0, 0 or more, as `a` comes before, is, or comes after `b`. */
typedef int page_compare_fn(const void *of, uint32_t a, uint32_t b);

/* What is kept so far; `items` is borrowed, [count_max]. */
struct page {
    page_compare_fn *compare; /* a total order */
    const void *of;
    uint32_t *items;
    uint32_t count, count_max; /* count_max: at least 1 */
    bool has_more;             /* there were more than count_max */
};

/* One look by the logarithm of count_max, and an insertion if it comes in. */
void page_offer(struct page *page, uint32_t item);
