/*
 * audit_private - what the parts of an audit share; for
 * control_audit*.c only.
 *
 *     audit.c         records: from where on they were decided, again
 *     audit_events.c  events, and whether they are the same
 *     audit_due.c    what is due, made again
 *     audit_rounds.c  rounds, made again
 *
 * What is made goes on from a place in the record: `*at`, the index of the
 * first event that was not made yet.
 */
#pragma once

#include "control/audit/audit.h"
#include "control/round/planner.h"
#include "control/state/state.h"

/* One event of the record, or one that was made again. */
struct audit_event {
    struct event_scope scope;
    struct event event;
    struct str encoded;
};

/* Events in order. */
struct audit_list {
    VEC(struct audit_event) events;
    struct arena arena; /* of their arrays */
};

/* An audit; see audit.h. */
struct control_audit {
    struct clock clock; /* first member */
    struct rng rng;
    struct planner planner; /* plans at once; the log says when it is done */
    int64_t time_ms;        /* of the record */
    bool is_final;          /* the record cannot be tried once more */
    VEC(uint32_t) made;     /* shards of plans beside the leader that stand */
    struct control *control;
    struct inbox *inbox;
    struct queue_table *queues, *retry_policies;
    struct audit_list record, answers;
    struct control_audit_counts counts;
    struct control_difference *difference; /* during control_audit_read() */
    struct err *err;
};

/* audit_events.c */

/* Read a record's payload, or a batch's, which must stay; what the list had is
 * gone. */
int audit_list_read(struct audit_list *list, struct str payload,
                    struct err *err) must_check;
/* Free its memory. */
void audit_list_fini(struct audit_list *list);
/* The event at a place, or NULL past the end. */
const struct audit_event *audit_event_at(const struct audit_list *list,
                                         size_t at);
/* Whether two are of one scope and the same to the byte. */
bool audit_is_same(const struct audit_event *a, const struct audit_event *b);
/* Where decisions can begin, from `from` on: after the last that was said, at
 * the latest at the first that is certainly decided. */
void audit_bound(const struct audit_list *record, size_t from,
                 size_t *ret_least, size_t *ret_most);
/* Note that the record has something else at a place than what is expected
 * there (NULL: nothing); always false. */
bool audit_differ(struct control_audit *audit, size_t at,
                  const struct audit_event *expected);
/* Compare what the batch has been given since it was empty with the record,
 * from `*at` on, and take it out again. */
bool audit_compare(struct control_audit *audit, size_t *at);

/* audit_due.c: each is false when the record differs. */

/* What is due to jobs, in order of their ids, as far as the record has it:
 * the rest is still due. */
void audit_make_due(struct control_audit *audit, size_t *at);
/* What is due to groups as a whole, likewise. */
bool audit_make_groups(struct control_audit *audit, size_t *at);
/* Jobs that can never run; each is looked at again. */
bool audit_make_rejections(struct control_audit *audit, size_t *at);
/* Nodes that are taken out, or back. */
bool audit_make_health(struct control_audit *audit, size_t *at);

/* audit_rounds.c: likewise. */

/* What happened since the record before, and first of all in this one. */
bool audit_make_leading(struct control_audit *audit, size_t *at);
/* The plans, of one shard after the other, if the record says that any were
 * made. */
bool audit_make_plans(struct control_audit *audit, size_t *at);
