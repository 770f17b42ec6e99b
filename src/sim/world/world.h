/*
 * world - the shipped leader on virtual time: its clock, its log, its inbox,
 * the jobs that are submitted to it and the clusters that run them.
 *
 *     agenda --time--> world_run() --> control_step() --push--> clusters
 *                          ^  arrivals, ends, reports                 |
 *                          +------------- agenda <-------------------+
 *
 * One seed, one thread, no sleep: the clock goes from event to event, and to
 * the moments at which the leader asks to be stepped.  Equal inputs give equal
 * logs, byte for byte (world_digest()).
 *
 * Jobs are numbered from 0 in the order of their submission; the number is in
 * the job's id.  What jobs have in common is a *kind*.
 *
 * Times are ms of the world, from 0; the wall clock starts at WORLD_EPOCH_MS.
 * Ownership: strings of kinds and queues are copied.  Threads: one owner.
 */
#pragma once

#include "control/control.h"
#include "elog/elog_memory.h"
#include "sim/world/agenda.h"
#include "sim/world/draw.h"

enum {
    WORLD_JOBS_MAX = 1 << 26,
    WORLD_KINDS_MAX = 1 << 24,
    WORLD_CLUSTERS_MAX = EXECUTORS_MAX,
    WORLD_RUN_BITS = 26,      /* in the id of a pod; and 12 of its cluster */
    WORLD_SUBMIT_MAX = 10000, /* jobs of one request */
};

#define WORLD_EPOCH_MS INT64_C(1700000000000)

/* What is on the agenda, in the order in which it happens at one moment. */
enum world_event {
    WORLD_NODE_DOWN, /* id: cluster << 32 | node */
    WORLD_NODE_UP,
    WORLD_POD_DUE, /* id: see world_pod_id() */
    WORLD_ARRIVAL, /* id: the caller's */
    WORLD_REPORT,  /* id: cluster: what it has gathered goes out */
    WORLD_HELLO,   /* id: cluster: its periodic exchange */
    WORLD_SAMPLE,  /* id: the caller's */
};

/* What jobs have in common. */
struct world_kind {
    struct str queue, job_set;
    struct str user;                /* "": sim */
    struct requirement requirement; /* canonical */
    uint32_t priority;
    struct str gang_uniformity;
    struct str application; /* "": the job set is the application */
    struct str pool;        /* "": any of the configuration's */
    enum on_loss on_preemption, on_executor_lost;
};

/* How a job ended. */
enum world_outcome {
    WORLD_RUNNING, /* or waits */
    WORLD_SUCCEEDED,
    WORLD_FAILED, /* by itself, its node was lost, or its gang went without */
    WORLD_PREEMPTED, /* and does not come back */
    WORLD_REJECTED,  /* by the leader: it can never start */
    WORLD_CANCELLED, /* by the leader: its group has ended without it */
};

struct world_job {
    int64_t submitted_ms;
    int64_t started_ms; /* first; -1: not yet */
    int64_t ended_ms;   /* for good; -1: not yet */
    int64_t run_ms;     /* how long it runs when it is let */
    uint32_t kind;
    uint16_t start_count;
    enum world_outcome outcome : 8;
    bool is_failing : 1; /* ends badly by itself */
};

/* A job to submit. */
struct world_submission {
    uint32_t kind;
    int64_t run_ms;
    bool is_failing;
    struct str gang_id; /* "": none */
    uint32_t gang_cardinality, gang_minimum;
    struct str gang_terms; /* packed; "": its members are alike */
    uint32_t sub_group;    /* of those terms */
};

/* What an observer is told of; each may be NULL. */
struct world_watch {
    void *ctx;
    /* A job's pod has begun to run on a node. */
    void (*started)(void *ctx, uint32_t job);
    /* A run is over, which ran for `ran_ms` if it `has_run` at all: the job
     * succeeded or failed, or `is_stopped`: the leader took its place. */
    void (*ended)(void *ctx, uint32_t job, int64_t ran_ms, bool is_stopped,
                  bool has_run);
    /* The leader rejected a job; the reason is borrowed. */
    void (*rejected)(void *ctx, uint32_t job, struct str reason);
    /* A waiting job failed: its gang started without it. */
    void (*left_out)(void *ctx, uint32_t job);
    /* A node went, or came back. */
    void (*node)(void *ctx, const struct node_record *record, bool is_down);
};

struct world_config {
    const struct policy *policy; /* only read during world_create() */
    uint64_t seed;
    /* The wall clock goes by the agenda alone; what the leader waits for
     * meanwhile passes on the other clock, and it plans once all that happens
     * at a moment is known.  For traces whose second is a moment. */
    bool is_wall_stepped;
    /* Append to this log, which is taken and closed, and must be empty; NULL:
     * a log in memory that forgets. */
    struct elog *log;
    struct world_watch watch;
    /* What control_hooks.what_if is, with `what_if_ctx`; or NULL. */
    void *what_if_ctx;
    void (*what_if)(void *ctx, struct command *command, char *bytes,
                    size_t byte_count, int64_t now_ms);
};

struct cluster;
struct world_kind_entry;

struct world {
    struct clock clock; /* first member */
    struct rng rng;
    uint64_t mono_ns;
    int64_t now_ms;
    struct world_config config;
    struct draw draw;
    struct agenda agenda;
    struct policy policy;
    struct elog_memory_storage *storage; /* or NULL */
    struct elog *log;
    struct inbox *inbox;
    struct queue_table *queues, *retry_policies;
    struct control *control;
    VEC(struct world_kind_entry *) kinds; /* owned */
    VEC(struct world_job) jobs;
    VEC(struct cluster *) clusters; /* owned */
    uint64_t step_count;
    struct command *asked; /* by world_ask(), until it is answered */
    bool is_refused;       /* a command was; `refusal` says how */
    struct err refusal;
};

/* A world with a leader that leads, and nothing in it.  NULL when the log
 * cannot be had, or has records (-ERR_CONFLICT). */
struct world *world_create(const struct world_config *config,
                           struct err *err) must_check;
/* NULL is fine. */
void world_destroy(struct world *world);
DEFINE_AUTO(world, world_destroy)

/* Make a queue; its weight is 1 / factor, and `ordering` is as api.Queue has
 * it ("": priority). */
void world_add_queue(struct world *world, struct str name,
                     double priority_factor, struct str ordering);
/* Make a queue, or set it anew, that is encoded as api.Queue. */
void world_set_queue(struct world *world, struct str name, struct str encoded);
/* Make a pool, an object beside those of the configuration. */
void world_add_pool(struct world *world, const struct pool_record *record);
/* The index of a new kind. */
uint32_t world_add_kind(struct world *world, const struct world_kind *kind);
/* What a job of a kind asks for, in columns of the policy's schema. */
const struct resource_vec *world_request(const struct world *world,
                                         uint32_t kind);
/* The queue of a kind; borrowed. */
struct str world_queue(const struct world *world, uint32_t kind);
/* Submit `count` jobs, of one queue and job set, as one request that the
 * leader takes at its next step; the number of the first. */
uint32_t world_submit(struct world *world,
                      const struct world_submission *submissions,
                      uint32_t count);

/* Step the leader, at this moment, until it has no more to do at once: in how
 * many ms it wants to be stepped again, or a negative code. */
int world_step(struct world *world, struct err *err) must_check;
/* Handle what is due on the agenda at this moment but for what is the
 * caller's: 1 with such an entry (an arrival or a sample), 0 when nothing is
 * due any more. */
int world_handle(struct world *world, struct agenda_entry *ret_entry);
/* Go on, step and handle, until an entry is the caller's (1), or the moment
 * `until_ms` has come and all that was due is done (0; also when the wall
 * clock is stepped and the agenda empty), or a negative code. */
int world_run(struct world *world, int64_t until_ms,
              struct agenda_entry *ret_entry, struct err *err) must_check;
/* Move the clock to a later moment; for callers that step by themselves. */
void world_move(struct world *world, int64_t now_ms);

/* Post a command whose answer nobody waits for; one that is refused ends the
 * simulation. */
void world_post(struct world *world, struct command *command);
/* Post a query and step until it is answered; the caller destroys it.  NULL
 * with a code when the leader stopped. */
struct command *world_ask(struct world *world, struct command *command,
                          struct err *err) must_check;
/* A hash of the log so far, the same wherever it is kept; a negative code when
 * it cannot be read. */
int world_digest(const struct world *world, uint64_t *ret_digest,
                 struct err *err) must_check;

/* For clusters. */

/* Whether a job of the kind waits again after a preemption. */
bool world_comes_back(const struct world *world, uint32_t kind);
/* A command was refused, which no command of a sound world is. */
void world_refused(struct world *world, const struct command *command);
/* The id of a job. */
struct job_id world_job_id(const struct world *world, uint32_t job);
/* The number of a job, from its id. */
uint32_t world_job_number(struct job_id id);
/* The kind's scope of events. */
struct event_scope world_scope(const struct world *world, uint32_t kind);
/* The id of a run's WORLD_POD_DUE: in order of jobs. */
_Static_assert(WORLD_JOBS_MAX <=
                   (1ULL << (64 - WORLD_RUN_BITS)) / WORLD_CLUSTERS_MAX,
               "the id of a pod has 64 bits");
static inline uint64_t world_pod_id(uint32_t job, uint32_t cluster,
                                    uint32_t run)
{
    return ((uint64_t)job * WORLD_CLUSTERS_MAX + cluster) << WORLD_RUN_BITS |
           run;
}
/* The wall clock's time of a moment. */
static inline int64_t world_wall_ms(int64_t time_ms)
{
    return WORLD_EPOCH_MS + time_ms;
}
