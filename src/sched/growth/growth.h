/*
 * growth - the step of a round in which gangs grow and shrink (model.md 6.5
 * step 4): it applies elastic.h to nodes.
 *
 * The step comes after all minimums, in every full round and in no other.
 * While a gang could grow, a plan asks for the next one after the policy's
 * period.  A gang that lacks some of its minimum is not part of the step: FILL
 * starts what it lacks, and preempts surplus for it.  So the units here are the
 * growable sub-groups of gangs that run with all of their minimums, or begin to
 * in this plan.
 *
 * One pod more goes to the free place that the node order names, in the cluster
 * and under the label value of its gang.  Where the pool has levels, it goes to
 * the lowest domain that has a place (locality_place.h).  It is charged
 * nothing.  It may use what is reserved for admitted work, as work of lifetime
 * 0 may, whatever its class says: it is revocable for that work at once
 * (model.md 2.11, UM-10), even when it is no longer above its gang's minimum.
 *
 * The decisions about one unit are one group; a pod that moves from one unit to
 * another is one group of both.
 *
 * Private to src/sched.
 */
#pragma once

#include "base/map.h"
#include "sched/gang/locality.h"
#include "sched/growth/elastic.h"
#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/state/sub_groups.h"

/* A gang, in the step. */
struct growth_team {
    struct gang *gang;
    struct lane *lane; /* NULL: it takes no part */
    uint32_t *started; /* by sub-group: members that the plan starts */
    uint32_t started_count;
    uint32_t node;  /* of one of its pods, or NONE */
    uint32_t first; /* its member with the lowest id */
    bool is_lost;   /* the plan took some of it */
    u128 work;
    const struct label_index *groups; /* of which it is in one; or NULL */
    const struct label_group *only;   /* that one; NULL: none of them */
};

/* A sub-group of it. */
struct growth_part {
    uint32_t team, sub_group;
    struct seq_cursor next; /* of its optional members, but see is_next_taken */
    uint32_t example;       /* the first of them, or of those that run */
    uint32_t example_class;
    bool has_optional;  /* so `example` is one */
    bool is_next_taken; /* `next` is to go on by one: most grow by one, and
                           their members lie far away */
    uint32_t change;    /* the last of it in growth.changes, or NONE */
    const struct resource_vec *request; /* of one of its pods */
    struct locality_anchor anchor; /* where its pods are; see is_anchored */
    bool is_anchored;              /* that is known */
};

/* What becomes of a pod. */
struct growth_change {
    uint32_t job, node, class_index;
    uint32_t previous; /* of the same part, or NONE */
    bool is_lease;
};

struct growth {
    struct round *round;
    struct growth_team *teams; /* by place in sched.elastic */
    struct growth_part *parts;
    struct elastic_unit *units; /* their handles are parts */
    uint32_t unit_count;
    struct lane **lanes; /* by rank of their queues; those that take part */
    struct cost *costs;  /* by rank: what they have; see is_cost_known */
    bool *is_cost_known;
    VEC(struct growth_change) changes;
    /* Load: what pods ask for on the nodes that count, foreign ones and those
     * that found no node included; all that there is; and its part. */
    struct resource_vec load, load_before, total;
    int64_t load_max_ppm;
    bool has_changed;  /* the round started or took some of its gangs */
    bool is_gpu_known; /* round.is_growth_off_gpus is set right */
    struct map full; /* classes and groups that have no room; growth_place.c */
};

/* The same of a pool, between rounds. */
struct growth_load {
    struct resource_vec now, total;
    int64_t max_ppm; /* of the CPUs */
};

/* Measure it; it looks at all nodes. */
void growth_load_of(struct sched *sched, uint32_t pool,
                    struct growth_load *ret_load);
/* The column of which a pod more would be too much, or -1. */
int growth_overload(const struct sched *sched, const struct growth_load *load,
                    const struct resource_vec *request);
/* Make the step. */
void growth_step(struct round *round);
/* The space of the step. */
struct elastic_space growth_space(struct growth *growth);

/* What its files ask of each other. */

/* The part that a unit is. */
static inline struct growth_part *growth_part_of(const struct growth *growth,
                                                 uint32_t unit)
{
    return &growth->parts[growth->units[unit].handle];
}
/* The team of a part. */
static inline struct growth_team *growth_team_of(const struct growth *growth,
                                                 const struct growth_part *part)
{
    return &growth->teams[part->team];
}

/* Find teams, parts and units (units.c). */
void growth_gather(struct growth *growth);
/* What is asked for in the pool, and what there is (growth/load.c). */
void growth_measure(struct growth *growth);
/* Whether `load` would be above what is allowed, of something that is asked
 * for. */
bool growth_is_above(const struct growth *growth,
                     const struct resource_vec *load,
                     const struct resource_vec *request);
/* Whether a request is for GPUs too (gpus.c). */
bool growth_asks_for_gpu(const struct sched *sched,
                         const struct resource_vec *request);
/* Whether gangs that ask for no GPU do not grow on nodes with GPUs, since work
 * that asks for them waits. */
bool growth_is_off_gpus(const struct round *round);
/* The next optional member of a part, or NONE (growth_place.c). */
uint32_t growth_next_spare(const struct growth *growth,
                           struct growth_part *part);
/* The class of one of its members. */
uint32_t growth_class_of(const struct growth *growth,
                         const struct growth_part *part, uint32_t job);
/* Whether the limits of its queue and class, rates and load allow a pod. */
bool growth_may_grow(struct growth *growth, struct lane *lane,
                     const struct search *search);
/* A free node for a pod of a part, where the topology has a say or where it has
 * none; or NONE. */
uint32_t growth_find(struct growth *growth, struct growth_part *part,
                     const struct search *search);
/* Decide what has changed (growth/decide.c): unit after unit, what goes before
 * what comes. */
void growth_decide_all(struct growth *growth);
