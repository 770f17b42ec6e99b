/*
 * needs - doing what explain says that a job needs to a planner itself, and
 * looking whether just that starts the job.
 */
#pragma once

#include "trial.h"

/* What was asked, over all runs, by enum sched_need_kind: so that a property
 * says something. */
struct tally {
    unsigned asked[SCHED_NEED_APPS + 1], exact[SCHED_NEED_APPS + 1];
};

struct scene {
    struct trial trial;
    uint32_t job; /* that is asked about */
    struct sched_explanation why;
    struct sched_need need;
    /* When all was done that there was to do, a job was told of a reason that
     * is none: `job`. */
    bool has_false_reason;
    /* In cores and in GB; 0 cores: none, but for the instance's. */
    int64_t quotas[INSTANCE_QUEUES_MAX][2];
};

/* Let the plan happen.  Pods of gangs with terms wait again when they lose
 * their places. */
void scene_act(struct trial *trial);
/* Plan and act until there is nothing left to do. */
void scene_settle(struct scene *scene);
/* Give a queue its quota and so much more. */
void scene_set_quota(struct scene *scene, int queue,
                     const struct resource_vec *more);
/* Ask about jobs that wait; whether their reasons are the round's, and what is
 * exact is true. */
bool scene_needs_are_true(struct scene *scene);
/* What was asked so far. */
const struct tally *scene_tally(void);
