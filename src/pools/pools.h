/*
 * pools - the planner of all pools: a router over *shards*, each of which is
 * one state of src/sched.  The Default shard has all pools of the
 * configuration; each pool object (model/pool.h) has a shard of its own.
 *
 * The words are those of sched.h, which says what they mean: what is told
 * here of a job, a node or a class is told to the shard that it is in, and
 * queues, executors, the policy and the time to all shards.  Handles are the
 * router's: jobs and queues have the caller's dense indexes; classes and
 * nodes the indexes that are returned here.  A *pool index* goes over the
 * policy's pools and then the objects, in order of names.
 *
 * While there has been no pool object, and no job that names a pool which is
 * none, all handles are those of the Default shard, and each call is one of
 * src/sched.
 *
 * Pure.  Threads: one owner.  Strings given are copied, but for the policy's.
 */
#pragma once

#include "model/pool.h"
#include "sched/sched.h"

enum {
    POOLS_SHARDS_MAX = POOL_OBJECTS_MAX + 1,
    POOLS_DEFAULT = 0,          /* the shard of the policy's pools */
    POOLS_DELTAS_MAX = 1 << 21, /* kept for a shard that is being planned */
    POOLS_DELTA_BYTES_MAX = 1 << 28, /* that they take, with what they say */
    POOLS_LEND_CANDIDATES_MAX =
        1 << 14,               /* jobs offered to lenders after a plan */
    POOLS_LOOKS_MAX = 1 << 22, /* at nodes and lenders meanwhile; what is
                                  left goes on after the next plan */
};

/* The state. */
struct pools;

/* An empty state; `policy` as in sched_create(). */
struct pools *pools_create(const struct policy *policy) must_check;
/* Free it. */
void pools_destroy(struct pools *pools);
DEFINE_AUTO(pools, pools_destroy)

/* Go by another policy from now on. */
void pools_policy_set(struct pools *pools, const struct policy *policy);
/* Nodes are about to change, some of which may go from pool to pool with what
 * runs there, or have done so: flows change once for all of it
 * (sched/fairness/usage_ledger_hold.h). */
void pools_flows_hold(struct pools *pools);
/* The end of a hold. */
void pools_flows_keep(struct pools *pools);
/* The leader's logged time. */
void pools_set_time(struct pools *pools, int64_t now_ms);

/* How many pools there are, and a pool's name; borrowed until they change. */
uint32_t pools_pool_count(const struct pools *pools);
/* See pools_pool_count(). */
struct str pools_pool_name(const struct pools *pools, uint32_t pool_index);

/* Pool objects.  No shard may be planned meanwhile, and after each of these
 * calls every node is to be told again, by pools_node_set(): it finds its
 * shard then, and what runs there goes with it. */

/* There is such a pool, or it is another now; the record is copied. */
void pools_pool_set(struct pools *pools, const struct pool_record *record);
/* A pool is gone: what waits for it waits in Default, and so do its nodes,
 * absent until they are told.  One that is not there is passed over. */
void pools_pool_delete(struct pools *pools, struct str name);
/* How many objects there are; their shards go by names: see below. */
uint32_t pools_object_count(const struct pools *pools);
/* An object, by its number in the order of names; borrowed until they change.
 */
const struct pool_record *pools_object(const struct pools *pools, uint32_t at);
/* Its shard. */
uint32_t pools_object_shard(const struct pools *pools, uint32_t at);
/* The record of a shard; NULL: it is Default. */
const struct pool_record *pools_shard_record(const struct pools *pools,
                                             uint32_t shard);
/* The shard that a job is in. */
uint32_t pools_job_shard(const struct pools *pools, uint32_t job);
/* The pool that a job names as its home, or "". */
struct str pools_job_names(const struct pools *pools, uint32_t job);
/* Whether it is borrowed there: its home is another. */
bool pools_job_is_borrowed(const struct pools *pools, uint32_t job);
/* The shard that a node is in. */
uint32_t pools_node_shard(const struct pools *pools, uint32_t node);
/* The shard of a pool, by its index. */
uint32_t pools_pool_shard(const struct pools *pools, uint32_t pool_index);

/* Queues, executors and nodes. */

/* Add a queue or change it. */
void pools_queue_set(struct pools *pools, uint32_t queue,
                     const struct queue_record *record);
/* Forget a queue that has no jobs left. */
void pools_queue_remove(struct pools *pools, uint32_t queue);
/* Whether a queue goes by applications. */
bool pools_queue_has_applications(const struct pools *pools, uint32_t queue);
/* Whether an executor gets new leases at all. */
void pools_executor_set(struct pools *pools, struct str executor,
                        bool accepts_new_leases);
/* Add a node or change it. */
uint32_t pools_node_set(struct pools *pools, struct str executor,
                        const struct node_record *record, struct str pool);
/* Whether a node that is there, or that is gone while something still runs
 * there, would go to another shard if it were that. */
bool pools_node_moves(const struct pools *pools, struct str executor,
                      const struct node_record *record);
/* Add a node that is gone as it was last told, for the moment in which what
 * still runs there is told again: of the pool of that name. */
uint32_t pools_node_recall(struct pools *pools, struct str executor,
                           struct str name, struct str pool);
/* The node is gone. */
void pools_node_remove(struct pools *pools, uint32_t node);
/* The index of a node by name; one that was never set is made, absent. */
uint32_t pools_node_index(struct pools *pools, struct str executor,
                          struct str name);
/* A node's name; borrowed until nodes change. */
struct str pools_node_name(const struct pools *pools, uint32_t node);
/* The executor that offers it; borrowed likewise. */
struct str pools_node_executor(const struct pools *pools, uint32_t node);
/* Its pool, "" while it was never set; borrowed likewise. */
struct str pools_node_pool(const struct pools *pools, uint32_t node);
/* How a node stands. */
void pools_node_stats(struct pools *pools, uint32_t node,
                      struct sched_node_stats *ret_stats);

/* Classes and jobs. */

/* The class of a canonical requirement. */
uint32_t pools_class_add(struct pools *pools,
                         const struct requirement *requirement);
/* Forget a class that no job has. */
void pools_class_remove(struct pools *pools, uint32_t class_index);

/* A new job waits in its queue, in the shard that is its home: of the pool
 * object that it names, or else Default.  `is_borrowed` is not looked at. */
void pools_job_add(struct pools *pools, uint32_t job,
                   const struct sched_job *record);
/* What a job's application is. */
void pools_job_application(struct pools *pools, uint32_t job, struct str id,
                           bool has_stateaware_off);
/* A waiting job has `node` from now on, and is in that node's shard. */
void pools_job_lease(struct pools *pools, uint32_t job, uint32_t node,
                     int32_t priority, int64_t now_ms, bool is_counted);
/* A leased job is on another node of its pool. */
void pools_job_repack(struct pools *pools, uint32_t job, uint32_t node);
/* The main containers of a leased job run. */
bool pools_job_started(struct pools *pools, uint32_t job);
/* The age of a leased job counts from a time. */
void pools_job_age_from(struct pools *pools, uint32_t job, int64_t at_ms);
/* From when it counts; INT64_MAX: it has none yet. */
int64_t pools_job_age_of(const struct pools *pools, uint32_t job);
/* Whether a disruption budget protects a leased job. */
void pools_job_protect(struct pools *pools, uint32_t job, bool is_protected);
/* A leased job gives way to an admitted one, from a time on. */
void pools_job_yield(struct pools *pools, uint32_t job, uint32_t for_job,
                     bool is_at_once, int64_t from_ms);
/* A waiting job is admitted to a pool. */
void pools_job_admit(struct pools *pools, uint32_t job, struct str pool,
                     int64_t start_ms, int64_t charge);
/* It is admitted no longer. */
void pools_job_dismiss(struct pools *pools, uint32_t job);
/* Whether a job, or its gang, is admitted. */
bool pools_job_admission(const struct pools *pools, uint32_t job,
                         struct sched_admission *ret_admission);
/* Why a waiting job waits, in a word: sched_wait_of(). */
enum sched_wait pools_job_wait(struct pools *pools, uint32_t job,
                               int64_t now_ms, uint32_t *looks_left);
/* A job that was leased just before is charged. */
void pools_job_charge(struct pools *pools, uint32_t job, struct str pool,
                      int64_t charge);
/* A leased job waits again, at home. */
void pools_job_requeue(struct pools *pools, uint32_t job, uint32_t avoid_node);
/* A job avoids a node. */
void pools_job_avoid(struct pools *pools, uint32_t job, uint32_t node);
/* A job is no longer to be thought of. */
void pools_job_remove(struct pools *pools, uint32_t job);
/* A job's priority within its queue changes. */
void pools_job_reprioritise(struct pools *pools, uint32_t job,
                            uint32_t priority);
/* As sched_job_fetch(); does nothing once there are pool objects, for then the
 * job may be where a thread is at work. */
void pools_job_fetch(const struct pools *pools, uint32_t job, bool is_run);
/* The node of a leased job, or SCHED_NONE. */
uint32_t pools_job_node(const struct pools *pools, uint32_t job);
/* The run of a leased job has ended by itself. */
void pools_run_ended(struct pools *pools, uint32_t job,
                     const struct sched_outcome *outcome);
/* A leased job's run has ended by itself or was cancelled. */
void pools_job_finished(struct pools *pools, uint32_t job);
/* A leased job of a gang with terms has succeeded. */
void pools_job_succeeded(struct pools *pools, uint32_t job);
/* A job, or its gang, takes nothing for fairness for a while. */
void pools_job_cooldown(struct pools *pools, uint32_t job);
/* A leased job loses its run for fairness, or since it had promised to give
 * way. */
void pools_job_lost(struct pools *pools, uint32_t job);
/* The gang of a job was scaled at a time. */
void pools_gang_scaled(struct pools *pools, uint32_t job, int64_t at_ms);
/* What pods that are not ours ask for in vain in the cluster of an executor,
 * which is of a pool of the configuration; nothing, until it is told.  Nobody
 * knows their labels: each pool with nodes there is told the part that it has
 * of the resource, before it is planned next. */
void pools_foreign_pending_set(struct pools *pools, struct str executor,
                               struct str pool,
                               const struct resource_vec *amounts);
/* A job asks for something else from now on. */
void pools_job_reclass(struct pools *pools, uint32_t job, uint32_t class_index);

/* The health of nodes. */

/* The changes that are due, in order of nodes' names. */
uint32_t pools_health_plan(struct pools *pools, int64_t now_ms,
                           const struct sched_health_change **ret_changes);
/* When that is next to be asked though nothing ends. */
int64_t pools_health_wake_ms(const struct pools *pools);
/* A node's health is another. */
void pools_health_set(struct pools *pools, uint32_t node,
                      const struct sched_health *health);
/* A node's health as of `now_ms`. */
void pools_health_get(struct pools *pools, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health);
/* How many nodes that are there have this health. */
uint32_t pools_health_count(const struct pools *pools, enum node_health health);

/* History. */

/* Append what does not follow from queues, nodes and jobs, shard by shard;
 * while there has been no pool object just as src/sched does. */
void pools_history_pack(const struct pools *pools, struct strbuf *buf);
/* Before jobs are told: where the nodes were that are gone and still have
 * runs.  What else is there is passed over. */
void pools_gone_unpack(struct pools *pools, struct str bytes);
/* Take it back: what either form says. */
int pools_history_unpack(struct pools *pools, struct str bytes) must_check;

/* Plans. */

/* Plan one shard; decisions speak of the router's handles.  The same as the
 * two calls below with sched_plan() between them. */
void pools_plan(struct pools *pools, uint32_t shard, int64_t now_ms,
                enum round_kind kind, uint32_t decision_count_max,
                struct sched_plan *ret_plan);
/* A shard is going to be planned, by whichever thread: until the plan is back
 * what it is told is kept (at most POOLS_DELTAS_MAX deltas and
 * POOLS_DELTA_BYTES_MAX bytes), and questions
 * about it have empty answers.  Its state; nothing else may be done to it. */
struct sched *pools_plan_begin(struct pools *pools, uint32_t shard);
/* The plan is back: in `plan` are the decisions that still stand, in the
 * router's handles, until the shard's next plan.  A group of which a job, a
 * node or a pool changed meanwhile is left out, and so is one with which a
 * queue would have more than its quota, as others' plans took of it at the same
 * time; and with it all that later groups decide about its nodes.  The number
 * of decisions left out. */
uint32_t pools_plan_end(struct pools *pools, uint32_t shard,
                        struct sched_plan *plan);
/* After a plan, before what it decides is told: borrowers that it gave no
 * place are to go home, and after a full round (in pools that borrow first
 * also after a fast one) what waits here and has no place is to go to lenders,
 * for their next plan (model.md 5.5; borrow.h).  What is lent is not
 * admitted any more: `plan` says so.  How many jobs come or go, or ask the
 * first lender again next time; then it must be logged that the plan was
 * made. */
uint32_t pools_borrow(struct pools *pools, uint32_t shard, enum round_kind kind,
                      struct sched_plan *plan);
/* What the last plan of a shard decides was told: it stands, and who is to
 * come or go does so now, but for those still admitted here: the plan was cut
 * before it dismissed them.  Whether any job was lent.  Nothing is done
 * for a shard that is being planned again by then, or that is gone. */
bool pools_plan_commit(struct pools *pools, uint32_t shard);
/* It comes to nothing instead: nobody comes or goes, and the next plan goes on
 * where it did. */
void pools_plan_forget(struct pools *pools, uint32_t shard);
/* Whether lenders should be asked again soon for what waits in a shard, though
 * nothing happens: one was being planned, or had work of its own still to
 * place, or sent somebody home, or more wait than are asked for at once.
 * Another full round of the shard does it. */
bool pools_must_ask_again(const struct pools *pools, uint32_t shard);
/* Whether borrowers wait in a shard. */
bool pools_has_borrowers(const struct pools *pools, uint32_t shard);
/* How many jobs of a shard wait with lenders. */
uint32_t pools_lent_count(const struct pools *pools, uint32_t home);
/* The pool index of a shard; of Default: of its first pool. */
uint32_t pools_shard_pool(const struct pools *pools, uint32_t shard);
/* Whether something went from one shard to another when a plan came back, since
 * this was asked last: then others have reason to be planned. */
bool pools_take_news(struct pools *pools);
/* Whether a shard is being planned; and whether any is. */
bool pools_is_busy(const struct pools *pools, uint32_t shard);
/* See pools_is_busy(). */
bool pools_is_any_busy(const struct pools *pools);
/* Whether so much is kept for a shard that its plan must be waited for. */
bool pools_is_full(const struct pools *pools, uint32_t shard);
/* Plans begin with all again, borrowers that wait go home, and whoever asks
 * for a place asks the first lender. */
void pools_sweep_reset(struct pools *pools);
/* How many jobs of a queue the last plan of each shard looked at. */
const struct sched_looked *pools_looked(struct pools *pools,
                                        uint32_t *ret_count);

/* Questions. */

/* What a job needs to start. */
void pools_explain_need(struct pools *pools, uint32_t job, int64_t now_ms,
                        struct sched_explanation *ret_explanation,
                        struct sched_need *ret_need);
/* The kinds of nodes where it could be. */
uint32_t pools_explain_kinds(struct pools *pools, uint32_t job, int64_t now_ms,
                             struct sched_node_kind *ret_kinds,
                             uint32_t *ret_left_out_count);
/* What the nodes of its shard say. */
void pools_explain_nodes(struct pools *pools, uint32_t job,
                         struct sched_explanation *ret_explanation);
/* What can be said of a place; later: a pool that might have it is being
 * planned. */
enum pools_answer { POOLS_NO, POOLS_YES, POOLS_LATER };
/* Whether some node of its shard is or could become free enough, or one of a
 * pool that it may borrow from could hold it when empty. */
enum pools_answer pools_has_place(struct pools *pools, uint32_t job,
                                  uint32_t *ret_looks);
/* Whether its gang might start in one of them if the nodes were empty;
 * `fit_no` as for sched_gang_may_fit(), `ret_miss` is of its shard. */
enum pools_answer pools_gang_may_fit(struct pools *pools, uint32_t job,
                                     uint32_t fit_no, uint32_t *ret_looks,
                                     struct sched_gang_miss *ret_miss);
/* Whether these ask other pools than its own about a job. */
bool pools_has_lenders(const struct pools *pools, uint32_t job);
/* The members of its gang that wait, in order; in the arena. */
uint32_t *pools_gang_waiting(const struct pools *pools, uint32_t job,
                             struct arena *arena, uint32_t *ret_count);
/* Whether a job's gang is larger than its queue's share (sched.h); false while
 * its shard is planned. */
bool pools_gang_is_over_share(
    struct pools *pools, uint32_t job,
    struct sched_gang_over_share *ret_gang_over_share);
/* To whom the run of a job gives way (sched.h); false likewise. */
bool pools_job_yielding(const struct pools *pools, uint32_t job,
                        struct sched_yielding *ret_yielding);
/* How a queue stands in a pool. */
void pools_queue_stats(struct pools *pools, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats);
/* The same of many queues at once, in their order (sched_queues_stats()). */
void pools_queues_stats(struct pools *pools, const uint32_t *queues,
                        uint32_t count, uint32_t pool_index,
                        struct sched_queue_stats *ret_stats);
/* The applications of a queue, shard by shard, in the arena. */
uint32_t pools_applications(const struct pools *pools, uint32_t queue,
                            int64_t now_ms, struct arena *arena,
                            struct sched_application **ret_applications);
/* How many of them are in which state. */
void pools_application_counts(const struct pools *pools, uint32_t queue,
                              uint32_t ret_counts[SCHED_APP_STATES]);
/* How a pool stands. */
void pools_pool_stats(struct pools *pools, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats);
/* What a shard has and what it is used for.  While it is planned: as it was
 * when that was kept last; how long ago that was, in ms, or 0: it is so now.
 * The two questions above are answered likewise, by what was answered last (of
 * the first few thousand queues). */
int64_t pools_usage(const struct pools *pools, uint32_t shard, int64_t now_ms,
                    struct sched_usage *ret_usage);
/* A shard is going to be planned beside those who may ask: keep what it has,
 * unless that was done a moment ago. */
void pools_figures_keep(struct pools *pools, uint32_t shard, int64_t now_ms);
/* Recompute all sums and indexes and compare, the router's own too. */
bool pools_is_consistent(struct pools *pools);
