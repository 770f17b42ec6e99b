/*
 * fake - a runtime without processes: thousands of nodes and pods, for load
 * tests and the simulator.
 *
 * A pod is pending for the start delay, then runs for a time drawn from the
 * distribution, then succeeds or, with the given probability, fails.  What is
 * drawn depends on the seed and the run id alone, not on the order of events.
 * Annotations of the job decide instead where they are there:
 *
 *     berth.dev/fakeRunMs     how long it runs
 *     berth.dev/fakeExitCode  how it ends (0 succeeds)
 *
 * It remembers nothing across restarts: what had not ended is leased to it once
 * more, by the same run ids, and the executor reports it lost.
 *
 * What goes wrong in a cluster is played by the options and by the functions
 * below: creations that take their time, or end otherwise; requests that get
 * lost; pods that appear, vanish or end for reasons of the cluster's; nodes
 * that come and go.  Threads: as runtime.h says; logs() always answers
 * -ERR_NOT_FOUND.
 */
#pragma once

#include "base/clock.h"
#include "executor/runtime.h"

enum {
    FAKE_NODES_MAX = 200000,
    FAKE_PODS_MAX = RECONCILE_ROWS_MAX,
    FAKE_GROUPS_MAX = 256,
};

/* How run times are spread; `a` and `b` are options. */
enum fake_distribution {
    FAKE_FIXED,       /* a */
    FAKE_UNIFORM,     /* a to b */
    FAKE_EXPONENTIAL, /* mean a, cut at 20 times that */
};

/* Nodes that are alike; they are named <executor>-<name>-<index>. */
struct fake_group {
    struct str name;
    uint32_t count;
    struct node_record node; /* its name is not used */
};

struct fake_options {
    struct str executor_id;
    uint64_t seed;
    const struct fake_group *groups;
    uint32_t group_count;
    enum fake_distribution distribution;
    int64_t run_a_ms, run_b_ms;
    int64_t list_delay_ms;   /* until RUNTIME_LISTED */
    int64_t create_delay_ms; /* until a creation has ended */
    int64_t start_delay_ms;
    bool is_start_missed;         /* RUNNING is never told, as by a runtime that
                                   * looks seldom: the end comes alone */
    uint32_t failure_ppm;         /* 0..1000000 */
    struct resource_list pending; /* others ask for, and find no node for */
};

/* 500 nodes of 8 cpu, 128Gi and 256Gi of storage; pods run 1 s and succeed. */
void fake_options_default(struct fake_options *ret_options);

/* Others take `milli` of a resource of a node from now on, in all; false: there
 * is no such node. */
bool fake_take(struct runtime *runtime, struct str node, struct str resource,
               int64_t milli);

/* Others ask for so much of a resource and find no node for it, from now on,
 * in all. */
void fake_want(struct runtime *runtime, struct str resource, int64_t milli);

/* A disruption budget protects these runs from now on, and no others; copied.
 * A fake's runtime has no budgets but these. */
void fake_protect(struct runtime *runtime, const struct run_id *runs,
                  uint32_t run_count);

/* Creations that are begun from now on end by this: CREATED (`text` warns),
 * RETURNED or REFUSED. */
void fake_answer(struct runtime *runtime, enum runtime_change_kind kind,
                 enum runtime_scope scope, struct str text);

/* The next `count` stops and forgets get lost. */
void fake_lose_requests(struct runtime *runtime, uint32_t count);

/* A pod that is in `pod->phase` and was never asked for is there. */
void fake_appear(struct runtime *runtime, const struct runtime_pod *pod);

/* A pod ends for a reason of the cluster's; with RUNTIME_CAUSE_LOST it is gone.
 * Nothing happens to one that is unknown or has ended. */
void fake_end(struct runtime *runtime, struct run_id run,
              enum runtime_cause cause, struct str text);

/* A pod is reached there, and has used that much; copied.  Nothing happens to
 * one that is unknown. */
void fake_tell(struct runtime *runtime, struct run_id run, int32_t port,
               struct str address, const struct resource_list *used);

/* A node is there, or is now as the record says. */
void fake_put_node(struct runtime *runtime, const struct node_record *record);

/* A node is gone, and its pods with it; false: it was not there. */
bool fake_remove_node(struct runtime *runtime, struct str node);

/* A runtime on `clock` (borrowed).  Options are copied.  -ERR_LIMIT: more
 * nodes than FAKE_NODES_MAX; -ERR_INVALID. */
int fake_open(const struct fake_options *options, const struct clock *clock,
              struct runtime **ret_runtime, struct err *err) must_check;
