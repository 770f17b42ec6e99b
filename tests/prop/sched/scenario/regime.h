/*
 * regime - instances in which fairness can be stated exactly, and what became
 * of their queues.
 *
 * *Like jobs*: jobs of one core of one preemptible class on nodes alike.
 * *Pooled*: one node, so that nothing is lost to fragments; all jobs of a
 * queue ask for the same, queues for different amounts of both resources.
 *
 * In both: no gangs, limits, cordons, taints; weights and what runs at first
 * are drawn.
 */
#pragma once

#include "trial.h"

/* Draw an instance of like jobs, or a pooled one. */
void regime_draw_like(struct tape *tape, struct instance *instance);
/* See regime_draw_like(). */
void regime_draw_pooled(struct tape *tape, struct instance *instance);

/* What a queue has in the end. */
struct outcome {
    int running, waiting;        /* jobs */
    int amounts[INSTANCE_KINDS]; /* of what runs */
    double share;                /* dominant */
    double due;                  /* its weight among the active queues' */
    double job;                  /* dominant share of its largest job */
    double weight;
};

/* Plan until nothing is left to do; all who lose their place ask again at
 * once.  False when it never ends. */
bool regime_settle(const struct instance *instance, struct instance *ret_after);
/* How each queue stands. */
void regime_measure(const struct instance *instance,
                    struct outcome outcomes[INSTANCE_QUEUES_MAX]);
