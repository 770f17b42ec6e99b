/*
 * private - the parts of a round, for each other.
 *
 * A round (round.c) puts the lanes in order and then decides about what comes
 * first, step by step (round/steps.c): a job or gang finds a place, or is
 * passed over.  What found one is leased with those like it behind it
 * (round/lease.c), where limits on starts (starts.c) and all others let
 * it.  Decisions are noted by order/decide.c.
 *
 * Private to these files; what others ask of a round is in round.h.
 */
#pragma once

#include "sched/order/heap.h"
#include "sched/order/lanes.h"
#include "sched/order/starts.h"

/* plan.c */

/* Plan for all pools as a round says whose kind, time, size and what-if are
 * filled in, and undo all that was done to nodes and runs. */
void plan_make(const struct round *asked, struct sched_plan *ret_plan);

/* round.c */

/* Plan for the round's pool. */
void round_plan(struct round *round);

/* round/lease.c */

/* Whether the limits of queue and class, and what is of no node, allow the
 * lane's head; of a gang those must be allowed with which it may start. */
bool round_is_under_limits(struct round *round, struct lane *lane);
/* Lease the lane's head and, when the node is the best one for its whole
 * class, whatever follows it to the same node. */
void round_lease_run(struct round *round, struct lane *lane,
                     uint32_t class_index, uint32_t node, bool is_best);

/* round/steps.c */

/* Try what starves before all else that is new, with those victims that its
 * turn would give it. */
void round_step_starving(struct round *round);
/* Decide about all that the heap holds, in its order, as long as the plan has
 * room and work left. */
void round_run_heap(struct round *round);

/* round/pass_over.c */

/* The job at the lane's head, or that stands for the gang there. */
uint32_t round_job_of_head(const struct round *round, const struct lane *lane);
/* What stands behind the lane's head does not pass it. */
void round_end_lane(struct round *round, struct lane *lane, uint32_t job,
                    enum refusal_why why);
/* There is no room for the lane's head. */
void round_pass_over(struct round *round, struct lane *lane);
/* The window let one more in: what was tried only for it is out, everywhere. */
void round_narrow_window(struct round *round);
/* Whether whom preemption serves is not the same for all jobs of a class: the
 * surplus of gangs with terms yields to some queues, and not to others. */
bool round_has_surplus(const struct round *round);
/* A single job at the lane's head finds no place. */
void round_pass_over_job(struct round *round, struct lane *lane,
                         struct class *class, bool is_short);
