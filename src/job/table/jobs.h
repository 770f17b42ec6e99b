/*
 * jobs - every job that has not ended, and the fold of events into it.
 *
 *     job      index 0 .. jobs_index_end() - 1, dense, reused after the end
 *     run      likewise; at most one a job, while leased or still undecided
 *     job set  members by (queue, job set), so that commands about one need
 *     gang     not look at every job; likewise (queue, gang id)
 *
 * Applying is separate from acting: jobs_apply() folds facts, and puts each
 * job for which something may now be due on a list (jobs_take_dirty());
 * job_action.h says what is due.  A job leaves the table with the event that
 * ends it; whatever comes later about it is LATE.  Duplicates change nothing.
 *
 * The state is a function of the events alone, but for indexes, which depend
 * on where a replay began: order by id, never by index.
 *
 * A queued job takes 64 bytes here, 5 to 9 in the index of ids, and its share
 * of what it does not have in common with others (job set, gang).
 *
 * Pure.  Strings that getters give are borrowed until the next change.
 * Threads: one owner.
 */
#pragma once

#include "job/table/job_state.h"
#include "model/policy.h"

enum {
    JOBS_MAX = 1 << 26,
    JOBS_NONE = UINT32_MAX,
    JOBS_TRIED_MAX = 32, /* nodes that a job remembers to avoid */
    JOBS_FORMAT_VERSION =
        10, /* 9: no groups of turns; 8: no retry policies of jobs; 7: nobody
              waiting for others; 6: nobody held; 5: errors without category and
              exit code; 4: nobody is unproven; 3: nothing counted of gangs; 2:
              no terms of gangs; 1: neither admission nor applications */
    /* Of an error's encoding that is kept until the job's outcome is decided;
     * a longer one is made anew from its message. */
    JOBS_ERROR_BYTES_MAX = 64 << 10,
    JOBS_MESSAGE_BYTES_MAX = 16 << 10,
};

/* What was asked of a job, or befell it, and is not decided yet.  Append,
 * never renumber: checkpoints hold these. */
enum job_flag {
    JOB_FLAG_FAIL_FAST = 1,
    JOB_FLAG_REQUEUE_PREEMPTED = 2,
    JOB_FLAG_REQUEUE_LOST = 4,
    JOB_FLAG_CANCEL = 8,      /* to be cancelled */
    JOB_FLAG_CANCEL_SET = 16, /* by its job set: say `cancelling` as well */
    JOB_FLAG_PREEMPT = 32,    /* to be preempted */
    JOB_FLAG_PRIORITY = 64,   /* to get another priority */
    JOB_FLAG_LOST = 128,      /* its executor is lost */
    JOB_FLAG_STATEAWARE_OFF = 256,
    JOB_FLAG_HELD = 512, /* it waits and is not planned: see jobs_hold() */
};

/* What keeps a job from being planned. */
struct job_held {
    uint32_t holds;        /* enum job_hold; 0: nothing */
    int64_t begin_ms;      /* of JOB_HOLD_UNTIL */
    struct str user;       /* of JOB_HOLD_BY_USER; "": its submission says so */
    int64_t wait_until_ms; /* it fails if it has not run until then; 0: never */
    /* Of JOB_HOLD_FOR_JOBS: others that it waits for, borrowed. */
    const struct job_wait *waits;
    uint32_t wait_count;
    /* One of them ended otherwise than it was to. */
    bool is_broken;
    struct job_wait broken;
    enum job_state broken_as;
    /* Of JOB_HOLD_FOR_TURN, and of a job that has the turn. */
    struct str turn_group; /* "": none */
    uint32_t turn_limit;
    bool has_turn;
};

/* A node that a run of the job was tried on, in vain. */
struct job_tried {
    struct str executor_id;
    struct str node_name;
};

/* The run of a job. */
struct job_run {
    uint32_t index;
    struct run_id id;
    struct str executor_id;
    struct str node_name;
    struct str pool;
    int32_t priority; /* of its class, when it was scheduled */
    int64_t leased_ms;
    int64_t started_ms; /* its age counts from then; 0: not yet */
    /* Of a lease to be made; not kept. */
    bool is_backfilled;
    struct job_id revocable_for; /* or none */
    bool yields_at_once;
    int64_t yields_from_ms;
    int64_t excess_charge; /* 0: none */
};

/* One job, for reading. */
struct job_view {
    struct job_id id;
    struct str queue, job_set, user;
    struct str class_key;
    uint32_t class_index; /* equal keys have equal indexes */
    uint32_t gang_index;  /* or JOBS_NONE */
    enum job_state state;
    uint32_t priority;
    uint32_t flags;           /* enum job_flag */
    uint32_t run_count;       /* so far; the next run's attempt */
    uint32_t attempted_count; /* of them, given back after they were tried */
    bool has_run;
    struct job_run run;
};

/* What an event did. */
enum jobs_answer {
    JOBS_OTHER = 0, /* nothing that jobs know of */
    JOBS_APPLIED,
    JOBS_LATE, /* late, repeated, or about a job that is not here */
};

/* The one job that an event moved. */
struct jobs_change {
    uint32_t job; /* JOBS_NONE: none, or many (see jobs_take_dirty) */
    enum job_state before, after;
    uint32_t run; /* index of the run that it has or had, or NONE */
};

struct jobs_counts {
    uint32_t by_state[JOB_STATE_COUNT];
    uint64_t late_count; /* events dropped, ever */
};

/* The runs of a queue in a pool, by their jobs' states. */
struct jobs_run_counts {
    uint32_t leased_count, pending_count, running_count;
};

struct jobs;

/* An empty table.  The caller owns it. */
struct jobs *jobs_create(void) must_check;
/* NULL is fine. */
void jobs_destroy(struct jobs *jobs);
DEFINE_AUTO(jobs, jobs_destroy)

/* The policy from now on (borrowed): it says which classes can be preempted.
 * Must be set before the first event. */
void jobs_set_policy(struct jobs *jobs, const struct policy *policy);

/* Fold one event.  `*ret_change` is written always.  When `after` is an end,
 * the index is free already: the next submission may take it. */
enum jobs_answer jobs_apply(struct jobs *jobs, const struct event_scope *scope,
                            const struct event *event,
                            struct jobs_change *ret_change);

/* The jobs for which something may be due since the last call, each once, in
 * order of id, written to an array that the caller frees with mem_free();
 * `*ret_count` of them, at most `count_max` (0: all), the rest stays. */
uint32_t *jobs_take_dirty(struct jobs *jobs, uint32_t count_max,
                          uint32_t *ret_count) must_check;
/* Put a job (back) on that list. */
void jobs_mark_dirty(struct jobs *jobs, uint32_t job);
/* Put every job on it for which anything can be due; after a restart. */
void jobs_mark_all_dirty(struct jobs *jobs);
/* Whether the list is not empty. */
bool jobs_has_dirty(const struct jobs *jobs);

/* How many there are. */
uint32_t jobs_count(const struct jobs *jobs);
/* One more than the largest index in use; holes are jobs_is_live() false. */
uint32_t jobs_index_end(const struct jobs *jobs);
/* Whether there is a job at `job`, which may be any number. */
bool jobs_is_live(const struct jobs *jobs, uint32_t job);
/* Counts, kept up to date. */
struct jobs_counts jobs_counts(const struct jobs *jobs);

/* Likewise those of the runs of a queue in a pool. */
struct jobs_run_counts jobs_run_counts(const struct jobs *jobs,
                                       struct str queue, struct str pool);

/* The index of a job, or JOBS_NONE. */
uint32_t jobs_find(const struct jobs *jobs, struct job_id id);
/* The index of the job that has this run, or JOBS_NONE. */
uint32_t jobs_find_run(const struct jobs *jobs, struct run_id id);
/* The index of this run, as in struct job_run, or JOBS_NONE. */
uint32_t jobs_run_index(const struct jobs *jobs, struct run_id id);
/* Whether a job that is there has this id. */
bool jobs_has_id(const struct jobs *jobs, uint32_t job, struct job_id id);
/* What jobs_apply() will ask of memory for an event, fetched beforehand: call
 * it with stages 0, 1 and 2, with other work between them.  Changes nothing.
 * Returns the index of the job that the event most likely is about, as soon as
 * that can be told, or JOBS_NONE. */
uint32_t jobs_fetch(const struct jobs *jobs, const struct event *event,
                    uint32_t stage);
/* A job that is there. */
void jobs_get(const struct jobs *jobs, uint32_t job, struct job_view *ret_view);
/* Its run alone, which it has. */
void jobs_get_run(const struct jobs *jobs, uint32_t job,
                  struct job_run *ret_run);
/* Its state alone. */
enum job_state jobs_state(const struct jobs *jobs, uint32_t job);
/* Its digest, as it was submitted but for the client id. */
void jobs_digest(const struct jobs *jobs, uint32_t job,
                 struct job_digest *ret_digest);
/* Nodes that it was tried on in vain, oldest first; the number written. */
uint32_t jobs_tried(const struct jobs *jobs, uint32_t job,
                    struct job_tried ret_tried[JOBS_TRIED_MAX]);
/* Whether its last run failed by what was done to its pod (it was evicted,
 * deleted), and not by itself. */
bool jobs_is_error_foreign(const struct jobs *jobs, uint32_t job);
/* What keeps it from being planned; JOB_FLAG_HELD if anything does.  A job is
 * held only while it is queued, and never as a member of a gang. */
void jobs_held(const struct jobs *jobs, uint32_t job,
               struct job_held *ret_held);
/* Whether anything does. */
bool jobs_is_held(const struct jobs *jobs, uint32_t job);
/* The retry policy that it names instead of its queue's; "": none. */
struct str jobs_retry_policy(const struct jobs *jobs, uint32_t job);
/* Mark those dirty whose time to begin, or to give up, has come. */
void jobs_expire(struct jobs *jobs, int64_t now_ms);
/* When that is of the next; INT64_MAX: of none. */
int64_t jobs_expire_due_ms(const struct jobs *jobs);
/* The name of its priority class (borrowed). */
struct str jobs_priority_class(const struct jobs *jobs, uint32_t job);
/* Whether its priority class may be preempted under the policy. */
bool jobs_is_preemptible(const struct jobs *jobs, uint32_t job);

/* A job's run is on another node than it was leased for. */
void jobs_run_moved(struct jobs *jobs, uint32_t job, struct str node_name);
/* Keep from when the age of a job's run counts, unless that is known. */
void jobs_run_started(struct jobs *jobs, uint32_t job, int64_t started_ms);

/* The runs of an executor, oldest lease first: pass JOBS_NONE to begin, then
 * the job that was given; JOBS_NONE at the end.  A run is listed while its
 * job is leased, pending or running. */
uint32_t jobs_next_on_executor(const struct jobs *jobs, struct str executor_id,
                               uint32_t job) must_check;
/* A job is unproven from when it is told so until it is told otherwise: nobody
 * has said yet that there are nodes for it.  A new one is proven. */
void jobs_set_unproven(struct jobs *jobs, uint32_t job, bool is_unproven);
/* Whether it is. */
bool jobs_is_unproven(const struct jobs *jobs, uint32_t job);
/* None is any more. */
void jobs_prove_all(struct jobs *jobs);
/* Append the whole state in canonical form: equal states are equal bytes. */
void jobs_encode(const struct jobs *jobs, struct strbuf *buf);
/* Begin to append the state as it is now, in a form that jobs_decode() reads
 * but that is not canonical.  What changes meanwhile is written before it
 * does, so that the leader goes on.  `buf` is borrowed until the end. */
void jobs_snapshot_begin(struct jobs *jobs, struct strbuf *buf);
/* Append up to `count_max` jobs more; true when all are there. */
bool jobs_snapshot_write(struct jobs *jobs, uint32_t count_max) must_check;
/* Be done with it, whether all is there or not.  Nothing if none was begun. */
void jobs_snapshot_end(struct jobs *jobs);
/* Read it into `jobs`, which must be empty.  -ERR_CORRUPT, -ERR_VERSION; then
 * destroy it. */
int jobs_decode(struct jobs *jobs, struct str bytes,
                struct err *err) must_check;
/* The same in steps.  `bytes` are borrowed until the end. */
struct jobs_decoder *jobs_decode_begin(struct jobs *jobs,
                                       struct str bytes) must_check;
/* Read up to `count_max` jobs more: 1 when all are there, 0 if not, or a
 * negative code of jobs_decode(). */
int jobs_decode_some(struct jobs_decoder *decoder, uint32_t count_max,
                     struct err *err) must_check;
/* Be done with it, whether all is there or not.  NULL is fine. */
void jobs_decode_end(struct jobs_decoder *decoder);
DEFINE_AUTO(jobs_decoder, jobs_decode_end)

/* Abort unless all that is kept twice agrees.  O(jobs). */
void jobs_assert_valid(const struct jobs *jobs);
