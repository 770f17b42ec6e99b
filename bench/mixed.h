/*
 * mixed - the mixed workload of armada-scheduler.md 5.14, with the order of
 * its draws fixed, so that any program in any language can make the same.
 *
 * Each draw is one step of xorshift64 (shifts 13 left, 7 right, 17 left) from
 * the seed 88172645463325252, taken modulo what is asked for.  In this order:
 *
 *   nodes    none.  Node i is of shape i mod 4, in rack i * 500 / nodes, in
 *            zone rack mod 8.  Shapes: 32 cores and 256 GiB; 64 and 512; 96
 *            and 1,024; 128 and 2,048 with 8 GPUs and the taint gpu=true.
 *   classes  256, each: cores (1 + draw mod 16) / 2; memory 2 + draw mod 89
 *            GiB; GPUs 1 + draw mod 4 (used when index mod 16 is 0); level
 *            draw mod 10 (up to 6 low, 7 and 8 mid, else high); zone draw mod
 *            80 (below 8: selected; else any).  Those with GPUs and those of
 *            index mod 4 = 1 tolerate the taint.
 *   queues   each: weight 1 + draw mod 4.  Backlogs go by rank as 1 / n^1.1:
 *            n^0.1 is the largest x of 20 fractional bits whose tenth power,
 *            cut to 20 bits after each product, is at most n; the weight of
 *            a rank is 2^60 / (n x) cut, its backlog jobs * weight / sum cut,
 *            and what is left goes one each to the first.
 *   jobs     queue after queue, until its backlog is full: draw mod 1618; 0,
 *            when two jobs or more are left, begins a gang: size 2 + draw mod
 *            63 (no more than are left), uniform over the rack if draw mod 2
 *            is 1.  Then in either case the class, draw mod 256.  2 % of all
 *            jobs are in gangs.
 *   runs     node after node: queue draw mod (3/10 of the queues), class draw
 *            mod 256; it stands if the class may go there, fits, and leaves
 *            5 % of the node's cores.  16 in a row that do not end the node.
 *
 * The hash is FNV-1a over all of it as little-endian u32, in this order.
 *
 * Threads: none of its own.
 */
#pragma once

#include "cluster.h"

enum {
    MIXED_CLASSES = 256,
    MIXED_ZONES = 8,
    MIXED_RACKS = 500,
    MIXED_ANY = UINT32_MAX,
};

/* The hash of the full size, 50,000 nodes, 1,000,000 jobs, 1,000 queues. */
#define MIXED_HASH UINT64_C(0xfcb763f0a717af36)

struct mixed_size {
    uint32_t nodes, jobs, queues;
};

struct mixed_class {
    uint32_t cpu_milli, memory_gi, gpu_count;
    uint32_t level; /* 0 low, 1 mid, 2 high */
    uint32_t zone;  /* or MIXED_ANY */
    bool is_tolerant;
};

struct mixed_queue {
    uint32_t weight, backlog;
};

/* A waiting job.  The members of a gang follow each other. */
struct mixed_job {
    uint32_t queue, class_index;
    uint32_t gang; /* counted from 1; 0: none */
    uint32_t gang_size;
    bool is_uniform; /* over the rack */
};

/* A running job of the start state. */
struct mixed_run {
    uint32_t queue, class_index, node;
};

struct mixed {
    struct mixed_size size;
    struct mixed_class classes[MIXED_CLASSES];
    struct mixed_queue *queues; /* owned, as are the other arrays */
    struct mixed_job *jobs;
    struct mixed_run *runs;
    uint32_t run_count;
    uint64_t hash;
    enum pool_profile profile; /* that it is loaded with; berth at first */
};

/* What a node has. */
struct mixed_capacity {
    uint32_t cpu_milli, memory_gi, gpu_count;
};

/* Make the workload. */
void mixed_make(struct mixed *mixed, struct mixed_size size);
/* Free it. */
void mixed_fini(struct mixed *mixed);

/* What node `node` has. */
struct mixed_capacity mixed_node(uint32_t node);

/* Put nodes, classes, queues and the backlog into a fresh cluster: job j of
 * the backlog is job j there.  With `has_runs` what runs in the start state
 * comes after them. */
void mixed_load(const struct mixed *mixed, struct cluster *cluster,
                bool has_runs);
/* Add one more single job of a class of the workload; its index. */
uint32_t mixed_add_job(struct cluster *cluster, uint32_t queue,
                       uint32_t class_index);
