/*
 * control_private - the leader's state and its parts; for src/control only.
 *
 *     control.c             create, step, answer
 *     control_start.c       become the writer, read checkpoint and log
 *     control_fold.c        what each event does to the live state
 *     control_batch.c       form the next batch
 *     control_events.c      sequences that others made: reports, requests
 *     control_executors.c   executors: inventory, settings, silence
 *     control_groups.c      groups of pods as a whole
 *     control_health.c      nodes that fail
 *     control_nodes.c       nodes as operators see them
 *     control_pools.c       pools as objects
 *     control_exchange.c    what they are told: leases, cancels, sessions
 *     control_checkpoint.c  the live state as bytes, and back
 *     control_rounds.c      plans: when, of which shard
 *     control_facts.c       what is logged of those made beside the leader
 *     control_apps.c        applications of jobs, and how they stand
 *     control_training.c    TrainingJobs
 *     control_amounts.c     amounts with their names
 *     control_explain.c     why a job waits, as sentences
 *     control_explain_json.c    the same as data
 *     control_waiting.c     what it needs, and what is free
 *     control_rejection.c   why it can never run
 *     control_queues.c      how queues stand
 *     control_report.c      reports as text; answers to questions
 *     control_audit.c       records made again
 */
#pragma once

#include <pthread.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "control/control.h"
#include "control/dedup.h"
#include "control/named.h"
#include "control/planner.h"
#include "control/pool_table.h"
#include "control/session.h"
#include "job/groups.h"
#include "job/job_action.h"
#include "job/names.h"
#include "job/training.h"
#include "pools/lenders.h"
#include "wire/log_codec.h"
#include "wire/rfc3339.h"

/* A queue that is set, or that still has jobs; its index is that of its name,
 * and its handle in the scheduler. */
struct control_queue {
    uint32_t job_count;
    bool is_set;
    uint32_t transition_first; /* of control.transitions, plus 1; 0: none */
};

/* A scheduling class, by the job table's index of it. */
struct control_class {
    uint32_t sched_class;
    uint32_t job_count;
    uint64_t checked_generation; /* of nodes; it fitted then */
    uint32_t checked_shard;      /* of pools.h: where the job was that did */
    uint64_t checked_pool;       /* a hash of the pool that it named */
};

/* What the scheduler's side of a job is, by the job's index. */
struct job_link {
    uint32_t queue, class_index;
};

/* What an executor has been told of a run, by the run's index. */
struct run_note {
    uint32_t executor;    /* index */
    uint32_t exchange_no; /* the last that listed it */
    uint32_t session_no;  /* of the session that knows it */
};

/* A node, by the index of its name within the executor.  `bytes` is an event
 * EXECUTOR_NODES that sets this node alone: the form of the log and of
 * checkpoints, and what inventories are compared by. */
struct control_node {
    char *bytes; /* owned; NULL: not there */
    uint32_t byte_count;
    uint32_t sched_node;
    uint32_t seen_no; /* the last exchange that listed it */
    bool is_cordoned; /* by an operator, here; goes with the node */
};

/* An executor, by the index of its name. */
struct control_executor {
    struct str id; /* borrowed from its name */
    bool is_known; /* has a record: an inventory in the log */
    bool is_cordoned, has_settings;
    bool accepts; /* what the scheduler was told */
    bool is_in_batch;
    enum executor_state state;
    char *cordon_reason; /* owned */
    char *pool;          /* owned */
    struct control_pending {
        char *bytes; /* owned: an event that sets it alone; NULL: nothing */
        uint32_t byte_count;
    } pending;                        /* what others ask for there in vain */
    struct control_pending protected; /* runs, by disruption budgets */
    uint64_t heard_ns;
    uint32_t unacknowledged_count; /* leased, not reported */
    uint32_t in_batch_count;       /* leases in the batch being formed */
    uint32_t node_count;
    struct names node_names;
    VEC(struct control_node) nodes;
    struct exchange_session *session; /* or NULL */
    uint64_t instance;                /* of the session's program, or 0 */
    uint32_t session_no, credit;
    VEC(struct unsent_run {
        uint32_t run;
        struct run_id id;
    })
    unsent; /* of the session, oldest first */
    size_t unsent_first;
    VEC(struct run_id) cancels; /* of the session */
};

/* A policy and all that it points to. */
struct policy_box {
    struct arena arena;
    struct policy policy;
    char *text; /* owned */
};

/* A record in flight may outlive the leader: the log tells of it, and lets go
 * of its payload, when it is closed. */
struct flight {
    struct control *control; /* NULL: the leader is gone */
    struct log_batch log;    /* then the payload's, owned */
};

/* The batch that is being formed or in flight. */
struct batch {
    struct log_batch log;
    struct command *first, *last; /* answered when it is durable */
    VEC(uint32_t) owed;           /* jobs; dirty again if it fails */
    VEC(struct job_id) fresh;     /* jobs submitted in it with a client id */
    struct map fresh_by_key;      /* to their place in `fresh` */
    VEC(uint64_t) touched;        /* bits by job: decided in it, or ended */
    VEC(uint32_t) touched_jobs;
    struct arena arena;
    uint64_t seq;
    int64_t time_ms;
    uint32_t decision_count;
    uint32_t submit_count;
    uint32_t fresh_node_count; /* of inventories; at least */
    uint32_t quiet_count;      /* events that alone are worth no record */
    VEC(uint32_t) planned;     /* shards with a plan in it */
    bool is_in_flight, is_told, is_announcement;
    bool deletes_a_queue; /* submissions wait for the batch after it */
    bool changes_pools;   /* no plan may begin before it is folded */
    bool moves_nodes;     /* from pool to pool; what was planned waits for it */
    bool is_counted;      /* executors' in_batch_count is this batch's */
    bool has_training;    /* so do further commands about TrainingJobs */
    int result;
    struct str payload; /* borrowed from `log` */
};

enum { HELD_SHARES_MAX = 64 };

/* What a queue holds of a pool, and its share, while a batch is formed. */
struct held_share {
    uint64_t form_no; /* of that batch; 0: nothing is known */
    uint32_t queue, pool;
    double actual, due;
};

/* When one shard of the planner is to be asked. */
struct shard_rounds {
    bool is_plan_wanted, is_balance_wanted;
    uint64_t fast_due_ns, balance_due_ns;
    int64_t wake_ms; /* wall time; INT64_MAX: none */
    /* For BORROW_FIRST: since when the balance round that is due has waited for
     * borrowers to find places; 0: it has not. */
    uint64_t borrowing_since_ns;
    /* When lenders are asked again, 0: not; and the pause before that is done
     * once more, 0: the shortest, as after news. */
    int64_t ask_at_ms, ask_pause_ms;
    /* While the planner has it: what it was asked, when, and on which state. */
    bool is_out;
    bool is_back; /* what it decided is not in a batch yet */
    uint64_t started_ns, seen_seq;
    struct planner_task *task; /* owned */
};

/* Something about a plan that is made beside the leader: it began, was back,
 * is done or was dropped.  See control_facts.c. */
struct round_fact {
    enum event_type type; /* EVENT_ROUND_... */
    enum round_kind kind;
    uint32_t shard;
    int64_t at_ms;
    uint64_t seen_seq; /* of the state that it was planned on */
};

struct control {
    struct control_config config;
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
    uint64_t snapshot_seq;
    uint32_t snapshot_pause_us; /* the longest step so far */
    int64_t now_ms;             /* of the last record, or later */
    struct policy_box *policy;
    bool is_policy_logged; /* it is the log's, not only the configuration's */
    struct jobs *jobs;
    struct pools *pools;
    struct pool_table pool_table; /* the objects; c->pools goes by them */
    struct dedup *dedup;
    struct training *training;
    struct names queue_names;
    VEC(struct control_queue) queues;
    VEC(struct control_class) classes;
    VEC(struct job_link) links;
    struct names executor_names;
    VEC(struct control_executor *) executors; /* owned; NULL: none */
    VEC(struct time_mark {
        uint64_t seq;
        int64_t time_ms;
    })
    marks;                    /* for retention, oldest first */
    uint64_t node_generation; /* grows when more could fit */

    /* What is known beside the log. */
    VEC(struct run_note) notes;
    VEC(uint32_t) unchecked; /* jobs that may fit nowhere; a queue */
    size_t unchecked_first;
    uint64_t trim_seq;    /* records before it may go; 0: none */
    uint64_t trimmed_seq; /* where the last trim stopped */
    uint32_t exchange_no, session_no;
    uint64_t stepped_ns;
    uint64_t retry_ns; /* no decisions before, after a failed append */
    bool is_plan_wanted, is_balance_wanted; /* of all shards; see rounds */
    VEC(struct shard_rounds) rounds;        /* by shard */
    uint32_t first_shard;                   /* where the next batch begins */
    uint32_t first_back;          /* likewise, with plans that are back */
    VEC(struct round_fact) facts; /* since the last record */
    bool holds_plans;    /* somebody waits for all that are being made */
    uint64_t held_since; /* in ns; when questions began to wait, 0: none */
    struct command *waiting_first, *waiting_last;
    size_t waiting_byte_count; /* of them */
    struct batch batch;
    uint64_t form_no; /* of batches that were formed, also if in vain */
    struct flight *flight; /* owned, or by the log at the end */
    struct arena scratch;
    struct held_share held_shares[HELD_SHARES_MAX]; /* by queue and pool */

    pthread_mutex_t metrics_mutex;
    struct control_metrics metrics; /* the leader's */
    struct transitions {
        struct map index; /* of queue, pool and states */
        VEC(struct transition {
            uint32_t queue; /* NAMES_NONE: a free slot */
            uint32_t pool;  /* interned, plus 1; 0: none */
            uint32_t next;  /* plus 1: of the queue, or free; 0: the last */
            uint8_t before;
            uint8_t after;
            uint64_t count;
        })
        items;
        uint32_t first_free;  /* plus 1 */
        struct intern *pools; /* owned; NULL: none yet */
    } transitions;
    struct control_metrics published;
};

/* Nanoseconds of the clock that never goes back. */
static inline uint64_t control_mono_ns(const struct control *c)
{
    return c->config.clock->mono_ns(c->config.clock);
}

enum { NS_PER_MS = 1000000 };

/* control.c */

/* Tell a command's poster how it ended; `text` is copied. */
void command_answer(struct command *command, enum command_result result,
                    const char *text);
/* Put a command on the batch's list: answered with the batch. */
void batch_keep(struct batch *batch, struct command *command);

/* control_start.c */

/* Become the writer and find where to begin; then read some records at each
 * call: 1 when all are read. */
int start_acquire(struct control *c, struct err *err) must_check;
/* Set the state up from the newest checkpoint that c->reader shows. */
int start_from_checkpoint(struct control *c, struct err *err) must_check;
/* The like: 1 when all is read, 0 when there is more, or a negative code. */
int start_replay(struct control *c, struct err *err) must_check;

/* control_fold.c */

/* Set up empty state under `policy`, which is taken. */
void state_init(struct control *c, struct policy_box *policy, uint64_t seed);
/* Free it. */
void state_fini(struct control *c);
/* Fold one record's payload. */
int fold_payload(struct control *c, struct str payload, uint64_t seq,
                 int64_t time_ms, struct err *err) must_check;
/* Read a policy; NULL when the text is not one. */
struct policy_box *policy_box_read(struct str text, struct err *err) must_check;
/* NULL is fine. */
void policy_box_destroy(struct policy_box *box);
/* Go by another policy; what is no policy is passed over. */
void policy_apply(struct control *c, struct str text);
/* The index of a queue that is set or has jobs, or NAMES_NONE. */
uint32_t queue_find(const struct control *c, struct str name);
/* A job that ran is in `state` now; if that is an end of its own, it may count
 * on in its queue. */
void note_finished(struct control *c, uint32_t job, enum job_state state);
/* Give a job of the table to the scheduler. */
void link_job(struct control *c, uint32_t job, struct str queue);
/* Set a queue from its encoding, as the event does. */
void queue_apply(struct control *c, const struct queue_record *record,
                 struct str encoded);

/* control_batch.c */

/* Form the next batch; false if there is nothing to append. */
bool batch_form(struct control *c);
/* Forget all of the batch but its memory. */
void batch_clear(struct batch *batch);
/* Whether a job is decided or ended in the batch that is being formed. */
bool batch_is_touched(const struct batch *batch, uint32_t job);
/* Mark it so. */
void batch_touch(struct batch *batch, uint32_t job);
/* Add the events of decisions about one job. */
void batch_add_decisions(struct batch *batch,
                         const struct job_decisions *decisions);
/* Add what is owed to a job; false if that is nothing. */
bool batch_add_owed(struct control *c, uint32_t job);
/* Add a job's end if it can never run, or no more; adds to `*ret_looks` the
 * nodes that were looked at.  False: a pool that it may be lent nodes of is
 * being planned, so nobody can say yet. */
bool batch_check_job(struct control *c, uint32_t job, uint32_t *ret_looks);
/* Add the groups of a plan in order, up to the first that no longer stands:
 * those after it were planned on its effects.  False when there was one. */
bool batch_add_plan(struct control *c, const struct sched_plan *plan);

/* control_rounds.c */

/* How the rounds of a shard stand. */
struct shard_rounds *rounds_of(struct control *c, uint32_t shard);
/* Plan what is due, and add what is decided. */
void rounds_add(struct control *c);
/* Plan a shard, and add what the plan decides. */
void batch_plan_round(struct control *c, uint32_t shard, enum round_kind kind);
/* The shard of a pool object's name, else Default's. */
uint32_t rounds_shard(const struct control *c, struct str pool);
/* Whether a command must wait until no plan is being made: what changes pools
 * does, and for a while what asks about them. */
bool rounds_must_wait(struct control *c, const struct command *command);
/* Whether no plan may begin beside the leader, since somebody waits for those
 * that are being made. */
bool rounds_are_held(const struct control *c);
/* Wait for all plans that are being made, and leave them unused. */
void rounds_abandon(struct control *c);
/* The plans of the batch stand: it was folded. */
void rounds_commit(struct control *c);
/* They come to nothing, and leave no trace. */
void rounds_forget(struct control *c);
/* For who makes the rounds of a log again.  Begin a plan beside the leader, as
 * of a time; nothing where one is out. */
void round_begin(struct control *c, uint32_t shard, enum round_kind kind,
                 int64_t now_ms);
/* It is back: its shard is told what was kept for it. */
void round_take_back(struct control *c, uint32_t shard);
/* What stands of one that is back goes into the batch; false: none is. */
bool round_finish(struct control *c, uint32_t shard);
/* One that is back comes to nothing. */
void round_drop(struct control *c, uint32_t shard);
/* When a round is next due; UINT64_MAX: never. */
uint64_t rounds_due_ns(struct control *c, int64_t wall_ms);

/* control_facts.c */

/* A batch begins with what happened since the last record. */
void facts_open(struct control *c);
/* Something happens while a batch is formed; `is_quiet`: that alone is worth no
 * record. */
void fact_add(struct control *c, const struct round_fact *fact, bool is_quiet);
/* Something happens while none is formed. */
void fact_keep(struct control *c, const struct round_fact *fact);
/* Whether the batch has nothing that is worth a record. */
bool facts_are_all(const struct control *c);
/* Such a batch is not appended: what it tells waits for the next one. */
void facts_pass(struct control *c);
/* The batch is durable: all is told. */
void facts_logged(struct control *c);
/* It is not: its rounds come to nothing, which is told with the next. */
void facts_failed(struct control *c);

/* control_events.c */

/* Add the sequences of a COMMAND_EVENTS: false when it was answered instead,
 * or must wait until no plan is being made. */
bool batch_add_events(struct control *c, struct command *command,
                      bool *ret_must_wait);
/* A run that ends by `event` in this batch is not preempted in it as well. */
void batch_touch_ended(struct control *c, const struct event *event);

/* control_executors.c */

/* The executor of that name, made if it is new. */
struct control_executor *executor_get(struct control *c, struct str id);
/* The one of that name, or NULL. */
struct control_executor *control_find_executor(const struct control *c,
                                               struct str id);
/* Tell the scheduler whether it gets new leases. */
void executor_sync(struct control *c, struct control_executor *executor);
/* Cordon a node, or take it up again; one that is not there is passed over. */
void node_cordon(struct control *c, struct control_executor *executor,
                 struct str name, bool is_cordoned);
/* The event that sets what others ask for in vain at an executor, into a buffer
 * that is cleared; nothing: none. */
void pending_encode(struct strbuf *buf, struct str executor_id, struct str pool,
                    const struct resource_list *pending);
/* It is this from now on. */
void pending_fold(struct control *c, struct control_executor *executor,
                  struct str pool, const struct resource_list *pending);
/* Tell the planner all of it anew: resources are counted otherwise. */
void pending_sync(struct control *c);
/* Whether an executor protects other runs than it did. */
bool protected_differs(const struct control_executor *executor,
                       const struct exchange_request *request);
/* The runs of an exchange as texts, in the arena. */
const struct str *protected_texts(const struct exchange_request *request,
                                  struct arena *arena);
/* An executor protects these from now on, and no others. */
void protected_fold(struct control *c, struct control_executor *executor,
                    const struct str *runs, uint32_t count);
/* Tell the planner of all of them: its runs are new. */
void protected_sync(struct control *c);
/* Fold EXECUTOR_NODES, _SETTINGS, _DELETED and _STATE. */
void executor_fold(struct control *c, const struct event *event);
/* Tell the planner of all nodes anew, in order of names: their pools are others
 * now. */
void executors_fold_again(struct control *c);
/* Free all executors. */
void executors_fini(struct control *c);
/* The index of an executor: that of its name. */
uint32_t executor_index(const struct control *c,
                        const struct control_executor *executor);
/* Write a node in the form that nodes are compared and kept in. */
void node_encode(struct strbuf *buf, struct str executor_id, struct str pool,
                 const struct node_record *record);
/* Add to the batch what an executor is from now on. */
void batch_add_state(struct control *c, const struct control_executor *executor,
                     enum executor_state state);

/* Add what silence and its end mean to the batch. */
void batch_add_silence(struct control *c);
/* Everybody was heard just now; at the start and after a pause of ours. */
void executors_forgive(struct control *c, uint64_t pause_ns);
/* When the next executor will have been silent too long; UINT64_MAX: never. */
uint64_t executors_due_ns(const struct control *c);

/* control_gangs.c */

/* Answer a COMMAND_QUERY_GANGS. */
void gangs_answer(struct control *c, struct command *command);

/* control_groups.c */

/* Add what is owed to a gang as a whole, but to jobs that are touched; false
 * if that is nothing. */
bool batch_add_group(struct control *c, uint32_t gang);
/* The same for all gangs that something is owed to. */
void batch_add_groups(struct control *c);

/* control_health.c */

/* A run has ended: what that says of its node. */
void health_note(struct control *c, const struct jobs_change *change,
                 const struct event *event);
/* Add to the batch which nodes are to be taken out, or back; false if none. */
bool batch_add_health(struct control *c);
/* Fold NODE_HEALTH. */
void health_fold(struct control *c, const struct event *event);

/* control_nodes.c */

/* Answer a COMMAND_QUERY_NODES. */
void nodes_answer(struct control *c, struct command *command);

/* control_pools.c */

/* Fold POOL_SET and POOL_DELETED. */
void pool_fold(struct control *c, const struct event *event);
/* Why a POOL_SET may not be appended, or NULL. */
const char *pool_refusal(const struct control *c, const struct event *event);
/* The pools that match a node if they are more than one, so that it is in the
 * Default pool, as a text in the arena; or "". */
struct str pool_conflict(const struct control *c,
                         const struct node_record *record, struct arena *arena);
/* Append where a job is at home, for people, and whether it borrows; nothing
 * where there are no pool objects. */
void pool_put_home(struct strbuf *buf, const struct control *c, uint32_t job,
                   bool has_run);
/* Append the pools, for a checkpoint. */
void pool_objects_pack(const struct control *c, struct strbuf *buf);
/* Take them back. */
void pool_objects_unpack(struct control *c, struct pack_reader *reader);
/* Answer a COMMAND_QUERY_POOLS. */
void pool_objects_answer(struct control *c, struct command *command);

/* control_preempt.c */

/* Why a job is preempted, in the batch's arena. */
struct str preemption_reason(struct control *c,
                             const struct sched_decision *decision);

/* control_waiting.c */

/* Why a job waits, what it needs, and what is free where it could be. */
struct waiting {
    struct sched_explanation why;
    struct sched_need need;
    struct sched_node_kind kinds[SCHED_NODE_KINDS_MAX];
    uint32_t kind_count, left_out_count;
    enum pools_borrowing borrowing;
    struct pools_lender *lenders; /* in the arena of the answer */
    uint32_t lender_count;
};

/* Ask the planner about a job of the table. */
void waiting_ask(struct control *c, uint32_t job, struct arena *arena,
                 struct waiting *ret_waiting);
/* Answer a COMMAND_QUERY_ADMISSIONS. */
void admissions_answer(struct control *c, struct command *command);
/* Append amounts as a JSON object, by the names of resources. */
void waiting_put_json_vec(struct strbuf *buf, const struct control *c,
                          const struct resource_vec *vec);
/* Append a node's name as a JSON member, without a comma. */
void waiting_put_json_node(struct strbuf *buf, const struct control *c,
                           const char *name, uint32_t node);
/* Append need and kinds of nodes as sentences. */
void waiting_put_text(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);
/* Append them as members of a JSON object that has some. */
void waiting_put_json(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);

/* control_lending.c */

/* Append why no other pool has taken a job, as sentences. */
void lending_put_text(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);
/* Append it as a member of a JSON object that has some. */
void lending_put_json(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);

/* control_clusters.c */

/* Answer a COMMAND_QUERY_EXECUTORS. */
void clusters_answer(struct control *c, struct command *command);

/* control_transitions.c */

/* Count that a job of a queue goes to another state; while leading only. */
void transitions_count(struct control *c, uint32_t queue, struct str pool,
                       const struct jobs_change *change);
/* The queue is gone, and its counts with it. */
void transitions_forget(struct control *c, uint32_t queue);
/* Put the counts into the answer of a COMMAND_QUERY_QUEUES. */
void transitions_answer(struct control *c, struct command *command);
/* Free them. */
void transitions_fini(struct control *c);

/* control_exchange.c */

/* Release an executor's session, if it has one. */
void session_detach(struct control_executor *executor,
                    enum command_result result);
/* Take an exchange: true when its events are in the batch and it is to be
 * answered with it; false when it was answered. */
bool exchange_take(struct control *c, struct command *command);
/* Whether it must wait for the batch after this one. */
bool exchange_must_wait(struct control *c, const struct command *command);
/* Answer an exchange on the state as it is now. */
void exchange_answer(struct control *c, struct command *command);
/* End a session. */
void session_end(struct control *c, struct command *command);
/* Release all sessions. */
void sessions_release(struct control *c);
/* A run began, was acknowledged, or was ended by us: note it. */
void note_run_began(struct control *c, uint32_t run, struct str executor_id,
                    struct run_id id);
/* The like: its executor has reported it for the first time, or it ended. */
void note_run_acknowledged(struct control *c, uint32_t run);
/* The like: its executor must stop it. */
void note_run_unwanted(struct control *c, uint32_t run, struct run_id id);
/* Push what is new to the sessions. */
void sessions_push(struct control *c);
/* control_checkpoint.c */

/* Append the live state; `is_whole` false leaves out what depends on where
 * the reading of the log began. */
void checkpoint_encode(struct control *c, struct strbuf *buf, bool is_whole);
/* Set the live state up from a checkpoint. */
int checkpoint_decode(struct control *c, struct str bytes,
                      struct err *err) must_check;
/* Write one if it is due, and forget some old records. */
void checkpoint_if_due(struct control *c);
/* Encode some more of one that was begun. */
void checkpoint_go_on(struct control *c);
/* Give up one that was begun. */
void checkpoint_abandon(struct control *c);

/* control_apps.c */

/* The application of a job, borrowed like the job's own strings. */
struct str application_of(const struct job_view *view,
                          const struct job_digest *digest);
/* A queue goes by applications now: tell the scheduler of its jobs'. */
void apps_feed(struct control *c, uint32_t queue);
/* What people call a state. */
const char *application_state_name(enum sched_app_state state);
/* How many applications of a queue are in which state. */
void apps_count(const struct control *c, uint32_t queue,
                struct application_counts *ret_counts);
/* Answer a COMMAND_QUERY_APPS. */
void apps_answer(struct control *c, struct command *command);

/* control_training.c */

/* Fold TRAINING_JOB_SET and _DELETED. */
void training_fold(struct control *c, const struct log_item *item);
/* Answer a COMMAND_SUBMIT of a TrainingJob that cannot be made; false: it
 * can. */
bool training_refuses(struct control *c, struct command *command);
/* Take a COMMAND_TRAINING_UPDATE or _DELETE: answer it or add to the batch
 * what it asks for. */
void training_take(struct control *c, struct command *command);
/* Answer a COMMAND_QUERY_TRAINING. */
void training_answer(struct control *c, struct command *command);

/* control_amounts.c */

/* What is not 0 of a vector, as amounts with names. */
struct resource_list name_amounts(struct control *c,
                                  const struct resource_vec *vec,
                                  struct arena *arena);
/* Append an amount of a column of the policy's resources, for people. */
void amounts_put_one(struct strbuf *buf, const struct control *c, int column,
                     int64_t amount);
/* Append what is not 0 of a vector, likewise. */
void amounts_put(struct strbuf *buf, const struct control *c,
                 const struct resource_vec *vec);
/* The same of what a node has, with "0 cpu" for what is asked for and not
 * there; resources that are of no node are left out. */
void amounts_put_room(struct strbuf *buf, const struct control *c,
                      const struct resource_vec *vec,
                      const struct resource_vec *asked);

/* control_explain.c */

/* Write a moment as people read it; returns `text`. */
const char *moment_put(int64_t ms, char text[WIRE_RFC3339_TEXT_BYTES_MAX]);
/* Append, a line each, why how many nodes cannot take a job. */
void explain_put_exclusions(struct strbuf *buf,
                            const struct sched_explanation *e);
/* Append how a live job stands: where it runs, or why it waits. */
void explain_put_job(struct strbuf *buf, struct control *c, uint32_t job,
                     const struct waiting *waiting);
/* A reason to wait, as a sentence. */
const char *explain_wait_text(enum sched_wait wait);
/* Why a node is none (enum sched_exclusion): what follows "3 of 5 nodes". */
const char *explain_exclusion_text(int exclusion);
/* Answer a COMMAND_EXPLAIN. */
void explain_answer(struct control *c, struct command *command);

/* control_explain_json.c */

/* The same as explain_put_job(), as a JSON object. */
void explain_put_json(struct strbuf *buf, struct control *c, uint32_t job,
                      const struct waiting *waiting);

/* Append a member of a JSON object, with a text of a user's, no comma. */
void explain_put_json_member(struct strbuf *buf, const char *name,
                             struct str text);
/* The same behind a comma. */
void explain_put_json_text(struct strbuf *buf, const char *name,
                           struct str text);
/* A reason to wait, as programs know it. */
const char *explain_wait_name(enum sched_wait wait);
/* Why a node is none, likewise. */
const char *explain_exclusion_name(int exclusion);

/* control_rejection.c */

/* Why a gang can never start, in the arena; `misfit` is of a member that fits
 * on no node by itself, or NULL. */
struct str report_gang_rejection(struct control *c,
                                 const struct sched_gang_miss *miss,
                                 const struct sched_explanation *misfit,
                                 struct arena *arena);
/* Why a job can never run, in the arena. */
struct str report_rejection(struct control *c,
                            const struct sched_explanation *explanation,
                            struct arena *arena);

/* control_queues.c */

/* The queues that are set or have jobs, in order; mem_free() it. */
struct named *queues_sorted(const struct control *c, uint32_t *ret_count);
/* Answer a COMMAND_QUERY_QUEUES. */
void queues_answer(struct control *c, struct command *command);

/* control_report.c */

/* Fill in the answer of a query. */
void report_answer(struct control *c, struct command *command);
