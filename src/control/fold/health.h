/*
 * health - failing nodes: notes the ends of runs by node, and folds the logged
 * decisions (model.md 6.10b).
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "job/table/jobs.h"
#include "model/event.h"

struct control;

/* A run has ended: what that says of its node. */
void health_note(struct control *c, const struct jobs_change *change,
                 const struct event *event);
/* Fold NODE_HEALTH. */
void health_fold(struct control *c, const struct event *event);
