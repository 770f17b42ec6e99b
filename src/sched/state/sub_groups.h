/*
 * sub_groups - the sub-groups of a gang that has terms (model.md 2.11): how
 * many of each wait, run and have succeeded, and which members the gang asks
 * for.
 *
 * What waits of a sub-group is in two parts: *required* are as many as it lacks
 * of its minimum, those with the lowest ids; only these are in gang.waiting,
 * are demand, and start, all together.  The rest is *optional*: it starts when
 * the gang grows.  What runs above the minimum is *surplus*, a number and not
 * certain members, until some of it is to go.
 *
 * Gangs without terms have none of this (gang.subs is NULL) and pay nothing; a
 * question that says nothing else may be asked of them too.  What is inside is
 * of sub_groups_private.h: other rooms ask these functions.
 *
 * Private to src/sched.  Members are ordered by their ids, which is the order
 * of their making.
 */
#pragma once

#include "model/gang_terms.h"
#include "sched/state/state.h"

/* For the state (waiting.c, runs.c, gangs.c). */

/* Those of a new gang, or NULL: it has no terms. */
struct sub_groups *sub_groups_create(struct str packed) must_check;
/* Free them; all members are gone. */
void sub_groups_destroy(struct sub_groups *subs);
/* Remember of which sub-group a job of a gang with terms is. */
void sub_groups_join(struct sched *sched, uint32_t job, uint32_t sub_group);
/* A member waits from now on, as an optional one; false: it is no member of a
 * gang with terms. */
bool sub_groups_wait(struct sched *sched, uint32_t job);
/* The reverse, optional or not. */
bool sub_groups_unwait(struct sched *sched, uint32_t job);
/* A member has a lease (+1) or has it no longer (-1). */
void sub_groups_run(struct sched *sched, uint32_t job, int sign);
/* The gang asks for just what it lacks, if it has terms; it is not listed now.
 */
void sub_groups_choose(struct sched *sched, struct gang *gang);
/* Whether what it asks for would complete all of its minimums. */
bool sub_groups_are_complete(const struct gang *gang);
/* Whether all of it is as it must be, if it has terms; for
 * sched_is_consistent(). */
bool sub_groups_are_right(const struct sched *sched, const struct gang *gang);
/* What is history: who has succeeded (history.h). */
void sub_groups_pack(const struct sched *sched, struct strbuf *buf);
struct history_reader;
/* Take it back. */
void sub_groups_unpack(struct sched *sched, struct history_reader *reader);

/* What a gang is: its terms. */

/* As in its record; empty without terms. */
struct str sub_groups_packed(const struct gang *gang);
/* How many sub-groups it has; 0 without terms. */
uint32_t sub_groups_count(const struct gang *gang);
/* What one of them asks for; it has terms. */
const struct sub_group *sub_group_terms(const struct gang *gang,
                                        uint32_t sub_group);
/* Whether it has its nodes whole. */
bool sub_groups_have_exclusive_nodes(const struct gang *gang);
/* Its own freezing window, or FREEZING_BY_POLICY; it has terms. */
int64_t sub_groups_freezing_window_ms(const struct gang *gang);

/* What became of it. */

/* How many of a sub-group have succeeded, and of all; 0 without terms. */
uint32_t sub_group_succeeded(const struct gang *gang, uint32_t sub_group);
uint32_t sub_groups_succeeded(const struct gang *gang);
/* It is so many now; what the gang asks for is to be chosen anew. */
void sub_group_set_succeeded(struct gang *gang, uint32_t sub_group,
                             uint32_t count);
/* When it was last requeued, for distance_cap.h; 0: never, or no terms. */
int64_t sub_groups_requeued_ms(const struct gang *gang);
/* The same from now on; it has terms. */
void sub_groups_set_requeued(struct gang *gang, int64_t requeued_ms);

/* Its members, by id; it has terms.  Those of a sub-group that it asks for,
 * that wait beyond that, and that run. */
const struct seq *sub_group_required(const struct gang *gang,
                                     uint32_t sub_group);
const struct seq *sub_group_optional(const struct gang *gang,
                                     uint32_t sub_group);
const struct seq *sub_group_leased(const struct gang *gang, uint32_t sub_group);

/* For plans. */

/* The plan in the making starts what the gang asks for, if it has terms. */
void sub_groups_note_start(const struct sched *sched, struct gang *gang);
/* Whether it does. */
bool sub_groups_start_in_plan(const struct sched *sched,
                              const struct gang *gang);
/* Whether a gang with terms is met for the first time in a look (a number) at
 * a node's victims. */
bool sub_groups_look(struct gang *gang, uint64_t look);

/* Whether a job is a member of a gang with terms. */
bool sub_groups_is_member(const struct sched *sched, uint32_t job);
/* The sub-group of a member of a gang with terms. */
uint32_t sub_group_of(const struct sched *sched, uint32_t job);
/* Whether a waiting job is optional: not asked for by its gang. */
bool sub_group_is_optional(const struct sched *sched, uint32_t job);
/* The gang has terms, runs, and lacks nothing of its minimums. */
bool sub_groups_are_met(const struct gang *gang);
/* How many members are optional; 0 of a gang without terms. */
uint32_t sub_groups_optional_count(const struct gang *gang);
/* The member with the lowest id of all, or NONE: there is none. */
uint32_t sub_groups_first(const struct sched *sched, const struct gang *gang);
/* How many of a sub-group run, without those that the plan in the making
 * preempted. */
uint32_t sub_group_running(const struct sched *sched, const struct gang *gang,
                           uint32_t sub_group);
/* How many of a sub-group run above its minimum, without those that the plan
 * in the making preempted. */
uint32_t sub_group_surplus(const struct sched *sched, const struct gang *gang,
                           uint32_t sub_group);
/* The member with the highest id that runs and is not preempted by the plan:
 * it goes first of its surplus where nothing else decides.  Those on nodes
 * that are no part of the pool, such as cordoned ones, stay: that they go
 * would be of use to nobody.  NONE: there is no such surplus. */
uint32_t sub_group_last_surplus(const struct sched *sched,
                                const struct gang *gang, uint32_t sub_group);
/* How many of all its members the plan in the making preempted; 0 without
 * terms. */
uint32_t sub_groups_lost(const struct sched *sched, const struct gang *gang);
/* Whether a job that runs is of its sub-group's minimum, and not surplus: those
 * with the lowest ids are, as of when the plan began; and who is of no gang
 * with terms. */
bool sub_group_is_base(const struct sched *sched, uint32_t job);
/* The plan preempts a member of a gang with terms (+1), or undoes it (-1). */
void sub_groups_lose(struct sched *sched, uint32_t job, int sign);
