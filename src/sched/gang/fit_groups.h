/*
 * fit_groups - counts how many members of a gang the empty nodes of each group
 * hold, for fit.c.  Private to src/sched/gang.
 */
#pragma once

#include "base/arena.h"
#include "sched/gang/cap_fit.h"

/* Members of one class. */
struct fit_kind {
    uint32_t class_index, count;
    struct requirement *requirement;
};

struct fit_group {
    uint32_t pool, executor, next;
    struct str value;
    struct resource_vec capacity;
    uint64_t count;         /* of members that fit */
    uint32_t *by_kind;      /* of each kind */
    struct cap_count *near; /* NULL: there are no caps */
};

struct fitting {
    struct sched *sched;                 /* of the nodes */
    const struct sched_elsewhere *there; /* NULL: they are the gang's own */
    const struct sched *home;            /* of the gang */
    const struct gang *gang;
    uint32_t pool; /* that it must be in, or NONE */
    struct arena arena;
    struct fit_kind *kinds;
    uint32_t kind_count;
    struct map kind_map, group_map;
    VEC(struct fit_group) groups;
    struct cap_fit caps;
    uint32_t needed;
    bool is_all_needed;
    bool has_nodes; /* in its pools */
};

/* Count the waiting members by class. */
void fit_collect_kinds(struct fitting *f);
/* Look at nodes until a group has room for enough. */
bool fit_find_group(struct fitting *f, uint32_t *ret_looks);
/* Tell how close the best group comes. */
void fit_fill_miss(const struct fitting *f, struct sched_gang_miss *ret_miss);
