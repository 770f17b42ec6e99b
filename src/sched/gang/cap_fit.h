/*
 * cap_fit - whether the sub-groups of a gang that must stay within so many
 * hops for ever would find nodes that near to each other if nodes were empty:
 * a part of fit.c.
 *
 * A sub-group with a cap that does not end is asked about; its *grounds* are
 * the highest domains that the cap allows, or single nodes, each within one
 * group of nodes of fit.c (pool, cluster, value of the label).  Of the
 * sub-groups that are alike, each with as many members or more, and a cap as
 * tight or tighter, all must find a ground, or a part of one that is large
 * enough.  That is an upper bound, as everything of fit.c: what it
 * refuses could never start.  A sub-group whose members differ is let be.
 *
 * Private to src/sched.
 */
#pragma once

#include "base/map.h"
#include "model/gang_terms.h"
#include "sched/state/state.h"

/* A sub-group. */
struct cap {
    uint32_t sub_group;
    uint32_t asked; /* members that start at once */
    uint32_t kind;  /* of its members, as fit.c numbers them */
    uint32_t alike; /* sub-groups that need as much as this one */
    bool is_varied; /* its members are of several kinds */
};

/* Where it may be. */
struct cap_ground {
    uint32_t group, cap;
    struct str name; /* of its domain or node; borrowed */
    uint64_t count;  /* members that it would hold */
};

struct cap_fit {
    struct sched *sched; /* of the nodes */
    const struct gang *gang;
    struct cap caps[SUB_GROUPS_MAX];
    uint32_t count; /* of caps */
    VEC(struct cap_ground) grounds;
    struct map map; /* of them */
};

/* What has been found of the caps in one group of nodes. */
struct cap_count {
    uint64_t fits[SUB_GROUPS_MAX]; /* by cap: sub-groups like it */
    uint32_t met_count;            /* caps of which all find a ground */
};

/* Which sub-groups are asked about.  The topology of the pools is brought up
 * to date if there are any. */
void cap_fit_init(struct cap_fit *fit, struct sched *sched,
                  const struct gang *gang);
/* Free it. */
void cap_fit_fini(struct cap_fit *fit);
/* A member that is to start is of a kind. */
void cap_fit_note(struct cap_fit *fit, uint32_t sub_group, uint32_t kind);
/* All members were noted. */
void cap_fit_prepare(struct cap_fit *fit);
/* Whether a cap asks about members of a kind. */
bool cap_fit_asks(const struct cap_fit *fit, uint32_t kind);
/* A node of a group would hold so many of a kind. */
void cap_fit_add(struct cap_fit *fit, struct cap_count *count, uint32_t group,
                 uint32_t node, uint32_t kind, uint32_t times);
/* Tell of the first cap that has no room in a group; false: all have. */
bool cap_fit_miss(const struct cap_fit *fit, const struct cap_count *count,
                  uint32_t group, uint32_t pool,
                  struct sched_gang_miss *ret_miss);
