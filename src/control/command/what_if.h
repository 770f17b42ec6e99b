/*
 * what_if - what would happen if something were changed: the question, and the
 * answer (command.h).
 *
 * The answer holds two courses of events against each other, which begin with
 * the live state of one moment: *as it is*, where nothing is changed, and *what
 * if*, where all changes are made at once.  In both every pod starts as soon as
 * its job has a place, and a job runs as long as is predicted (job/run_times:
 * p50), or on if nothing is known; nobody submits anything more.  What
 * executors do is what is assumed here; all decisions are the leader's own.
 *
 * All that is pointed to lives in the command's arena.
 *
 * Threads: one at a time: who asks, then who finds the answer.
 */
#pragma once

#include "model/class_change.h"
#include "model/event.h"

enum {
    WHAT_IF_JOBS_MAX = 1000000,   /* in the state that is asked about */
    WHAT_IF_NODES_MAX = 10000,    /* added */
    WHAT_IF_CHANGES_MAX = 10000,  /* of each kind */
    WHAT_IF_ROWS_MAX = 10000,     /* in an answer; more are counted */
    WHAT_IF_SUBMITTED_MAX = 1000, /* of the submission, in an answer */
    WHAT_IF_EXPLAINED_MAX = 10,   /* of them */
    WHAT_IF_WORK_MS_MAX = 20000,  /* of work for a course; then it is cut */
};

/* How far the courses go. */
#define WHAT_IF_SPAN_MS_MAX (INT64_C(7) * 24 * 3600 * 1000)

/* A queue weighs so much. */
struct what_if_weight {
    struct str queue;
    double weight; /* more than 0; of a queue that says nothing it is 1 */
};

/* So many more nodes, empty, of the pool and executor of another; "": of the
 * first by name. */
struct what_if_nodes {
    struct str like;
    uint32_t count;
};

/* What is changed, all at once. */
struct what_if_changes {
    /* Jobs to submit: a COMMAND_SUBMIT that was never posted, owned, or
     * NULL. */
    struct command *submission;
    struct str policy;       /* another policy, as YAML; "": the one in force */
    const char *policy_name; /* what errors call it; NULL: policy */
    const struct what_if_weight *weights;
    const struct class_change *classes;
    const struct what_if_nodes *nodes;
    const struct str *drained; /* nodes that get no more jobs, and lose those
                                  that may be preempted */
    uint32_t weight_count, class_count, nodes_count, drained_count;
};

/* What becomes of a job in one course; times are ms since its beginning, and -1
 * says that it does not happen. */
struct what_if_outcome {
    int64_t started_ms, preempted_ms, ended_ms; /* the first of each */
    struct str node, executor, pool; /* where it started, or was before that */
    uint32_t preempted_count;
    bool is_refused; /* it ended without a place: it can never start */
};

/* What the changes do to a job. */
enum what_if_effect {
    WHAT_IF_SAME,
    WHAT_IF_STARTS,      /* as it is it does not */
    WHAT_IF_WAITS,       /* as it is it starts */
    WHAT_IF_EARLIER,     /* it starts before it would */
    WHAT_IF_LATER,       /* after */
    WHAT_IF_MOVES,       /* it starts at the same time on another node */
    WHAT_IF_PREEMPTED,   /* and as it is it is not, or later */
    WHAT_IF_KEPT,        /* as it is it is preempted, or sooner */
    WHAT_IF_REFUSED,     /* it can never start; as it is it waits, or starts */
    WHAT_IF_NOT_REFUSED, /* the other way round */
    WHAT_IF_EFFECTS,
};

/* A job that the changes matter to. */
struct what_if_row {
    struct job_id job;
    struct str queue, job_set;
    enum what_if_effect effect;
    struct what_if_outcome as_is, what_if;
};

/* A job of the submission. */
struct what_if_submitted {
    struct job_id job; /* in the order of the submission */
    struct what_if_outcome outcome;
    struct str why; /* it does not start at once: sentences, of the first
                     * WHAT_IF_EXPLAINED_MAX such jobs; else "" */
};

/* How a queue fares in one course. */
struct what_if_queue_outcome {
    uint32_t started_count;   /* jobs that waited */
    uint32_t preempted_count; /* jobs that lost their place */
    uint32_t ended_count;     /* at their deadlines */
    /* At the course's own end, which may be after span_ms if it was cut. */
    uint32_t waiting_count, running_count;
    /* Of all jobs that waited at its beginning: until they start, or to its end
     * if they do not. */
    uint32_t waited_count;
    int64_t wait_ms_sum;
};

/* A queue in both courses. */
struct what_if_queue {
    struct str name;
    struct what_if_queue_outcome as_is, what_if;
};

/* A node that was drained, by its name and its executor's, and how many of its
 * jobs have a class that may not be preempted: they run on. */
struct what_if_drained {
    struct str node, executor;
    uint32_t kept_count;
};

/* What comes of it all. */
struct what_if_answer {
    struct what_if_drained *drained; /* in the order of the question */
    uint32_t drained_count;
    struct what_if_submitted *submitted;
    uint32_t submitted_count;
    struct what_if_row *rows; /* by effect, then start, then id; no SAME */
    uint32_t row_count;
    uint32_t counts[WHAT_IF_EFFECTS]; /* of all jobs that something befalls */
    struct what_if_queue *queues;     /* by name */
    uint32_t queue_count;
    int64_t began_ms; /* wall time */
    int64_t span_ms;  /* so far both courses go */
    bool is_cut;      /* they were to go further: WHAT_IF_WORK_MS_MAX */
};

/* The word for an effect ("starts"), as programs read it. */
const char *what_if_effect_word(enum what_if_effect effect);
