/*
 * fleet - simulates a trace of GPU jobs on one pool of nodes, or on an
 * inventory of machines in several pools: its virtual clusters are queues, and
 * a job that is larger than a node is a gang.
 *
 * philly: the reduced Philly trace, CSV with the columns timestamp (local time
 * of the US Pacific coast, daylight saving until 2017-11-05), duration (s),
 * num_gpus, gpu_time and cluster.  Rows may stand in any order; equal times
 * keep the order of the rows.  There are no estimates, so none are stated.
 *
 * Threads: one.
 */
#pragma once

#include "base/arena.h"
#include "sim/fleet/fleet_machines.h"
#include "sim/world/tally.h"

enum {
    FLEET_NODE_GPUS = 8,
    FLEET_GPUS_MAX = 100000,
    FLEET_JOBS_MAX = 1 << 24,
};

/* One row of a trace. */
struct fleet_job {
    int64_t submit_s; /* from the first row's */
    int64_t run_s;
    uint32_t gpu_count;
    struct str queue;
};

/* A trace, in order of time; strings live in the arena. */
struct fleet_trace {
    VEC(struct fleet_job) jobs;
    struct arena arena;
};

/* Read a trace, plain or gzipped; the caller fleet_trace_fini()s it.
 * -ERR_IO, -ERR_INVALID with the line, or since there is no job in it,
 * -ERR_LIMIT. */
int fleet_read(const char *path, struct fleet_trace *ret_trace,
               struct err *err) must_check;
/* The same from memory. */
int fleet_parse(struct str text, struct fleet_trace *ret_trace,
                struct err *err) must_check;
/* Free it. */
void fleet_trace_fini(struct fleet_trace *trace);

/* On what, and how, a trace is played. */
struct fleet_options {
    uint32_t gpu_count; /* of the pool: whole nodes of 8 */
    /* Instead: these machines, a pool for each type; the pools lend to one
     * another.  The virtual cluster with the most GPU hours has the pool with
     * the most GPUs for its home, and so on: each the one that has most GPUs
     * left for what it asks.  NULL: one pool. */
    const struct fleet_machines *machines;
    enum pool_profile profile; /* of the pool */
    uint64_t job_limit;        /* only the first so many; 0: all */
    int64_t from_s, until_s;   /* only those submitted from .. until; 0: all */
    int64_t sample_ms;
    /* Told at each sample how far it is; NULL: nobody. */
    void (*progress)(void *ctx, const struct world *world,
                     const struct tally *tally);
    void *ctx;
};

/* Play a trace until all of its jobs have ended.  On 0 the caller destroys
 * `*ret_world` and tally_fini()s `tally`, which was zeroed.  -ERR_INVALID: none
 * of its jobs is in the part that the options say. */
int fleet_play(const struct fleet_trace *trace,
               const struct fleet_options *options, struct tally *tally,
               struct world **ret_world, struct err *err) must_check;
