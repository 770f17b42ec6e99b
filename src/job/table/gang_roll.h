/*
 * gang_roll - whether a new job may belong to the gang that it names.
 *
 * Members may come in any number of requests, so what one request cannot show
 * is found out when they are in the table.  As in Armada, a member is refused
 *
 *     when an older gang of the same queue and id has not ended and says
 *         something else of itself: cardinality, minimum, uniformity label, or
 *         terms; or its oldest member is of another priority class
 *     when as many older members as the gang may have have not ended
 *     when its gang has begun: some member runs, or has run and waits again
 *
 * The last is not for gangs with terms (gang_terms.h): a job may come to take
 * the place of a member that has ended.  Members that are about to be cancelled
 * are gone already.
 *
 * Pure.
 */
#pragma once

#include "job/table/jobs.h"

/* Why a member is refused. */
enum gang_fault {
    GANG_FAULT_NONE,
    GANG_FAULT_CARDINALITY,
    GANG_FAULT_MINIMUM,
    GANG_FAULT_UNIFORMITY,
    GANG_FAULT_TERMS,
    GANG_FAULT_CLASS,
    GANG_FAULT_BEGUN,
    GANG_FAULT_FULL,
};

/* What is to be known of a gang to judge its members; made once for many of
 * them, and true until the table changes. */
struct gang_roll {
    uint32_t gang;
    uint32_t oldest; /* its oldest member; JOBS_NONE: all are about to go */
    uint32_t begun;  /* the oldest that has begun, or JOBS_NONE */
    uint32_t last;   /* the youngest that still has a place; JOBS_NONE: all */
    uint32_t elder;  /* the oldest of an older gang of the same id that says
                        something else of itself, or JOBS_NONE */
};

/* The roll of a gang that has members: one look at each of them, and of other
 * gangs of its id; returns how many. */
size_t gang_roll_call(const struct jobs *jobs, uint32_t gang,
                      struct gang_roll *ret_roll);

/* A fault, as it is told; texts are borrowed from the table. */
struct gang_fault_view {
    struct job_id other; /* the member that has begun, or says otherwise */
    struct str queue, gang_id;
    uint32_t expected_count, got_count; /* cardinality, minimum, full */
    struct str expected, got;           /* uniformity, class */
};

/* Judge a member of the gang that waits and has never run. */
enum gang_fault gang_roll_check(const struct jobs *jobs,
                                const struct gang_roll *roll, uint32_t job,
                                struct gang_fault_view *ret_view);
