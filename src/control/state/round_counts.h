/*
 * round_counts - counts the decisions and the time of rounds for metrics
 * (model.md 5.8, 6.11): preemptions by reason, and pods that grew and shrank.
 *
 * Since the leader began; no part of its state, and nothing depends on it.
 * The leader's thread counts.
 */
#pragma once

#include <stdint.h>

enum {
    ROUND_COUNTS_REASONS = 8,  /* of enum sched_preemption */
    ROUND_COUNTS_BUCKETS = 15, /* 1 ms, 2 ms, 4 ms, ... */
};

struct sched_decision;
struct sched_plan;

/* Of all rounds. */
struct round_counts {
    uint64_t miss_count; /* searches for a place that found none */
    uint64_t preempted_counts[ROUND_COUNTS_REASONS];
    /* How long those had run. */
    uint64_t preempted_ms[ROUND_COUNTS_REASONS];
    /* Jobs and gangs that took places of others for fairness, and how long they
     * had waited. */
    uint64_t taking_count, taking_waited_ms;
    uint64_t preempting_count;  /* times that work made room for other work */
    uint32_t victim_count_last; /* how much, the last time */
    uint64_t grown_count, shrunk_count; /* pods of gangs that run */
    /* Rounds by their time, in the bucket of the least bound that is not
     * exceeded; the last is for longer ones. */
    uint64_t took_counts[ROUND_COUNTS_BUCKETS + 1];
    /* Likewise, by the time since the oldest submission that they considered
     * first. */
    uint64_t considered_counts[ROUND_COUNTS_BUCKETS + 1];
    uint64_t considered_us_sum;
};

/* A plan was made. */
void round_counts_plan(struct round_counts *counts,
                       const struct sched_plan *plan);
/* Decisions of one group of it are carried out. */
void round_counts_group(struct round_counts *counts,
                        const struct sched_decision *decisions, uint32_t count);
/* What it preempts had run so long. */
void round_counts_lost(struct round_counts *counts,
                       const struct sched_decision *decision, int64_t ran_ms);
/* A round took so long. */
void round_counts_took(struct round_counts *counts, uint64_t took_us);
/* A round ended that could consider, first of all, what was submitted so long
 * ago. */
void round_counts_considered(struct round_counts *counts, uint64_t waited_us);
