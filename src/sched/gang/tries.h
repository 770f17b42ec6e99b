/*
 * tries - tries the groups of nodes that a gang may go to, and preemption for
 * it; the best try stands.
 *
 * Private to src/sched/gang.
 */
#pragma once

#include "sched/gang/attempt.h"

/* Place the gang with its nodes chosen as its terms ask; false: all is as it
 * was. */
bool gang_try(struct attempt *attempt);
/* Try with victims.  Member by member surplus is the cheapest; all in all
 * others may be, who make more room at once: try without it, too, and let the
 * better stand (PG-06). */
bool gang_try_preempting(struct attempt *attempt);
