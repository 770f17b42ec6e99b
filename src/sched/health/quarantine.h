/*
 * quarantine - which nodes fail too often to get new work (model.md 6.10b,
 * AR-12): one node's record, and the rules on it.
 *
 *     NORMAL --fails--> OUT --probation over--> TRIAL --successes--> NORMAL
 *                        ^                        |
 *                        +-- fails (twice as long)+
 *
 * A *window* counts runs that ended and those that failed for a cause that
 * can be the node's, in slots of a thirtieth of its length: it forgets slot
 * by slot.  A node's window and its pool's count the same runs, so that the
 * pool without the node is the difference.
 *
 * Hashes stand for job sets and gangs: equal ones are taken to be the same.
 *
 * Pure.  Threads: none of its own; values.
 */
#pragma once

#include "model/node.h"
#include "model/pack.h"
#include "model/policy.h"

enum {
    QUARANTINE_SLOTS = 30,
    QUARANTINE_FAILURES_MAX = 16, /* a node remembers; sets before numbers */
};

/* Runs that ended, by slots of time. */
struct quarantine_window {
    uint32_t ended[QUARANTINE_SLOTS];
    uint32_t failed[QUARANTINE_SLOTS];
    int64_t slot; /* the newest; time / slot length */
};

/* Sums of a window. */
struct quarantine_sums {
    uint64_t ended, failed;
};

/* A failure, to know how many job sets are hit. */
struct quarantine_failure {
    int64_t time_ms;
    uint64_t job_set, gang; /* hashes; gang 0: none */
};

/* One node's record; zero is a node that nothing is known of. */
struct quarantine {
    struct quarantine_window window;
    struct quarantine_failure failures[QUARANTINE_FAILURES_MAX];
    uint32_t failure_count;
    enum node_health health;
    bool is_pinned;         /* OUT until an operator clears it */
    int64_t since_ms;       /* of OUT and TRIAL */
    int64_t until_ms;       /* OUT: the probation ends */
    int64_t probation_ms;   /* the last one; 0: none yet */
    uint32_t success_count; /* TRIAL: so far */
    bool has_failed;        /* TRIAL: then it is over */
};

/* How a run ended. */
struct quarantine_outcome {
    int64_t time_ms;
    int64_t leased_ms;
    bool is_failed;         /* for a cause that can be the node's */
    uint64_t job_set, gang; /* hashes; gang 0: none */
};

/* Count a run (+1), or what turned out not to be the node's (-1: a failure,
 * which ended all the same). */
void quarantine_window_add(struct quarantine_window *window,
                           const struct quarantine_policy *rules,
                           int64_t time_ms, bool is_failed, int sign);
/* The sums as of `now_ms`. */
struct quarantine_sums
quarantine_window_sums(const struct quarantine_window *window,
                       const struct quarantine_policy *rules, int64_t now_ms);
/* Take all that `part` counts out of `whole`. */
void quarantine_window_subtract(struct quarantine_window *whole,
                                const struct quarantine_window *part);
/* Add all that `part` counts to `whole`. */
void quarantine_window_merge(struct quarantine_window *whole,
                             const struct quarantine_window *part);
/* Whether the window reaches back from `now_ms` to `time_ms`. */
bool quarantine_is_recent(const struct quarantine_policy *rules,
                          int64_t time_ms, int64_t now_ms);
/* Append a window as it is at `now_ms`. */
void quarantine_window_pack(struct strbuf *buf,
                            const struct quarantine_window *window,
                            const struct quarantine_policy *rules,
                            int64_t now_ms);
/* Read it back. */
void quarantine_window_unpack(struct pack_reader *reader,
                              struct quarantine_window *ret_window);

/* Count a run that ended on the node. */
void quarantine_note(struct quarantine *node,
                     const struct quarantine_policy *rules,
                     const struct quarantine_outcome *outcome);
/* A failure at `time_ms` of a gang was not the node's, as its mates fail
 * elsewhere; false when the node does not remember it. */
bool quarantine_forgive(struct quarantine *node,
                        const struct quarantine_policy *rules, uint64_t gang,
                        int64_t time_ms);
/* Whether a node in NORMAL is to be taken out, where `rest` is the rest of
 * its pool. */
bool quarantine_is_due(const struct quarantine *node,
                       const struct quarantine_policy *rules,
                       struct quarantine_sums rest, int64_t now_ms);
/* How long its next probation is. */
int64_t quarantine_next_probation(const struct quarantine *node,
                                  const struct quarantine_policy *rules);
/* What a node in OUT or TRIAL is to become at `now_ms`: what it is, if
 * nothing is due. */
enum node_health quarantine_next(const struct quarantine *node,
                                 const struct quarantine_policy *rules,
                                 int64_t now_ms);
/* Whether nothing is left to remember. */
bool quarantine_is_empty(const struct quarantine *node,
                         const struct quarantine_policy *rules, int64_t now_ms);
/* Append a node's record as it is at `now_ms`. */
void quarantine_pack(struct strbuf *buf, const struct quarantine *node,
                     const struct quarantine_policy *rules, int64_t now_ms);
/* Read it back. */
void quarantine_unpack(struct pack_reader *reader, struct quarantine *ret_node);

/* The slot of the window that a time is in. */
int64_t quarantine_slot(const struct quarantine_policy *rules, int64_t time_ms);
