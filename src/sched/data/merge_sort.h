/*
 * merge_sort - stable sorting for plans: qsort() passes no context and keeps
 * no order among equals, and what is decided must not depend on either.
 *
 * Private to src/sched.  Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sort `count_` items; the result is in `items_` or in `spare_`, two arrays
 * that hold so many, and it is which: a pointer to the first.  The other is
 * left with anything.  `goes_before_(later, earlier)` is a macro or function of
 * two pointers to items: whether the later must go before the earlier; only
 * then do they change places. */
#define MERGE_SORT(items_, spare_, count_, goes_before_)                       \
    __extension__({                                                            \
        __typeof__(&(items_)[0]) sort_from_ = (items_);                        \
        __typeof__(&(items_)[0]) sort_to_ = (spare_);                          \
        uint32_t sort_n_ = (count_);                                           \
        for (uint32_t width_ = 1; width_ < sort_n_; width_ *= 2) {             \
            for (uint32_t low_ = 0; low_ < sort_n_; low_ += 2 * width_) {      \
                uint32_t middle_ =                                             \
                    low_ + width_ < sort_n_ ? low_ + width_ : sort_n_;         \
                uint32_t high_ =                                               \
                    low_ + 2 * width_ < sort_n_ ? low_ + 2 * width_ : sort_n_; \
                uint32_t left_ = low_, right_ = middle_;                       \
                for (uint32_t at_ = low_; at_ < high_; at_++) {                \
                    bool is_left_ = right_ >= high_ ||                         \
                                    (left_ < middle_ &&                        \
                                     !goes_before_(&sort_from_[right_],        \
                                                   &sort_from_[left_]));       \
                    sort_to_[at_] =                                            \
                        is_left_ ? sort_from_[left_++] : sort_from_[right_++]; \
                }                                                              \
            }                                                                  \
            __typeof__(sort_from_) swap_ = sort_from_;                         \
            sort_from_ = sort_to_;                                             \
            sort_to_ = swap_;                                                  \
        }                                                                      \
        sort_from_;                                                            \
    })
