/*
 * transitions - counts jobs' changes of state for the metrics, in this leader's
 * time only, so it is no part of the logged state.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/slots.h"
#include "job/table/jobs.h"

struct command;
struct control;

/* Counts by queue, pool and states. */
struct transitions {
    struct map index;
    SLOTS(struct transition {
        uint32_t queue; /* INTERN_NONE: a free slot */
        uint32_t pool;  /* interned, plus 1; 0: none */
        uint32_t next;  /* plus 1: of the queue; 0: the last */
        uint8_t before;
        uint8_t after;
        uint64_t count;
    })
    items;
    struct intern *pools; /* owned; NULL: none yet */
};

/* Count that a job of a queue goes to another state; while leading only. */
void transitions_count(struct control *c, uint32_t queue, struct str pool,
                       const struct jobs_change *change);
/* A job of the queue was leased for the first time, so long after it was
 * submitted; while leading only. */
void transitions_waited(struct control *c, uint32_t queue, int64_t wait_ms);
/* The queue is gone, and its counts with it. */
void transitions_forget(struct control *c, uint32_t queue);
/* Put the counts into the answer of a COMMAND_QUERY_QUEUES. */
void transitions_answer(struct control *c, struct command *command);
/* Free them. */
void transitions_fini(struct control *c);
