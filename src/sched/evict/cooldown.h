/*
 * cooldown - which jobs may not preempt for fairness for a while.
 *
 * A job, or a gang, that preempted for fairness (rule d of model.md 6.6, or c
 * from another queue by its share), or that was preempted as it had promised
 * (rule e), is under a *cooldown*: it does not preempt for fairness until the
 * policy's `cooldown` has passed and there was news.  News is a change from
 * outside: jobs added and ended, nodes, queues, the policy; not decisions of
 * plans, nor time.  So without news each preempts at most once for fairness,
 * and preemptions come to an end (docs/decisions/0010).
 *
 * It may go to free room as before, be reserved for, and take what rules a, b,
 * e and c within its queue give it.  A cooldown that lasts is not begun anew.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/history.h"

struct round;

/* Whether a waiting job, or its gang, may take nothing for fairness in the
 * round; if news came, the pool is planned again when that ends. */
bool cooldown_binds(struct round *round, uint32_t job);
/* Whether that is so at a time, and then when it ends: INT64_MAX while there
 * was no news. */
bool cooldown_holds(const struct sched *sched, uint32_t job, int64_t now_ms,
                    int64_t *ret_until_ms);
/* What was decided since `mark` starts a job or a gang: whether it does so for
 * fairness is said in its first lease. */
void cooldown_mark(struct round *round, size_t mark);
/* The cooldown of a job, or of its gang, that is kept; it may be over.  NULL:
 * none. */
struct cooldown *cooldown_find(const struct sched *sched, uint32_t job);
/* Something came from outside. */
void cooldown_news(struct sched *sched);
/* Time went on. */
void cooldown_advance(struct sched *sched);
/* A job, or a gang, is no longer there. */
void cooldown_forget(struct sched *sched, uint32_t item, bool is_gang);
/* The section `cooldowns` of the history. */
void cooldown_pack(const struct sched *sched, struct strbuf *buf);
/* See cooldown_pack(). */
void cooldown_unpack(struct sched *sched, struct history_reader *reader);
/* Whether each is of a job or gang that is there and finds it; for checks. */
bool cooldowns_are_right(const struct sched *sched, struct arena *scratch);
/* Free all. */
void cooldown_fini(struct sched *sched);
