/*
 * tally - the figures of a simulation, collected while it runs and summed up at
 * its end.
 *
 *     utilisation   what running pods ask for, of what nodes that are up
 *                   have, over time from the warm-up on
 *     wait          from submission to the first start
 *     slowdown      max(1, (end - submission) / max(run time, 10 s))
 *     due, obtained a queue's demand-capped share and what it holds, the
 *                   leader's own figures, as means over the samples in which
 *                   it wants anything
 *     Jain          (sum x)^2 / (n sum x^2) of x = obtained / due over the
 *                   queues that want something, mean over samples with n > 1
 *     work lost     core and GPU hours of runs that did not end well:
 *                   preempted, lost or failed
 *
 * Shares are also kept sample by sample, of each queue in each pool (a *row*):
 * those of a pool in which a queue neither wants nor has anything are zero and
 * not kept.
 *
 * Floating point is for reading only: nothing here decides anything.
 *
 * Threads: the world's.
 */
#pragma once

#include "base/intern.h"
#include "control/command/forecasts.h"
#include "sim/world/world.h"

/* Where nothing happens for so long, all is over. */
enum { TALLY_STALL_MS = 7 * 24 * 3600 * 1000 };

/* How things stood at one moment. */
struct tally_sample {
    int64_t time_ms;
    struct resource_vec used, capacity;
    uint32_t running_count, queued_count;
    uint32_t share_first, share_count; /* in shares */
};

/* A queue in a pool; in order of first need. */
struct tally_row {
    uint32_t queue;  /* index in queues */
    struct str pool; /* owned by the tally's arena */
};

/* How a row stood at a sample. */
struct tally_share {
    uint32_t row;
    float due, obtained; /* parts of the pool */
};

/* A queue's account. */
struct tally_queue {
    struct str name; /* owned by the tally's arena */
    double due_sum, obtained_sum;
    uint32_t active_count; /* samples in which it wanted something */
    uint64_t submitted_count, started_count, ended_count;
    uint64_t preempted_count;
    double wait_sum_s;
};

struct tally {
    struct world *world; /* set by tally_begin() */
    int64_t warmup_ms;
    struct arena arena;
    VEC(struct tally_sample) samples;
    VEC(struct tally_queue) queues;
    VEC(struct tally_row) rows;
    VEC(struct tally_share) shares;
    struct intern queue_names; /* indexes are those in queues */
    struct intern pool_names;
    struct map row_by_indexes;   /* by queue and pool */
    VEC(uint32_t) queue_of_kind; /* index in queues */
    struct resource_vec used, capacity;
    int64_t integrated_ms; /* the integrals are up to here */
    double used_ms[RESOURCE_COLUMNS_MAX], capacity_ms[RESOURCE_COLUMNS_MAX];
    uint32_t running_count, running_max;
    uint64_t start_count, success_count, failure_count, stop_count;
    uint64_t rejected_count;
    struct str rejection; /* the first reason, in one line; in the arena */
    int64_t end_ms;       /* of the last run */
    double lost_ms[RESOURCE_COLUMNS_MAX]; /* of work, in columns */
    double jain_sum;
    uint32_t jain_count;
    int64_t progress_ms; /* when something happened last */
    uint64_t progress_starts;
    struct forecast_quality forecasts; /* of starts; if any were made */
};

/* What a world's config.watch is to be, for a tally that is zeroed. */
struct world_watch tally_watch(struct tally *tally);
/* The world is there; nodes are in it. */
void tally_begin(struct tally *tally, struct world *world, int64_t warmup_ms);
/* Note how things stand; asks the leader for shares. */
int tally_sample(struct tally *tally, struct err *err) must_check;
/* Whether all is over, or nothing has happened for TALLY_STALL_MS; asked at
 * each sample.  `has_more`: jobs are still to be submitted. */
bool tally_is_over(struct tally *tally, bool has_more);
/* Free it. */
void tally_fini(struct tally *tally);

/* Percentiles of a list. */
struct tally_spread {
    uint64_t count;
    double mean, p50, p90, p99, max;
};

struct tally_result {
    int64_t end_ms;
    uint64_t submitted_count, started_count, succeeded_count, failed_count;
    uint64_t rejected_count;  /* the leader said: they can never start */
    uint64_t cancelled_count; /* by it: their group ended without them */
    uint64_t unstarted_count; /* and were neither rejected nor cancelled */
    uint64_t unended_count;   /* started, and run or wait again */
    uint64_t lost_count;      /* preempted, and do not come back */
    uint64_t preemption_count;
    struct tally_spread wait_s, slowdown;
    double utilisation[RESOURCE_COLUMNS_MAX];
    bool has_jain; /* false: no sample had queues to compare */
    double jain;
    double lost_h[RESOURCE_COLUMNS_MAX]; /* core hours, GPU hours, ... */
};

/* Sum up, as of the world's present moment. */
void tally_finish(struct tally *tally, struct tally_result *ret_result);
