/*
 * node_set - the nodes of a cluster, with a version that rises at each change,
 * so that an executor can tell its server what changed since it last did.
 *
 * Ownership: the set copies what is put; records and names are valid until it
 * is changed.  Threads: one owner.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "model/node.h"

struct node_set;

/* What changed after a version. */
struct node_set_delta {
    uint64_t version; /* now */
    const struct node_record *changed;
    uint32_t changed_count;
    const struct str *removed; /* and not there again */
    uint32_t removed_count;
};

/* An empty set at version 1; the caller owns it. */
struct node_set *node_set_create(void) must_check;
void node_set_destroy(struct node_set *set);
DEFINE_AUTO(node_set, node_set_destroy)

/* Add a node, or put it in the place of the one of its name; nothing happens
 * if that is the same. */
void node_set_put(struct node_set *set, const struct node_record *record);
/* Remove a node; false: it is not there. */
bool node_set_remove(struct node_set *set, struct str name);
/* The node of this name, or NULL. */
const struct node_record *node_set_find(const struct node_set *set,
                                        struct str name);
/* All nodes. */
const struct node_record *node_set_all(const struct node_set *set,
                                       uint32_t *ret_count);
/* Rises at each change. */
uint64_t node_set_version(const struct node_set *set);
/* What changed after `version`, in the arena.  False: the set no longer knows
 * which nodes were removed since; then all of it must be told. */
bool node_set_since(const struct node_set *set, uint64_t version,
                    struct arena *arena, struct node_set_delta *ret_delta);
