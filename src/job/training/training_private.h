/*
 * training_private - the table behind training.h.  Private to src/job.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/training/training.h"

/* A pod that has not ended, or has. */
struct training_member {
    struct job_id id;
    uint8_t part, state;
};

struct training_entry {
    char *queue, *name, *gang_id, *reason; /* owned; queue NULL: free */
    char *encoded;                         /* owned, [byte_count] */
    char *failure;            /* owned; of the first pod that failed, or NULL */
    bool has_trainer_failure; /* it is a trainer's */
    bool is_fault_tolerant, is_scaling;
    int64_t created_ms, started_ms, completed_ms;
    struct training_part parts[TRAINING_PARTS_MAX]; /* types owned */
    uint32_t part_count;
    struct training_member *members; /* owned, by id */
    uint32_t member_count, live_count;
    size_t byte_count;
};

struct training {
    struct intern names; /* of queue and name; indexes of rows */
    VEC(struct training_entry) rows;
    struct map by_job; /* of pods that have not ended, to rows */
    uint32_t count;
    uint32_t over_count;                /* that are over */
    size_t byte_count, over_byte_count; /* of descriptions; of those over */
    int64_t completed_ms_min;           /* of those that are over, or earlier */
};

/* Whether a pod has not ended. */
static inline bool training_pod_is_live(uint32_t state)
{
    return state <= TRAINING_POD_RUNNING;
}

/* training.c */

/* The index of a row, or INTERN_NONE. */
uint32_t training_row_find(const struct training *training, struct str queue,
                           struct str name);
/* A fresh row, which the names given do not have yet. */
struct training_entry *training_row_make(struct training *training,
                                         struct str queue, struct str name);
/* By queue and name. */
int training_rows_compare(const struct training_entry *a,
                          const struct training_entry *b);
/* Two struct training_member by their ids, for qsort(). */
int training_members_compare(const void *a, const void *b);
/* The first member with an id of at least `id`, or their count. */
uint32_t training_member_from(const struct training_entry *row,
                              struct job_id id);
/* A row that has its `completed_ms` is over, and counted with those. */
void training_row_over(struct training *training,
                       const struct training_entry *row);

/* training_phase.c */

/* The phase that follows from how a row's pods stand. */
enum training_phase training_phase_of(const struct training_entry *row);
