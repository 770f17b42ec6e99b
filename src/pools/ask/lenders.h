/*
 * lenders - why no other pool runs a waiting job (model.md 5.5): one answer for
 * each pool there is, with numbers where there are some.
 *
 * The answers are made when they are asked for, by the same checks that hand
 * jobs out (pools_borrow()), and change nothing.  They cost a look at each
 * node of each pool.
 *
 * Threads: the owner of the pools.
 */
#pragma once

#include "pools/pools.h"

/* Whether a job may go to other pools at all. */
enum pools_borrowing {
    POOLS_BORROW_NOWHERE, /* it does not wait, or there are no pool objects */
    POOLS_BORROW_MAY,     /* see its lenders */
    POOLS_BORROW_OFF,     /* its own pool lets nobody go */
    POOLS_BORROW_CLASS,   /* its priority class does not borrow */
    POOLS_BORROW_GANG,    /* not all of its gang is there */
    POOLS_BORROW_RUNS,    /* its gang runs, and grows where it is */
    POOLS_BORROW_QUEUE,   /* its queue is cordoned */
    POOLS_BORROW_ROOM,    /* there is room at home: something else keeps it */
    POOLS_BORROW_UNKNOWN, /* its own pool is being planned */
};

/* What one pool says to a job that may borrow. */
enum pools_lending {
    POOLS_LEND_SHARING_OFF, /* it takes no jobs of others */
    POOLS_LEND_NOT_LISTED,  /* the job's own pool does not borrow from it */
    POOLS_LEND_BUSY,        /* it is being planned: it is asked later */
    POOLS_LEND_NO_ROOM,     /* `there` says what is free, and what lacks */
    POOLS_LEND_LIMIT,       /* there is room, but `there.wait` forbids it */
    POOLS_LEND_OWN_WORK,    /* there is room, for which `waiting_count` of its
                               own wait */
    POOLS_LEND_TRIED,       /* it had room, and its last round no place */
    POOLS_LEND_NEXT,        /* it is asked next */
    POOLS_LEND_LATER,       /* it is not asked before the pool `before` */
    POOLS_LEND_WITH,        /* the job waits there now, for the next round */
};

struct pools_lender {
    struct str name; /* borrowed until pools change */
    enum pools_lending why;
    uint32_t waiting_count;         /* of its own, whatever `why` */
    struct str before;              /* likewise borrowed */
    struct sched_explanation there; /* NOT where it was not asked */
};

/* Whether and where a waiting job may borrow; `home` is what its own pool
 * says.  Lenders are in the arena: those that may lend in the order in which
 * they are asked, then the others by name. */
enum pools_borrowing
pools_explain_lending(struct pools *pools, uint32_t job, int64_t now_ms,
                      const struct sched_explanation *home, struct arena *arena,
                      struct pools_lender **ret_lenders, uint32_t *ret_count);
