/*
 * refusals - why a round did not start waiting work, as far as only the round
 * knows: noted where it is decided, for explanations.
 *
 * For rules about a job by itself, explain asks the rule.  But only a round
 * knows that it did not come to a job, because the turn of its queue, or of all
 * queues, had ended; and that members fit one by one, but not together.  A pool
 * keeps these notes until its next round; trial plans leave none.  No decision
 * reads them.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* A round begins: what the one before noted of its pool is forgotten. */
void refusals_begin(struct round *round);
/* A queue has no further turn in the round, because of a job (or NONE). */
void refusals_end_queue(struct round *round, uint32_t queue, uint32_t job,
                        enum refusal_why why);
/* No queue has. */
void refusals_end_all(struct round *round, uint32_t job, enum refusal_why why);
/* Nobody starts that asks for some of these columns (bits). */
void refusals_hold(struct round *round, uint32_t job, uint32_t columns);

/* What is first of a lane found no place; `job` is of it. */
void refusals_note_room(struct round *round, uint32_t job);
/* Limits refuse it, and count in what an admitted job of its queue asks for, or
 * hold it for that; NONE: there is none, and they refuse it anyway. */
void refusals_note_held(struct round *round, uint32_t job, uint32_t for_job);

/* Why the last round of a pool did not start a waiting job, or NULL: there is
 * no note of it, or it is new since.  Notes about jobs that no longer wait do
 * not count, nor those about room if the state has changed since. */
const struct refusal *refusals_find(const struct sched *sched, uint32_t pool,
                                    uint32_t job);
/* Free them. */
void refusals_fini(struct sched *sched);
