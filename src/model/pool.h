/*
 * pool - a pool as an object: which nodes belong to it, and what it shares
 * with the others (model.md 5.1).  The pools that the configuration names
 * need no such object; together they are the *Default* pool, which takes the
 * nodes that match no object, or several, and the jobs that name none.
 *
 * Pure.  Strings and arrays are borrowed.
 */
#pragma once

#include "model/requirement.h"

enum {
    POOL_OBJECTS_MAX = 256,
    POOL_NAME_BYTES_MAX = 253,
    POOL_BORROWED_MAX = 256, /* lenders named */
};

/* What people call the Default pool; the name of no object. */
#define POOL_DEFAULT_NAME STR("default")

/* What a home job does first when there is no room for it at home. */
enum preemption_order {
    PREEMPT_FIRST = 0, /* preempts there, then borrows */
    BORROW_FIRST = 1,
};

struct pool_record {
    struct str name;
    /* Which nodes belong: all labels and all expressions (over labels; In,
     * NotIn, Exists, DoesNotExist) must hold.  Without a selector: none. */
    bool has_selector;
    const struct label *labels; /* sorted by key */
    uint32_t label_count;
    const struct affinity_expression *expressions; /* values sorted */
    uint32_t expression_count;
    bool is_preemption_off;    /* its own jobs may not preempt in it */
    bool is_borrowing_off;     /* its own jobs may not go elsewhere */
    bool is_sharing_off;       /* jobs of others are refused */
    const struct str *lenders; /* sorted; none: every pool that shares */
    uint32_t lender_count;
    enum preemption_order preemption_order;
};
