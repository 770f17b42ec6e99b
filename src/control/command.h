/*
 * command - what the API asks of the leader, and how the answer comes back.
 *
 * The API threads do the heavy work (decode, check, encode) and post a
 * command to the leader's inbox.  The leader takes commands in order, looks
 * at the state, appends what follows from them to the log, and answers each
 * once its batch is durable (or at once when nothing has to be logged).
 *
 * Ownership: a command and all it points to live in the command's own arena.
 * The poster creates it, fills it and posts it; from then on it is the
 * leader's until `done` is called (exactly once, on the leader's thread, also
 * at shutdown); `done` may take it apart and must end with command_destroy().
 *
 * Threads: inbox_post() may be called from any thread; the rest from one.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "model/event.h"
#include "model/policy.h"

enum {
    INBOX_COMMANDS_MAX = 4096,
    INBOX_BYTES_MAX = 256 << 20, /* of all commands that wait */
    SUBMIT_ITEMS_MAX = 100000,
    COMMAND_BYTES_MAX = 32 << 20, /* of one that is to be logged */
    APPLICATION_ROWS_MAX = 10000, /* in one answer */
    POOL_NODE_NAMES_MAX = 10000,  /* in one answer, of all pools */
    POOL_POD_NAMES_MAX = 1000,    /* likewise */
};

enum command_kind {
    COMMAND_SUBMIT,           /* answers job ids */
    COMMAND_EVENTS,           /* append sequences as they are; no answer data */
    COMMAND_EXCHANGE,         /* an executor's lease request */
    COMMAND_QUERY_REPORT,     /* text of a scheduling report */
    COMMAND_QUERY_QUEUES,     /* queues and shares, for metrics and the CLI */
    COMMAND_QUERY_APPS,       /* applications of queues and their states */
    COMMAND_EXPLAIN,          /* why a job waits */
    COMMAND_QUERY_ADMISSIONS, /* which of some jobs are admitted */
    COMMAND_QUERY_NODES,      /* nodes, their capacity and their state */
    COMMAND_QUERY_EXECUTORS,  /* executors, and what they offer */
    COMMAND_QUERY_POOLS,      /* pools as objects, and how they stand */
    COMMAND_POOL_METRICS,     /* the same with names; without objects none */
    COMMAND_SESSION_END,      /* the stream of a held exchange has ended */
    COMMAND_TRAINING_UPDATE,  /* change the class of a TrainingJob */
    COMMAND_TRAINING_DELETE,  /* cancel what is left of it, and forget it */
    COMMAND_QUERY_TRAINING,   /* TrainingJobs and how they stand */
    COMMAND_QUERY_GANGS,      /* gangs and how they stand */
};

/* How a command ended. */
enum command_result {
    COMMAND_OK = 0,
    COMMAND_UNKNOWN_QUEUE, /* submit: the queue was deleted meanwhile */
    COMMAND_NOT_FOUND,     /* what was named does not exist */
    COMMAND_UNAVAILABLE,   /* not leading, replaying, or stopping */
    COMMAND_LOG_FAILED,    /* the log refused; text says how */
    COMMAND_OVERLOADED,    /* a named limit; text says which */
    COMMAND_INVALID,       /* text says what */
    COMMAND_EXISTS,        /* what was named does already; text says what */
};

/* One job to submit.  `event` is an encoded armadaevents
 * EventSequence.Event (created and submitJob with its digest). */
struct submit_item {
    struct job_id job;
    struct str client_id; /* "": never de-duplicated */
    struct str event;
    struct job_id ret_job; /* answer: job, or the original of a duplicate */
    bool is_further;       /* of the group of the item before it: goes with the
                              first of them, which has the client id and is
                              the answer for all */
};

/* One sequence to append: `bytes` is an encoded armadaevents.EventSequence.
 * The leader applies it like any other fact of the log. */
struct event_sequence {
    struct str bytes;
};

/* A run that an executor reports to hold. */
struct reported_run {
    struct run_id run;
};

struct exchange_session;

/* What an executor says of itself (a LeaseRequest, decoded). */
struct exchange_request {
    struct exchange_session *session; /* see session.h; NULL: one-shot */
    struct str executor_id;
    uint64_t instance; /* of the program; 0: it does not say */
    struct str pool;
    const struct node_record *nodes;
    uint32_t node_count;
    const struct str *nodes_gone; /* delta: names of nodes that are gone */
    uint32_t nodes_gone_count;
    bool has_nodes;   /* false: unchanged since the last exchange */
    bool is_full;     /* nodes not listed are gone; runs not listed too */
    bool has_pending; /* else it is as before: */
    struct resource_list pending;        /* what others ask for in vain */
    bool has_protected;                  /* else it is as before: */
    const struct run_id *protected_runs; /* by disruption budgets; all */
    uint32_t protected_count;            /* up to PROTECTED_RUNS_MAX */
    const struct run_id *runs;           /* held (full) or newly held (delta) */
    uint32_t run_count;
    const struct run_id *runs_gone; /* delta: no longer held */
    uint32_t runs_gone_count;
    uint32_t lease_max; /* max_jobs_to_lease; of a session: its credit */
};

/* One run to start. */
struct exchange_lease {
    struct job_id job;
    struct run_id run;
    struct str queue, job_set, user;
    struct str node_name, pool;
    bool is_preemptible;
    /* Tolerations and annotations that scheduling added are rebuilt by the
     * API from these. */
    struct str gang_uniformity_label, gang_uniformity_value;
    const struct taint *away_taints; /* of nodes not its home, to tolerate */
    uint32_t away_taint_count;
};

/* The answer to an exchange; lives in the command's arena. */
struct exchange_response {
    struct exchange_lease *leases;
    uint32_t lease_count;
    struct run_id *cancels; /* unknown or ended here: delete their pods */
    uint32_t cancel_count;
};

/* How many applications of a queue are in which state. */
struct application_counts {
    bool is_by_applications; /* false: the queue keeps none */
    uint32_t accepted, starting, running, completing, completed;
};

/* One application of a queue that goes by them. */
struct application_row {
    struct str queue, id;
    struct str state; /* "Accepted", "Starting", ... */
    int64_t since_ms; /* in this state */
    int64_t until_ms; /* which ends by itself then; 0: it does not */
    int64_t submitted_ms;
    uint32_t ask_count, allocation_count; /* jobs that wait, are leased */
    bool has_stateaware_off;
};

/* Share and usage of one queue in one pool, as of the last round. */
struct queue_share {
    struct str queue, pool;
    int64_t weight_micro;       /* 1 / priority factor */
    int64_t fair_share_ppm;     /* w / sum of w over active queues */
    int64_t adjusted_share_ppm; /* demand-capped, water-filled */
    int64_t actual_share_ppm;   /* dominant share of what is leased */
    int64_t demand_share_ppm;   /* of all it has queued and leased */
    int64_t usage_ppm;          /* of what is leased or admitted */
    int64_t flow_ppm;           /* usage, with what is remembered of it */
    int64_t infinite_flow_ppm;  /* of what has an infinite lifetime */
    int64_t infinite_limit_ppm; /* that this may be; -1: no limit */
    /* The excess budget, in thousandths of resource-minutes; -1: none. */
    int64_t budget_milli, budget_left_milli;
    uint32_t queued_count, leased_count, pending_count, running_count;
    uint32_t job_count;        /* that have not ended, in all pools */
    uint32_t considered_count; /* jobs that the last round looked at */
    bool is_cordoned;
    struct application_counts applications; /* of the queue, in all pools */
    struct resource_list allocated;         /* to what is leased; no zeros */
};

/* One node as it is now. */
struct node_status {
    struct str name, executor, pool;
    const char *state; /* ready, cordoned, stale, lost, quarantined, pinned,
                          trial */
    struct str reason; /* of the state; "" when there is none */
    struct resource_list capacity, free; /* no zeros */
    uint32_t run_count;
    int64_t until_ms;                   /* quarantined: until then */
    uint64_t ended_count, failed_count; /* runs in the quarantine's window */
};

/* What an executor offers to a pool. */
struct executor_status {
    struct str name, pool; /* pool: "" while it has no nodes */
    const char *state;     /* live, stale (silent: no new leases), lost */
    bool is_cordoned;
    struct str cordon_reason;
    bool is_held;             /* over a held stream */
    int64_t silent_ms;        /* since it was last heard */
    uint32_t node_count;      /* in the pool */
    uint32_t open_node_count; /* of them, those that get new work */
    uint32_t run_count;       /* on them */
    struct resource_list capacity, available, free; /* of all nodes, of those
                                 that are open, what is free there; no zeros */
};

/* What pools as objects are told of (model.md 5.8). */
enum pool_amount_kind {
    POOL_AMOUNT_CPU,
    POOL_AMOUNT_GPU,
    POOL_AMOUNT_MEMORY,
    POOL_AMOUNT_STORAGE,
    POOL_AMOUNT_PODS,
    POOL_AMOUNT_NODES,
    POOL_AMOUNTS,
};

/* Of one pool; `total`: of all pools what is allocatable. */
struct pool_amount {
    int64_t capacity_milli, allocatable_milli, total_milli;
    int64_t used_milli;   /* by all pods on its nodes; of it ... */
    int64_t shared_milli; /* ... by jobs at home elsewhere ... */
    int64_t system_milli; /* ... and by pods that are not ours */
    int64_t pending_milli;
};

/* How a pool stands. */
struct pool_row {
    struct str name;
    struct str encoded; /* berth.api.Pool; "" of the Default pool */
    bool is_default;
    bool is_preemption_off, is_borrowing_off, is_sharing_off;
    uint32_t node_count;
    uint32_t queued_own_count, queued_foreign_count;
    uint32_t running_own_count, running_foreign_count;
    uint32_t conflict_count; /* nodes that several pools match; in Default */
    int64_t age_ms; /* the pool is being planned, and counts and amounts are so
                       old; 0: they are as of now */
    struct pool_amount amounts[POOL_AMOUNTS];
    /* Of metrics: names of its nodes, and of pods that wait; the first so
     * many. */
    const struct str *nodes, *pods;
    uint32_t node_name_count, pod_name_count;
};

/* By which rules is planned in a pool. */
struct pool_rules {
    struct str name;
    struct pool_policy policy; /* without its name and floating resources */
};

/* Whether a job that waits is admitted, and what it was promised; whether one
 * that has a node is preempted if that is asked for. */
struct admission_status {
    struct job_id job;
    bool is_admitted; /* answer */
    int64_t start_ms; /* answer: the latest start; 0: unknown */
    bool is_kept;     /* answer: it has a node, and is not preempted */
};

enum { TRAINING_ROW_PARTS_MAX = 4, TRAINING_POD_KINDS = 6 };

/* A component of a TrainingJob. */
struct training_part_row {
    struct str type; /* TRAINER and the like */
    uint32_t min_count;
    uint32_t counts[TRAINING_POD_KINDS]; /* of its pods that wait, start, run,
                                            succeeded, failed, are cancelled */
};

/* A TrainingJob and how it stands. */
struct training_row {
    struct str encoded; /* berth.api.TrainingJob, without ids of jobs */
    const char *phase;
    struct str reason;
    int64_t created_ms, started_ms, completed_ms; /* 0: not yet */
    struct training_part_row parts[TRAINING_ROW_PARTS_MAX];
    uint32_t part_count;
};

/* A sub-group of a gang; of a plain gang the one that it is, without a name. */
struct gang_part_status {
    struct str name;
    uint32_t min_count, max_count;
    uint32_t waiting_count, running_count, succeeded_count, failed_count;
    bool is_auxiliary;
};

/* A gang and how it stands. */
struct gang_status {
    struct str queue, job_set, gang_id;
    struct job_id oldest;   /* of its jobs that have not ended */
    const char *kind;       /* gang, podgroup or trainingjob */
    int64_t below_since_ms; /* it has less than its minimum; 0: it has not */
    struct gang_part_status *parts;
    uint32_t part_count;
    struct job_id *jobs; /* if wanted: those that have not ended, by id */
    uint32_t job_count;
};

/* How often jobs of a queue went from one state to another, since this leader
 * began to lead. */
struct job_transition {
    struct str queue, pool; /* pool: "" before it has one */
    const char *before, *after;
    uint64_t count;
};

struct command;
/* Told that a command was answered. */
typedef void command_done_fn(struct command *command, void *ctx);

struct command {
    enum command_kind kind;
    struct arena arena; /* all strings and arrays below */
    struct event_scope scope;
    union {
        struct {
            struct submit_item *items;
            uint32_t item_count;
            /* A TrainingJob that the items are the pods of; "": none.  Its
             * event is an encoded EventSequence.Event. */
            struct str training_name, training_event;
        } submit;
        struct {
            struct event_sequence *sequences;
            uint32_t sequence_count;
            /* Of events about pools, which the leader decides by: several
             * requests may come at once. */
            enum pool_wish {
                POOL_WISH_NONE,
                POOL_WISH_NEW,   /* else COMMAND_EXISTS */
                POOL_WISH_THERE, /* else COMMAND_NOT_FOUND */
            } pool_wish;
        } events;
        struct {
            struct exchange_request request;
            struct exchange_response response;
        } exchange;
        struct {
            struct exchange_session *session;
        } session_end;
        struct {
            struct str queue;  /* "": all */
            struct job_id job; /* none: all */
            int verbosity;
            struct str text; /* answer */
        } report;
        struct {
            struct queue_share *shares; /* answer */
            uint32_t share_count;
            struct job_transition *transitions; /* answer */
            uint32_t transition_count;
        } queues;
        struct {
            struct str queue;         /* "": all */
            const struct str *states; /* only those; none: all */
            uint32_t state_count;
            uint32_t skip_count, limit;   /* of those that match */
            struct application_row *rows; /* answer, by queue, submission */
            uint32_t row_count;
            uint32_t total_count; /* that match */
        } apps;
        struct {
            struct str pool, executor, name;       /* "": any */
            struct str after_name, after_executor; /* "": from the first */
            uint32_t count_max;
            struct node_status *nodes; /* answer: in order of names */
            uint32_t node_count;
            bool has_more;
        } nodes;
        struct {
            struct executor_status *rows; /* answer: by name, then pool */
            uint32_t row_count;
        } executors;
        struct {
            struct str name;       /* "": all */
            bool is_brief;         /* which there are, not how they stand */
            bool has_conflicts;    /* wanted: rows[0].conflict_count */
            struct pool_row *rows; /* answer: Default, then by name */
            uint32_t row_count;
            struct str *configured; /* answer: the configuration's pools */
            uint32_t configured_count;
            /* Answer: of each of those, then of each of the rows that is an
             * object; and the policy's classes. */
            struct pool_rules *rules;
            uint32_t rules_count;
            struct str *classes;
            uint32_t class_count;
        } pools;
        struct {
            struct admission_status *rows; /* jobs are given */
            uint32_t row_count;
        } admissions;
        struct {
            struct str name;           /* query: "" is all; queue: scope's */
            struct str priority_class; /* update: from now on */
            struct str after_queue, after_name; /* query: only those behind */
            uint32_t count_max;                 /* query: at least 1 */
            struct training_row *rows; /* query's answer: by queue, name */
            uint32_t row_count;
            bool has_more; /* query's answer */
        } training;
        struct {
            struct str gang_id;                    /* "": all; queue: scope's */
            struct str after_queue, after_gang_id; /* only those behind */
            struct job_id after_job; /* likewise, of one id; or none */
            uint32_t count_max;      /* at least 1 */
            bool wants_jobs;
            struct gang_status *rows; /* answer: see job/gang_list.h */
            uint32_t row_count;
            bool has_more; /* answer */
        } gangs;
        struct {
            struct job_id job;
            struct str text;  /* answer: sentences for people */
            struct str json;  /* answer: the same as data */
            bool waits_again; /* answer: it has run, and waits */
        } explain;
    };
    enum command_result result;
    struct str result_text;
    uint64_t log_seq; /* answer: the record it stands in; 0: in none */
    command_done_fn *done;
    void *ctx;
    size_t byte_count;    /* charged to the inbox; set by inbox_post */
    struct command *next; /* the inbox's */
};

/* A fresh command of `kind`, all else zero. */
struct command *command_create(enum command_kind kind) must_check;
/* Free the command and its arena.  NULL is fine. */
void command_destroy(struct command *command);
DEFINE_AUTO(command, command_destroy)

struct inbox;

/* An open inbox; `wake` is called (from the posting thread) when it goes from
 * empty to not empty. */
struct inbox *inbox_create(void (*wake)(void *ctx), void *ctx) must_check;
/* Only after the last post; what is left in it is answered UNAVAILABLE. */
void inbox_destroy(struct inbox *inbox);
/* Post: the inbox takes the command and will call its `done`.
 * -ERR_LIMIT: full (INBOX_*_MAX), -ERR_UNAVAILABLE: closed; the command is
 * then still the caller's. */
int inbox_post(struct inbox *inbox, struct command *command) must_check;
/* Take all that waits, oldest first, linked by `next`; NULL if none. */
struct command *inbox_take(struct inbox *inbox) must_check;
/* Refuse further posts. */
void inbox_close(struct inbox *inbox);
