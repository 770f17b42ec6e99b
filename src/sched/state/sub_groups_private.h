/*
 * sub_groups_private - what sub_groups.c, which has the members that wait,
 * shows to sub_groups_run.c, which has those that run.
 */
#pragma once

#include "sched/state/sub_groups.h"

/* Order of jobs by their ids, for struct seq. */
bool sub_groups_less(const void *context, uint32_t a, uint32_t b);
/* The gang of a job, which has one. */
struct gang *sub_groups_gang(const struct sched *sched, uint32_t job);
/* The sub-group of a member. */
struct sub_members *sub_groups_members(const struct sched *sched, uint32_t job);
