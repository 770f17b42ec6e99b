/*
 * control - the leader: it owns the live state and appends to the log.
 *
 *     batch N durable -> apply -> answer its commands -> form batch N + 1 from
 *     commands, what is due to jobs, timeouts and the scheduler's plan
 *     -> append
 *
 * The leader applies and reports only what is durable.  A failed append changes
 * nothing: its commands are answered COMMAND_LOG_FAILED, and the decisions are
 * made again.  Replaying the log runs through the same fold, so a restart goes
 * on where the log ends.
 *
 * A step function over ports: it never sleeps, asks only `clock` for the
 * time, and draws randomness once in the life of a log.  Time in events is
 * the wall clock's, but never runs backwards.
 *
 * An executor's silence counts only while steps are made: a pause of the leader
 * longer than CONTROL_PAUSE_MS, and all time before it led, does not count
 * (design.md 6).
 *
 * Threads: one owner, the leader's thread, but for control_metrics().  The
 * queue tables may be read from any thread.
 */
#pragma once

#include "base/clock.h"
#include "base/rng.h"
#include "control/command/command.h"
#include "control/command/queue_table.h"
#include "control/state/round_counts.h"
#include "elog/elog.h"

enum {
    CONTROL_DECISIONS_MAX = 10000, /* in a batch; more only for one gang */
    CONTROL_BATCH_BYTES = 8 << 20, /* commands beyond it wait */
    CONTROL_BATCH_BYTES_MAX = ELOG_PAYLOAD_BYTES_MAX,
    CONTROL_WAKE_MS_MAX = 1000,      /* control_step asks for no longer pause */
    CONTROL_PATIENCE_MS = 200,       /* of questions, with plans being made */
    CONTROL_FAST_MS = 10,            /* from an event to the fast round */
    CONTROL_PAUSE_MS = 5000,         /* without a step: we were not there */
    CONTROL_DUPLICATE_ID_MS = 20000, /* who is silent so long gives it up */
    CONTROL_CHECKPOINT_EVENTS = 1000000,
    CONTROL_DEDUPLICATION_MS = 7 * 24 * 3600 * 1000,
    CONTROL_FORMAT_VERSION = 1, /* of the records' payloads */
    /* 2: cordons of nodes; 3: pools; 4: TrainingJobs; 6: run times; 7:
     * maintenance windows; 8: periodic jobs. */
    CONTROL_CHECKPOINT_VERSION = 8,
};

/* What the leader is doing. */
enum control_state {
    CONTROL_STARTING,  /* not the writer yet */
    CONTROL_REPLAYING, /* reading the log */
    CONTROL_LEADING,   /* commands are served */
    CONTROL_STOPPED,   /* fenced, or the log broke */
};

/* What others know or want to know; each may be NULL. */
struct control_hooks {
    void *ctx;
    /* Record `seq` has become durable and is applied. */
    void (*durable)(void *ctx, uint64_t seq);
    /* While leading: a waiting job was rejected, for it can never start.
     * `reason` is borrowed until the return. */
    void (*rejected)(void *ctx, struct job_id job, struct str reason);
    /* While leading: a waiting job failed, for its gang started without it.
     * NULL: nobody wants to know. */
    void (*left_out)(void *ctx, struct job_id job);
    /* While leading: a job was cancelled, by a user or with its group.  NULL:
     * nobody wants to know. */
    void (*cancelled)(void *ctx, struct job_id job);
    /* While leading: a job has a place since `at_ms`.  NULL: nobody wants to
     * know. */
    void (*leased)(void *ctx, struct job_id job, int64_t at_ms);
    /* An executor was refused, for another of its id holds a stream. */
    void (*duplicate_id)(void *ctx, struct str executor_id);
    /* While leading: an executor was silent for so long that it gets no more
     * leases, that its runs are lost, or it is back.  Only of what changed. */
    void (*executor_changed)(void *ctx, struct str executor_id,
                             enum executor_state state);
    /* A state is being set up from a checkpoint: whether to go on, asked about
     * every thousand jobs and nodes.  A negative code, which control_step()
     * returns, ends it.  NULL: it goes on. */
    int (*goes_on)(void *ctx, struct err *err);
    /* The last record that find_client_id knows of. */
    uint64_t (*stored_seq)(void *ctx);
    /* The job submitted to `queue` with `client_id` in a record up to
     * stored_seq: 1, 0 if there is none, or a negative code.  Asked only for
     * ids that are not recent; one older than deduplication_ms may be
     * unknown. */
    int (*find_client_id)(void *ctx, struct str queue, struct str client_id,
                          struct job_id *ret_job);
    /* Whether records may be trimmed by what the clock says now; NULL: yes. */
    bool (*may_trim)(void *ctx);
    /* Whether checkpoint() would store one now: else none is made until it
     * does.  NULL: yes. */
    bool (*may_checkpoint)(void *ctx);
    /* Store `bytes` as the checkpoint after record `seq`, in its own time;
     * takes `bytes` (mem_free).  NULL: elog_checkpoint_put() at once. */
    void (*checkpoint)(void *ctx, uint64_t seq, char *bytes, size_t byte_count);
    /* Answer a COMMAND_WHAT_IF in its own time, from whichever thread, from
     * the live state of time `now_ms` as a checkpoint has it; takes both
     * (mem_free).  NULL: the command is answered COMMAND_UNAVAILABLE. */
    void (*what_if)(void *ctx, struct command *command, char *bytes,
                    size_t byte_count, int64_t now_ms);
};

struct control_config {
    struct elog *log;            /* borrowed; ours alone to append to */
    const struct clock *clock;   /* borrowed */
    const struct rng *rng;       /* borrowed */
    struct inbox *inbox;         /* borrowed */
    const struct policy *policy; /* only read during control_create() */
    struct queue_table *queues;  /* borrowed; filled and kept up to date */
    struct queue_table *retry_policies; /* likewise */
    struct control_hooks hooks;
    struct planner *planner;    /* borrowed; NULL: plans are made in the step.
                                   Asked only while there are pool objects */
    uint64_t checkpoint_events; /* 0: CONTROL_CHECKPOINT_EVENTS */
    int64_t retention_ms;       /* of records; 0: all are kept */
    /* For how long a repeated client id finds its job; then it is a new job.
     * 0: CONTROL_DEDUPLICATION_MS.  Only new jobs are logged, so it may differ
     * from one start to the next. */
    int64_t deduplication_ms;
    /* Plan only when nothing else is to be said, so on a state that holds all
     * that is known.  For simulations of logs in which what happens at one
     * moment happens before it is decided about. */
    bool plans_alone;
};

/* How things stand; counts are since the start. */
struct control_metrics {
    enum control_state state;
    uint64_t seq; /* last applied */
    uint64_t batch_count, batch_failed_count, event_count;
    uint64_t submitted_count, duplicate_count;
    uint64_t leased_count, succeeded_count, failed_count, cancelled_count,
        preempted_count, requeued_count, late_count;
    uint64_t fast_round_count, balance_round_count;
    uint64_t spent_round_count; /* ended by the work that they may do */
    uint64_t round_us_last, round_us_max, round_us_sum;
    uint64_t replayed_record_count;
    int64_t replay_ms;
    uint64_t checkpoint_count;
    uint32_t checkpoint_pause_us_last;
    uint64_t what_if_count; /* states that were given for them */
    uint32_t what_if_pause_us_last;
    uint32_t job_count, queued_count, leased_now_count, pending_count,
        running_count;
    uint32_t queue_count, executor_count, node_count, session_count;
    uint32_t quarantined_count, trial_count;  /* nodes */
    uint32_t window_count, open_window_count; /* maintenance windows */
    /* Periodic jobs, and how many of them have a next moment. */
    uint32_t periodic_count, active_periodic_count;
    uint64_t periodic_counts[PERIODIC_REFUSED + 1]; /* moments, by outcome */
    uint64_t duplicate_id_count; /* exchanges refused: the id is another's */
    uint32_t dedup_count;
    struct round_counts rounds;
};

struct control;

/* A leader that has not started yet; step it.  Never fails. */
struct control *control_create(const struct control_config *config) must_check;
/* Answers everything UNAVAILABLE, releases all sessions.  A record in flight
 * is the log's until it is closed, which must be after this.  NULL is fine. */
void control_destroy(struct control *control);
DEFINE_AUTO(control, control_destroy)

/* Do what can be done now, about one batch of it.  Returns in how many ms to
 * call again at the latest (0: there is more to do), or
 *     -ERR_FENCED   another leader has taken over: stop
 *     -ERR_IO       the log no longer takes appends: open it anew
 *     -ERR_CORRUPT, -ERR_VERSION, -ERR_NOT_FOUND
 *                   the log cannot be replayed; the text says why
 * after which the state is CONTROL_STOPPED and all is answered UNAVAILABLE. */
int control_step(struct control *control, struct err *err) must_check;

/* What it is doing; from the leader's thread. */
enum control_state control_state(const struct control *control);

/* Write a checkpoint now, if the last record has none; for a clean stop. */
int control_checkpoint(struct control *control, struct err *err) must_check;

/* How things stood after the last step; from any thread. */
void control_metrics(struct control *control,
                     struct control_metrics *ret_metrics);

/* Append the live state in canonical form: what two leaders that have folded
 * the same log must have in common, byte for byte.  What a leader begins anew
 * is begun anew first: sweeps of plans, and where borrowers wait.  For tests;
 * no plan may be out. */
void control_encode_state(struct control *control, struct strbuf *buf);
/* Abort unless the scheduler's and the job table's views agree.  For tests. */
void control_assert_valid(struct control *control);
