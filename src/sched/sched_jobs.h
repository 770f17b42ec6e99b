/*
 * sched_jobs - reports about jobs and gangs to the planner: they wait, have a
 * node, are requeued or removed, and what was promised to them.
 *
 * The caller reports the decisions of a plan here once they are durable.  Part
 * of sched.h, whose rules apply.
 */
#pragma once

#include "sched/sched_handles.h"

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
    bool is_borrowed;        /* a borrower: its home is not among these pools */
    bool is_returning;       /* it was here, and left by sched_job_lend() */
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
 * its lifetime or whatever its age, but not before a time, and whatever its
 * queue has; nothing when that one is not admitted, or this one yields to
 * another already. */
void sched_job_yield(struct sched *sched, uint32_t job, uint32_t for_job,
                     bool is_at_once, int64_t from_ms);

/* A job, or its gang, took a place for fairness, or is about to give one up
 * because it had promised to: it takes none for fairness until the policy's
 * `cooldown` is over and there was news (cooldown.h).  Told of leases that are
 * `is_by_share`, and of preemptions that are YIELD before what becomes of the
 * job. */
void sched_job_cooldown(struct sched *sched, uint32_t job);
/* A leased job loses its run for fairness, or since it had promised to give
 * way: what it has run counts as lost (losses.h).  Told before what becomes of
 * the job. */
void sched_job_lost(struct sched *sched, uint32_t job);
/* A leased job has run to its end: that was useful (loss_limit.h).  Told before
 * it goes. */
void sched_job_ended_well(struct sched *sched, uint32_t job);
/* Since when a job waits that was requeued, and what it has lost, for another
 * state that it goes to. */
struct sched_loss {
    int64_t since_ms, lost_ms, longest_ms;
};
/* That of a job; false: it was never requeued. */
bool sched_job_loss_get(const struct sched *sched, uint32_t job,
                        struct sched_loss *ret_loss);
/* A job that waits came from another state, where that was so. */
void sched_job_loss_put(struct sched *sched, uint32_t job,
                        const struct sched_loss *from);
/* A cooldown, for another state that its job goes to; both go by the same news.
 */
struct sched_cooldown {
    int64_t since_ms;
    uint64_t news_count; /* when it began */
};
/* The cooldown of a job, or of its gang; false: it is under none. */
bool sched_job_cooldown_get(const struct sched *sched, uint32_t job,
                            struct sched_cooldown *ret_cooldown);
/* A job came from another state, where it was under that cooldown: so it is
 * here, unless it, or its gang, is under one that lasts. */
void sched_job_cooldown_put(struct sched *sched, uint32_t job,
                            const struct sched_cooldown *cooldown);
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
    /* When nodes are reserved for it, if it is the first and no start is known
     * before. */
    int64_t reserved_from_ms;
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
/* The same of a member that is in another state, by its sub-group: told of one
 * that is here. */
void sched_gang_succeeded(struct sched *sched, uint32_t job,
                          uint32_t sub_group);
/* What a gang with terms remembers beside its members, for another state that
 * they go to. */
struct sched_gang_memory {
    uint32_t succeeded_counts[SUB_GROUPS_MAX]; /* by sub-group */
    uint32_t sub_group_count;                  /* 0: there is nothing */
    int64_t scaled_ms;                         /* the last time, or INT64_MIN */
    int64_t requeued_ms; /* since when a cap that ends counts; 0: since it was
                            submitted */
};
/* Of the gang of a job. */
void sched_gang_memory(const struct sched *sched, uint32_t job,
                       struct sched_gang_memory *ret_memory);
/* Its gang remembers at least that. */
void sched_gang_remember(struct sched *sched, uint32_t job,
                         const struct sched_gang_memory *memory);
/* The gang of a job was scaled at a time, so that its freezing window starts,
 * unless its oldest run is younger than an elastic period: told with each
 * decision that `is_scaling` once it is durable. */
void sched_gang_scaled(struct sched *sched, uint32_t job, int64_t at_ms);
/* The same, where somebody else has asked how old its oldest run is. */
void sched_gang_freeze(struct sched *sched, uint32_t job, int64_t at_ms);
/* A member that is in another state has lost its place: since now a cap that
 * ends counts.  Told of one that is here. */
void sched_gang_requeued(struct sched *sched, uint32_t job);

/* A job, waiting or leased, asks for something else from now on; it keeps its
 * node. */
void sched_job_reclass(struct sched *sched, uint32_t job, uint32_t class_index);
/* A job became a borrower where it is, or ceased to be one: pools changed. */
void sched_job_borrowed_set(struct sched *sched, uint32_t job,
                            bool is_borrowed);
/* What was said last. */
bool sched_job_is_borrowed(const struct sched *sched, uint32_t job);
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
/* A waiting job goes to wait in another state, where it is borrowed.  Its
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
/* Have what is kept of `job`, any number, fetched from memory, for it will be
 * asked for soon: its row at first, its run's when that is there (`is_run`).
 * Changes nothing. */
void sched_job_fetch(const struct sched *sched, uint32_t job, bool is_run);
/* The node of a leased job, or SCHED_NONE. */
uint32_t sched_job_node(const struct sched *sched, uint32_t job);
/* The resources that a job asks for, in columns of the policy's schema. */
struct resource_vec sched_job_request(const struct sched *sched, uint32_t job);
/* Its class. */
uint32_t sched_job_class(const struct sched *sched, uint32_t job);

/* How a run ended, as far as that says something of its node. */
struct sched_outcome {
    struct str pool;  /* of the run */
    bool is_failed;   /* for a cause that can be the node's */
    bool is_exit;     /* by its exit code: not if gang-mates fail elsewhere */
    uint64_t job_set; /* of one that failed: a hash of queue and job set */
};

/* The run of a leased job has ended by itself; told before the job is
 * requeued or removed. */
void sched_run_ended(struct sched *sched, uint32_t job,
                     const struct sched_outcome *outcome);

/* A leased job's run has ended by itself or was cancelled, not preempted or
 * lost: where short jobs are penalised, it may count on in its queue.  Told
 * before the job is requeued or removed. */
void sched_job_finished(struct sched *sched, uint32_t job);
