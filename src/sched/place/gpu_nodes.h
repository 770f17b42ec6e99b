/*
 * gpu_nodes - nodes with GPUs are kept for jobs that ask for GPUs
 * (docs/rules/gpu-nodes.md, docs/decisions/0053).
 *
 * Under GPUS_KEPT_WAITING a node with GPUs is none for a job that asks for no
 * GPU if in its pool a job waits, as the plan begins, that
 *
 *   - asks for a GPU and is at least as urgent, by its class's priority,
 *   - could have the node if it were empty, by labels, taints and size, and
 *   - waits for room: no limit of its queue refuses it for what runs already.
 *
 * A job that could have no node without GPUs is never kept off, nor is one of a
 * class of which a gang waits that these nodes could not hold when empty, or
 * whose gang says how it lies (terms, a uniformity label): so all that waits
 * has nodes to wait for.  Under GPUS_KEPT_ALWAYS a job that asks for no GPU has
 * no node with GPUs.
 *
 * What is kept is a function of class and node, and of the state alone: what
 * the plan has decided does not count.  So what a search learns of a class
 * holds for the round, and the next plan opens what nobody waits for any more.
 *
 * Pure.  All lives in the caller's arena; a question costs a look at nodes or
 * waiting work once a class, node or pool.
 */
#pragma once

#include "sched/state/state.h"

struct gpu_nodes;

/* What is kept in a pool now; NULL: nothing, by the policy, or since the pool
 * has no GPUs. */
struct gpu_nodes *gpu_nodes_make(struct sched *sched, uint32_t pool,
                                 int64_t now_ms, struct arena *arena);
/* Whether a node of the pool is kept from jobs of a class.  Adds to `looks`
 * what it looked at: each node, each class that waits and was compared with
 * one, and all else that waits, so that the bound of a plan holds. */
bool gpu_nodes_keep(struct gpu_nodes *gpus, uint32_t class_index, uint32_t node,
                    uint64_t *looks);
/* Whether that is known of all nodes of its kind (node_shapes.h) together.
 * Where it is not, each may be kept nevertheless. */
bool gpu_nodes_keep_kind(struct gpu_nodes *gpus, uint32_t class_index,
                         uint32_t node, uint64_t *looks);
/* A number that is another one if other nodes may be kept from a class, while
 * nodes and classes stay as they are; 0: none is. */
uint64_t gpu_nodes_mark(struct gpu_nodes *gpus, uint32_t class_index,
                        uint64_t *looks);
