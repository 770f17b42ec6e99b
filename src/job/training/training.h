/*
 * training - TrainingJobs as objects: which jobs are their pods, what has
 * become of those, and the phase that follows (model.md 4.1, 4.2, 6.3).
 *
 *     ""         none of its pods was started yet, or all of them wait again
 *     creating   a component has fewer pods running than its minimum
 *     running    it has not
 *     scaling    nor has it, but pods by which it grows do not run yet
 *     succeeded  its trainers have ended: all well, or (fault tolerant) one
 *     failed     a trainer failed, or (fault tolerant) all; or it was refused,
 *                or cancelled, or could never start
 *
 * The table is a fold of the log like the table of jobs, which forgets jobs
 * that have ended; this one counts them.  An object goes when it is deleted,
 * TRAINING_KEPT_MS after its end, or earlier, the one that ended first, when
 * there are as many as the table holds and another is made.
 *
 * Pure.  Strings that getters give are borrowed until the next change.
 * Threads: one owner.
 */
#pragma once

#include "base/base.h"
#include "job/table/job_state.h"
#include "model/event.h"
#include "model/pack.h"

enum {
    TRAINING_JOBS_MAX = 20000,
    TRAINING_TABLE_BYTES_MAX = 256 << 20, /* of all that describes them */
    TRAINING_KEPT_MS = 72 * 3600 * 1000,
    TRAINING_PARTS_MAX = 4,         /* components of one */
    TRAINING_MEMBERS_MAX = 1 << 17, /* pods of one */
    TRAINING_REASON_BYTES_MAX = 1024,
    TRAINING_NONE = UINT32_MAX,
};

/* What has become of a pod.  Append, never renumber: checkpoints hold these.
 */
enum training_pod {
    TRAINING_POD_WAITING = 0,
    TRAINING_POD_STARTING = 1,
    TRAINING_POD_RUNNING = 2,
    TRAINING_POD_SUCCEEDED = 3,
    TRAINING_POD_FAILED = 4,
    TRAINING_POD_CANCELLED = 5,
    TRAINING_POD_STATES,
};

enum training_phase {
    TRAINING_NEW, /* "" */
    TRAINING_CREATING,
    TRAINING_RUNNING,
    TRAINING_SCALING,
    TRAINING_SUCCEEDED,
    TRAINING_FAILED,
};

/* "", "creating" and so on. */
const char *training_phase_name(enum training_phase phase);

/* A component, and how its pods stand. */
struct training_part {
    struct str type; /* "TRAINER" and the like */
    uint32_t min_count, max_count;
    bool is_trainer; /* it decides how the whole ends */
    uint32_t counts[TRAINING_POD_STATES];
};

/* A TrainingJob, for reading. */
struct training_view {
    struct str queue, name;
    struct str encoded; /* as it was logged */
    enum training_phase phase;
    struct str reason;                            /* why it failed; "" */
    int64_t created_ms, started_ms, completed_ms; /* 0: not yet */
    struct training_part parts[TRAINING_PARTS_MAX];
    uint32_t part_count;
};

/* A TrainingJob as the log tells of it. */
struct training_record {
    struct str queue, name;
    struct str gang_id; /* "": it was refused */
    struct str encoded;
    struct str reason; /* of the refusal */
    int64_t created_ms;
    bool is_fault_tolerant;
    struct training_part parts[TRAINING_PARTS_MAX]; /* counts are not read */
    uint32_t part_count;
    const struct job_id *members; /* by part, as many as max_count says */
    uint32_t member_count;
};

struct training;

/* An empty table.  The caller owns it. */
struct training *training_create(void) must_check;
/* NULL is fine. */
void training_destroy(struct training *training);

/* Whether another object may be made, whose description takes `byte_count`:
 * there is room, or will be when those that are over are forgotten. */
bool training_has_room(const struct training *training, size_t byte_count);

/* An object is from now on as `record` says.  The same gang id as before: its
 * pods are the same, and only what describes it is new. */
void training_set(struct training *training,
                  const struct training_record *record);

/* The object is gone; its pods are nobody's. */
void training_delete(struct training *training, struct str queue,
                     struct str name);

/* A job came into a state, whether or not it is a pod of any; `message` is of
 * its failure, or "". */
void training_note(struct training *training, struct job_id job,
                   enum job_state state, struct str message, int64_t now_ms);

/* The gang of a job was scaled. */
void training_scaled(struct training *training, struct job_id job);

/* Forget what has been over for long enough. */
void training_expire(struct training *training, int64_t now_ms);

/* The index of an object, or TRAINING_NONE. */
uint32_t training_find(const struct training *training, struct str queue,
                       struct str name);
/* How many there are. */
uint32_t training_count(const struct training *training);
/* Their indexes, by queue and name; mem_free() it. */
uint32_t *training_sorted(const struct training *training,
                          uint32_t *ret_count) must_check;

/* Which objects are wanted. */
struct training_query {
    struct str queue, name;             /* "": any */
    struct str after_queue, after_name; /* only those behind; name "": all */
    uint32_t count_max;                 /* at least 1 */
};

/* The indexes of the first of them by queue and name, into
 * ret_indexes[count_max]; their number, and whether there are more.  One look
 * at each object, and an insertion for those that come in. */
uint32_t training_page(const struct training *training,
                       const struct training_query *query,
                       uint32_t *ret_indexes, bool *ret_has_more);

/* The object at an index that is in use. */
void training_get(const struct training *training, uint32_t index,
                  struct training_view *ret_view);
/* Its pods that have not ended, in order of their ids; the next one after
 * `after` (zero: the first), or false. */
bool training_next_live(const struct training *training, uint32_t index,
                        struct job_id after, struct job_id *ret_job);

/* Append the table in canonical form: equal tables are equal bytes. */
void training_encode(const struct training *training, struct strbuf *buf);
/* Read it into an empty table; what is no such table makes the reader bad. */
void training_decode(struct training *training, struct pack_reader *reader);
