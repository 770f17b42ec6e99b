/*
 * gang_list - the gangs of the table of jobs, for those who ask about them:
 * gangs with terms by sub-group, as groups.h counts them, and plain ones as if
 * they had one sub-group without a name, of which only members that have not
 * ended are known.
 *
 * The order is by queue, gang id, and, of gangs of one id whose terms differ,
 * the id of the oldest member that has not ended; gangs whose members all have
 * ended are forgotten.
 *
 * Pure.
 */
#pragma once

#include "base/arena.h"
#include "job/table/groups.h"

/* Which gangs are wanted. */
struct gang_query {
    struct str queue, gang_id;             /* "": any */
    struct str after_queue, after_gang_id; /* only those behind; id "": all */
    struct job_id after_job; /* its oldest; none: no other of that id */
    uint32_t count_max;      /* at least 1 */
};

/* A gang, for reading. */
struct gang_entry {
    struct str queue, job_set; /* the job set: of one of its members */
    bool has_terms;            /* else it is a plain one */
    struct group_view group;
};

/* The indexes of the first of them, into ret_gangs[count_max]; their number,
 * and whether there are more. */
uint32_t gang_list_page(const struct jobs *jobs, const struct gang_query *query,
                        uint32_t *ret_gangs, bool *ret_has_more);

/* The oldest of its members that have not ended. */
struct job_id gang_list_oldest(const struct jobs *jobs, uint32_t gang);

/* The gang of an index that gang_list_page() gave. */
void gang_list_get(const struct jobs *jobs, uint32_t gang,
                   struct gang_entry *ret_entry);

/* Its members that have not ended, in order of their ids; in the arena. */
uint32_t gang_list_members(const struct jobs *jobs, uint32_t gang,
                           struct arena *arena, struct job_id **ret_jobs);
