/*
 * admitted - gangs and single jobs whose turn came when there was no room for
 * them: a first-in-first-out list per pool (model.md 2.2, 2.9).
 *
 * They still wait in their queues, which count them as used; nothing of the
 * same pool is tried in their stead but by the backfill test (reserve.h).
 * Who is leased, removed or no longer a whole gang leaves the list.
 *
 * Runs that were let past one of them because they promised to go are its
 * *revocable runs*: runs that name its serial number.
 *
 * Private to src/sched.  Threads: one owner.
 */
#pragma once

#include "sched/state/history.h"

/* Entries of a pool's list.  Each urgency has a window of its own, so there
 * may be more than one window holds; a plan stops admitting before. */
enum { ADMITTED_MAX = 2 * POLICY_ADMITTED_MAX };

/* The entry of a job, or of its gang, in a pool's list; NULL: not there. */
const struct admitted *admitted_find(const struct sched *sched, uint32_t pool,
                                     uint32_t job);
/* The same, in whichever pool; gives the pool. */
const struct admitted *admitted_anywhere(const struct sched *sched,
                                         uint32_t job, uint32_t *ret_pool);
/* The job that stands for an entry: of a gang its last member; NONE while the
 * gang is not whole. */
uint32_t admitted_job(const struct sched *sched,
                      const struct admitted *admitted);
/* The level of an entry's work. */
uint8_t admitted_level(const struct sched *sched,
                       const struct admitted *admitted);
/* Whether any list holds anything. */
bool admitted_is_any(const struct sched *sched);
/* A job was leased or is to be removed: it leaves the list, with its gang. */
void admitted_leave(struct sched *sched, uint32_t job);
/* A gang changed: it leaves the list unless all of it is there, and counts
 * with what waits of it now. */
void admitted_check_gang(struct sched *sched, uint32_t gang);
/* A plan is over: what it admitted is not (yet). */
void admitted_unmark(struct sched *sched, uint32_t job);
/* Nothing admitted counts while the policy changes; then what is admitted in
 * pools that still admit does, and the lists of others are emptied. */
void admitted_let_go(struct sched *sched);
void admitted_follow(struct sched *sched);
/* A run yields to the entry with a serial number, not before a time. */
void admitted_note_revocable(struct sched *sched, uint32_t run, uint32_t serial,
                             bool is_at_once, int64_t from_ms);
/* A run ends: it yields to nobody. */
void admitted_forget_revocable(struct sched *sched, uint32_t run);
/* The section `admitted` of the history. */
void admitted_pack(const struct sched *sched, struct strbuf *buf);
/* See admitted_pack(). */
void admitted_unpack(struct sched *sched, struct history_reader *reader);
/* Usage ledgers count what a pool's list holds, as it asks now. */
void admitted_count_all(struct sched *sched, uint32_t pool);
/* It is known since when an entry is there. */
void admitted_date(struct sched *sched, uint32_t job, int64_t since_ms);
/* An entry is charged so much; see sched_job_admit(). */
void admitted_charge(struct sched *sched, uint32_t job, int64_t charge);
/* Free all lists. */
void admitted_fini(struct sched *sched);

/* Note with a job or gang whether it is on the list. */
void admitted_set_flag(struct sched *sched, const struct admitted *entry,
                       bool is_in);
/* Count what an entry asks for in its queue. */
void admitted_count_entry(struct sched *sched, uint32_t pool,
                          struct admitted *entry);
