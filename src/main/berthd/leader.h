/*
 * leader - the thread that owns the live state: it steps
 * control/control.h, and waits between steps for commands.
 *
 * Threads: start and stop from one.
 */
#pragma once

#include "control/control.h"
#include "main/berthd/jump_watch.h"
#include "store/store.h"

struct leader;

/* All borrowed until leader_stop(). */
struct leader_options {
    struct elog *log;
    struct store *store; /* asked for client ids that are not recent */
    const struct clock *clock;
    const struct rng *rng;
    const struct policy *policy;
    struct queue_table *queues, *retry_policies;
    int64_t retention_ms;
    int64_t deduplication_ms; /* of client ids */
    struct jump_watch *jumps; /* NULL: the clock is right */
    uint64_t checkpoint_record_count;
    uint32_t planner_thread_count; /* 0: one for each core */
    struct forecasts *forecasts;   /* filled; NULL: none are made */
    int64_t forecast_period_ms;    /* 0: none are made */
    void (*failed)(void *ctx);     /* told once if it cannot go on */
    void *ctx;
};

/* Begin to lead.  NULL with `err` set. */
struct leader *leader_start(const struct leader_options *options,
                            struct err *err) must_check;

/* Where commands are posted; open until leader_stop(). */
struct inbox *leader_inbox(struct leader *leader);

/* Wait until commands are served: true; false if it failed or `timeout_ms`
 * have passed. */
bool leader_wait_ready(struct leader *leader, int timeout_ms) must_check;

/* How things stand; from any thread. */
void leader_metrics(struct leader *leader, struct control_metrics *ret_metrics);

/* Stop after the batch under way, write a checkpoint, and join the thread.
 * Commands that are left have been answered at the return. */
void leader_stop(struct leader *leader);

/* Free it.  Only after leader_stop(); NULL is fine. */
void leader_destroy(struct leader *leader);
