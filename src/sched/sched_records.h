/*
 * sched_records - the reported records, so that work can move from one state to
 * another.
 *
 * Handles below an end may be unknown; strings are borrowed until the state
 * changes.  Part of sched.h, whose rules apply.
 */
#pragma once

#include "sched/sched_jobs.h"

/* The lease of a job. */
struct sched_run {
    uint32_t node;
    int32_t priority;
    int64_t leased_ms;
    int64_t age_from_ms; /* INT64_MAX: it has no age yet */
    bool is_protected;
};

/* One more than the last job, and which of them are there. */
uint32_t sched_jobs_end(const struct sched *sched);
/* See sched_jobs_end(). */
bool sched_job_is_known(const struct sched *sched, uint32_t job);
/* What sched_job_add() would be told of a job now. */
void sched_job_record(const struct sched *sched, uint32_t job,
                      struct sched_job *ret_record);
/* Its lease; false while it waits. */
bool sched_job_run(const struct sched *sched, uint32_t job,
                   struct sched_run *ret_run);
/* The nodes that it avoids, oldest first. */
const uint32_t *sched_job_avoided(const struct sched *sched, uint32_t job,
                                  uint32_t *ret_count);
/* One more than the last node; which are known, and which are there. */
uint32_t sched_nodes_end(const struct sched *sched);
/* See sched_nodes_end(). */
bool sched_node_is_known(const struct sched *sched, uint32_t node);
/* See sched_nodes_end(). */
bool sched_node_is_present(const struct sched *sched, uint32_t node);
/* The job with the least id that is leased on a node, or SCHED_NONE. */
uint32_t sched_node_first(const struct sched *sched, uint32_t node);
/* One more than the last queue. */
uint32_t sched_queues_end(const struct sched *sched);
/* What sched_queue_set() was told last; false: there is no such queue. */
bool sched_queue_record(const struct sched *sched, uint32_t queue,
                        struct queue_record *ret_record);
/* One more than the last class. */
uint32_t sched_classes_end(const struct sched *sched);
/* A class's requirement, packed (model/requirement.h); "": there is none. */
struct str sched_class_packed(const struct sched *sched, uint32_t class_index);
/* One more than the last executor that has nodes or gets no new leases. */
uint32_t sched_executors_end(const struct sched *sched);
/* Its name, and whether it gets new leases; "": there is none of that number.
 */
struct str sched_executor_at(const struct sched *sched, uint32_t executor,
                             bool *ret_accepts);
