/*
 * refusals - why a round ended the turn of a queue, or of all, before it came
 * to what stands behind: noted where it is decided, to explain by.
 *
 * What a rule says of a job by itself, explain asks the rule.  But of a job
 * that a round never came to, only the round knows why.  A pool keeps these
 * notes until its next round; plans that are made to explain by leave none.
 * Nothing that decides reads them.
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

/* Why the last round of a pool did not come to a waiting job, or NULL: it did,
 * or the job is new since.  A note about who waits no more counts for nothing.
 */
const struct refusal *refusals_find(const struct sched *sched, uint32_t pool,
                                    uint32_t job);
/* Free them. */
void refusals_fini(struct sched *sched);
