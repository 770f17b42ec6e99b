/*
 * refusals - why a round did not start what waits, as far as only the round
 * knows: noted where it is decided, to explain by.
 *
 * What a rule says of a job by itself, explain asks the rule.  But only a round
 * knows of a job that it never came to, since the turn of its queue, or of
 * all, had ended; and of members that fit one by one, and not together.  A
 * pool keeps these notes until its next round; plans that are made to explain
 * by leave none.  Nothing that decides reads them.
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
 * no note of it, or it is new since.  A note about who waits no more counts for
 * nothing, nor one of what found no place in a state that is another now. */
const struct refusal *refusals_find(const struct sched *sched, uint32_t pool,
                                    uint32_t job);
/* Free them. */
void refusals_fini(struct sched *sched);
