/*
 * named_groups - groups with a name of their own, which is what TrainingJobs
 * are inside: what describes each, how it stands, and how it ended
 * (model.md 4.1, 4.2, 6.3).
 *
 *     ""         none of its pods was started yet, or all of them wait again
 *     creating   a sub-group has fewer pods running than its minimum
 *     running    none has
 *     scaling    nor has one, but pods by which it grows do not run yet
 *     succeeded  its pods that are not auxiliary have ended: all well, or
 *                (fault tolerant) one of them
 *     failed     one of these failed, or (fault tolerant) all; or it was
 *                refused, or cancelled, or could never start
 *
 * A named group is counted like any other (groups.h), and outlives its pods:
 * it goes when it is deleted, NAMED_GROUP_KEPT_MS after its end, or earlier,
 * the one that ended first, when there are as many as the table holds and
 * another is made.  Its gang is the first of its queue and gang id whose pods
 * come after it.  A pod whose run has ended and that nothing is decided about
 * yet counts as running once all minimums have run, and before as starting.
 *
 * Pure.  Strings that getters give are borrowed until the next change.
 */
#pragma once

#include "base/arena.h"
#include "job/table/groups.h"

enum {
    NAMED_GROUPS_MAX = 20000,
    NAMED_GROUPS_BYTES_MAX = 256 << 20, /* of all that describes them */
    NAMED_GROUP_KEPT_MS = 72 * 3600 * 1000,
    NAMED_GROUP_REASON_BYTES_MAX = 1024,
    /* The first format that names its gang; older ones list its pods. */
    NAMED_GROUPS_FORMAT_GANG = 5,
};

enum group_phase {
    PHASE_NEW, /* "" */
    PHASE_CREATING,
    PHASE_RUNNING,
    PHASE_SCALING,
    PHASE_SUCCEEDED,
    PHASE_FAILED,
};

/* "", "creating" and so on. */
const char *group_phase_name(enum group_phase phase);

/* A named group, for reading. */
struct named_group_view {
    struct str queue, name, gang_id;
    struct str encoded; /* as it was logged */
    enum group_phase phase;
    struct str reason;                            /* why it failed; "" */
    int64_t created_ms, started_ms, completed_ms; /* 0: not yet */
    struct group_count counts[SUB_GROUPS_MAX];
    uint32_t min_counts[SUB_GROUPS_MAX], max_counts[SUB_GROUPS_MAX];
    uint32_t sub_group_count; /* 0: none of its pods has come */
};

/* A named group as the log tells of it. */
struct named_group_record {
    struct str queue, name;
    struct str gang_id; /* "": it was refused */
    struct str encoded;
    struct str reason; /* of the refusal */
    int64_t created_ms;
};

/* Whether another may be made, whose description takes `byte_count`: there is
 * room, or will be when those that are over are forgotten. */
bool named_groups_have_room(const struct jobs *jobs, size_t byte_count);
/* There is one from now on, as `record` says.  The same gang id as before: its
 * pods are the same, and only what describes it is new. */
void named_group_set(struct jobs *jobs,
                     const struct named_group_record *record);
/* It is gone; its pods, if it has any, are in a group without a name. */
void named_group_delete(struct jobs *jobs, struct str queue, struct str name);
/* After jobs_apply(): note when those that have changed began and ended, by a
 * time of the leader's. */
void named_groups_settle(struct jobs *jobs, int64_t now_ms);
/* Forget what has been over for long enough. */
void named_groups_expire(struct jobs *jobs, int64_t now_ms);

/* The index of one, or JOBS_NONE. */
uint32_t named_group_find(const struct jobs *jobs, struct str queue,
                          struct str name);
/* How many there are. */
uint32_t named_groups_count(const struct jobs *jobs);
/* Their indexes, by queue and name; mem_free() it. */
uint32_t *named_groups_sorted(const struct jobs *jobs,
                              uint32_t *ret_count) must_check;

/* Which are wanted. */
struct named_group_query {
    struct str queue, name;             /* "": any */
    struct str after_queue, after_name; /* only those behind; name "": all */
    uint32_t count_max;                 /* at least 1 */
};

/* The indexes of the first of them by queue and name, into
 * ret_indexes[count_max]; their number, and whether there are more. */
uint32_t named_groups_page(const struct jobs *jobs,
                           const struct named_group_query *query,
                           uint32_t *ret_indexes, bool *ret_has_more);

/* The one at an index that is in use. */
void named_group_get(const struct jobs *jobs, uint32_t index,
                     struct named_group_view *ret_view);
/* Its pods that have not ended, in order of their ids; in the arena. */
uint32_t named_group_members(const struct jobs *jobs, uint32_t index,
                             struct arena *arena, struct job_id **ret_jobs);

/* Append them in canonical form: equal tables are equal bytes. */
void named_groups_encode(const struct jobs *jobs, struct strbuf *buf);
/* Read them, before the jobs, into a table that has none; `version` is that of
 * the leader's checkpoint.  What are none make the reader bad. */
void named_groups_decode(struct jobs *jobs, uint64_t version,
                         struct pack_reader *reader);
