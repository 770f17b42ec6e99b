/*
 * command - a request of the API to the leader, and its answer.
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
#include "control/command/command_rows.h"
#include "control/command/what_if.h"
#include "model/event.h"

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
    COMMAND_QUERY_WINDOWS,    /* maintenance windows */
    COMMAND_QUERY_PERIODIC,   /* periodic jobs */
    COMMAND_WHAT_IF,          /* what would happen; answered by another
                                 thread, see control_hooks.what_if */
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
/* A job that one to be submitted waits for. */
struct submit_wait {
    struct job_id on;
    bool is_known; /* the store has it, and it had not ended there */
};

struct submit_item {
    struct job_id job;
    struct str client_id; /* "": never de-duplicated */
    struct str event;
    const struct submit_wait *waits; /* its event says them too */
    uint32_t wait_count;
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
    bool was_reported; /* as pending or running: it is not to start again */
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
            /* A periodic job that the items are a run of; "": none.  Its
             * event is an encoded EventSequence.Event, which answers for the
             * moment `due_ms`. */
            struct str periodic_name, periodic_event;
            int64_t periodic_due_ms;
        } submit;
        struct {
            struct event_sequence *sequences;
            uint32_t sequence_count;
            /* Of reports: the executors whose runs they may be about; what is
             * about others is passed over.  0: all. */
            const struct str *executors;
            uint32_t executor_count;
            /* Of events about pools or maintenance windows, which the leader
             * decides by: several requests may come at once. */
            enum object_wish {
                OBJECT_WISH_NONE,
                OBJECT_WISH_NEW,   /* else COMMAND_EXISTS */
                OBJECT_WISH_THERE, /* else COMMAND_NOT_FOUND */
            } object_wish;
            /* They are about periodic jobs, which the leader decides too. */
            bool is_periodic;
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
            struct queue_wait *waits; /* answer */
            uint32_t wait_count;
            struct pool_admitted *admitted; /* answer: of each pool */
            uint32_t admitted_count;
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
            struct gang_status *rows; /* answer: see job/table/gang_list.h */
            uint32_t row_count;
            bool has_more; /* answer */
        } gangs;
        struct {
            struct what_if_changes changes;
            int64_t span_ms; /* up to WHAT_IF_SPAN_MS_MAX */
            /* Nothing is changed and nobody waits for the answer: when do jobs
             * start (forecasts.h)?  Any other what-if goes before it. */
            bool is_forecast;
            int64_t took_ms;              /* of a forecast; answer */
            struct what_if_answer answer; /* answer */
        } what_if;
        struct {
            struct str name;         /* "": all */
            struct window_row *rows; /* answer: by name */
            uint32_t row_count;
        } windows;
        struct {
            struct str name;           /* "": all; queue: scope's, "": all */
            int64_t due_ms;            /* only what is due by then; 0: all */
            uint32_t count_max;        /* 0: any number */
            struct periodic_row *rows; /* answer: by queue, name */
            uint32_t row_count;
        } periodic;
        struct {
            struct job_id job;
            struct str text;  /* answer: sentences for people */
            struct str json;  /* answer: the same as data */
            bool waits_again; /* answer: it has run, and waits */
            bool has_run;     /* answer: it has a node */
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

/* Have a COMMAND_EVENTS append the events of a batch's payload
 * (wire/log/log_codec.h), which is copied. */
void command_set_sequences(struct command *command, struct str payload);

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
