/*
 * batch - the content of a batch while it is formed and in flight.  Events are
 * added in the order of leader/form.c; none of them is true before the batch is
 * durable and folded.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "control/command/command.h"
#include "wire/log/log_codec.h"

/* The batch that is being formed or in flight. */
struct batch {
    struct log_batch log;
    struct command *first, *last; /* answered when it is durable */
    VEC(uint32_t) due;            /* jobs; dirty again if it fails */
    VEC(struct job_id) fresh;     /* jobs submitted in it with a client id */
    struct map fresh_by_key;      /* to their place in `fresh` */
    VEC(uint64_t) touched;        /* bits by job: decided in it, or ended */
    VEC(uint32_t) touched_jobs;
    VEC(uint32_t) leaving; /* gangs of which users have jobs preempted in it */
    struct arena arena;
    uint64_t on_seq; /* of the state that it is decided on */
    uint64_t seq;
    int64_t time_ms;
    uint32_t decision_count;
    uint32_t submit_count;
    uint32_t fresh_node_count; /* of inventories; at least */
    uint32_t quiet_count;      /* events that alone are worth no record */
    VEC(uint32_t) planned;     /* shards with a plan in it */
    bool is_in_flight, is_told, is_announcement;
    bool deletes_a_queue; /* submissions wait for the batch after it */
    bool changes_pools;   /* no plan may begin before it is folded */
    bool moves_nodes;     /* from pool to pool; what was planned waits for it */
    bool changes_windows; /* of maintenance; the next such request waits */
    bool is_counted;      /* executors' in_batch_count is this batch's */
    bool has_training;    /* so do further commands about TrainingJobs */
    bool has_periodic;    /* likewise about periodic jobs */
    int result;
    struct str payload; /* borrowed from `log` */
};

/* Forget all of the batch but its memory. */
void batch_clear(struct batch *batch);
/* Whether its parts agree: jobs that are touched, plans, client ids. */
bool batch_is_sound(const struct batch *batch);
/* Put a command on the batch's list: answered with the batch. */
void batch_keep(struct batch *batch, struct command *command);
/* Whether a job is decided or ended in the batch that is being formed. */
bool batch_is_touched(const struct batch *batch, uint32_t job);
/* Mark it so. */
void batch_touch(struct batch *batch, uint32_t job);
