/*
 * anew - a world made again of what a leader that starts has: jobs, leases and
 * what a checkpoint carries; and whether it is the same, and plans the same.
 *
 *     anew_begin(), then queues and nodes as they are told, then anew_fill()
 */
#pragma once

#include "world.h"

/* What of a world's jobs the log has beside the world. */
struct past {
    bool was_leased[WORLD_JOBS_MAX];
    int64_t leased_ms[WORLD_JOBS_MAX]; /* of those that are; else -1 */
    uint32_t avoided[WORLD_JOBS_MAX];  /* nodes, as bits */
};

/* Before anything has happened. */
void past_begin(struct past *past);
/* After each change of who runs. */
void past_note(struct past *past, const struct world *world, int64_t now_ms);

/* A fresh world that goes by the policy of another. */
void anew_begin(struct world *fresh, const struct world *world, int64_t now_ms);
/* Tell it of jobs and leases, and give it what a checkpoint carries; the old
 * one is to look at everything again, as the new one does. */
void anew_fill(struct world *fresh, struct world *world,
               const struct past *past);
/* Whether its sums are right, and a checkpoint would carry the same. */
bool anew_is_same(const struct world *fresh, const struct world *world);
/* Whether two states plan the same, and ask to be planned again at the same
 * time; or whether one decides the same twice. */
bool anew_plans_same(struct sched *a, struct sched *b, int64_t now_ms,
                     enum round_kind kind);

/* Print the decisions of a plan. */
void show_plan(const struct sched_plan *plan);
