/*
 * sched_handles - shared by the planner's whole interface: the state, handles
 * into it, and their bounds.
 *
 * Handles are u32.  Queues and jobs have the caller's dense indexes (small
 * numbers, reused only after removal); classes and nodes the indexes that
 * are returned by what adds them.  SCHED_NONE is no handle.
 */
#pragma once

#include "model/event.h"
#include "model/policy.h"

enum {
    SCHED_NONE = UINT32_MAX,
    SCHED_JOBS_MAX = 1 << 27,
    SCHED_CLASSES_MAX = 1 << 24,
    SCHED_AVOIDED_NODES_MAX = 64, /* per job; the oldest are forgotten */
    SCHED_DECISIONS_MAX = 1 << 24,
};

/* Of promises: none can be given. */
#define SCHED_START_UNKNOWN INT64_MAX

/* The state. */
struct sched;
