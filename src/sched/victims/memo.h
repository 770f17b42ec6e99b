/*
 * memo - remembers what the nodes would cost, from the last equal search
 * (sets.h).
 *
 * Within a round each node's best victim set is remembered for a class and a
 * queue, and found anew only where something changed: what runs on the node or
 * is free there, how much surplus a gang has that runs there, or whose turn
 * comes first of the queue and another one.  A search compares the best of
 * each block of nodes; where something is reserved, all that is remembered, in
 * the order in which nodes would be asked.
 *
 * Gangs, what is admitted and jobs that avoid nodes are not served: what may
 * go for them depends on more.  Answers are those of asking all nodes.
 *
 * Private to src/sched; lives in the round's arena.
 */
#pragma once

#include "sched/place/place.h"
#include "sched/victims/sets.h"

/* Whether searches like this one are remembered. */
bool victim_memo_serves(const struct search *search,
                        const struct victim_rules *rules);
/* What victim_sets_find() finds. */
bool victim_memo_find(const struct search *search,
                      const struct victim_rules *rules,
                      struct victim_set *ret_set);

/* What is being remembered depends on whether the turn of what is searched
 * for comes before that of a queue. */
void victim_memo_note_turn(struct round *round, uint32_t queue, bool is_before);
