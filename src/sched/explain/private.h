/*
 * private - a question about a job, and what nodes and limits answer
 * to it.  The job waits in the state that is asked, or in another one, of
 * which it would be lent a node: then only what it asks for is known here.
 *
 * Private to src/sched's explain*.c.
 */
#pragma once

#include "sched/explain/need.h"
#include "sched/state/state.h"

/* Where a gang that runs may grow to; zeroed, it is no such gang. */
struct reach {
    uint32_t node;                   /* one that it has */
    const struct topology *topology; /* NULL: it has no say */
    uint32_t first, count;           /* places in topology.nodes */
};

struct question {
    struct sched *sched;
    uint32_t job;             /* or NONE: it waits in another state */
    const struct job *record; /* NULL likewise */
    uint32_t queue, class_index;
    uint32_t pool; /* that it waits for, or NONE: any */
    const struct class *class;
    const struct requirement *requirement;
    struct str uniformity;
    bool is_whole;           /* one of another state wants nodes to itself */
    struct gpu_nodes **gpus; /* by pool, each may be NULL; NULL: of another
                                state, or no pool keeps any */
    const uint32_t *avoided; /* nodes that it avoids */
    uint32_t avoided_count;
    /* What of it, or of its gang, must start at once: explain_ask_for(). */
    struct resource_vec asked;
    /* All that waits of it, which the limits on starts are asked for. */
    struct resource_vec started;
    uint32_t start_count;
    const uint32_t *classes; /* of each that waits */
    uint32_t class_count;
    uint32_t needed_count; /* of them, that must fit */
    bool is_growth;        /* its gang runs, and would grow by it */
    struct reach reach;    /* then: to there */
    uint32_t lacking;      /* the sub-group that the answer is of; or NONE */
    bool is_brief; /* for lists: nodes are only looked at for a queue's first */
    bool has_looked; /* then: the nodes' answer is there */
    int64_t now_ms;
    struct sched_explanation *answer;
    struct closest_nodes closest;
};

/* Ask about a job as of a time, which is 0 where maintenance windows are not to
 * matter; what the question points to lives in `arena`. */
void explain_ask(struct sched *sched, uint32_t job, int64_t now_ms,
                 struct sched_explanation *answer, struct arena *arena,
                 struct question *ret_question);
/* An answer that says nothing yet. */
void explain_begin(const struct question *question);
/* Whether the job would be a borrower in the state that is asked. */
static inline bool explain_is_borrowed(const struct question *question)
{
    return question->job == NONE ||
           question->sched->lists.items[question->record->list].is_borrowed;
}
/* Fill in what the job asks for, or what waits of its gang. */
void explain_ask_for(struct question *question, struct arena *arena);
/* Whether a pool is one that it might go to. */
bool explain_is_in_pools(const struct question *question, uint32_t pool);
/* Why a node is no place for it, or SCHED_EXCLUSIONS. */
enum sched_exclusion explain_exclusion(const struct question *question,
                                       uint32_t node);
/* How much of a request is missing, in parts of itself. */
double explain_shortfall(const struct resource_vec *request,
                         const struct resource_vec *room);
/* What the nodes say: counts, the nearest, and a reason. */
void explain_nodes(struct question *question);
/* Find the reason, in the answer, whose `wait` says what nodes do: TURN, unless
 * they keep it. */
void explain_reason(struct question *question);
/* Whether in all pools where its gang could be a sub-group of it has too little
 * room close enough; the last one is told. */
bool explain_distance(struct question *question);
/* Whether less of a gang fits at once than must; how far it does. */
bool explain_gang_short(struct question *question, const struct gang *gang);
/* Whether it, or its gang, is the first of its queue; true of applications,
 * whose order is their own. */
bool explain_is_first(const struct question *question);
/* How many of its class the free space holds, up to `count_max`.  They are put
 * into `left`, by node, unless that is NULL: then into what is free. */
uint32_t explain_fitting(const struct question *question, uint32_t count_max,
                         struct resource_vec *left);
/* How far a gang with terms fits at once: which of its sub-groups has too
 * little room even alone, or else how many fit together.  False: all do. */
bool explain_sub_groups(struct question *question, const struct gang *gang);
/* The nodes nearest to holding another job of its gang. */
void explain_closest_of(const struct question *question, uint32_t job,
                        struct closest_nodes *ret_closest);
/* Where its gang may grow to, which runs. */
void explain_reach(struct question *question);
/* Whether a node is there. */
bool explain_is_in_reach(const struct question *question, uint32_t index);
/* What keeps a optional member of a gang that runs from starting. */
void explain_growth(const struct question *question);
/* Whether its queue may not have what is asked for, of its quota. */
bool explain_quota(const struct question *question);
/* Whether each pool has too little left of what is of no node. */
bool explain_floating(const struct question *question);
/* Whether its class is at its queue's limit in every pool. */
bool explain_limit(const struct question *question);
/* Whether limits on starts keep it, and until when. */
bool explain_rates(struct question *question);
/* Whether, in every pool that it might go to, what its queue holds above its
 * share does. */
bool explain_share(struct question *question);
/* Whether in every pool that it might go to the last round ended its turn, or
 * its queue's, before it came to it; only where it was for the share. */
bool explain_behind(const struct question *question, bool is_for_share);
