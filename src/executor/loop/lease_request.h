/*
 * lease_request - builds the LeaseRequest that an executor sends: who it is,
 * its nodes, the runs it holds and how many more it would take.
 *
 * Every node says what it has in all; what our runs use of it the server
 * knows better, so `available` is the same.  Memory comes from the arena.
 *
 * Threads: none of it is shared.
 */
#pragma once

#include "executor/runtime.h"

/* A run that the executor holds. */
struct lease_request_run {
    struct run_id run;
    uint32_t node_index; /* of the nodes; UINT32_MAX: on none yet */
    enum reconcile_phase phase;
};

/* What to say. */
struct lease_request {
    struct str executor_id, pool;
    const struct node_record *nodes;
    uint32_t node_count;
    const struct str *nodes_removed; /* delta: since the last request */
    uint32_t nodes_removed_count;
    const struct lease_request_run *runs; /* full: all that are held */
    uint32_t run_count;
    const struct run_id *added, *removed; /* delta: since the last request */
    uint32_t added_count, removed_count;
    uint32_t lease_max;
    bool is_held, is_delta;
    uint64_t instance; /* of the program that asks; 0: it does not say */
    bool says_pending; /* then this is what others ask for in vain: */
    struct resource_list pending;
    bool says_protected; /* then these are all that budgets protect: */
    const struct run_id *protected_runs;
    uint32_t protected_count; /* beyond PROTECTED_RUNS_MAX they go unsaid */
};

/* Append the encoded request to `buf`. */
void lease_request_encode(const struct lease_request *request,
                          struct arena *arena, struct strbuf *buf);
