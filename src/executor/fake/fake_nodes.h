/*
 * fake_nodes - the nodes of a fake runtime, made of its groups.
 *
 * Private to the fake runtime.
 */
#pragma once

#include "executor/fake/fake.h"
#include "executor/port/node_set.h"

/* All nodes, group after group: each with the labels of its group and its host
 * name.  What `options` holds is copied. */
struct node_set *fake_nodes_make(const struct fake_options *options) must_check;
