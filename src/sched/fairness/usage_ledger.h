/*
 * usage_ledger - how a queue stands in a pool over time: its usage with what it
 * was admitted (u_all of model.md 6.2), the flows of it, and what its excess
 * budget is charged with.
 *
 * Usage ledgers are kept only while some pool or queue has a use for them
 * (a half-life, an over-share limit or a budget); else nothing here costs
 * anything.  A queue's usage ledgers live as long as the queue: flows of one
 * that is idle decay on, and count when it comes back.
 *
 * A charge belongs to a job and is given back as it was booked, when the job
 * ends or waits again.  Private to src/sched.
 */
#pragma once

#include "sched/state/history.h"

/* Whether usage ledgers are wanted, from the policy and the queues; makes or
 * drops them all when that changes. */
void usage_ledgers_sync(struct sched *sched);
/* The policy is about to change: settle what went by the old one. */
void usage_ledgers_settle(struct sched *sched);
/* The usage ledger of a queue in a pool, or NULL: it never had anything there.
 */
const struct usage_ledger *usage_ledger_find(const struct sched *sched,
                                             uint32_t queue, uint32_t pool);
/* The usage of a list's queue of a pool changes, by a job of the list more (+1)
 * or less (-1), at the time told last.  A borrower may go at any time, and is
 * none of infinite lifetime, whatever its class says. */
void usage_ledger_change(struct sched *sched, uint32_t list, uint32_t pool,
                         int sign);
/* The same is about to happen with no word to the flows (is_relinking): those
 * that are held know what was. */
void usage_ledger_note(struct sched *sched, uint32_t queue, uint32_t pool);
/* A queue's flows are these (a checkpoint is read back). */
void usage_ledger_set_flows(struct sched *sched, uint32_t queue, uint32_t pool,
                            struct flow flow, struct flow infinite_flow);
/* The same of sums, and of what of them has an infinite lifetime. */
void usage_ledger_count(struct sched *sched, uint32_t queue, uint32_t pool,
                        const struct resource_vec *all,
                        const struct resource_vec *infinite, int sign);
/* So much more (or, less than 0, less) of a queue's budget is charged. */
void usage_ledger_book(struct sched *sched, uint32_t queue, uint32_t pool,
                       int64_t amount);
/* The half-life of flows in a pool; 0: usage is not remembered. */
int64_t pool_half_time_ms(const struct sched *sched, uint32_t pool);
/* What a job is charged, 0 for nothing. */
int64_t charge_of(const struct sched *sched, uint32_t job);
/* Give back what a job is charged, if anything. */
void charge_refund(struct sched *sched, uint32_t job);
/* A queue goes away. */
void usage_ledgers_remove(struct sched *sched, uint32_t queue);
/* Recompute all sums and compare. */
bool usage_ledgers_are_right(const struct sched *sched, struct arena *arena);
/* Free all. */
void usage_ledgers_fini(struct sched *sched);
/* Flows and charges; see history.h. */
void usage_ledgers_pack(const struct sched *sched, struct strbuf *buf);
/* Take them back. */
void usage_ledgers_unpack(struct sched *sched, struct history_reader *reader);
