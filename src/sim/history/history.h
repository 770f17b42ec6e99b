/*
 * history - what a server's log says of the past, to be played again: jobs as
 * they were submitted, how long they ran, nodes as they came and went, queues
 * and the policy.
 *
 * How long a job runs is what its last whole run took.  Of a job that has none
 * (it waited, or still ran, at the end) it is *drawn*: from the whole runs of
 * its queue, or of all queues if that has none, and never less than it ran for.
 * This is what seeds are for.  Left out are jobs that users cancelled while
 * they waited; holds, dependencies, retry policies and cordons are not kept,
 * and a queue with its limits, a pool and the policy are as they were at the
 * end.
 *
 * Times are ms since the log's first record.  Ownership: all is in the
 * history's arena.  Threads: one.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "elog/elog.h"
#include "model/policy.h"
#include "sim/world/world.h"

enum { HISTORY_JOBS_MAX = 1 << 24, HISTORY_SAMPLES = 240 };

/* A job as it was. */
struct history_job {
    int64_t submitted_ms;
    int64_t started_ms, ended_ms; /* -1: not */
    int64_t run_ms;               /* -1: to be drawn */
    int64_t ran_ms;               /* so far, if it still ran */
    uint32_t kind, queue;         /* indexes */
    uint32_t request;             /* which submission it came with */
    uint32_t preempted_count;
    bool is_failing, is_left_out;
    struct str gang_id, gang_terms;
    uint32_t gang_cardinality, gang_minimum, sub_group;
};

/* A queue at the end. */
struct history_queue {
    struct str name;
    struct str encoded; /* api.Queue; "": it is known by its jobs alone */
    double factor;
};

/* A node that was there at any time. */
struct history_node {
    struct node_record record;
    uint32_t executor;
    bool is_there;    /* at the end */
    int64_t since_ms; /* if it is */
};

/* A node came or went. */
struct history_shift {
    int64_t at_ms;
    uint32_t node;
    bool is_down;
};

/* How many jobs ran and waited at a moment. */
struct history_sample {
    uint32_t running_count, queued_count;
};

struct history {
    struct arena arena;
    int64_t began_ms; /* wall time */
    int64_t span_ms;
    struct policy policy;
    VEC(struct history_job) jobs;
    VEC(struct world_kind) kinds;
    VEC(struct history_queue) queues;
    VEC(struct str) executors;
    VEC(struct history_node) nodes;
    VEC(struct history_shift) shifts;
    VEC(struct pool_record) pools;
    VEC(uint32_t) whole; /* jobs whose whole run is known */
    int64_t start_ms;    /* from a lease to a pod that runs: the mean */
    uint32_t left_out_count;
};

/* Read all of a log.  The caller history_fini()s it.  Where its first records
 * are gone, what they set is as the newest checkpoint has it, and jobs from
 * before are not known.  -ERR_NOT_FOUND: there is no job in it; others as
 * elog_read(). */
int history_read(struct elog_reader *reader, struct history *ret_history,
                 struct err *err) must_check;
/* Free it. */
void history_fini(struct history *history);

/* What is to be other than it was. */
struct history_changes {
    struct policy *policy; /* NULL: the same */
    VEC(struct history_weight {
        uint32_t queue;
        double weight;
    })
    weights;
    VEC(struct history_more {
        struct str like; /* the name of a node; "": the first */
        uint32_t count;
    })
    nodes; /* from the beginning on */
};

/* A queue's part of a result. */
struct history_queue_result {
    uint32_t submitted_count, started_count;
    double mean_wait_s; /* as below */
};

/* What came of it, up to the end. */
struct history_result {
    double started_count, succeeded_count, unstarted_count, preemption_count;
    /* From the submission to the first start; of who ended without one to that
     * end, of others to the end of the history: of all jobs. */
    double mean_wait_s, p50_wait_s, p90_wait_s;
    double use; /* of CPUs, as a part of what there was; -1: nothing */
    double gpu_use;
    struct history_queue_result *queues; /* owned; by history.queues */
    struct history_sample samples[HISTORY_SAMPLES];
};

enum { HISTORY_FIGURES = 9 };
/* The figures of a result, in order, and what they are called. */
extern const char *const history_figure_names[HISTORY_FIGURES];
double history_figure(const struct history_result *result, uint32_t figure);

/* What was. */
void history_as_it_was(const struct history *history,
                       struct history_result *ret_result);
/* Play it to its end; NULL `changes`: by the same rules.  -ERR_NOT_FOUND: there
 * was no such node to add; -ERR_LIMIT: more than EXECUTORS_MAX or NODES_MAX. */
int history_play(const struct history *history,
                 const struct history_changes *changes, uint64_t seed,
                 struct history_result *ret_result, struct err *err) must_check;
/* Free what it holds. */
void history_result_fini(struct history_result *result);

/* Append a picture of how many jobs ran and waited: as it was, by the same
 * rules, and by the others. */
void history_svg(const struct history *history,
                 const struct history_result *const results[3],
                 struct strbuf *out);
