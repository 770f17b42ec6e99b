/*
 * admission - a round's part for admitted work (model.md 6.5): the pass that
 * tries it before all other work, admission of work that finds no room at its
 * turn, and the reservation of the first that finds none.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/window.h"
#include "sched/reserve/reserve.h"

/* Take over the pool's list; its queues count what they have in it. */
void admission_begin(struct round *round);
/* Try all of it, the most urgent first, then in order of entry. */
void admission_pass(struct round *round);
/* The turn of a lane's head came and there is no room: admit it if the window
 * allows.  False: it is to be passed over. */
bool admission_admit(struct round *round, struct lane *lane, uint32_t item,
                     bool is_gang);
/* Once something is reserved, the policy may want what is left in another
 * order; not while a lane's head is being dealt with. */
void admission_order_lanes(struct round *round);
/* Say which promises became better. */
void admission_end(struct round *round);
