/*
 * control_health - nodes that fail: what the ends of runs say of their nodes,
 * and taking those out and back (model.md 6.10b).
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
/* Add to the batch which nodes are to be taken out, or back; false if none. */
bool batch_add_health(struct control *c);
/* Fold NODE_HEALTH. */
void health_fold(struct control *c, const struct event *event);
