/*
 * scale - which gangs may grow, and when each was last scaled (model.md 4.3 to
 * 4.6), for growth.c.
 *
 * A gang is *elastic* when it has terms in which a sub-group may have more
 * than its minimum.  The state has a list of those, so that a plan without
 * any pays for one look.  After being scaled a gang is frozen for the window
 * that its terms say; that time is history.  What it gets or loses within an
 * elastic period of its start is of its start and freezes nothing: a plan that
 * is made at once gives it the minimum, and the next one the rest.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/cfs.h"
#include "sched/state/history.h"

/* A new gang, or one that goes (its terms are still there). */
void scale_join(struct sched *sched, uint32_t gang);
/* See scale_join(). */
void scale_leave(struct sched *sched, uint32_t gang);
/* When a gang may be scaled again; INT64_MIN: it never was. */
int64_t scale_frozen_until(const struct sched *sched, const struct gang *gang);
/* The time that what runs of a gang has run, each pod's times what it is
 * worth (cfs.h), as of the plan in the making. */
u128 scale_work(const struct sched *sched, struct gang *gang);
/* Whether two gangs are of one queue that is ordered `cfs`. */
bool scale_is_ordered(const struct sched *sched, uint32_t a, uint32_t b);
/* <0 or >0 as elastic gang `a` is left of `b` there, or right of it. */
int scale_compare(const struct sched *sched, uint32_t a, uint32_t b);
/* Free the list. */
void scale_fini(struct sched *sched);
/* The times of gangs that are frozen as of the time told last, or would be if
 * the policy's window grew; by member, one of each gang at most. */
void scale_pack(const struct sched *sched, struct strbuf *buf);
/* Take them back. */
void scale_unpack(struct sched *sched, struct history_reader *reader);
