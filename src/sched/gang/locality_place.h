/*
 * locality_place - starting gangs with terms where the members of each
 * sub-group are near each other, and no further apart than they say
 * (model.md 2.11).
 *
 * In free space the domains are tried as locality.h offers them, the sub-groups
 * with the tightest caps first; the number of tries is bounded.
 *
 * Where others must make way the sub-groups are placed in that order, too, each
 * where it is best for itself.  What has room in free space goes there, as
 * above.  Else what others lose goes before a low level (6.6).  A sub-group
 * with a cap is tried in the highest domains which that allows, and in those of
 * the levels below as long as there are not LOCALITY_FORCE_MAX of them yet
 * (single nodes are level 0): the higher level first, of one level the domains
 * with the most room; where some of it runs, in those around that.  The try
 * whose price is the best stands (price.h), of equals the first domain in the
 * topology's order, in which one stands before what is part of it.  A sub-group
 * without a cap is placed as in a pool that names no labels.  Where those that
 * come after have no room then, the next best is tried, up to LOCALITY_WAYS_MAX
 * ways in all.
 *
 * So are clusters compared, and groups of a label's value.
 *
 * In a pool that names no labels only what is on one node has a distance at
 * all, so a cap there asks for a single node.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/gang/attempt.h"
#include "sched/gang/locality.h"
#include "sched/place/place.h"

enum {
    LOCALITY_TRIES_MAX = 64, /* of a gang, in free space */
    LOCALITY_FORCE_MAX = 32, /* of a sub-group, where others make way */
    LOCALITY_WAYS_MAX = 8,   /* of a gang there */
};

/* Whether the topology has a say in where a gang goes. */
bool locality_matters(const struct round *round, const struct gang *gang);
/* Whether some of its sub-groups must not be further apart than they say,
 * now; the round is made again when that ends by itself. */
bool locality_is_capped(struct round *round, const struct gang *gang);
/* Place all that a gang asks for, or leave it to the caller to take back what
 * was done. */
bool locality_try(struct attempt *attempt);

/* The groups of nodes of which a gang must be in one, as far as one at a time
 * tells: the highest domains that its cap allows if a single sub-group asks
 * and has one, else those of place_groups(). */
const struct label_index *locality_groups(struct round *round,
                                          const struct gang *gang);

/* The sub-groups that ask, in the order in which they are placed: the tightest
 * caps first, of those the largest; and what each may be spread over.  Returns
 * their number. */
uint32_t locality_order(struct round *round, const struct gang *gang,
                        uint32_t order[SUB_GROUPS_MAX],
                        uint32_t level_max[SUB_GROUPS_MAX]);
/* Whether members differ in nothing that is asked about nodes. */
bool locality_is_alike(const struct sched *sched, const struct seq *asked);
/* The highest level over which a sub-group may be spread now. */
uint32_t locality_level_max(struct round *round, const struct gang *gang,
                            uint32_t sub_group);
/* Where one more member of a running sub-group is to go, as long as the
 * topology matters: the best free node of the lowest domain that holds
 * `anchor` and has one, within the cap, which never ends for it.  NONE: there
 * is none. */
uint32_t locality_find(const struct search *search, const struct gang *gang,
                       uint32_t sub_group,
                       const struct locality_anchor *anchor);
