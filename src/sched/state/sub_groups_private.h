/*
 * sub_groups_private - what is inside of sub_groups.h, and what its files show
 * each other: sub_groups.c has the members that wait, sub_groups_run.c those
 * that run, sub_groups_ask.c answers other rooms.
 */
#pragma once

#include "sched/state/sub_groups.h"

/* The members of one sub-group. */
struct sub_members {
    struct seq required, optional, leased; /* jobs, by id */
    uint32_t succeeded_count;
    /* Preempted by the plan `lost_plan` (sched.plan_count) in the making. */
    uint32_t lost_count;
    uint64_t lost_plan;
    /* Of the plan `edge_plan`: the last member that is not surplus. */
    uint32_t edge;
    uint64_t edge_plan;
};

struct sub_groups {
    struct gang_terms terms; /* strings in `packed` */
    char *packed;            /* owned */
    uint32_t packed_bytes;
    uint32_t optional_count; /* over all sub-groups */
    uint32_t succeeded_count;
    uint64_t seen;        /* by the last look at a node's victims */
    uint64_t joined_plan; /* the last plan that started what it asked for */
    int64_t requeued_ms;  /* see distance_cap.h; 0: never */
    struct sub_members *items; /* owned; terms.sub_group_count of them */
};

/* Order of jobs by their ids, for struct seq. */
bool sub_groups_less(const void *context, uint32_t a, uint32_t b);
/* The gang of a job, which has one. */
struct gang *sub_groups_gang(const struct sched *sched, uint32_t job);
/* The sub-group of a member. */
struct sub_members *sub_groups_members(const struct sched *sched, uint32_t job);
