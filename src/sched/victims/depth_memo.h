/*
 * depth_memo - what searches for victims in a group of nodes found out about
 * each node.
 *
 * A gang that must stay together asks about all nodes of a group for each
 * member, though only the node of the member before has changed.  It also tries
 * one group after the other, and those have not changed at all.  So one word is
 * remembered of each node, by class and question, until something on the node
 * changes.  The asker decides what the word means.
 *
 * It serves searches whose victims have promised nothing, and which may preempt
 * all evicted work.  Private to src/sched; lives in the round's arena.
 */
#pragma once

#include "sched/order/round.h"

/* The question how far down evicted work must go (fair.c). */
#define DEPTH_MEMO_LAST UINT32_MAX
/* That what there is room for when work of levels below `below` goes, and
 * evicted work up to the class's own, or below it (urgent.c). */
#define DEPTH_MEMO_URGENT(below, is_bound) ((below)*2 + ((is_bound) ? 1 : 0))

struct depth_memo;

/* What is known for a class and a question, to be asked until another is. */
struct depth_memo *depth_memo_of(struct round *round, uint32_t class_index,
                                 uint32_t question);
/* What was remembered of a node; false: nothing that still holds. */
bool depth_memo_get(const struct round *round, const struct depth_memo *memo,
                    uint32_t node, uint64_t *ret_word);
/* Remember it. */
void depth_memo_set(const struct round *round, struct depth_memo *memo,
                    uint32_t node, uint64_t word);
