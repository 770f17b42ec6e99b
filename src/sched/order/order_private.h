/*
 * order_private - what order.c, which knows the states of applications within a
 * plan, shows to order_draw.c, which ranks them for a lane.
 */
#pragma once

#include "sched/order/order.h"

/* The queue of a lane. */
struct queue *order_queue(const struct round *round, const struct lane *lane);
/* An application by its index. */
struct app *order_app_at(const struct sched *sched, uint32_t index);
/* The queue's applications; at the first look in a plan, as they are. */
struct app_queue *order_apps(const struct round *round,
                             const struct queue *queue);
/* Whether so many of its applications are as many as may run. */
bool order_is_full(const struct sched *sched, const struct what_if *what_if,
                   const struct queue *queue, uint32_t running_count);
/* The plan leases to an application, or takes from it. */
void order_plan_app(struct round *round, uint32_t index, int leased, int lost);
