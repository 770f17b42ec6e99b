/*
 * sched_cases - what bench_sched measures, one function a subject.
 *
 * `tenths` is the size in tenths of the one that budgets are for.  A case
 * says its figures itself, each the least of a few runs unless its name says
 * otherwise, each run on a state made anew.
 */
#pragma once

#include <stdint.h>

enum { TENTHS_ONE = 10 };

/* A count at another size, at least 1. */
static inline uint32_t sized(uint32_t count, uint32_t tenths)
{
    uint64_t n = (uint64_t)count * tenths / TENTHS_ONE;

    return n ? (uint32_t)n : 1;
}

/* Bytes of a waiting job; to be measured first, while the heap has no room
 * left over from others. */
void case_memory(uint32_t tenths);
/* The comparison with Armada: first rounds of design.md 9. */
void case_first(uint32_t tenths);
/* A forced round in which nothing changed, and what leases cost. */
void case_unchanged(uint32_t tenths);
/* A full cluster of one queue, of which another asks for half. */
void case_preempt(uint32_t tenths);
/* A gang that fills a cluster. */
void case_gang32k(uint32_t tenths);
/* The node table and all that hangs on it, made anew. */
void case_nodes(uint32_t tenths);

/* The mixed workload from an empty cluster, with how well it is placed. */
void case_mixed_empty(uint32_t tenths);
/* The same from its start state: rounds until nothing changes, a round with
 * a tenth over share, and batches of 1,000 events. */
void case_mixed_full(uint32_t tenths);
/* A gang of 10,000 among the mixed nodes. */
void case_gang10k(uint32_t tenths);
void case_explain(uint32_t tenths);
/* A gang of 10,000 in a fat tree: the worse of one that an aggregation switch
 * holds and one that takes all of the tree. */
void case_topology(uint32_t tenths);
/* Rounds while a job, or a gang, has nodes reserved. */
void case_head(uint32_t tenths);
/* Jobs that are each a class of their own. */
void case_unique_classes(uint32_t tenths);
/* A gang that has its nodes whole, among unlike ones. */
void case_whole_nodes(uint32_t tenths);
/* Units that grow, make room for a load, and even out. */
void case_elastic(uint32_t tenths);
/* Jobs that each take a pod of surplus. */
void case_surplus(uint32_t tenths);
