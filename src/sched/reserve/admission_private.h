/*
 * admission_private - what the parts of a round's admitted work share; for
 * admission*.c only.
 *
 *     admission.c        the list, and the window for more
 *     admission_pass.c   trying all of it
 *     admission_admit.c  letting more in, and reserving for the first
 */
#pragma once

#include "sched/reserve/admission.h"

/* What a claim asks for, all that waits of a gang. */
const struct resource_vec *admission_request(const struct round *round,
                                             const struct claim *claim);
/* What must start of the claim at once. */
struct resource_vec admission_least(const struct round *round,
                                    const struct claim *claim);
/* Put an entry into the round's list, where its turn is. */
void admission_add(struct round *round, struct admission_entry entry);
/* Reserve for the first that has no room; false when it can have none.  What
 * it asks for does not count in its lane now. */
bool admission_reserve(struct round *round, const struct claim *claim);
/* Decide, in a group of its own, that a job is admitted or no longer. */
void admission_decide(struct round *round, enum sched_action action,
                      uint32_t job, int64_t start_ms);

/* Whether limits let the claim's work start now. */
bool admission_is_let(struct round *round, const struct claim *claim);
/* Whether limits and the queue let the claim's work start at all, here; a rate
 * only makes it wait, and so does what its queue runs. */
bool admission_may_ever(struct round *round, const struct claim *claim);
/* Try an entry, unless the plan's work is used up, this sweep has tried it
 * before, or the plan took some of the gang: that starts nobody now, so it asks
 * no limit on starts either. */
bool admission_try(struct round *round, const struct claim *claim);
