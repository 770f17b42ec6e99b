/*
 * state - the live state of a leader: the folded log, what the leader knows
 * besides, and the batch that is being formed.
 *
 * For src/control only.  Threads: the leader's, but for the metrics.
 */
#pragma once

#include <pthread.h>

#include "base/intern.h"
#include "control/control.h"
#include "control/state/batch.h"
#include "control/state/dedup.h"
#include "control/state/periodic_table.h"
#include "control/state/pool_table.h"
#include "control/state/transitions.h"
#include "control/state/window_table.h"
#include "job/run_times/run_times.h"
#include "model/policy.h"
#include "pools/pools.h"

/* Of fold/executors.h. */
struct control_executor;
/* The same. */
struct run_note;
/* Of round/rounds.h. */
struct round_entry;
/* The same. */
struct shard_rounds;
/* Of leader/leader.h. */
struct flight;

/* A queue that is set, or that still has jobs; its index is that of its name,
 * and its handle in the scheduler. */
struct control_queue {
    uint32_t job_count;
    bool is_set;
    uint32_t transition_first; /* of control.transitions, plus 1; 0: none */
    /* Of its jobs that were leased for the first time, for metrics. */
    uint64_t wait_count;
    int64_t wait_ms_sum;
};

/* A scheduling class, by the job table's index of it. */
struct control_class {
    uint32_t sched_class;
    uint32_t job_count;
    uint32_t checked_no;    /* control.loss_no: it fitted then; 0: never */
    uint32_t checked_shard; /* of pools.h: where the job was that did */
    uint64_t checked_pool;  /* a hash of the pool that it named */
};

/* What the scheduler's side of a job is, by the job's index. */
struct job_handles {
    uint32_t queue, class_index;
    bool is_planned; /* the planner has it: it is not held */
};

/* A policy and all that it points to. */
struct policy_box {
    struct arena arena;
    struct policy policy;
    char *text; /* owned */
};

enum { HELD_SHARES_MAX = 64 };

/* What a queue holds of a pool, and its share, while a batch is formed. */
struct held_share {
    uint64_t form_no; /* of that batch; 0: nothing is known */
    uint32_t queue, pool;
    double actual, due;
};

/* Whether the gang that a victim was asked about last is larger than its
 * queue's share. */
struct held_gang {
    uint64_t form_no; /* as above */
    uint32_t gang;
    bool is_gang_over_share;
    struct sched_gang_over_share gang_over_share;
};

struct control {
    struct control_config config;
    /* When the oldest job came that no round could consider yet, for metrics;
     * 0: there is none. */
    uint64_t unplanned_since_ns;
    enum control_state state;
    struct elog_reader *reader;
    struct err stop_text;
    int stop_code;
    char *wanted_policy; /* owned; the configuration's, if it is news */
    uint64_t replay_began_ns;

    /* The live state: what the log says up to `seq`. */
    uint64_t seq, epoch, checkpoint_seq;
    uint64_t events_since_checkpoint;
    /* A checkpoint that is being encoded, a little in each step. */
    struct strbuf snapshot;
    bool is_snapshot_open;
    struct command
        *what_if; /* whom a state is made for, or is to be; or NULL */
    bool is_snapshot_for_what_if;
    int64_t snapshot_ms;
    uint64_t snapshot_seq;
    uint32_t snapshot_pause_us; /* the longest step so far */
    int64_t now_ms;             /* of the last record, or later */
    int64_t told_ms;            /* by control_now_ms(), the last time, */
    uint64_t told_ns;           /* and then */
    struct policy_box *policy;
    bool is_policy_logged; /* it is the log's, not only the configuration's */
    struct jobs *jobs;
    struct pools *pools;
    struct pool_table pool_table;     /* the objects; c->pools goes by them */
    struct window_table window_table; /* likewise by these */
    struct periodic_table periodic_table;
    struct dedup *dedup;
    struct run_times *run_times;
    struct intern queue_names;
    VEC(struct control_queue) queues;
    VEC(struct control_class) classes;
    VEC(struct job_handles) handles;
    struct intern executor_names;
    VEC(struct control_executor *) executors; /* owned; NULL: none */
    VEC(struct time_mark {
        uint64_t seq;
        int64_t time_ms;
    })
    marks;                    /* for retention, oldest first */
    uint32_t conflict_count;  /* nodes that several pools match */
    uint64_t node_generation; /* grows when more could fit */
    uint32_t loss_no;         /* grows when less could; never 0 */
    /* Of the record that is being folded: nodes went, or may hold less; jobs
     * that are to be asked about since. */
    bool has_lost_nodes;
    VEC(uint32_t) news;

    /* What is known beside the log. */
    VEC(struct run_note) notes;
    VEC(uint32_t) unchecked; /* jobs that may fit nowhere; a queue */
    size_t unchecked_first;
    /* Jobs whose pool had no nodes, as of `doubtful_generation`. */
    VEC(uint32_t) doubtful;
    uint64_t doubtful_generation;
    VEC(uint32_t) fresh_members; /* of gangs; their place in them is unsure */
    uint64_t trim_seq;           /* records before it may go; 0: none */
    uint64_t trimmed_seq;        /* where the last trim stopped */
    uint32_t exchange_no, session_no;
    uint64_t stepped_ns;
    uint64_t retry_ns; /* no decisions before, after a failed append */
    bool is_plan_wanted, is_balance_wanted; /* of all shards; see rounds */
    VEC(struct shard_rounds) rounds;        /* by shard */
    uint32_t first_shard;                   /* where the next batch begins */
    uint32_t first_back;               /* likewise, with plans that are back */
    VEC(struct round_entry) round_log; /* since the last record */
    bool holds_plans;    /* somebody waits for all that are being made */
    uint64_t held_since; /* in ns; when questions began to wait, 0: none */
    struct command *waiting_first, *waiting_last;
    size_t waiting_byte_count; /* of them */
    struct batch batch;
    uint64_t form_no;      /* of batches that were formed, also if in vain */
    struct flight *flight; /* owned, or by the log at the end */
    struct arena scratch;
    struct held_share held_shares[HELD_SHARES_MAX]; /* by queue and pool */
    struct held_gang held_gang;

    pthread_mutex_t metrics_mutex;
    struct control_metrics metrics; /* the leader's */
    struct transitions transitions;
    struct control_metrics published;
};

enum { NS_PER_MS = 1000000 };

/* What is so far away comes never, for who waits. */
#define CONTROL_FAR_MS (INT64_C(1) << 40)

/* The time of what is said and decided now: the wall clock's, but never before
 * the last record or what this has told before.  When the wall clock was set
 * back it goes on at half speed until the other has caught up: what waits for a
 * time that was noted ahead must come to its end. */
int64_t control_now_ms(struct control *c);

/* Nanoseconds of the clock that never goes back. */
static inline uint64_t control_mono_ns(const struct control *c)
{
    return c->config.clock->mono_ns(c->config.clock);
}
