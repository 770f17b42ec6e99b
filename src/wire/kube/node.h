/*
 * node - a node as executors report it (executorapi.NodeInfo) and as the
 * model has it.
 *
 * What Berth and others share is `total_resources`; what others hold of it is
 * `non_armada_allocated_resources`, summed over Kubernetes priorities.  Both
 * directions agree on that.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "armada/executorapi.pb-c.h"
#include "model/node.h"

/* Read a node; arrays live in the arena, strings point into `info`.
 * -ERR_INVALID: an amount or an effect that does not read; -ERR_LIMIT: more
 * labels, taints or resources than the model takes, or too long a name. */
int node_from_info(const Executorapi__NodeInfo *info, struct arena *arena,
                   struct node_record *ret_record, struct err *err) must_check;

/* The report of a node, without its runs, in the arena. */
Executorapi__NodeInfo *node_to_info(const struct node_record *record,
                                    struct arena *arena) must_check;
