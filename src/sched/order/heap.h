/*
 * heap - the streams of a round in the order in which they are decided: higher
 * level, then smaller cost, then running before new, then the queue's name.
 *
 * A binary heap over round.heap; lanes know their places in it.  Private to
 * src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* The entry that a stream has by its lane's present cost and level. */
struct heap_entry heap_entry_of(const struct round *round,
                                const struct lane *lane, enum stream_kind kind);
/* Whether `a` is decided before `b`. */
bool heap_less(const struct round *round, const struct heap_entry *a,
               const struct heap_entry *b);
/* Put a stream where it belongs, whether or not it is in the heap. */
void heap_put(struct round *round, struct lane *lane, enum stream_kind kind);
/* Take a stream out, if it is in. */
void heap_drop(struct round *round, struct lane *lane, enum stream_kind kind);
/* What is decided after the top if that goes away, or NULL. */
const struct heap_entry *heap_second(const struct round *round);
