/*
 * place - where a job fits without preemption, and placing it there; the
 * journal of the plan has all changes of nodes until they are undone.
 *
 *     find.c          the best node with free space
 *     node_match.c    whether a node may have a job
 *     place.c         puts work on nodes, takes it off, and undoes both
 *     changes.c       brings the index in line
 *     label_groups.c  nodes by the value of a label
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* The nodes of one cluster that share a value of a label. */
struct label_group {
    struct str value; /* "" where no label is asked for */
    uint32_t executor;
    uint32_t *nodes;
    uint32_t count;
};

/* All values of one label among the pool's nodes, in each cluster. */
struct label_index {
    struct str key;
    struct label_group *groups; /* by value, then by the cluster's name */
    uint32_t group_count;
    struct label_index *next;
};

/* A job and where it may go. */
struct search {
    struct round *round;
    uint32_t class_index;
    uint32_t job;
    const struct label_group *only; /* or NULL: the whole pool */
};

/* The best node with free space, or NONE. */
uint32_t place_find(const struct search *search);
/* Whether what is found is about this job, and not about all of its class. */
bool place_is_special(const struct search *search);
/* Where a class notes what it learns of kinds, two bits a kind: known, and
 * then allowed; NULL: nowhere. */
uint64_t *place_kinds(struct round *round, struct class *class);
/* Whether labels, taints and the node's state allow the class, it would not run
 * into a maintenance window, and the node is not kept for jobs that ask for
 * GPUs. */
bool place_matches_class(const struct search *search, uint32_t node);
/* Likewise, and the job's avoid list: whoever has the node now. */
bool place_matches_ever(const struct search *search, uint32_t node);
/* Likewise, and gangs that have nodes whole. */
bool place_matches(const struct search *search, uint32_t node);
/* Likewise, what is reserved on the node, and extras (extras.h). */
bool place_allows(const struct search *search, uint32_t node);
/* Of that, only what is reserved, what gangs have whole, and GPUs that are
 * kept: it only grows in a round, so what it forbids stays forbidden. */
bool place_passes(const struct search *search, uint32_t node);
/* Likewise, when a gang that has the node whole, or all that keeps it from
 * being had whole, will be gone from it; whoever has the extras. */
bool place_allows_evicting(const struct search *search, uint32_t node);
/* Put `count` jobs of a class on a node. */
void place_put(struct round *round, struct lane *lane, uint32_t class_index,
               uint32_t node, uint32_t count);
/* Take a preempted run's job off its node. */
void place_preempt(struct round *round, uint32_t job);
/* Undo the journal down to `mark`; the lanes too. */
void place_rollback(struct round *round, size_t mark);
/* Undo all of it without regard to lanes; for the end of the plan. */
void place_undo(struct sched *sched);
/* What changed at open nodes goes into the index. */
void place_flush(struct round *round);

/* The groups of nodes by the values of a label, in order of values, then of
 * clusters; by clusters alone for "". */
const struct label_index *place_labels(struct round *round, struct str key);
/* The groups of which a gang must be in one; NULL: all nodes are one. */
const struct label_index *place_groups(struct round *round,
                                       const struct gang *gang);
/* The group that a node is of; NULL: it has not the label, or is in none. */
const struct label_group *place_group_of(const struct sched *sched,
                                         const struct label_index *index,
                                         const struct node *node);
/* Whether what runs of a gang leaves it a group. */
bool place_is_open(const struct round *round, const struct gang *gang,
                   const struct label_group *group);
