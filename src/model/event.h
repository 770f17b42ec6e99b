/*
 * event - one fact of the log, decoded: what the folds (job states, queues,
 * executors, query store) work on.  wire/log/log_codec.h translates to and from
 * the bytes of the log.
 *
 * An event stands in a sequence, which has a queue, a job set and a user
 * (`struct event_scope`); facts about queues and executors stand in a
 * sequence whose queue and job set are "".
 *
 * Pure.  Strings and arrays are borrowed: valid while the record they were
 * decoded from is.
 */
#pragma once

#include "model/digest.h"
#include "model/id.h"
#include "model/node.h"
#include "model/periodic.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/window.h"

/* The numbers are those of the fields of armadaevents.EventSequence.Event,
 * from 1000 up our own.  Append, never renumber: these are logged. */
enum event_type {
    EVENT_NONE = 0,
    /* Requests, as users made them. */
    EVENT_SUBMIT = 1,
    EVENT_REPRIORITISE = 2,
    EVENT_REPRIORITISE_SET = 3,
    EVENT_CANCEL = 5,
    EVENT_CANCEL_SET = 6,
    EVENT_PREEMPT = 23, /* jobPreemptionRequested */
    /* Decisions of the leader. */
    EVENT_REPRIORITISED = 4,
    EVENT_CANCELLED = 7,
    EVENT_SUCCEEDED = 8,
    EVENT_FAILED = 9, /* jobErrors */
    EVENT_LEASED = 10,
    EVENT_RUN_PREEMPTED = 19,
    EVENT_REQUEUED = 22,
    EVENT_RUN_CANCELLED = 24,
    EVENT_VALIDATED = 25,
    /* Reports of executors. */
    EVENT_RUN_ASSIGNED = 11,
    EVENT_RUN_RUNNING = 12,
    EVENT_RUN_SUCCEEDED = 13,
    EVENT_RUN_ERRORS = 14, /* also the leader's, when it ends a run */
    EVENT_INGRESS_INFO = 16,
    EVENT_UTILISATION = 17,
    EVENT_DEBUG_INFO = 26,
    /* Facts that Armada has no event for. */
    EVENT_QUEUE_SET = 1000,
    EVENT_QUEUE_DELETED = 1001,
    EVENT_RETRY_POLICY_SET = 1002,
    EVENT_RETRY_POLICY_DELETED = 1003,
    EVENT_EXECUTOR_NODES = 1004,
    EVENT_EXECUTOR_SETTINGS = 1005,
    EVENT_EXECUTOR_DELETED = 1006,
    EVENT_EXECUTOR_STATE = 1007,
    EVENT_ROUND_DONE = 1008,
    EVENT_POLICY_SET = 1009,
    EVENT_LEADER_STARTED = 1010,
    EVENT_SELECTION = 1011,
    EVENT_NODE_HEALTH = 1012,
    EVENT_ADMITTED = 1013,
    EVENT_DISMISSED = 1014,
    EVENT_POOL_SET = 1015,
    EVENT_POOL_DELETED = 1016,
    EVENT_TRAINING_JOB_SET = 1017,
    EVENT_TRAINING_JOB_DELETED = 1018,
    EVENT_RECLASSIFIED = 1019, /* it asks for something else from now on */
    /* Of a plan that is made beside the leader, so that it can be made again:
     * on what was folded when it began, and then what it was told meanwhile
     * when it was back; after that it is done, or dropped. */
    EVENT_ROUND_BEGUN = 1020,
    EVENT_ROUND_BACK = 1021,
    EVENT_ROUND_DROPPED = 1022,
    EVENT_HOLD_CHANGED = 1023, /* what keeps a waiting job from being planned */
    EVENT_WINDOW_SET = 1024,   /* a maintenance window */
    EVENT_WINDOW_DELETED = 1025,
    EVENT_PERIODIC_SET = 1026, /* a periodic job */
    EVENT_PERIODIC_DELETED = 1027,
    EVENT_PERIODIC_RUN = 1028, /* moments of it are dealt with */
};

/* Why a run or a job ended badly: which member of armadaevents.Error's oneof
 * is set.  The numbers are its fields'. */
enum error_kind {
    ERROR_NONE = 0,
    ERROR_KUBERNETES = 2,
    ERROR_CONTAINER = 3,
    ERROR_EXECUTOR = 4,
    ERROR_LEASE_EXPIRED = 6,
    ERROR_MAX_RUNS_EXCEEDED = 7,
    ERROR_POD = 8,
    ERROR_LEASE_RETURNED = 9,
    ERROR_PREEMPTED = 11,
    ERROR_GANG_UNSCHEDULABLE = 12,
    ERROR_REJECTED = 13,
    ERROR_RECONCILIATION = 14,
};

/* armadaevents.KubernetesReason. */
enum error_cause {
    CAUSE_APP_ERROR = 0,
    CAUSE_EVICTED = 1,
    CAUSE_OOM = 2,
    CAUSE_DEADLINE_EXCEEDED = 3,
};

/* What keeps a waiting job from being planned, as bits.  Append, never
 * renumber: these are logged. */
enum job_hold {
    JOB_HOLD_BY_USER = 1,
    JOB_HOLD_UNTIL = 2, /* a time */
    JOB_HOLD_FOR_JOBS = 4,
    JOB_HOLD_FOR_TURN = 8, /* others of its group */
    JOB_HOLD_ALL = 15,
};

/* States that CancelJobSet and selections can name, as bits. */
enum state_set {
    STATE_SET_QUEUED = 1,
    STATE_SET_LEASED = 2,
    STATE_SET_PENDING = 4,
    STATE_SET_RUNNING = 8,
    STATE_SET_ALL = 15,
};

/* The sequence that an event stands in. */
struct event_scope {
    struct str queue;
    struct str job_set;
    struct str user;
};

/* An error of a run or a job; only the first of a list is kept decoded. */
struct event_error {
    enum error_kind kind;
    enum error_cause cause;
    bool is_terminal;
    bool is_run_attempted; /* of a returned lease */
    struct str message;
    struct str category, subcategory;
    struct str retry_policy; /* that decided; "": none did */
    struct str debug_message;
    struct str node_name;
    int32_t exit_code;  /* of the first container that failed, or 0 */
    struct str encoded; /* armadaevents.Error; for copying on */
};

enum executor_state {
    EXECUTOR_LIVE = 0,  /* gets leases */
    EXECUTOR_STALE = 1, /* silent for executor_timeout_ms: no new leases */
    EXECUTOR_LOST = 2,  /* for executor_lost_timeout_ms: its runs are lost */
};

/* What an operator wants of the jobs selected. */
enum selection_action {
    SELECTION_CANCEL = 0,
    SELECTION_PREEMPT = 1,
};

/* The two kinds of rounds. */
enum round_kind {
    ROUND_FAST = 0,
    ROUND_BALANCE = 1,
};

struct event {
    enum event_type type;
    int64_t created_ms;
    struct job_id job; /* of events about one job */
    struct run_id run; /* of events about one run */
    union {
        struct {
            uint32_t priority;
            struct str digest;     /* packed; "" in a foreign log */
            struct str encoded;    /* armadaevents.SubmitJob, whole */
            struct str namespace_; /* objectMeta.namespace */
            struct str external_job_uri;
        } submit;
        struct {
            uint32_t priority;
            struct str requestor; /* REPRIORITISED */
        } reprioritise;           /* also _SET and REPRIORITISED */
        struct {
            struct str reason;
            enum state_set states; /* CANCEL_SET */
            struct str requestor;  /* CANCELLED, RUN_CANCELLED */
        } cancel; /* CANCEL, CANCEL_SET, CANCELLED, RUN_CANCELLED, PREEMPT */
        struct {
            struct str executor_id;
            struct str node_name; /* Armada: node_id is the node's name */
            struct str pool;
            int32_t priority; /* scheduled_at_priority */
            uint32_t attempt;
            bool is_backfilled; /* it passed admitted work: its age counts
                                   from now */
            struct job_id revocable_for; /* the admitted job that it gives way
                                        to when it is as old as its lifetime; */
            bool yields_at_once;         /* or whatever its age */
            int64_t yields_from_ms;      /* but not before; or 0 */
            int64_t excess_charge;       /* millionths of the pool x ms */
            bool is_growth;              /* its gang was scaled up by it */
            bool is_by_share;            /* others lost their places for it, for
                                            fairness */
        } leased;
        struct {
            struct str pool;
            int64_t start_ms; /* at the latest; 0: nobody can tell */
            int64_t excess_charge;
        } admitted; /* ADMITTED; DISMISSED has the pool */
        struct {
            struct str executor_id;
            struct str node_name;
            struct str pod_name, pod_namespace, kubernetes_id;
            int32_t pod_number;
            struct str pool;
        } pod;                    /* RUN_ASSIGNED, RUN_RUNNING, RUN_SUCCEEDED */
        struct event_error error; /* RUN_ERRORS, FAILED, DEBUG_INFO */
        struct {
            const struct str *addresses; /* each an entry of the map from
                                          * ports to addresses, encoded */
            uint32_t address_count;
            const struct str *objects; /* each a berth.api.JobObject */
            uint32_t object_count;
        } ingress; /* INGRESS_INFO */
        struct {
            struct str reason;
            struct job_id preempting_job; /* or none */
            struct str requestor;
            bool is_scaling;  /* its gang was scaled down by it */
            bool is_yielding; /* it had promised to give way */
            bool is_by_share; /* it was for fairness */
        } preempted;          /* RUN_PREEMPTED */
        struct {
            uint32_t priority;
            bool avoids_node; /* where it ran last */
        } requeued;
        struct {
            struct queue_record record;
            struct str encoded; /* api.Queue, as stored and read back */
        } queue;                /* QUEUE_SET; QUEUE_DELETED has the name */
        struct {
            struct str name;
            struct str encoded; /* api.RetryPolicy; "" when deleted */
        } retry_policy;
        struct {
            struct str executor_id;
            struct str pool; /* for nodes that name none */
            const struct node_record *set;
            uint32_t set_count;
            const struct str *removed;
            uint32_t removed_count;
            bool is_full;                 /* nodes not in `set` are gone */
            bool has_pending;             /* then this is what it is now: */
            struct resource_list pending; /* asked for by pods not ours that
                                             found no node */
            bool has_protected; /* then these are all that a disruption budget
                                   protects there, as texts: */
            const struct str *protected_runs; /* at most PROTECTED_RUNS_MAX */
            uint32_t protected_count;
        } nodes;
        struct {
            struct str name; /* "" with a node: whichever executors have it */
            bool is_cordoned;
            bool is_deleted; /* the settings are forgotten */
            struct str reason;
            struct str node_name; /* "": the executor as a whole */
        } settings; /* EXECUTOR_SETTINGS; EXECUTOR_DELETED has the name */
        struct {
            struct str name;
            enum executor_state state;
        } executor;
        struct {
            enum round_kind kind;
            int64_t started_ms; /* BEGUN: the time of the plan */
            struct str pool;    /* the object's; "": the Default pool */
            int64_t seen_seq;   /* the last record that it was planned on;
                                   0: the one before this */
        } round;                /* ROUND_... */
        struct {
            struct str text; /* the policy's YAML */
        } policy;
        struct {
            struct str executor_id; /* "": whichever executors have it */
            struct str node_name;
            enum node_health health;
            bool is_pinned;   /* OUT until an operator clears it */
            int64_t until_ms; /* OUT */
            int64_t probation_ms;
            struct str reason; /* for people */
        } health;              /* NODE_HEALTH */
        struct {
            struct pool_record record;
            struct str encoded; /* berth.api.Pool, as stored and read back */
        } pool;                 /* POOL_SET; POOL_DELETED has the name */
        struct {
            struct window_record record;
            struct str encoded; /* berth.api.MaintenanceWindow */
        } window;               /* WINDOW_SET; WINDOW_DELETED has the name */
        struct {
            struct str name;    /* within the scope's queue */
            struct str gang_id; /* of its pods */
            struct str encoded; /* berth.api.TrainingJob; "" when deleted */
        } training_job;         /* TRAINING_JOB_SET, TRAINING_JOB_DELETED */
        struct {
            struct str name;             /* within the scope's queue */
            struct str encoded;          /* SET: berth.api.PeriodicJob */
            struct periodic_owner owner; /* SET */
            int64_t next_ms;             /* SET, RUN; 0: there is none */
            int64_t due_ms;              /* RUN: its next moment until now */
            struct periodic_run run;     /* RUN */
        } periodic;
        struct {
            struct str class_key; /* a packed requirement */
        } reclassified;
        struct {
            uint32_t set, cleared; /* enum job_hold; the latter first */
            int64_t begin_ms;      /* of JOB_HOLD_UNTIL, if that is set */
            struct str user;       /* of JOB_HOLD_BY_USER, likewise */
        } hold;
        struct {
            enum selection_action action;
            struct str executor_id; /* "": any */
            struct str node_name;   /* "": any */
            const struct str *queues;
            uint32_t queue_count;
            const struct str *priority_classes; /* none: all */
            uint32_t priority_class_count;
            const struct str *pools; /* none: all */
            uint32_t pool_count;
            enum state_set states;
            struct str reason;
        } selection;
    };
};
