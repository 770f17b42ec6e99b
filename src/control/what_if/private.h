/*
 * private - what the files of this room share: a course, and what it notes.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/rng.h"
#include "control/what_if/what_if.h"
#include "elog/elog_memory.h"
#include "wire/log/log_codec.h"

struct control;

enum { WHAT_IF_NONE = UINT32_MAX };

/* So many jobs are walked between two looks at whether to go on. */
enum { WHAT_IF_JOBS_AT_ONCE = 1024 };

/* A job that has a place, or to which something happened.  The queue is by its
 * index in what_if.queue_names, other names by theirs in what_if.names; times
 * as in struct what_if_outcome. */
struct what_if_job {
    struct job_id id;
    uint32_t queue, job_set, node, executor, pool;
    int64_t started_ms, preempted_ms, ended_ms;
    uint32_t last_preemption; /* in what_if.preemptions; WHAT_IF_NONE */
    bool ran_at_first;
    bool is_refused;
};

/* That a job lost its place. */
struct what_if_preemption {
    int64_t at_ms;   /* of the course */
    uint32_t before; /* the one before it of the same job; WHAT_IF_NONE */
};

/* A run that is to end. */
struct what_if_end {
    int64_t at_ms; /* of the course */
    struct run_id run;
};

/* A node that was drained, and how many jobs it keeps; names are in
 * what_if.names. */
struct what_if_kept {
    uint32_t node, executor, job_count;
};

/* A job that was submitted, and why it did not start at once. */
struct what_if_new_job {
    struct job_id job;
    char *why; /* owned, or NULL */
};

/* How many jobs of a queue wait and have a place. */
struct what_if_tally {
    uint32_t waited_count;                 /* at the beginning */
    uint32_t waiting_count, running_count; /* at the end */
};

struct what_if {
    struct clock clock; /* first member */
    struct rng rng;
    struct what_if_bounds bounds;
    uint64_t work_began_ns; /* by the clock of the bounds */
    uint64_t mono_ns;
    int64_t began_ms, now_ms; /* wall time */
    int64_t span_ms;          /* played */
    bool is_cut;              /* it has no more time to work in */
    struct elog_memory_storage *storage;
    struct elog *log;
    struct elog_reader *reader;
    uint64_t read_seq; /* the last record that was read */
    struct inbox *inbox;
    struct queue_table *queues, *retry_policies;
    struct control *control;
    enum what_if_run_times by;
    struct run_times *run_times; /* owned: what was known at the beginning */
    uint32_t unstarted_count;    /* jobs that have waited since then */
    bool is_for_waiting;         /* it ends when there are no more */
    int refused; /* the code of a command that was; 0: none; the text: */
    struct err refusal;
    struct log_batch reports; /* of executors, to be posted */
    struct intern names, queue_names;
    struct map index; /* of `jobs`, by id */
    VEC(struct what_if_job) jobs;
    VEC(struct what_if_preemption) preemptions;
    VEC(struct what_if_kept) drained; /* each once, as they were asked for */
    VEC(struct what_if_new_job) new_jobs; /* of the submission, in its order */
    VEC(struct what_if_end) ends;         /* a heap */
    VEC(struct what_if_tally) tallies;    /* by queue */
};

/* effort.c */

/* Whether to go on; to be asked about once a thousandth of a second of work.
 * -ERR_UNAVAILABLE: the server stops; -ERR_LIMIT: there is no more time to work
 * in, and the course is cut. */
int what_if_check(struct what_if *what_if, struct err *err) must_check;
/* The same of the stop alone, for what is done with a course that is cut. */
int what_if_check_stop(const struct what_if *what_if,
                       struct err *err) must_check;

/* copy.c */

/* Post a command, which is taken; the errors are those of control_step()
 * and what_if_check(). */
int what_if_post(struct what_if *what_if, struct command *command,
                 struct err *err) must_check;
/* Post the events of a batch as one command; -ERR_LIMIT: they are too large for
 * one. */
int what_if_post_batch(struct what_if *what_if, struct log_batch *batch,
                       struct err *err) must_check;
/* Likewise an event in nobody's queue, as an operator does it. */
int what_if_post_event(struct what_if *what_if, const struct event *event,
                       struct err *err) must_check;
/* Step until nothing is left to do at this moment; in how long there is, by the
 * clock that never goes back, or a negative code. */
int what_if_rest(struct what_if *what_if, uint64_t *ret_due_ns,
                 struct err *err) must_check;
/* Move the clock. */
void what_if_move(struct what_if *what_if, int64_t by_ms);

/* changes.c */

/* Make them; -ERR_INVALID or -ERR_NOT_FOUND with a text. */
int what_if_change(struct what_if *what_if, struct what_if_changes *changes,
                   struct err *err) must_check;

/* submitted.c */

/* Note which jobs a submission has, the first WHAT_IF_SUBMITTED_MAX. */
void what_if_note_submission(struct what_if *what_if,
                             const struct command *submission);
/* Once the first moment is played: ask why they wait. */
int what_if_explain_submitted(struct what_if *what_if,
                              struct err *err) must_check;
/* Forget them. */
void what_if_forget_submission(struct what_if *what_if);

/* node_changes.c */

/* Add nodes as others are, but empty and open. */
int what_if_add_nodes(struct what_if *what_if,
                      const struct what_if_changes *changes,
                      struct err *err) must_check;
/* Cordon nodes, and preempt what runs there. */
int what_if_drain(struct what_if *what_if,
                  const struct what_if_changes *changes,
                  struct err *err) must_check;

/* outcomes.c */

/* Note who has a place at the beginning, and when such runs end. */
int what_if_note_first(struct what_if *what_if, struct err *err) must_check;
/* Read what the leader has decided since, and note it: 1 if executors have
 * something to report of it, else 0, or a negative code. */
int what_if_note_news(struct what_if *what_if, struct err *err) must_check;
/* Report the runs that end by now. */
int what_if_end_runs(struct what_if *what_if, struct err *err) must_check;
/* When the next does, in ms of the course; INT64_MAX: none. */
int64_t what_if_next_end(const struct what_if *what_if);
/* Post what executors report. */
int what_if_report(struct what_if *what_if, struct err *err) must_check;
/* Note how the queues stand at the end. */
int what_if_note_last(struct what_if *what_if, struct err *err) must_check;
