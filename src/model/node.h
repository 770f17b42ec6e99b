/*
 * node - a machine that an executor offers.
 *
 * Names are unique within an executor.  Pure; strings and arrays are borrowed
 * from whatever the record was made from.
 */
#pragma once

#include "model/requirement.h"

enum {
    NODES_MAX = 1 << 20,
    EXECUTORS_MAX = 4096,
    NODE_NAME_BYTES_MAX = 253,
    PROTECTED_RUNS_MAX = 1 << 14, /* by disruption budgets, of an executor */
};

/* Whether a node that fails gets new work (model.md 6.10b).  Append, never
 * renumber: these are logged. */
enum node_health {
    NODE_NORMAL = 0,
    NODE_OUT = 1,   /* quarantined: nothing new */
    NODE_TRIAL = 2, /* its probation is over: one job at a time */
};

struct node_record {
    struct str name;
    struct str pool;
    struct str node_type;
    const struct label *labels; /* sorted by key, each key once */
    uint32_t label_count;
    const struct taint *taints;
    uint32_t taint_count;
    struct resource_list total;   /* what Berth and others share */
    struct resource_list foreign; /* of it, used by pods not ours */
    bool is_unschedulable;        /* cordoned in its cluster */
    /* Its next maintenance window: work that has a time limit ends by then, and
     * work that has none starts before `endless_closes_ms`; 0: no window. */
    int64_t closes_ms, endless_closes_ms;
};

/* What the arrays and texts of a record take. */
size_t node_record_bytes(const struct node_record *record);
/* A copy of a record whose arrays and texts are in `memory`, which has
 * node_record_bytes(), aligned to 8. */
void node_record_copy(const struct node_record *record, void *memory,
                      struct node_record *ret_record);
/* Whether two records say the same. */
bool node_record_equal(const struct node_record *a,
                       const struct node_record *b);
