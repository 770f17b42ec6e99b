/*
 * cut_memo - what searches for evicted work in a group of nodes found out about
 * the nodes that were not the best.
 *
 * A gang that must stay together asks all nodes of a group for each member,
 * though only the node of the member before is another than it was; and it
 * tries group after group, each of them as it was before.  So each class
 * remembers of a node that the evicted work on it would have to go at least
 * down to some ordinal, until something of the node changes.
 *
 * Serves searches for which nobody promised to give way.  Private to src/sched;
 * lives in the round's arena.
 */
#pragma once

#include "sched/round.h"

struct cut_memo;

/* What is known for a class, to be asked until another class is. */
struct cut_memo *cut_memo_of(struct round *round, uint32_t class_index);
/* 1 + the largest ordinal down to which evicted work must go at least;
 * UINT32_MAX: not known. */
uint32_t cut_memo_most(const struct round *round, const struct cut_memo *memo,
                       uint32_t node);
/* It is that. */
void cut_memo_set(const struct round *round, struct cut_memo *memo,
                  uint32_t node, uint32_t most);
