/*
 * due_private - what job_action.c, which looks at the state of a job, shares
 * with due_failure.c and due_preemption.c, which say what is due for its run.
 */
#pragma once

#include "job/due/job_action.h"
#include "job/table/jobs_private.h"

/* One question, while it is answered. */
struct deciding {
    const struct jobs *jobs;
    const struct job_rules *rules;
    struct arena *arena;
    uint32_t job;
    struct job_view view;
    const struct extra_row *extra; /* or NULL */
    struct job_decisions *out;
};

/* Add an event about the job. */
struct event *due_add(struct job_decisions *out, enum event_type type,
                      const struct job_view *view, int64_t now_ms);
/* A string of the table. */
struct str due_text(const struct deciding *d, uint32_t index);
/* The job waits again. */
void due_add_requeued(struct job_decisions *out, const struct job_view *view,
                      int64_t now_ms);
/* The job fails for good. */
void due_fail(struct deciding *d, enum error_kind kind, struct str message,
              struct str subcategory);
/* The job fails for good, since `why` forbids another run; `last` is what its
 * last run says of itself. */
void due_fail_for_runs(struct deciding *d, const struct strbuf *why,
                       struct str last);
/* Its run goes on, as far as is known, but its executor is lost. */
void due_on_loss(struct deciding *d);
/* Its run failed. */
void due_after_failure(struct deciding *d);
/* Its executor returned the run, which had not begun. */
void due_after_return(struct deciding *d);
/* The executor of its run was lost. */
void due_after_expiry(struct deciding *d);

/* Begin the answer for a job. */
void due_begin(struct job_decisions *out, const struct job_view *view);
/* A user preempts its run. */
void due_preempt(struct deciding *d);
/* Its run was preempted. */
void due_after_preemption(struct deciding *d);
