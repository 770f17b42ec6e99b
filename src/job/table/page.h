/*
 * page - the first few of many, in an order, without sorting them all.
 *
 * Pure.
 */
#pragma once

#include "base/base.h"

/* Whether an item is one of those that are asked for. */
typedef bool page_wants_fn(const void *of, uint32_t item);
/* Less than 0, 0 or more, as `a` comes before, is, or comes after `b`. */
typedef int page_compare_fn(const void *of, uint32_t a, uint32_t b);

/* Many: the items 0 .. item_count - 1, by a total order of those that are
 * wanted. */
struct page_source {
    page_wants_fn *wants;
    page_compare_fn *compare;
    const void *of; /* what both are told */
    uint32_t item_count;
};

/* Put the first `count_max` (at least 1) into `ret_items`, in their order, and
 * say whether there are more; returns how many it were.  Each item is looked
 * at once; one that is wanted costs comparisons by the logarithm of
 * count_max. */
uint32_t page_first(const struct page_source *source, uint32_t count_max,
                    uint32_t *ret_items, bool *ret_has_more) must_check;
