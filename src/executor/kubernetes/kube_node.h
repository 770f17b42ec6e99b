/*
 * kube_node - a cluster's Node object as a node of the model.
 *
 * What a node has is its allocatable.  It takes no pods while it is cordoned,
 * or while its Ready condition is not True.
 *
 * Threads: any; an arena has one owner.
 */
#pragma once

#include "base/arena.h"
#include "model/node.h"

/* Labels that name a node's pool and type; "": none does. */
struct kube_node_labels {
    struct str pool, node_type;
};

/* Read an encoded Node; the record lives in the arena.  -ERR_CORRUPT,
 * -ERR_INVALID, -ERR_LIMIT: the text names the node. */
int kube_node_read(struct str object, const struct kube_node_labels *labels,
                   struct arena *arena, struct node_record *ret_record,
                   struct err *err) must_check;
