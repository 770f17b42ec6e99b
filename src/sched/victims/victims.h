/*
 * victims - which runs would be preempted on one node for a job.
 *
 * Private to src/sched.  Who goes on a node is said here (choose.c);
 * victims.c asks the searches for one (revocable.h, search.h, and
 * sets.h where gangs with terms run), and take.h takes them.
 */
#pragma once

#include "sched/evict/evicted.h"
#include "sched/order/round.h"
#include "sched/place/place.h"

/* A job, or all of a gang there; of a gang with terms each pod that may go
 * alone is one, and those whose going takes the whole gang are another. */
struct victim {
    uint32_t job;  /* NONE: it keeps its place */
    uint32_t gang; /* all of which goes; or NONE */
    struct resource_vec sum;
    uint32_t ordinal; /* of evicted ones */
    uint32_t level;
    bool is_evicted;
    bool is_revocable;
    bool is_borrowed;
    bool is_surplus; /* its gang keeps its minimums */
    bool is_held;    /* the node is its gang's, so that nobody has room there
                        before all of it went */
    uint32_t protected_count; /* of all that goes; see budgets.h */
    uint32_t group;           /* the gang with terms that it is of, or NONE */
    int64_t leased_ms;
};

/* Who may go. */
struct victim_rules {
    uint32_t depth; /* evicted work from this ordinal - 1 on ... */
    int level_max; /* ... and other urgency-preemptible work up to this level */
    /* What breaks a gang with terms keeps its place before all else. */
    bool spares_groups;
    bool takes_surplus; /* whoever asks */
    bool is_bound;      /* nobody goes for fairness; see cooldown.h */
    uint32_t own;       /* see victims_own() */
    bool is_priced;     /* who goes for fairness costs no more than `budget` */
    u128 budget;        /* see affordable.h */
};

/* 1 + the queue of what is searched for, if some of its work is evicted: a
 * queue takes no place from itself for fairness (model.md 6.6 d); 0: none of it
 * is, or the rules are older. */
uint32_t victims_own(const struct search *search);
/* Whether a run that is evicted is kept from a class of its own queue, `own`,
 * that is no more urgent where it would go. */
static inline bool victim_is_own(const struct evicted_run *evicted_run,
                                 uint32_t own, const struct class *class)
{
    return own && evicted_run->queue == own - 1 &&
           evicted_run->level >= class->level;
}
/* Whether such a run is on a node. */
bool victims_has_own(const struct search *search, uint32_t own, uint32_t node);
/* Whether a run may lose its place for `class`, by what it is itself. */
bool victim_is_permitted(const struct round *round, const struct run *run,
                         const struct class *class,
                         const struct victim_rules *rules);
/* A run alone, as a victim. */
struct victim victim_of_run(const struct round *round, const struct run *run);
/* Whether `a` keeps its place before `b` (model.md 6.6: "best"): what is
 * protected, home before borrowed, the higher class, base before surplus; of
 * surplus that which surplus_order.h lets be; who did not promise to give way;
 * of base what is not evicted, and then the earlier turn; the older start, and
 * the job's own order.  Each is a key of a victim alone, so that there is one
 * order, whichever victim is looked at first. */
bool victim_is_kept_before(struct round *round, const struct victim *a,
                           const struct victim *b);
/* Who may go for what is searched for, by all rules together. */
struct victim_rules victims_rules(const struct search *search);
/* Whether there would be a place with victims for somebody, if all surplus
 * might go; for a class that found none. */
bool victims_may_be(const struct search *search);
/* All that runs on a node, if all of that may go (NONE: it goes with others of
 * its gang there); NULL: some of it may not.  Good until the next call. */
const struct victim *victims_all(const struct search *search, uint32_t node,
                                 const struct victim_rules *rules,
                                 uint32_t *ret_count);
/* All that must go on a node for the job that is searched for, and what may
 * stay (`job` is NONE); NULL: it has no room there even so.  Good until the
 * next call. */
const struct victim *victims_choose(const struct search *search, uint32_t node,
                                    const struct victim_rules *rules,
                                    uint32_t *ret_count);
/* Make room for a job by preemption: decides the victims and returns the node
 * that has room now, or NONE. */
uint32_t victims_find(const struct search *search);
