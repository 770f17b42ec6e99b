/*
 * planner - a port for planning in parallel to the leader, and the threads
 * behind it.
 *
 * The leader hands out a task and polls until it is done; until then only the
 * planner may use its state.  Without a planner the leader plans in its own
 * step, which is what simulators and most tests want: the same calls then give
 * the same log.
 *
 * Threads: the functions of the port are called by the leader's thread.
 */
#pragma once

#include "base/base.h"
#include "sched/sched.h"

enum { PLANNER_THREADS_MAX = 64 };

/* A plan to be made.  The leader owns it, and leaves it alone until it is
 * done. */
struct planner_task {
    struct sched *sched;
    int64_t now_ms;
    enum round_kind kind;
    uint32_t decision_count_max;
    struct str pool;           /* whose, for tests: "" is Default */
    struct sched_plan plan;    /* the answer */
    bool is_done;              /* the implementation's */
    struct planner_task *next; /* likewise */
};

/* The port. */
struct planner {
    /* Begin a task; never waits. */
    void (*begin)(struct planner *planner, struct planner_task *task);
    /* Whether it is done. */
    bool (*is_done)(struct planner *planner, const struct planner_task *task);
    /* Wait until it is. */
    void (*wait)(struct planner *planner, struct planner_task *task);
};

/* Start that many threads; `done` is called by one of them after each task,
 * or NULL.  NULL: the error says why. */
struct planner *planner_threads_start(uint32_t thread_count,
                                      void (*done)(void *ctx), void *ctx,
                                      struct err *err) must_check;
/* Stop them; no task may be out.  NULL is fine. */
void planner_threads_stop(struct planner *planner);
