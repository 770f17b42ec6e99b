/*
 * groups - gangs with terms (gang_terms.h), as the table of jobs counts them,
 * and what is due for one as a whole (model.md 2.11, 4.2, 8 PG-08, PG-09).
 *
 * Counts are by sub-group.  A pod is `running` from its lease until what
 * follows from the end of its run is decided; what has ended for good is
 * counted, since the table forgets it.
 *
 * Members that are not auxiliary decide:
 *
 *     failed     with the first of them that failed by itself; of a fault
 *                tolerant training job when all that started have
 *     succeeded  when none of them runs and as many have ended well (or, fault
 *                tolerant, have ended, one of them well) as the minimums say
 *     cancelled  with the first member that was cancelled while it ran, or
 *                while none did; one that only waits to make a group larger
 *                goes alone
 *     failed     when so many are gone for good that a minimum is out of reach
 *
 * and then all that is left is cancelled: auxiliary pods, and members that
 * wait to make the group larger.  While it goes on, a group that has fewer
 * than its minimum running or ended well for longer than its replace timeout
 * is preempted as a whole (it waits again, where its jobs say so); times are
 * those of the leader's events, so a replay counts on.
 *
 * A job that came when its sub-group had all its members, and is rejected, was
 * none: it counts nowhere.
 *
 * A pod that is lost, evicted or given back, and an auxiliary one that ends
 * badly, is replaced by itself: job_action.h.
 *
 * Pure.
 */
#pragma once

#include "job/table/jobs.h"

/* Members of one sub-group, by what has become of them. */
struct group_count {
    uint32_t waiting, running;
    /* Of those running: the pod does not run yet; and the run has ended, and
     * nothing is decided yet. */
    uint32_t starting, ending;
    uint32_t succeeded, failed;
    uint32_t gone; /* cancelled, or preempted for good */
};

/* A gang with terms, for reading. */
struct group_view {
    struct str gang_id;
    struct gang_terms terms; /* names borrowed from the table */
    struct group_count counts[SUB_GROUPS_MAX];
    int64_t below_since_ms; /* it has less than its minimum; 0: it has not */
};

/* The gang of this index (job_view.gang_index); false if it has no terms. */
bool jobs_group(const struct jobs *jobs, uint32_t gang,
                struct group_view *ret_view);

/* What is to be done with members of a group. */
enum group_action_kind {
    GROUP_GOES_ON,
    GROUP_CANCEL,  /* end them: the group is over */
    GROUP_PREEMPT, /* those that run, for the group is below its minimum; those
                      that wait go on waiting, and none starts meanwhile */
};

struct group_action {
    enum group_action_kind kind;
    struct str reason; /* for their events */
    uint32_t *members; /* jobs, in order of their ids */
    uint32_t member_count;
};

/* The gangs for which something is due at a time, in order of their first
 * members' ids; an array that the caller frees with mem_free().  Each is told
 * once, until something of it changes again or jobs_mark_dirty() is called for
 * a member. */
uint32_t *jobs_take_groups(struct jobs *jobs, int64_t now_ms,
                           uint32_t *ret_count) must_check;
/* Put a gang (back) among them. */
void jobs_mark_group(struct jobs *jobs, uint32_t gang);
/* When jobs_take_groups() is next to be asked though nothing changes, or
 * INT64_MAX. */
int64_t jobs_groups_due_ms(const struct jobs *jobs);

/* What is due for a gang of jobs_take_groups(); in the arena.  Jobs whose end
 * is due by itself (a run that has ended) are not among the members. */
void jobs_group_due(const struct jobs *jobs, uint32_t gang, int64_t now_ms,
                    struct arena *arena, struct group_action *ret_action);
