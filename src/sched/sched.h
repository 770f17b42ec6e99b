/*
 * sched - what should run where: (state, policy, now) -> plan.
 *
 * The caller keeps the state up to date by deltas (queues, nodes, jobs, and
 * what became of them) and asks for plans.  A plan changes nothing here: the
 * caller makes the decisions durable and then tells them back, through
 * sched_job_lease() and its kin.  Limits that count starts move only with
 * leases told back, by the times given with them, so that a replay of the
 * same calls gives the same state, and the same state the same plans.
 *
 * Handles are u32.  Queues and jobs have the caller's dense indexes (small
 * numbers, reused only after removal); classes and nodes the indexes that
 * are returned here.  SCHED_NONE is no handle.
 *
 * Semantics: model.md 6, in the profiles of 6.10 (each pool has its own);
 * README.md lists the choices.
 *
 * Pure.  Threads: one owner.  Strings given are copied, but for the policy's.
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

/* An empty state.  `policy` and what it points to are borrowed until
 * sched_policy_set() or sched_destroy(). */
struct sched *sched_create(const struct policy *policy) must_check;
/* Free the state. */
void sched_destroy(struct sched *sched);
DEFINE_AUTO(sched, sched_destroy)

/* Go by another policy from now on.  Costs as much as a rebuild. */
void sched_policy_set(struct sched *sched, const struct policy *policy);

/* Add a queue or change it. */
void sched_queue_set(struct sched *sched, uint32_t queue,
                     const struct queue_record *record);
/* Forget a queue that has no jobs left. */
void sched_queue_remove(struct sched *sched, uint32_t queue);

/* The class of a canonical requirement.  The caller interns the packed bytes:
 * every call makes a class of its own, with one reference. */
uint32_t sched_class_add(struct sched *sched,
                         const struct requirement *requirement);
/* Forget a class that no job has; its index may be given out again. */
void sched_class_remove(struct sched *sched, uint32_t class_index);

/* Nodes are about to go from pool to pool with what runs there, or have all
 * done so: flows change once for all of it (standing_hold.h).  No round is
 * planned in between; holds nest. */
void sched_flows_hold(struct sched *sched);
/* The end of a hold; nothing happens where none began. */
void sched_flows_keep(struct sched *sched);

/* Whether an executor gets new leases at all: not while it is cordoned, stale
 * or over its limit of unacknowledged leases.  New executors do. */
void sched_executor_set(struct sched *sched, struct str executor,
                        bool accepts_new_leases);

/* Add a node or change it; `pool` is for a record that names none.  Jobs that
 * are leased there stay, also when they no longer fit. */
uint32_t sched_node_set(struct sched *sched, struct str executor,
                        const struct node_record *record, struct str pool);
/* The node is gone.  Its index stays good for the jobs leased there, and comes
 * back with the name. */
void sched_node_remove(struct sched *sched, uint32_t node);
/* The index of a node by name; one that was never set is made, absent. */
uint32_t sched_node_index(struct sched *sched, struct str executor,
                          struct str name);
/* A node's name; borrowed until the state is destroyed. */
struct str sched_node_name(const struct sched *sched, uint32_t node);
/* The executor that offers a node; borrowed likewise. */
struct str sched_node_executor(const struct sched *sched, uint32_t node);
/* The pool of a node, "" while it was never set; borrowed likewise. */
struct str sched_node_pool(const struct sched *sched, uint32_t node);

/* The states of an application.  Only queues that go by applications have
 * any: those that are ordered `fifo`, `fair` or `stateaware`, or with a limit
 * on applications that run. */
enum sched_app_state {
    SCHED_APP_NEW,        /* no ask yet; nobody gets to see it */
    SCHED_APP_ACCEPTED,   /* jobs wait, none was leased yet */
    SCHED_APP_STARTING,   /* one was, at most five minutes ago */
    SCHED_APP_RUNNING,    /* more were, or the five minutes are over */
    SCHED_APP_COMPLETING, /* no jobs; after 30 seconds it is ... */
    SCHED_APP_COMPLETED,  /* ... over, and forgotten after 72 hours */
    SCHED_APP_EXPIRED,    /* forgotten */
    SCHED_APP_STATES,
};

/* A job that is to wait. */
struct sched_job {
    uint32_t queue;
    uint32_t class_index;
    uint32_t priority; /* smaller goes first */
    int64_t submitted_ms;
    struct job_id id;
    struct str pool;    /* "": any */
    struct str gang_id; /* "": none; counts within the queue */
    uint32_t gang_cardinality;
    uint32_t gang_minimum;
    struct str gang_uniformity; /* node label; "": none */
    bool was_leased; /* has had a run before, so its gang was complete once */
    struct str application;  /* its id within the queue; jobs of one belong
                                together.  Read where the queue goes by it */
    bool has_stateaware_off; /* its application need not wait for its second
                                job, where the queue allows that */
    struct str gang_terms;   /* packed; "" (or no such thing): members are
                                alike, and beyond the minimum they need not
                                be (gang_terms.h) */
    uint32_t sub_group;      /* of those terms */
    bool is_foreign;         /* a borrower: its home is not among these pools */
    bool is_back;            /* it was here, and left by sched_job_lend() */
};

/* A new job waits in its queue.  A gang is what its first member says. */
void sched_job_add(struct sched *sched, uint32_t job,
                   const struct sched_job *record);
/* What a job's application is; to be told of every job of a queue when
 * sched_queue_has_applications() came true. */
void sched_job_application(struct sched *sched, uint32_t job, struct str id,
                           bool has_stateaware_off);
/* Whether a queue of that record goes by applications: by some ordering, or
 * because few of them may run. */
bool sched_goes_by_applications(const struct queue_record *record);
/* Whether a queue goes by applications. */
bool sched_queue_has_applications(const struct sched *sched, uint32_t queue);
/* A waiting job has `node` from now on, at the priority that the decision
 * named.  `now_ms` is the lease's time in the log: rate limits count it.
 * `is_counted` is false when a checkpoint is read back. */
void sched_job_lease(struct sched *sched, uint32_t job, uint32_t node,
                     int32_t priority, int64_t now_ms, bool is_counted);
/* A leased job is on another node: its executor put it there.  All else of its
 * lease stays.  False: that node is of another pool, and nothing changes. */
bool sched_job_repack(struct sched *sched, uint32_t job, uint32_t node);
/* The main containers of a leased job run, as of the last sched_set_time():
 * its age counts from then, unless it counts from its lease already.  Later
 * calls change nothing.  True: plans depend on it; ask for one. */
bool sched_job_started(struct sched *sched, uint32_t job);
/* The age of a leased job counts from a time: from its lease, when it was let
 * past admitted work on the strength of when it ends (model.md 2.8), or as a
 * checkpoint says. */
void sched_job_age_from(struct sched *sched, uint32_t job, int64_t at_ms);
/* From when it counts; INT64_MAX: it has none yet. */
int64_t sched_job_age_of(const struct sched *sched, uint32_t job);
/* Whether the eviction of a leased job would violate a disruption budget now:
 * then others lose their places before it, where that is possible (model.md
 * 6.6).  Nothing while it waits; forgotten when its run ends. */
void sched_job_protect(struct sched *sched, uint32_t job, bool is_protected);
/* A leased job gives way to the admitted job `for_job`, once it is as old as
 * its lifetime or whatever its age, and whatever its queue has; nothing when
 * that one is not admitted, or this one yields to another already. */
void sched_job_yield(struct sched *sched, uint32_t job, uint32_t for_job,
                     bool is_at_once);

/* A job, or its gang, took a place for fairness, or is about to give one up
 * because it had promised to: it takes none for fairness until the policy's
 * `truce` is over and there was news (truce.h).  Told of leases that are
 * `is_by_share`, and of preemptions that are YIELD before what becomes of the
 * job. */
void sched_job_truce(struct sched *sched, uint32_t job);
/* A truce, for another state that its job goes to; both go by the same news. */
struct sched_truce {
    int64_t since_ms;
    uint64_t news_count; /* when it began */
};
/* The truce of a job, or of its gang; false: it is under none. */
bool sched_job_truce_get(const struct sched *sched, uint32_t job,
                         struct sched_truce *ret_truce);
/* A job came from another state, where it was under that truce: so it is here,
 * unless it, or its gang, is under one that lasts. */
void sched_job_truce_put(struct sched *sched, uint32_t job,
                         const struct sched_truce *truce);
/* From now on nothing is news but what sched_news_set() says: how much there
 * was so far. */
uint64_t sched_news_follow(struct sched *sched);
/* So much news there was by now; never less than before. */
void sched_news_set(struct sched *sched, uint64_t news_count);
/* A waiting job is admitted to a pool, with its gang: it goes before all that
 * is not, and when it is the first no other may delay it.  `start_ms` is when
 * it starts at the latest, or SCHED_START_UNKNOWN.  Again: the promise is
 * another.  Leases and removals end it.  `charge` is as in
 * sched_job_charge(); it counts while it is admitted, for all of a gang. */
void sched_job_admit(struct sched *sched, uint32_t job, struct str pool,
                     int64_t start_ms, int64_t charge);
/* It is admitted no longer, and waits like any other. */
void sched_job_dismiss(struct sched *sched, uint32_t job);

/* How an admitted job stands. */
struct sched_admission {
    struct str pool;
    uint32_t ahead;   /* of the pool's, admitted earlier */
    int64_t start_ms; /* promised, or SCHED_START_UNKNOWN */
};

/* Whether a job, or its gang, is admitted. */
bool sched_job_admission(const struct sched *sched, uint32_t job,
                         struct sched_admission *ret_admission);
/* A job that was leased just before is charged this much of its queue's
 * excess budget in a pool, in millionths of the pool x ms, as the decision
 * said.  The charge ends when the job ends or waits again. */
void sched_job_charge(struct sched *sched, uint32_t job, struct str pool,
                      int64_t charge);
/* A leased job has succeeded: it counts for the minimum of its sub-group where
 * its gang has terms.  Told before it is removed. */
void sched_job_succeeded(struct sched *sched, uint32_t job);
/* What a gang with terms remembers beside its members, for another state that
 * they go to. */
struct sched_gang_memory {
    uint32_t succeeded_counts[SUB_GROUPS_MAX]; /* by sub-group */
    uint32_t sub_group_count;                  /* 0: there is nothing */
    int64_t scaled_ms;                         /* the last time, or INT64_MIN */
};
/* Of the gang of a job. */
void sched_gang_memory(const struct sched *sched, uint32_t job,
                       struct sched_gang_memory *ret_memory);
/* Its gang remembers at least that. */
void sched_gang_remember(struct sched *sched, uint32_t job,
                         const struct sched_gang_memory *memory);
/* The gang of a job was scaled at a time, so that its freezing window starts:
 * told with each decision that `is_scaling` once it is durable. */
void sched_gang_scaled(struct sched *sched, uint32_t job, int64_t at_ms);
/* What pods that are not ours ask for in a pool and found no node for, in
 * columns of the policy's schema: gangs do not grow into that room, and shrink
 * for it.  Nothing, until it is told. */
void sched_foreign_pending_set(struct sched *sched, struct str pool,
                               const struct resource_vec *amounts);
/* A job, waiting or leased, asks for something else from now on; it keeps its
 * node. */
void sched_job_reclass(struct sched *sched, uint32_t job, uint32_t class_index);
/* A job became a borrower where it is, or ceased to be one: pools changed. */
void sched_job_foreign_set(struct sched *sched, uint32_t job, bool is_foreign);
/* What was said last. */
bool sched_job_is_foreign(const struct sched *sched, uint32_t job);
/* Whether the jobs that are at home here may preempt others (model.md 5.1,
 * disablePreemption); at first they may.  Where they may not, only what
 * promised to give way to one of them does.  A state that was told is a pool
 * object's: which node gives way goes by the order of model.md 6.6 alone,
 * where others have a faster one of their own. */
void sched_preemption_set(struct sched *sched, bool is_off);
/* A leased job waits again, at its old place; it avoids the node
 * `avoid_node` (or SCHED_NONE) from now on. */
void sched_job_requeue(struct sched *sched, uint32_t job, uint32_t avoid_node);
/* A job avoids a node (a checkpoint is read back). */
void sched_job_avoid(struct sched *sched, uint32_t job, uint32_t node);
/* A job, waiting or leased, is no longer to be thought of. */
void sched_job_remove(struct sched *sched, uint32_t job);
/* A waiting job goes to wait in another state, where it is foreign.  Its
 * application here asks for it as before, until it is back or
 * sched_application_release() says that it will not be. */
void sched_job_lend(struct sched *sched, uint32_t job);
/* A job that is out asks that application, of a queue that goes by them by
 * now. */
void sched_application_ask(struct sched *sched, uint32_t queue, struct str id,
                           const struct sched_job *record);
/* One that asked while it was out asks no more.  No such application: nothing
 * happens. */
void sched_application_release(struct sched *sched, uint32_t queue,
                               struct str id);
/* A job's priority within its queue changes. */
void sched_job_reprioritise(struct sched *sched, uint32_t job,
                            uint32_t priority);
/* The node of a leased job, or SCHED_NONE. */
uint32_t sched_job_node(const struct sched *sched, uint32_t job);
/* The resources that a job asks for, in columns of the policy's schema. */
struct resource_vec sched_job_request(const struct sched *sched, uint32_t job);

/* The leader's logged time; called once per record, before what the record
 * says.  What depends on how long things stayed as they were goes by it.  A
 * time before one that was told is taken for that one. */
void sched_set_time(struct sched *sched, int64_t now_ms);

/* Append what of the state is history, for a checkpoint: what does not follow
 * from queues, nodes and jobs, such as the state of the rate limits. */
void sched_history_pack(const struct sched *sched, struct strbuf *buf);
/* Take it back, once all queues, nodes, jobs and leases are there, and the
 * time.  -ERR_CORRUPT: not such bytes; -ERR_VERSION: of a newer release. */
int sched_history_unpack(struct sched *sched, struct str bytes) must_check;

/* How a run ended, as far as that says something of its node. */
struct sched_outcome {
    struct str pool;  /* of the run */
    bool is_failed;   /* for a cause that can be the node's */
    bool is_exit;     /* by its exit code: not if gang-mates fail elsewhere */
    uint64_t job_set; /* a hash of queue and job set */
};

/* The run of a leased job has ended by itself; told before the job is
 * requeued or removed. */
void sched_run_ended(struct sched *sched, uint32_t job,
                     const struct sched_outcome *outcome);

/* A leased job's run has ended by itself or was cancelled, not preempted or
 * lost: where short jobs are penalised, it may count on in its queue.  Told
 * before the job is requeued or removed. */
void sched_job_finished(struct sched *sched, uint32_t job);

/* Whether a node gets new work (model.md 6.10b), and why. */
struct sched_health {
    enum node_health health;
    bool is_pinned;                     /* OUT until an operator clears it */
    int64_t until_ms;                   /* OUT: the probation ends */
    int64_t probation_ms;               /* the last one */
    uint32_t success_count;             /* TRIAL */
    uint64_t ended_count, failed_count; /* runs in the window */
    struct str reason; /* for people; got: borrowed until it changes */
};

/* What is to be decided about a node; then told by sched_health_set(). */
struct sched_health_change {
    uint32_t node;
    struct sched_health health;
};

/* The changes that are due, in order of nodes' names; the number of them.
 * They are good until the next call. */
uint32_t sched_health_plan(struct sched *sched, int64_t now_ms,
                           const struct sched_health_change **ret_changes);
/* When sched_health_plan() is next to be asked though nothing ends. */
int64_t sched_health_wake_ms(const struct sched *sched);
/* A node's health is another.  NORMAL forgets its failures. */
void sched_health_set(struct sched *sched, uint32_t node,
                      const struct sched_health *health);
/* A node's health as of `now_ms`. */
void sched_health_get(const struct sched *sched, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health);
/* What a node has, and is used for. */
struct sched_node_stats {
    struct resource_vec capacity; /* without what others use */
    struct resource_vec free;     /* negative where it is overcommitted */
    uint32_t run_count;
    bool is_open; /* new work may be put there, as far as it fits */
};

/* How a node stands. */
void sched_node_stats(const struct sched *sched, uint32_t node,
                      struct sched_node_stats *ret_stats);

/* How many nodes that are there have this health, which is not NORMAL. */
uint32_t sched_health_count(const struct sched *sched, enum node_health health);

/* What a decision is. */
enum sched_action {
    SCHED_LEASE,
    SCHED_PREEMPT,
    SCHED_FAIL,    /* a gang started with its minimum, without this member */
    SCHED_ADMIT,   /* there was no room when its turn came: sched_job_admit();
                      for an admitted one: its promise is another */
    SCHED_DISMISS, /* can no longer start there: sched_job_dismiss() */
};

/* Why a job is preempted. */
enum sched_preemption {
    SCHED_PREEMPT_NONE,
    SCHED_PREEMPT_FAIR_SHARE, /* its queue is over its share */
    SCHED_PREEMPT_URGENCY,    /* for a class of higher priority */
    SCHED_PREEMPT_GANG,       /* its gang lost a member */
    SCHED_PREEMPT_YIELD,      /* it was let past whom it goes for */
    SCHED_PREEMPT_HOME,       /* it is a borrower, and home work needs it */
    SCHED_PREEMPT_SURPLUS,    /* its gang has enough without it */
    SCHED_PREEMPT_SCALED,     /* its gang shrinks, for others or for the load */
};

/* One thing to do about one job. */
struct sched_decision {
    enum sched_action action;
    enum sched_preemption preemption; /* PREEMPT only */
    enum sched_preemption cause; /* PREEMPT as GANG: why the member goes that
                                    it follows */
    uint32_t job;
    uint32_t node;    /* where it goes, or loses its place */
    int32_t priority; /* LEASE: the priority it is scheduled at */
    int64_t charge;   /* LEASE, ADMIT: see sched_job_charge(); 0: none */
    uint32_t for_job; /* PREEMPT: whom it makes room for */
    uint32_t group;   /* decisions of one group must not come apart */
    /* LEASE: it was let past admitted work since it ends in time; and by its
     * lifetime, so that it yields to this job (or NONE). */
    bool is_backfilled;
    uint32_t yields_to;
    bool yields_at_once; /* whatever its lifetime: its gang grew by it */
    /* ADMIT: the pool (of the policy's), and when it starts at the latest, or
     * SCHED_START_UNKNOWN. */
    uint32_t pool_index;
    int64_t start_ms;
    bool is_scaling;  /* LEASE, PREEMPT: its gang is scaled by it; see
                         sched_gang_scaled() */
    bool is_by_share; /* LEASE: others lost their places for it, or its gang,
                         for fairness; see sched_job_truce() */
};

/* What a round did, for metrics. */
struct sched_counters {
    uint64_t queues_considered;
    uint64_t placements;
    uint64_t preemptions;
    uint64_t failed_searches; /* a class was found to fit nowhere */
    uint64_t nodes_examined;
    uint64_t steps;   /* jobs and gangs decided about */
    uint64_t evicted; /* running jobs that had to win their place again */
};

/* An answer of sched_plan(). */
struct sched_plan {
    const struct sched_decision *decisions; /* until the next sched_plan() */
    uint32_t decision_count;
    bool is_cut;     /* `decision_count_max` was met, or it is part of a sweep:
                        ask again */
    bool is_spent;   /* the policy's work for a plan was used up: the next goes
                        on behind */
    bool is_resumed; /* it went on behind one that was */
    int64_t next_wake_ms; /* ask again then, though nothing happens; or
                             INT64_MAX */
    struct sched_counters counters;
};

/* Plan.  ROUND_FAST puts waiting work into free space; ROUND_BALANCE may also
 * preempt.  Groups are whole and numbered from 0 in the order of the
 * decisions; preemptions stand before the lease that they serve.  The plan
 * has at most `decision_count_max` decisions, more only when its first group
 * does. */
void sched_plan(struct sched *sched, int64_t now_ms, enum round_kind kind,
                uint32_t decision_count_max, struct sched_plan *ret_plan);

/* The last plan comes to nothing: what it left to the next is as before it,
 * for what is still there.  Once, before the next plan. */
void sched_plan_forget(struct sched *sched);

/* Plans begin with all again: what they left to the next is forgotten, and
 * which gangs might fit.  Told when a leader begins, which knows of neither. */
void sched_sweep_reset(struct sched *sched);

/* How many jobs of a queue the last plan looked at in a pool. */
struct sched_looked {
    uint32_t queue;
    uint32_t pool_index; /* in the policy's pools */
    uint32_t job_count;  /* > 0 */
};

/* Of the last plan that was not a repetition; good until the next. */
const struct sched_looked *sched_looked(const struct sched *sched,
                                        uint32_t *ret_count);

/* Why a job waits, as of now. */
enum sched_wait {
    SCHED_WAIT_NOT,            /* it has a node */
    SCHED_WAIT_TURN,           /* it fits; the next round looks at it */
    SCHED_WAIT_GANG,           /* `present` of `wanted` members are there */
    SCHED_WAIT_QUEUE_CORDONED, /* nothing of the queue starts */
    SCHED_WAIT_NO_NODES,       /* no node at all in its pools */
    SCHED_WAIT_NEVER_FITS,     /* not even on empty nodes: see excluded */
    SCHED_WAIT_CAPACITY,       /* would fit if others ended */
    SCHED_WAIT_GANG_CAPACITY,  /* `present` members fit, `wanted` must */
    SCHED_WAIT_QUEUE_LIMIT,    /* per class and queue: `resource`, amounts */
    SCHED_WAIT_RATE,           /* all queues' starts; ends at `until_ms` */
    SCHED_WAIT_QUEUE_RATE,     /* this queue's starts */
    SCHED_WAIT_RESOURCE_RATE,  /* a pool's starts of `resource` */
    SCHED_WAIT_LOOKBACK,       /* too far behind others of its queue */
    SCHED_WAIT_APP_STARTING,   /* `application` starts since `since_ms`, until
                                  `until_ms` at the latest */
    SCHED_WAIT_APP_TURN,       /* `application` is the next to start */
    SCHED_WAIT_APP_LIMIT,      /* `used` of `limit` applications run */
    SCHED_WAIT_APP_NEED,       /* `application`, the older one, waits for room
                                  that it would take */
    SCHED_WAIT_ADMITTED,       /* admitted; nobody can tell when it starts */
    SCHED_WAIT_RESERVED,   /* admitted; starts by `until_ms` at the latest */
    SCHED_WAIT_PASSED,     /* what it would fit in is kept for `for_job`, which
                              it would delay */
    SCHED_WAIT_OVER_SHARE, /* infinite work of its queue in `pool` would be
                              `asked` of `allowed`, fractions of the pool; it
                              may go at `until_ms` */
    SCHED_WAIT_BUDGET,     /* it would be charged `asked` of the `allowed` that
                              is left in `pool`, in minutes x its units */
    SCHED_WAIT_FLOATING,   /* of `resource`, which is of no node, all pools have
                              too little left: `used` of `limit` */
    SCHED_WAIT_TOPOLOGY,   /* of a sub-group of its gang `present` fit within
                              `hops` of each other, in `domain` (of which
                              `empty` would if it or the like were empty),
                              `wanted` must; the cap ends at `until_ms` */
    SCHED_WAIT_QUOTA,      /* with it (or what its gang asks for at once) its
                              queue would have more than its quota of
                              `resource`: `used` of `limit` */
    SCHED_WAIT_GROWTH,     /* its gang runs with its minimum and grows when
                              there is room: `present` of `wanted` run */
    SCHED_WAIT_ROUND,      /* rounds end before they come to it; the next goes
                             on there */
    SCHED_WAIT_TRUCE, /* it may take no place for fairness until `until_ms`, and
                         would; 0: nor after it while nothing is new.  Said
                         with what it needs */
    SCHED_WAIT_CLOSED, /* `closed_count` nodes could hold it, and all are
                          cordoned, in quarantine, or of an executor that
                          gets no work */
    /* Only of growth, see `growth` of the explanation. */
    SCHED_WAIT_LOAD,   /* with it pods would ask for `used` of `resource` in
                          the pool, and may for `limit` */
    SCHED_WAIT_FROZEN, /* its gang was scaled, and is not again before
                          `until_ms` */
    SCHED_WAIT_AWAY,   /* its gang runs where it is not at home */
};

/* Why nodes were passed over; each node counts once, under the first. */
enum sched_exclusion {
    SCHED_EXCLUDED_POOL,          /* of another pool */
    SCHED_EXCLUDED_EXECUTOR,      /* it gets no new leases */
    SCHED_EXCLUDED_UNSCHEDULABLE, /* cordoned in its cluster, or gone */
    SCHED_EXCLUDED_QUARANTINED,   /* it fails too much; or on trial and busy */
    SCHED_EXCLUDED_TAINT,
    SCHED_EXCLUDED_SELECTOR,
    SCHED_EXCLUDED_AFFINITY,
    SCHED_EXCLUDED_AVOIDED,    /* the job failed to start there before */
    SCHED_EXCLUDED_UNIFORMITY, /* lacks the gang's label */
    SCHED_EXCLUDED_FAR,        /* its gang runs, and cannot grow to there */
    SCHED_EXCLUDED_TOO_SMALL,  /* even when empty */
    SCHED_EXCLUDED_FULL,       /* big enough, not free enough */
    SCHED_EXCLUDED_RESERVED,   /* free enough, kept for an admitted job */
    SCHED_EXCLUDED_HELD, /* free enough, but a gang has it whole; or its own
                            would have to, and others are there */
    SCHED_EXCLUSIONS,
};

/* Why a job waits, as data; fields that do not apply are 0, nodes
 * SCHED_NONE. */
struct sched_explanation {
    enum sched_wait wait;
    uint32_t nodes_total;
    uint32_t nodes_excluded[SCHED_EXCLUSIONS];
    uint32_t nodes_fit;
    struct resource_vec needed;    /* of the job */
    struct str unknown;            /* a resource that it asks for and that the
                                      policy has not, so that it fits nowhere;
                                      "": none; borrowed until the job goes */
    uint32_t nearest_node;         /* lacks least of those that could hold the
                                      job when empty, or SCHED_NONE */
    struct resource_vec available; /* on nearest_node (NEVER_FITS: of those too
                                      small, and its whole) */
    uint32_t present, wanted;      /* gang members that fit at once and that
                                      must; GANG: that are there, of all */
    int resource;                  /* column that a limit is about, or -1 */
    int64_t limit, used;           /* of that column */
    int64_t until_ms;       /* a rate limit or an application's start lets
                               it go, or it starts; 0: unknown */
    uint32_t for_job;       /* of a reservation, or SCHED_NONE */
    uint32_t behind;        /* the queue's first, which the reason is about, or
                               SCHED_NONE: itself */
    struct str pool;        /* of a share or budget; borrowed */
    double asked, allowed;  /* likewise */
    struct str application; /* that goes before its own; borrowed */
    int64_t since_ms;       /* that one is in its state */
    uint32_t ahead;         /* waiting jobs of its queue that go before it */
    struct str domain;      /* of the topology; borrowed until nodes change */
    uint32_t hops, empty;
    /* Of that column, by the job or all that its gang needs at once; where it
     * is more than the limit itself nothing that ends helps. */
    int64_t asked_amount;
    uint32_t closed_count;  /* nodes that could hold it, and take no work */
    enum sched_wait growth; /* GROWTH: what keeps it from growing now */
    struct str sub_group;   /* that `present` and `wanted` are of, "": all of
                               the gang; borrowed until that goes */
};

enum { SCHED_NODE_KINDS_MAX = 8 };

/* Nodes of one capacity that a job could be on, as far as pools, labels and
 * taints go. */
struct sched_node_kind {
    uint32_t first; /* by name */
    uint32_t node_count;
    uint32_t fit_count; /* that it fits on now */
    struct resource_vec capacity;
    uint32_t freest; /* lacks least of what it asks for */
    struct resource_vec free;
};

/* The kinds of nodes where `job` could be, in order of names, at most
 * SCHED_NODE_KINDS_MAX; their number.  Nodes of further kinds are counted. */
uint32_t sched_explain_kinds(struct sched *sched, uint32_t job, int64_t now_ms,
                             struct sched_node_kind *ret_kinds,
                             uint32_t *ret_left_out_count);

/* What would let a job start. */
enum sched_need_kind {
    SCHED_NEED_NONE,     /* nothing that could be named */
    SCHED_NEED_ROOM,     /* `node`, or one like it, had `missing` more free */
    SCHED_NEED_LIMIT,    /* its queue's limit for its class were so much
                            higher */
    SCHED_NEED_MEMBERS,  /* `member_count` more of its gang were there */
    SCHED_NEED_TIME,     /* it were `until_ms` */
    SCHED_NEED_QUOTA,    /* its queue's quota were `missing` larger */
    SCHED_NEED_FLOATING, /* `pool` had `missing` more of what is of no node */
    /* These were `more` larger than they are, which is `base`: */
    SCHED_NEED_BUDGET, /* its queue's excess budget in `pool`, in thousandths
                          of the pool's units x minute */
    SCHED_NEED_SHARE,  /* what its queue may have there above its share of what
                          cannot be taken back, in millionths of the share */
    SCHED_NEED_APPS,   /* the number of its queue's applications that may run */
};

/* What a job needs, all else as it is. */
struct sched_need {
    enum sched_need_kind kind;
    /* It was tried: with just this the next round starts the job (or the
     * minimum of its gang, or where that runs the next pod of its sub-group),
     * with any less of any part it does not.  Else it takes at least this, and
     * others go first or something else holds too. */
    bool is_exact;
    uint32_t node; /* or SCHED_NONE */
    struct resource_vec missing;
    uint32_t member_count;
    int64_t until_ms;
    struct str pool; /* "": of no one; borrowed */
    int64_t base, more;
};

/* What `job` needs to start, beside why it waits.  It plans rounds to try
 * what it says, within a bound on what they cost (then it is not exact). */
void sched_explain_need(struct sched *sched, uint32_t job, int64_t now_ms,
                        struct sched_explanation *ret_explanation,
                        struct sched_need *ret_need);
/* Why `job` waits; looks at every node and at all that waits in its queue, so
 * not for inner loops.  A job not yet leased and never looked at is answered
 * like any other. */
void sched_explain(struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *ret_explanation);
/* Only what the nodes say: `wait` is TURN, CAPACITY, NEVER_FITS or NO_NODES,
 * as if the job stood alone.  It serves to reject what can never run. */
void sched_explain_nodes(struct sched *sched, uint32_t job,
                         struct sched_explanation *ret_explanation);
/* Whether some node is or could become free enough for `job` alone.  It ends
 * at the first such node, and adds the nodes it has looked at to `ret_looks`,
 * so that whoever asks about many jobs can keep within a bound. */
bool sched_has_place(struct sched *sched, uint32_t job, uint32_t *ret_looks);

/* How near a gang that can never start comes to it: the nodes of one cluster
 * (and of one value of its label) that would hold most of it.  Strings are
 * borrowed until nodes change. */
struct sched_gang_miss {
    uint32_t needed, count;    /* members that must fit at once; that might */
    struct str pool, executor; /* "": no node has the label */
    struct str label, value;   /* of its uniformity; "": none */
    int resource;              /* enough places, too little of this in all; or
                                  -1 */
    int64_t asked, has;        /* of that */
    /* There would be room, but not near enough for a sub-group with a cap on
     * hops: then `needed` are its members, and `count` those that the best
     * domain, or node, holds. */
    bool is_too_far;
    struct str sub_group, domain;
    uint32_t hops;             /* that the cap allows in this pool */
    uint32_t alike, alike_fit; /* sub-groups that need as many; of these so
                                  many find room by themselves */
};

/* Whether the gang of a waiting job might start if its nodes were empty; true
 * also when it is not complete, has started, or is too varied to tell, and for
 * a job without a gang.  Adds to `ret_looks` as sched_has_place() does. */
bool sched_gang_may_fit(struct sched *sched, uint32_t job, uint32_t *ret_looks,
                        struct sched_gang_miss *ret_miss);
/* Nodes that a job might be lent: those of another state. */
struct sched_elsewhere {
    struct sched *sched;
    struct str pool; /* that it would wait for there; "": any */
    /* The handle there of a class of the job's own state. */
    uint32_t (*class_of)(void *context, uint32_t class_index);
    void *context;
    const uint32_t *avoided; /* nodes there that the job avoids */
    uint32_t avoided_count;
};

/* Whether a job's class may borrow. */
bool sched_job_may_borrow(const struct sched *sched, uint32_t job);
/* Whether some node elsewhere could hold a waiting job if it were empty, and
 * took new work; what the job avoids is not looked at.  Adds to `ret_looks` as
 * sched_has_place() does. */
bool sched_has_place_at(const struct sched *sched, uint32_t job,
                        const struct sched_elsewhere *there,
                        uint32_t *ret_looks);
/* As sched_gang_may_fit(), but false while there are no nodes. */
bool sched_gang_may_fit_at(struct sched *sched, uint32_t job,
                           const struct sched_elsewhere *there,
                           uint32_t *ret_looks);
/* Why a waiting job, with all that its gang needs, could not start elsewhere
 * as things are there: nodes, the quota and limits of its queue, rates.
 * TURN: nothing is known that keeps it.  Of nodes and pools the answer speaks
 * in the other state's words. */
void sched_explain_at(struct sched *sched, uint32_t job,
                      const struct sched_elsewhere *there, int64_t now_ms,
                      struct sched_explanation *ret_explanation);
/* The members of a job's gang that wait, in order, the spare ones last; in the
 * arena. */
uint32_t *sched_gang_waiting(const struct sched *sched, uint32_t job,
                             struct arena *arena, uint32_t *ret_count);

/* A queue in a pool; shares are fractions of the pool. */
struct sched_queue_stats {
    double weight;         /* 1 / priority factor */
    double fair_share;     /* of the active queues' weights */
    double adjusted_share; /* with what the others do not want (exact
                              water-filling) */
    double actual_share;   /* cost of what it runs */
    double demand_share;   /* and of what it waits for, within its limits */
    double usage_share;    /* cost of what it runs and was admitted */
    double flow;           /* of that usage, as of the time told last */
    double infinite_flow;  /* of what of it has an infinite lifetime; kept
                              only while a pool or queue asks for it */
    double infinite_limit; /* the most that may be, -1 for no limit */
    /* The excess budget and what is left of it, in minutes x the pool's
     * units; -1 for no limit. */
    double budget_minutes, budget_left_minutes;
    struct resource_vec allocated;
    struct resource_vec demand;
    uint32_t leased_count; /* in this pool */
    uint32_t queued_count; /* waiting, in any pool */
};

/* An application, as of a time. */
struct sched_application {
    struct str id; /* borrowed until the state changes */
    enum sched_app_state state;
    int64_t since_ms;          /* in this state */
    int64_t until_ms;          /* it ends by itself then, or INT64_MAX */
    int64_t submitted_ms;      /* of its first job */
    uint32_t ask_count;        /* jobs that wait */
    uint32_t allocation_count; /* jobs that are leased */
    bool has_stateaware_off;   /* one of its jobs says so */
};

/* A pool as a whole. */
struct sched_pool_stats {
    struct resource_vec total;
    struct resource_vec allocated;
    uint32_t node_count;
    uint32_t active_queue_count;
    double units; /* what the whole pool weighs: cores, if those weigh 1 */
    uint32_t admitted_count;
    uint32_t head;         /* the job that nodes are kept for, or SCHED_NONE */
    int64_t head_start_ms; /* as of the last plan, or SCHED_START_UNKNOWN */
    /* Of its topology: labels, domains with clusters, values that are found
     * under several others in one cluster, nodes that lack a label. */
    uint32_t level_count, domain_count, split_count, bare_count;
};

/* How a queue stands in the pool policy.pools[pool_index]. */
void sched_queue_stats(struct sched *sched, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats);
/* A gang that is a larger part of a pool than its queue can keep there. */
struct sched_oversize {
    struct str pool;       /* borrowed until the state changes */
    double part;           /* of the pool: what of it runs or starts at once */
    double kept;           /* of the pool: its queue's, whoever wants more */
    int64_t lifetime_ms;   /* the shortest of its members */
    uint32_t member_count; /* that are `part` */
};

/* Whether the gang of a job is so large that its queue is above its share
 * whenever it runs, in each pool where it may: it is then preempted for
 * fairness (model.md 6.6 d) once its lifetime has passed and others want
 * theirs.  Told of the pool where that is least so.  False for jobs without a
 * gang, and for what is not preempted so. */
bool sched_gang_is_oversize(struct sched *sched, uint32_t job,
                            struct sched_oversize *ret_oversize);
/* The applications of a queue, by submission and id, in the arena; their
 * number. */
uint32_t sched_applications(const struct sched *sched, uint32_t queue,
                            int64_t now_ms, struct arena *arena,
                            struct sched_application **ret_applications);
/* How many of them are in which state, as of the last sched_set_time(). */
void sched_application_counts(const struct sched *sched, uint32_t queue,
                              uint32_t ret_counts[SCHED_APP_STATES]);
/* How a pool stands. */
void sched_pool_stats(struct sched *sched, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats);

/* The resources of which pools are told as objects (model.md 5.8). */
enum sched_amount {
    SCHED_AMOUNT_CPU,
    SCHED_AMOUNT_GPU, /* `gpu`, and all that end in `/gpu` */
    SCHED_AMOUNT_MEMORY,
    SCHED_AMOUNT_STORAGE, /* ephemeral */
    SCHED_AMOUNT_PODS,
    SCHED_AMOUNTS,
};

/* What all pools of a state have together, and for what it is used; milli
 * units.  Nodes count that are there, whether they get work or not. */
struct sched_usage {
    int64_t allocatable[SCHED_AMOUNTS];
    int64_t system[SCHED_AMOUNTS];  /* by pods that are not ours */
    int64_t own[SCHED_AMOUNTS];     /* by jobs that are at home here */
    int64_t shared[SCHED_AMOUNTS];  /* by foreign ones */
    int64_t pending[SCHED_AMOUNTS]; /* of jobs that wait here */
    uint32_t node_count;
    uint32_t own_waiting_count, foreign_waiting_count;
    uint32_t own_running_count, foreign_running_count;
};

/* Sum it up; looks at every node. */
void sched_usage(const struct sched *sched, struct sched_usage *ret_usage);

/* Recompute all sums and indexes from the jobs and nodes themselves and
 * compare; false when anything differs.  For tests and self-checks. */
bool sched_is_consistent(struct sched *sched);

/* What was told, so that work can go from one state to another.  Handles
 * below an end may be unknown; strings are borrowed until the state
 * changes. */

/* The lease of a job. */
struct sched_run {
    uint32_t node;
    int32_t priority;
    int64_t leased_ms;
    int64_t age_from_ms; /* INT64_MAX: it has no age yet */
    bool is_protected;
};

/* One more than the last job, and which of them are there. */
uint32_t sched_jobs_end(const struct sched *sched);
/* See sched_jobs_end(). */
bool sched_job_is_known(const struct sched *sched, uint32_t job);
/* What sched_job_add() would be told of a job now. */
void sched_job_record(const struct sched *sched, uint32_t job,
                      struct sched_job *ret_record);
/* Its lease; false while it waits. */
bool sched_job_run(const struct sched *sched, uint32_t job,
                   struct sched_run *ret_run);
/* The nodes that it avoids, oldest first. */
const uint32_t *sched_job_avoided(const struct sched *sched, uint32_t job,
                                  uint32_t *ret_count);
/* One more than the last node; which are known, and which are there. */
uint32_t sched_nodes_end(const struct sched *sched);
/* See sched_nodes_end(). */
bool sched_node_is_known(const struct sched *sched, uint32_t node);
/* See sched_nodes_end(). */
bool sched_node_is_present(const struct sched *sched, uint32_t node);
/* The job with the least id that is leased on a node, or SCHED_NONE. */
uint32_t sched_node_first(const struct sched *sched, uint32_t node);
/* One more than the last queue. */
uint32_t sched_queues_end(const struct sched *sched);
/* What sched_queue_set() was told last; false: there is no such queue. */
bool sched_queue_record(const struct sched *sched, uint32_t queue,
                        struct queue_record *ret_record);
/* One more than the last class. */
uint32_t sched_classes_end(const struct sched *sched);
/* A class's requirement, packed (model/requirement.h); "": there is none. */
struct str sched_class_packed(const struct sched *sched, uint32_t class_index);
/* One more than the last executor that was spoken of. */
uint32_t sched_executors_end(const struct sched *sched);
/* Its name, and whether it gets new leases. */
struct str sched_executor_at(const struct sched *sched, uint32_t executor,
                             bool *ret_accepts);
/* What a queue has in all other states together, which its quota counts too;
 * in columns of the policy's schema. */
void sched_quota_beside_set(struct sched *sched, uint32_t queue,
                            const struct resource_vec *amounts);
/* A job of a queue was leased in another state: limits on starts that are not
 * a pool's count it here too. */
void sched_start_note(struct sched *sched, uint32_t queue, int64_t now_ms);

/* For lending (model.md 5.5). */

/* Work that is at home here and waits, without what the last plan starts and
 * what may not borrow: jobs, and of a gang that does not run yet one; more
 * urgent first, the queues by turns, and within a queue the classes by turns,
 * that of the oldest work first; without the first `skip_count` of that order.
 * Their number, at most `count_max`. */
uint32_t sched_unplaced(struct sched *sched, uint32_t skip_count,
                        uint32_t count_max, uint32_t *ret_jobs);
/* Whether work that is at home here waits for room: not what a gang that runs
 * has to spare, nor what would not even fit on empty nodes; but to tell that
 * only so many nodes are looked at, and then what is left is taken to wait. */
bool sched_has_own_waiting(struct sched *sched);
/* Whether nodes have room for `count` of a class now, whoever else waits. */
bool sched_class_fits(const struct sched *sched, uint32_t class_index,
                      uint32_t count);
/* What is free on nodes that take new work. */
struct resource_vec sched_idle(const struct sched *sched);
