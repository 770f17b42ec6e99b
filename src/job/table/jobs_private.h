/*
 * jobs_private - how the job table lies in memory; for src/job only.
 *
 * Rows are plain and small; all text is in counted names.  What few jobs have
 * (requests not decided yet, errors, nodes tried) is in extras.
 *
 * Threads: the table's owner (jobs.h).
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/slots.h"
#include "job/table/groups.h"
#include "job/table/id_index.h"
#include "job/table/jobs.h"
#include "job/table/named_groups.h"

/* 64 bytes, one cache line. */
struct job_row {
    struct job_id id;
    uint32_t set_next, set_prev; /* members of its job set */
    uint32_t set;                /* index of sets, also of job_set_row */
    uint32_t user;               /* strings */
    uint32_t class_index;        /* classes */
    uint32_t gang;               /* gangs, or NONE */
    uint32_t place;              /* strings, or NONE: pool and application */
    uint32_t priority;
    uint32_t run;   /* runs, or NONE; in a free row the next free one */
    uint32_t extra; /* extras, or NONE */
    uint32_t run_count;
    uint16_t flags; /* enum job_flag, and ROW_DIRTY */
    uint8_t state;  /* JOB_NONE: free */
    uint8_t attempted_count;
};
_Static_assert(sizeof(struct job_row) <= 64, "a job is one cache line");

/* The latter stands for what `unproven` says, where a row is written. */
enum { ROW_DIRTY = 1 << 15, ROW_UNPROVEN = ROW_DIRTY };

struct run_row {
    struct run_id id;
    uint32_t job;      /* NONE: free */
    uint32_t executor; /* executors; of a free row the next free one */
    uint32_t node;     /* strings */
    uint32_t pool;     /* strings */
    int32_t priority;
    int64_t leased_ms, started_ms; /* see struct job_run */
    uint32_t next, prev;           /* of the executor's runs, oldest first */
    uint32_t tally;                /* tallies */
    bool is_listed;
    uint8_t tallied_as; /* enum job_state: the job's, as its tally has it */
};

/* The runs of a queue in a pool. */
struct tally_row {
    uint32_t queue, pool; /* queues, strings; of a free row the next free one */
    uint32_t run_count;   /* 0: free */
    struct jobs_run_counts counts;
};

/* Rarely needed.  All but numbers are strings, or NONE. */
struct extra_row {
    uint32_t priority; /* asked for */
    uint32_t priority_user;
    uint32_t cancel_user, cancel_reason;
    uint32_t preempt_user, preempt_reason;
    uint32_t error, error_message; /* of the run that ended: encoded, text */
    uint32_t error_category, error_subcategory;
    uint32_t error_kind;
    int32_t error_exit_code;
    bool error_attempted, error_is_foreign; /* the latter: not the program's
                                               doing */
    struct tried_pair {
        uint32_t executor, node;
    } *tried; /* owned */
    uint32_t tried_count;
    uint32_t holds; /* enum job_hold */
    uint32_t hold_user;
    uint32_t retry_policy;
    int64_t begin_ms, wait_until_ms; /* 0: none */
    struct job_wait *waits;          /* owned; waits.c */
    uint32_t wait_count;
    struct job_wait broken; /* the first that came to nothing */
    uint32_t broken_as;     /* enum job_state; JOB_NONE: none did */
    uint32_t turn;          /* its row in turns; JOBS_NONE: none */
    bool has_turn;
};

/* A job that waits for its group's turn, or did. */
struct turn_item {
    struct job_id id;
    uint32_t job;
};

/* A group of a queue's jobs of which some have the turn; turns.c. */
struct turn_row {
    uint32_t name; /* a string: queue, 0, group */
    uint32_t limit, busy_count, member_count;
    VEC(struct turn_item) waiting; /* a heap; some do not wait any more */
};

/* A job that waits, or did, for another to end. */
struct waiter_row {
    uint32_t job, next; /* the next that waits for the same, or JOBS_NONE */
    struct job_id id;   /* rows of jobs are used again: it tells */
};

/* A time at which something is due to a job that waits.  The job may be gone,
 * or have another time by then: its extras tell. */
struct timer_row {
    int64_t at_ms;
    uint32_t job;
};

/* Head of the lists of what is alike: job sets and executors. */
struct list_row {
    uint32_t first, last, count;
};

/* One sub-group of a gang with terms. */
struct group_part {
    uint32_t min_count, max_count; /* of its terms */
    bool is_auxiliary;
    struct group_count count;
};

/* What a gang with terms counts; groups.h. */
struct group {
    enum gang_kind kind;
    int64_t replace_timeout_ms;
    int64_t below_since_ms;   /* or 0 */
    struct job_id failed_job; /* the first that failed, or none */
    bool has_cancelled;
    bool is_dirty;        /* listed in dirty_groups */
    bool is_listed_below; /* in below_groups */
    uint32_t snapshot_no; /* the last that was given it, if it had it to get */
    uint32_t name;        /* index of named.rows, or JOBS_NONE */
    uint32_t part_count;
    struct group_part parts[SUB_GROUPS_MAX];
};

/* Whether what has failed of a sub-group counts as ended and not as missing. */
static inline bool group_forgives(const struct group *group, uint32_t part)
{
    return group->kind == GANG_TRAINING_TOLERANT &&
           !group->parts[part].is_auxiliary;
}

/* Members of a sub-group that are there or have ended well enough. */
static inline uint32_t group_present(const struct group *group, uint32_t part)
{
    const struct group_count *count = &group->parts[part].count;

    ASSERT(part < group->part_count);
    return count->running + count->succeeded +
           (group_forgives(group, part) ? count->failed : 0);
}

/* One gang. */
struct gang_row {
    VEC(uint32_t) members;
    struct group *group; /* owned, but for one with a name; NULL: no terms */
    uint32_t of_id;      /* gang_ids, of queue and id */
    uint32_t next_of_id; /* the next gang of that id, whose terms differ; or
                            JOBS_NONE */
};

/* A group with a name; named_groups.h. */
struct named_group {
    char *queue, *name, *gang_id, *reason; /* owned; queue NULL: free */
    char *encoded;                         /* owned, [byte_count] */
    char *failure;         /* owned; of the first pod that failed, or NULL */
    bool has_main_failure; /* that pod is not auxiliary */
    bool is_scaling;       /* it has grown, and did not run since */
    int64_t created_ms, started_ms, completed_ms;
    uint32_t queue_index, of_id; /* queues and gang_ids; NONE: it was refused */
    uint32_t gang;               /* that has its pods now, or JOBS_NONE */
    char *gang_key; /* owned: what the gang's digests share; NULL: none came */
    size_t gang_key_bytes;
    struct group *group; /* owned; NULL: none came */
    size_t byte_count;
};

struct named_groups {
    struct intern names; /* of queue and name; indexes of rows */
    VEC(struct named_group) rows;
    VEC(uint32_t) by_gang_id; /* by index of gang_ids, to rows or JOBS_NONE */
    VEC(uint32_t) touched;    /* changed since they were settled */
    uint32_t count;
    uint32_t over_count;                /* that have ended */
    size_t byte_count, over_byte_count; /* of descriptions; of those */
    int64_t completed_ms_min;           /* of those, or earlier */
};

struct jobs {
    const struct policy *policy; /* borrowed */
    struct intern queues, sets, classes, gangs, gang_ids, strings, executors;
    SLOTS(struct job_row) rows;
    SLOTS(struct run_row) runs;
    SLOTS(struct extra_row) extras;
    VEC(struct list_row) set_lists;      /* by index of sets */
    VEC(struct list_row) executor_lists; /* by index of executors */
    VEC(struct gang_row) gang_rows;      /* by index of gangs */
    VEC(uint32_t) gang_heads; /* by index of gang_ids: the first of that id */
    SLOTS(struct tally_row) tallies;
    VEC(uint64_t) unproven; /* a bit by row; rows beyond it are proven */
    VEC(uint32_t) dirty;
    VEC(uint32_t) dirty_groups, below_groups; /* gangs; some may be gone */
    SLOTS(struct waiter_row) waiters;
    struct map waited_for;        /* job ids to the first of their waiters */
    VEC(struct timer_row) timers; /* a heap; jobs_held.c */
    SLOTS(struct turn_row) turns;
    struct map turn_of; /* names, {0, string}, to turns */
    struct named_groups named;
    struct id_index by_id, by_run;
    struct map tally_of; /* queue and pool to tallies */
    struct jobs_counts counts;
    uint32_t count;
    struct snapshot *snapshot; /* owned; NULL: none is being written */
    uint32_t snapshot_no;      /* how many were begun */
};

/* The name and the limit of a group of turns. */
static inline struct str turns_group(const struct jobs *jobs, uint32_t turn,
                                     uint32_t *ret_limit)
{
    const struct turn_row *row = &jobs->turns.items[turn];
    struct str name = intern_get(&jobs->strings, row->name);
    size_t at = 0;

    while (name.p[at]) {
        at++;
    }
    *ret_limit = row->limit;
    return str_make(name.p + at + 1, name.byte_count - at - 1);
}

/* A row's bit of `count` words; beyond them it is not set. */
static inline bool row_has_bit(const uint64_t *words, size_t count,
                               uint32_t row)
{
    return row / 64 < count && (words[row / 64] >> row % 64 & 1);
}

enum { QUEUE_KEY_BYTES = 4 }; /* of a queue's index, where it begins a name */

/* A job to be put in order of ids; jobs_dirty.c. */
struct sort_item {
    struct job_id id;
    uint32_t job;
};

/* For qsort(). */
int sort_item_compare(const void *a, const void *b);

/* Counting runs; jobs_tallies.c. */

/* A run was made, and is counted as its job's state says. */
void tally_enter(struct jobs *jobs, uint32_t run);
/* Its job's state is another. */
void tally_move(struct jobs *jobs, uint32_t run);
/* It goes. */
void tally_leave(struct jobs *jobs, uint32_t run);

/* Membership; jobs_sets.c and jobs_gangs.c. */

/* A job joins a job set, which is made if there is none. */
void jobs_set_join(struct jobs *jobs, uint32_t job, struct str queue,
                   struct str job_set);
/* It leaves it; the last takes the set with it. */
void jobs_set_leave(struct jobs *jobs, uint32_t job);
/* A job whose queue is known joins the gang of its digest. */
void jobs_gang_join(struct jobs *jobs, uint32_t job, struct str queue,
                    const struct job_digest *digest);
/* It leaves it; the last takes the gang with it. */
void jobs_gang_leave(struct jobs *jobs, uint32_t job);
/* The first of the gangs of a gang's queue and id; `next_of_id` leads on. */
uint32_t jobs_gang_first_of_id(const struct jobs *jobs, uint32_t gang);

/* The jobs of the whole table; jobs.c. */

/* A new job, queued, with what the digest says. */
uint32_t row_create(struct jobs *jobs, struct job_id id, struct str queue,
                    struct str job_set, struct str user,
                    const struct job_digest *digest);
/* Free a job and all that it has. */
void row_free(struct jobs *jobs, uint32_t job);
/* A run for `job`, listed with its executor. */
void run_create(struct jobs *jobs, uint32_t job, const struct job_run *run);
/* A run that goes by the priority of its job's class (a packed key) goes by
 * that of the class `to` from now on. */
void run_reclass(struct jobs *jobs, uint32_t job, struct str from,
                 struct str to);
/* Take a run off its executor's list: it has ended. */
void run_unlist(struct jobs *jobs, uint32_t run);
/* Free the run of `job`. */
void run_free(struct jobs *jobs, uint32_t job);
/* The extra of `job`, made if it has none; valid until the next one. */
struct extra_row *extra_of(struct jobs *jobs, uint32_t job);
/* Replace what a member of an extra refers to. */
void extra_set(struct jobs *jobs, uint32_t *member, struct str text);
/* The index of a job set, or INTERN_NONE. */
uint32_t set_find(const struct jobs *jobs, struct str queue,
                  struct str job_set);
/* The index of a set's queue. */
uint32_t set_queue(const struct jobs *jobs, uint32_t set);
/* Queue and job set of a set. */
void set_get(const struct jobs *jobs, uint32_t set, struct str *ret_queue,
             struct str *ret_job_set);
/* The priority class of a class's key. */
struct str class_priority_class(struct str class_key);
/* What is kept of a job is about to change: a snapshot writes it first. */
void row_will_change(struct jobs *jobs, uint32_t job);
/* A row was taken for a new job, which no snapshot in the making has. */
void row_is_new(struct jobs *jobs, uint32_t job);
/* Move the counters with the state. */
void row_set_state(struct jobs *jobs, uint32_t job, enum job_state state);
/* The sub-group that a job is of; 0 outside gangs with terms. */
uint32_t row_sub_group(const struct jobs *jobs, uint32_t job);
/* The index in gang_ids of a queue's gang id, with one more reference. */
uint32_t gang_id_add(struct jobs *jobs, uint32_t queue, struct str gang_id);
/* What the digests of a gang's members share, packed. */
struct str jobs_gang_key(const struct jobs *jobs, uint32_t gang);
/* Read it; false if it is none, and then nothing of the gang is set well. */
bool gang_key_unpack(struct str key, struct job_digest *digest);
/* A gang's part of a digest. */
void jobs_gang_get(const struct jobs *jobs, uint32_t gang,
                   struct job_digest *digest);
/* Whether the snapshot in the making is still to have this gang. */
bool snapshot_lacks_gang(const struct jobs *jobs, uint32_t gang);

/* What keeps jobs from being planned; jobs_held.c. */

/* A new job begins as its digest says. */
void held_begin(struct jobs *jobs, uint32_t job,
                const struct job_digest *digest, int64_t submitted_ms);
/* Fold HOLD_CHANGED for a job that is queued. */
void held_change(struct jobs *jobs, uint32_t job, const struct event *event);
/* It was read back: its times are awaited. */
void held_restore(struct jobs *jobs, uint32_t job);

/* Jobs that wait for others; waits.c. */

/* A new job waits for others, which are there: whether it does. */
bool waits_begin(struct jobs *jobs, uint32_t job, struct str packed);
/* It was read back: it is told of their ends. */
void waits_restore(struct jobs *jobs, uint32_t job);
/* A job ends in `after`: those that wait for it are told. */
void waits_end(struct jobs *jobs, struct job_id id, enum job_state after);
/* Free all that is kept of them. */
void waits_fini(struct jobs *jobs);

/* Jobs of which only some may be planned at once; turns.c. */

/* A new job joins the group of its digest: whether it waits for the turn. */
bool turns_begin(struct jobs *jobs, uint32_t job,
                 const struct job_digest *digest);
/* It was read back. */
void turns_restore(struct jobs *jobs, uint32_t job, struct str group,
                   uint32_t limit, bool has_turn);
/* It goes: another may have its turn. */
void turns_leave(struct jobs *jobs, uint32_t job);
/* Check that as many have the turn as can. */
void turns_assert_valid(const struct jobs *jobs);
/* Free all that is kept of them. */
void turns_fini(struct jobs *jobs);

/* Note what an event asks of jobs; jobs_ask.c. */
enum jobs_answer jobs_ask(struct jobs *jobs, const struct event_scope *scope,
                          const struct event *event);

/* Counting gangs with terms; groups.c.  Nothing for others. */

/* The counts of a gang of these terms, all 0; NULL if they are none. */
struct group *group_create(struct str terms);
/* A job goes to another state; it is its row's after this. */
void group_moved(struct jobs *jobs, uint32_t job, enum job_state before,
                 enum job_state after);
/* It ends in `after`, and its row goes; `message` is of its failure, or "". */
void group_ended(struct jobs *jobs, uint32_t job, enum job_state after,
                 struct str message);
/* What has ended of a group has ended of another of the same terms. */
void group_take_ended(struct group *group, const struct group *from);
/* The counts of a gang are about to change: a snapshot writes them first. */
void group_will_change(struct jobs *jobs, uint32_t gang);
/* They have changed, at a time of the leader's. */
void group_refresh(struct jobs *jobs, uint32_t gang, int64_t now_ms);
/* They were read back. */
void group_list_below(struct jobs *jobs, uint32_t gang);
/* Something may be due for the group of a job. */
void group_mark_of(struct jobs *jobs, uint32_t job);

/* Groups with a name; named_groups.c and named_gangs.c. */

/* A row for one that is not there yet; expects pods of the gang id, if any. */
uint32_t named_group_make(struct jobs *jobs, struct str queue, struct str name,
                          struct str gang_id);
/* Note what follows from what has become of its pods; named_gangs.c. */
void named_group_refresh(struct jobs *jobs, struct named_group *row,
                         int64_t now_ms);
/* A row that has its `completed_ms` is over, and counted with those. */
void named_group_over(struct jobs *jobs, const struct named_group *row);
/* By queue and name. */
int named_groups_compare(const struct named_group *a,
                         const struct named_group *b);
/* The phase that follows from how a row's pods stand; group_phase.c. */
enum group_phase named_group_phase(const struct named_group *row);
/* A gang is new: its group gets the name that expects it, if there is one. */
void named_group_adopt(struct jobs *jobs, uint32_t gang);
/* The last member of a gang is gone; a group with a name stays. */
void named_group_leave(struct jobs *jobs, struct gang_row *gang_row);
/* Pods of a group stand otherwise than they did. */
void named_group_touch(struct jobs *jobs, const struct group *group);
/* A gang grows. */
void named_group_scaled(struct jobs *jobs, uint32_t gang);
/* A pod of a group failed; `message` may be "". */
void named_group_failed(struct jobs *jobs, const struct group *group,
                        uint32_t sub_group, struct job_id job,
                        struct str message);
/* Free them all. */
void named_groups_fini(struct jobs *jobs);
