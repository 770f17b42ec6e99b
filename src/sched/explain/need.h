/*
 * need - what a waiting job needs to start, found by trial rounds.  Private to
 * src/sched.
 */
#pragma once

#include "sched/state/state.h"

enum {
    NEED_TRIALS_MAX = 64,
    /* What all trials of one answer may cost, in nodes looked at; a tenth of
     * a second where those of the worst sort are made. */
    NEED_LOOKS_MAX = 60 * (int)POLICY_WORK_PER_MS,
    NEED_TRIALS_MIN = 3, /* with fewer nothing can be shown: none are made */
    NEED_ITEM_WORK = 2,  /* of a list, run or queue that a round goes over */
    NEED_NODE_WORK = 10, /* times that, of a node, which is put in order anew */
    NEED_NODES_MAX = 4,  /* nodes that are tried */
    NEED_TIMES_MAX = 32, /* of what it lacks, where others go first */
};

/* Nodes that could hold a job when empty, the closest to it first. */
struct closest_nodes {
    uint32_t nodes[NEED_NODES_MAX];
    double lacks[NEED_NODES_MAX];
    uint32_t count;
};

/* Put a node among the closest, if it is; of equal ones the first stays. */
void closest_nodes_add(struct closest_nodes *closest, uint32_t node,
                       double lack);

/* What is asked of a waiting job. */
struct need_question {
    uint32_t job;
    uint32_t pool;      /* one that it may go to */
    uint32_t sub_group; /* of its gang, that has too little room; or NONE */
    uint32_t present, wanted; /* of its gang, or that sub-group: members that
                                 fit at once, and that must */
    int64_t now_ms;
    struct closest_nodes closest; /* for it, or for those of that sub-group */
};

/* What a job, which waits as `explanation` says, needs to start.  If it is a
 * rule of need_waiver.c that keeps it back, the explanation says so from now
 * on.
 */
void need_find(struct sched *sched, const struct need_question *question,
               struct sched_explanation *explanation,
               struct sched_need *ret_need);
