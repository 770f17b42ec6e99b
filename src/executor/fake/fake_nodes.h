/*
 * fake_nodes - the nodes of a fake runtime, made of its groups.
 *
 * Private to the fake runtime.
 */
#pragma once

#include "base/arena.h"
#include "executor/fake/fake.h"

/* All nodes, group after group, in the arena: each with the labels of its group
 * and its host name.  What `options` holds is copied. */
struct node_record *fake_nodes_make(const struct fake_options *options,
                                    struct arena *arena);
