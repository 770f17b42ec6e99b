/*
 * node_capacity - what the executor's own pods use of each node, to check a
 * lease against the node's present room (BK-11).
 *
 * Pods from before the executor started are not counted: their requests are no
 * longer known, so the check errs on the side of trying.
 *
 * Private to src/executor.  Threads: one owner.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "model/node.h"
#include "reconcile/repack.h"

struct node_capacity;

/* What a pod has of a node; zeroed memory is nothing. */
struct node_capacity_share {
    struct node_capacity_amount *amounts; /* owned */
    uint32_t amount_count;
    uint32_t node;
    bool is_ending; /* node_capacity_end() was told */
};

/* The caller owns it. */
struct node_capacity *node_capacity_create(void) must_check;
/* Free it; shares are the caller's to drop before. */
void node_capacity_destroy(struct node_capacity *capacity);
/* Where a pod leased for the node of this name goes among `nodes`
 * (repack_choose()); the name lives as long as the table.  A node that is not
 * there is left to the runtime.  False: no node has room. */
bool node_capacity_choose(struct node_capacity *capacity,
                          const struct node_record *nodes, uint32_t node_count,
                          struct str name, const struct resource_list *request,
                          struct str *ret_name);
/* A pod has `request` of a node from now on; the share is empty before. */
void node_capacity_take(struct node_capacity *capacity, struct str name,
                        const struct resource_list *request,
                        struct node_capacity_share *ret_share);
/* Whether a node that node_capacity_choose() has named has room now, beside the
 * pods that are being ended there too. */
bool node_capacity_is_free(struct node_capacity *capacity, struct str name,
                           const struct resource_list *request);
/* The pod is being ended: its room is promised to others, and free once it has
 * ended.  Nothing happens to an empty share. */
void node_capacity_end(struct node_capacity *capacity,
                       struct node_capacity_share *share);
/* How a node is called below. */
uint32_t node_capacity_node(struct node_capacity *capacity, struct str name);
/* How many pods that were being ended have left the node. */
uint32_t node_capacity_freed_count(const struct node_capacity *capacity,
                                   uint32_t node);
/* It has it no longer; nothing happens to an empty share. */
void node_capacity_drop(struct node_capacity *capacity,
                        struct node_capacity_share *share);
