/*
 * topology_make - makes the domains of a pool from the labels of its nodes.
 *
 * Private to topology.c.
 */
#pragma once

#include "sched/state/topology.h"

/* The policy's rules for a pool; NULL: it has none. */
const struct pool_policy *topology_policy(const struct sched *sched,
                                          const struct pool *pool);
/* The topology of a pool whose policy names levels, right after nodes_sync();
 * topology_forget() frees it. */
struct topology *topology_make(struct sched *sched, uint32_t pool);
