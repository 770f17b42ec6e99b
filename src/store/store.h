/*
 * store - the query store, with the history of each job: a projection of the
 * log into tables.
 *
 * A port; backends open one (store_sqlite.h), what they open is used through
 * this header only.  One *writer*, the projector, folds the log's records in
 * order, the rows and the log's offset in one transaction: after a crash it
 * goes on where the rows stand.  Within the log's retention the store can be
 * rebuilt from the log; beyond it the store is the record (design.md 4).
 *
 * Readers see a whole record or nothing of it.  The lag behind the log is
 * head - store_seq().
 *
 * Ownership: the results of a query live in the arena that the caller passes.
 * Threads: a `struct store` belongs to the projector's thread; a `struct
 * store_reader` to one thread; store_backup() is for any thread.
 */
#pragma once

#include "base/arena.h"
#include "elog/elog.h"
#include "model/event.h"

enum {
    STORE_APPLY_RECORDS_MAX = 1024, /* in one transaction */
    /* Payloads that store_follow() folds in one; but one record always. */
    STORE_FOLLOW_BYTES_MAX = 16 << 20,
    STORE_LIST_MAX = 10000,         /* rows that one listing gives */
    STORE_PRUNE_ROWS_MAX = 1000,    /* jobs that one store_prune() deletes */
    STORE_TEXT_BYTES_MAX = 1 << 16, /* of an error text; cut beyond it */
};

/* Ordinals as Armada's Lookout stores them (armada-api.md 1.8).  Append,
 * never renumber. */
enum stored_job_state {
    STORED_JOB_QUEUED = 1,
    STORED_JOB_PENDING = 2,
    STORED_JOB_RUNNING = 3,
    STORED_JOB_SUCCEEDED = 4,
    STORED_JOB_FAILED = 5,
    STORED_JOB_CANCELLED = 6,
    STORED_JOB_PREEMPTED = 7,
    STORED_JOB_LEASED = 8,
    STORED_JOB_REJECTED = 9,
};
enum { STORED_JOB_STATES = STORED_JOB_REJECTED + 1 };

/* Ordinals as Armada's Lookout stores them.  Append, never renumber. */
enum stored_run_state {
    STORED_RUN_PENDING = 1,
    STORED_RUN_RUNNING = 2,
    STORED_RUN_SUCCEEDED = 3,
    STORED_RUN_FAILED = 4,
    STORED_RUN_TERMINATED = 5,
    STORED_RUN_PREEMPTED = 6,
    STORED_RUN_UNABLE_TO_SCHEDULE = 7,
    STORED_RUN_LEASE_RETURNED = 8,
    STORED_RUN_LEASE_EXPIRED = 9,
    STORED_RUN_MAX_RUNS_EXCEEDED = 10,
    STORED_RUN_LEASED = 11,
    STORED_RUN_CANCELLED = 12,
};

struct stored_job {
    struct job_id id;
    struct str queue, job_set, namespace_, owner;
    enum stored_job_state state;
    uint32_t priority;
    int64_t submitted_ms;
    int64_t last_transition_ms;
    int64_t cancelled_ms; /* 0: was not */
    struct str cancel_reason, cancel_user;
    struct run_id latest_run; /* or none */
    uint32_t run_count;
    struct str error; /* rejection, or the job's final error text */
    struct str external_job_uri;
    int64_t core_milli, gpu_milli; /* requested; for reading */
};

struct stored_run {
    struct run_id id;
    struct job_id job;
    enum stored_run_state state;
    struct str cluster, node, pool; /* cluster is the executor's id */
    int64_t leased_ms, pending_ms, started_ms, finished_ms; /* 0: not yet */
    int32_t exit_code;
    struct str error; /* text for people; "" if none */
    struct str debug;
    struct str ingress; /* an encoded api.JobRunDetails that holds nothing but
                         * ingress_addresses and objects; "" if none */
};

/* Which jobs to list, newest first.  An empty string or 0 stands for any. */
struct store_filter {
    struct str queue, job_set, owner;
    uint32_t states;          /* bits 1 << stored_job_state */
    struct job_id older_than; /* none: from the newest on; for paging */
    uint32_t count_max;       /* 1..STORE_LIST_MAX */
    /* Only jobs with this label, as far as it is indexed: see
     * store_label_since(); one in a hundred thousand million may not have it.
     */
    struct str label_key, label_value;
};

struct store;
struct store_reader;

/* Called after a transaction for each job set that it touched, with the last
 * log seq that holds events of it. */
typedef void store_changed_fn(void *ctx, struct str queue, struct str job_set,
                              uint64_t seq);

/* Close and free.  NULL is fine. */
void store_close(struct store *store);
DEFINE_AUTO(store, store_close)

/* The last record whose effects are in the store; 0 at first. */
uint64_t store_seq(const struct store *store);

/* Whether the store continues what `reader` reads: 0.  Ask before following.
 * -ERR_CONFLICT: it is ahead of the log, which has lost records then, or was
 * made from another one: restore the newest backup.  -ERR_NOT_FOUND: records
 * that it has not seen have been trimmed away: restore the newest backup, or
 * delete it and lose what is older than the log. */
int store_check(struct store *store, struct elog_reader *reader,
                struct err *err) must_check;

/* Have a store that is ahead of what `reader` reads go on from the end of that,
 * whose former records are lost for good.  Its rows stay as they are, so it
 * still knows what became of jobs meanwhile: 1.  0 where it is not ahead. */
int store_rewind(struct store *store, struct elog_reader *reader,
                 struct err *err) must_check;

/* Fold `record_count` (<= STORE_APPLY_RECORDS_MAX) records, the first of which
 * has seq store_seq() + 1 (any, if the store is empty), in one transaction;
 * then tell `changed`.
 * -ERR_CONFLICT: not the next record; -ERR_FULL, -ERR_IO: nothing was applied,
 * may be tried again; -ERR_CORRUPT, -ERR_VERSION: a record does not decode. */
int store_apply(struct store *store, const struct elog_record *records,
                uint32_t record_count, store_changed_fn *changed, void *ctx,
                struct err *err) must_check;

/* Fold the next records of the log, as many as one transaction should hold:
 * their count, 0 when the store is at the end of the log.  An empty store
 * begins with the first record that there is.  `changed` and the failures are
 * those of store_apply(), and elog_read()'s. */
int store_follow(struct store *store, struct elog_reader *reader,
                 store_changed_fn *changed, void *ctx,
                 struct err *err) must_check;

/* Delete up to STORE_PRUNE_ROWS_MAX jobs that ended before `before_ms`, with
 * all that belongs to them, and client ids older than `client_ids_before_ms`.
 * A positive number while there may be more: call again until it is 0. */
int store_prune(struct store *store, int64_t before_ms,
                int64_t client_ids_before_ms, struct err *err) must_check;

/* Write a copy of the store as it is now to the new file `path`, while the
 * projector goes on.  -ERR_CONFLICT if `path` exists.  Copy the store before
 * the log: a copy of the store that is ahead of the log's is of no use. */
int store_backup(struct store *store, const char *path,
                 struct err *err) must_check;

/* A reader for the calling thread; close it before the store. */
int store_reader_open(struct store *store, struct store_reader **ret_reader,
                      struct err *err) must_check;
/* NULL is fine. */
void store_reader_close(struct store_reader *reader);
DEFINE_AUTO(store_reader, store_reader_close)

/* All queries answer 1 or a count when there is something, 0 when there is
 * not, and a negative code (-ERR_IO) when the store fails. */

/* The last record that this reader's next query sees; the return is a code. */
int store_reader_seq(struct store_reader *reader, uint64_t *ret_seq,
                     struct err *err) must_check;

/* One job by id. */
int store_job(struct store_reader *reader, struct job_id id,
              struct arena *arena, struct stored_job *ret_job,
              struct err *err) must_check;

/* Only its state, cheaper than store_job(). */
int store_job_state(struct store_reader *reader, struct job_id id,
                    enum stored_job_state *ret_state,
                    struct err *err) must_check;

/* The runs of a job, newest lease first; the return is their count. */
int store_runs_of_job(struct store_reader *reader, struct job_id id,
                      struct arena *arena, struct stored_run **ret_runs,
                      struct err *err) must_check;

/* One run by id. */
int store_run(struct store_reader *reader, struct run_id id,
              struct arena *arena, struct stored_run *ret_run,
              struct err *err) must_check;

/* The encoded armadaevents.SubmitJob of a job. */
int store_spec(struct store_reader *reader, struct job_id id,
               struct arena *arena, struct str *ret_spec,
               struct err *err) must_check;

/* The last of the jobs that are in the store without its index of labels, which
 * were there before it; none if all are.  The return is a code. */
int store_label_since(struct store_reader *reader, struct job_id *ret_id,
                      struct err *err) must_check;
/* Whether the index has a label: keys whose every value is rare are not worth
 * it. */
bool store_label_is_indexed(struct str key) must_check;
/* The newest of the indexed jobs that have a label, or none; a code. */
int store_label_newest(struct store_reader *reader, struct str key,
                       struct str value, struct job_id *ret_id,
                       struct err *err) must_check;
/* The same of the oldest. */
int store_label_oldest(struct store_reader *reader, struct str key,
                       struct str value, struct job_id *ret_id,
                       struct err *err) must_check;
/* The oldest of them, if no other job lies between it and the newest: 1, else
 * 0. */
int store_label_whole(struct store_reader *reader, struct str key,
                      struct str value, struct job_id *ret_oldest,
                      struct err *err) must_check;
/* The oldest job of a span of jobs that are all of the array that this one is
 * of: 1; 0 where none is known, which says nothing. */
int store_array_piece(struct store_reader *reader, struct job_id id,
                      struct job_id *ret_oldest, struct err *err) must_check;
/* How many of them are in each state; a code. */
int store_label_states(struct store_reader *reader, struct str key,
                       struct str value, uint32_t ret_counts[STORED_JOB_STATES],
                       struct err *err) must_check;

/* Jobs that match a filter, newest first; the return is their count. */
int store_list(struct store_reader *reader, const struct store_filter *filter,
               struct arena *arena, struct stored_job **ret_jobs,
               struct err *err) must_check;

/* Ids of the jobs of a job set that were submitted with this external URI,
 * oldest first; the return is their count (<= STORE_LIST_MAX). */
int store_jobs_by_uri(struct store_reader *reader, struct str queue,
                      struct str job_set, struct str uri, struct arena *arena,
                      struct job_id **ret_ids, struct err *err) must_check;

/* A queue that has work in a pool. */
struct stored_active_queue {
    struct str pool, queue;
};

/* (pool, queue) pairs that have leased, pending or running jobs, sorted; the
 * return is their count. */
int store_active_queues(struct store_reader *reader, struct arena *arena,
                        struct stored_active_queue **ret_pairs,
                        struct err *err) must_check;

/* The key of a job set in the event index; the return is 0 when it has no
 * events. */
int store_job_set(struct store_reader *reader, struct str queue,
                  struct str job_set, int64_t *ret_key,
                  struct err *err) must_check;

/* Seqs > `after_seq` of the log records that hold events of a job set, in
 * order, at most `seq_count_max`; the return is their count. */
int store_job_set_seqs(struct store_reader *reader, int64_t key,
                       uint64_t after_seq, uint64_t *ret_seqs,
                       uint32_t seq_count_max, struct err *err) must_check;

/* How the jobs of a job set stand. */
struct stored_job_set {
    struct str queue, name;
    uint64_t counts[STORED_JOB_STATES]; /* of jobs, by state */
    int64_t changed_ms;                 /* when one last changed its state */
};

/* Job sets that have jobs, by queue and name, behind the one of these names
 * ("": from the first), of a queue or ("") of all, at most `count_max`; the
 * return is their count. */
int store_job_sets(struct store_reader *reader, struct str queue,
                   struct str after_queue, struct str after_name,
                   uint32_t count_max, struct arena *arena,
                   struct stored_job_set **ret_sets,
                   struct err *err) must_check;

/* How one job set stands. */
int store_job_set_counts(struct store_reader *reader, struct str queue,
                         struct str name, struct arena *arena,
                         struct stored_job_set *ret_set,
                         struct err *err) must_check;

/* What is counted of a day, a queue and an owner.  Cores and GPUs are in
 * thousandths x ms, from a run's lease to its end: used is all of it, of which
 * wasted is what failed or was lost.  Append, never renumber. */
enum stored_usage_amount {
    STORED_USAGE_SUBMITTED, /* jobs */
    STORED_USAGE_SUCCEEDED, /* jobs that ended so */
    STORED_USAGE_FAILED,    /* or were rejected */
    STORED_USAGE_CANCELLED,
    STORED_USAGE_PREEMPTED,
    STORED_USAGE_RUNS,      /* that ended */
    STORED_USAGE_WAITED_MS, /* of jobs, before each lease or their end */
    STORED_USAGE_RAN_MS,    /* of runs */
    STORED_USAGE_CORE_USED,
    STORED_USAGE_CORE_WASTED,
    STORED_USAGE_CORE_CANCELLED,
    STORED_USAGE_CORE_PREEMPTED,
    STORED_USAGE_GPU_USED,
    STORED_USAGE_GPU_WASTED,
    STORED_USAGE_GPU_CANCELLED,
    STORED_USAGE_GPU_PREEMPTED,
    STORED_USAGE_AMOUNTS,
};

struct stored_usage {
    int64_t day;             /* UTC, since the epoch; -1: of all days */
    struct str queue, owner; /* "": of all */
    int64_t amounts[STORED_USAGE_AMOUNTS];
};

/* Which usage: an empty string stands for any. */
struct store_usage_filter {
    int64_t from_day, to_day; /* both included */
    struct str queue, owner;
    bool by_day, by_queue, by_owner; /* rows apart for each */
    uint32_t count_max;              /* 1..STORE_LIST_MAX */
};

/* Usage by day, queue and owner, in that order, as far as they are asked for;
 * the return is the count of rows. */
int store_usage(struct store_reader *reader,
                const struct store_usage_filter *filter, struct arena *arena,
                struct stored_usage **ret_rows, struct err *err) must_check;

/* The last event about an object that is no job. */
struct stored_object {
    enum event_type kind; /* of the event that makes one, such as QUEUE_SET */
    struct str name;
    struct str queue, job_set, user; /* of the event's sequence */
    struct str event;                /* an EventSequence.Event */
    uint64_t seq;                    /* of its record */
};

/* Objects whose last event is of a record after `after_seq`, in the order of
 * records; the return is their count. */
int store_objects(struct store_reader *reader, uint64_t after_seq,
                  struct arena *arena, struct stored_object **ret_objects,
                  struct err *err) must_check;

/* The job that was submitted to `queue` with `client_id`. */
int store_client_id(struct store_reader *reader, struct str queue,
                    struct str client_id, struct job_id *ret_job,
                    struct err *err) must_check;
