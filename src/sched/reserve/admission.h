/*
 * head - a round's part for admitted work (model.md 6.5): the pass that tries
 * it before all else, admission of what finds no room when its turn comes,
 * and the reservation of the first that fails.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/reserve/reserve.h"

/* Take over the pool's list; its queues count what they have in it. */
void head_begin(struct round *round);
/* Try all of it, the most urgent first, then in order of entry. */
void head_pass(struct round *round);
/* The turn of a lane's head came and there is no room: admit it if the window
 * allows.  False: it is to be passed over. */
bool head_admit(struct round *round, struct lane *lane, uint32_t item,
                bool is_gang);
/* Once something is reserved, the policy may want what is left in another
 * order; not while a lane's head is being dealt with. */
void head_order_lanes(struct round *round);
/* Whether no new work of the lane is to be tried in this round. */
bool head_is_closed(const struct round *round, const struct lane *lane);
/* Whether some admitted work has no place yet.  It is tried before all else, so
 * what preemptions left since is for it in the next round, and for growth only
 * then. */
bool head_waits(const struct round *round);
/* Whether the next one that finds no room might be admitted. */
bool head_has_window(const struct round *round, const struct lane *lane);
/* Whether work of a level of the lane's may be admitted now. */
bool head_has_window_at(const struct round *round, const struct lane *lane,
                        uint32_t level);
/* Whether a job or gang is in the round's list. */
bool head_has(const struct round *round, uint32_t item, bool is_gang);
/* Say which promises became better. */
void head_end(struct round *round);
