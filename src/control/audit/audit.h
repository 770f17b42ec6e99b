/*
 * audit - repeats the decisions of a log with the shipped code, and compares
 * them with the log, event by event and byte by byte.
 *
 * A record has first the input (requests, reports, inventories, silence) and
 * then the leader's decisions on the state before it: events due for jobs, jobs
 * that can never run, the health of nodes, a plan.  The audit folds record
 * after record as a starting leader does, forms each record's decisions anew,
 * and compares them.
 *
 * A leader may make some decisions late, in a later record: an audit checks
 * that each decision in the log follows from the state, not that it was made at
 * once.
 *
 * Threads: one owner.
 */
#pragma once

#include "elog/elog.h"

/* The first event that is not what the shipped code decides. */
struct control_difference {
    uint64_t seq;                 /* of the record */
    uint32_t index;               /* of the event in it, from 0 */
    char expected[512], got[512]; /* for people; "nothing" past the end */
};

/* How far an audit has come. */
struct control_audit_counts {
    uint64_t first_seq, last_seq; /* records that were made again */
    uint64_t record_count, event_count;
    uint64_t decision_count;     /* of the events: made again, and equal */
    uint64_t round_count;        /* rounds that were planned again */
    uint64_t unseen_round_count; /* planned beside the leader: not again */
};

struct control_audit;

/* An audit with the state before the first record. */
struct control_audit *control_audit_create(void) must_check;
/* NULL is fine. */
void control_audit_destroy(struct control_audit *audit);
DEFINE_AUTO(control_audit, control_audit_destroy)

/* Begin where the log begins: at its first record, or after its newest
 * checkpoint when the first records are gone.  Once, before all else. */
int control_audit_begin(struct control_audit *audit, struct elog_reader *reader,
                        struct err *err) must_check;

/* Read and make again up to `record_count_max` records.  How many were read
 * (0: no more are there); -ERR_CONFLICT with the difference when one differs,
 * after which the audit is over; other codes when the log cannot be read. */
int control_audit_read(struct control_audit *audit, struct elog_reader *reader,
                       uint32_t record_count_max,
                       struct control_difference *ret_difference,
                       struct err *err) must_check;

/* How far it has come. */
struct control_audit_counts
control_audit_counts(const struct control_audit *audit);
