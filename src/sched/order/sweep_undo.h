/*
 * sweep_undo - restores the sweep when a plan is dropped.
 *
 * A sweep (sweep.h) moves on while a plan is made, but it is the control loop
 * that says whether the plan becomes true.  So what a plan changes of a sweep
 * that was open before it is noted here: the classes and gangs that it found
 * without a place, and the jobs that it forgot.  A plan that began a sweep
 * needs no notes: without it none is open, and what it stamped says nothing
 * once its number is not used again.
 *
 * Jobs, classes and gangs may come and go before the plan is forgotten; what
 * has come has nothing to be put back.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/sweep.h"

/* There is nothing to be put back. */
void sweep_undo_clear(struct sched *sched);
/* A plan begins, and goes on with a sweep or begins one: then what was missed
 * before is of no use. */
void sweep_undo_begin(struct sched *sched, enum round_kind kind,
                      bool is_resumed);
/* A sweep is about to forget the jobs that it missed. */
void sweep_undo_keep_jobs(struct sched *sched, enum round_kind kind);
/* Free the notes. */
void sweep_undo_fini(struct sched *sched);

/* What a sweep notes of classes and gangs, by its number. */
enum sweep_stamp {
    SWEEP_CLASS_MISSED,
    SWEEP_CLASS_LENT, /* missed as borrowed work */
    SWEEP_CLASS_BARRED,
    SWEEP_GANG_MISSED,
    SWEEP_GANG_CUT,
};

/* Stamp a class with the round's sweep. */
void sweep_stamp_class(const struct round *round, const struct class *class,
                       enum sweep_stamp stamp);
/* The like. */
void sweep_stamp_gang(const struct round *round, const struct gang *gang,
                      enum sweep_stamp stamp);
