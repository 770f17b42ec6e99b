/*
 * locality_fit - whether a sub-group with a cap on hops has room near enough,
 * now and with all nodes empty: for explanations, and so that nothing is
 * reserved for a sub-group that could never start.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* How much of a sub-group a pool holds. */
struct locality_fit {
    uint64_t free_count;  /* members, in the best domain that is allowed */
    uint64_t empty_count; /* the same if nodes were empty: maybe another */
    uint64_t open_count;  /* in the best cluster, whatever the distance */
    struct str domain;    /* that best domain, or node; "": none has room */
};

/* Fill it in for what waits of a sub-group; strings are borrowed until nodes
 * change.  It looks at every node of the pool. */
void locality_fit_of(const struct sched *sched, uint32_t pool,
                     const struct gang *gang, uint32_t sub_group,
                     struct locality_fit *ret_fit);
/* Whether each sub-group alone would have room near enough if nodes were
 * empty, as long as its cap holds; true also where nobody asks. */
bool locality_may_ever_fit(const struct sched *sched, uint32_t pool,
                           const struct gang *gang);
