/*
 * check - checks whether the objects that a command names exist.
 *
 * Armada's requests about jobs, nodes and executors are blind: the server
 * accepts them whether or not the object exists, and the answer does not say.
 * So berthctl also asks the server about the object: about jobs before the
 * request, which it sends in any case, and once more after it, in case the
 * server had only just accepted the job.  Remarks go to standard error.
 *
 * A server that does not know these questions, such as Armada's, or a caller
 * who may not ask them, changes nothing: then there are no remarks.
 *
 * Threads: one.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "cli/shared/command.h"

/* How long a job that was just submitted may take until it can be asked
 * about, for the server's queries follow its log; and how often to look. */
enum { CHECK_LATE_MS = 1000, CHECK_PAUSE_MS = 50 };

/* What was going to be done to jobs. */
enum check_verb {
    CHECK_CANCEL,
    CHECK_PREEMPT,
    CHECK_REPRIORITIZE,
    CHECK_HOLD,
    CHECK_RELEASE,
};

/* A job or a job set as a request names it, and what the server knows. */
struct check_jobs {
    char *queue, *job_set;
    char *id;                             /* NULL: the job set */
    const Berth__Api__JobSummary *before; /* NULL: there was none */
    bool is_answered;                     /* the server could be asked */
};

/* Ask about the job, or about any of the job set, before the request. */
void check_jobs_before(struct cli *cli, struct check_jobs *check);

/* Say after the request what it could not do.  CLI_NOT_FOUND if there is no
 * such job, or not in that queue and job set; CLI_FAILED if it is none that
 * can be preempted, or has ended and cannot change.  One that has ended and
 * was to be cancelled or preempted is as it was to be: CLI_OK, with a
 * remark. */
enum cli_exit check_jobs_after(struct cli *cli, const struct check_jobs *check,
                               enum check_verb verb);

/* Say of a job that there is what a verb could not do to it; CLI_OK or
 * CLI_FAILED as above. */
enum cli_exit check_job_state(struct cli *cli,
                              const Berth__Api__JobSummary *job,
                              enum check_verb verb);

/* What the server says of a job. */
enum check_course {
    CHECK_GOES_ON,   /* it waits or runs */
    CHECK_OVER,      /* it has ended */
    CHECK_NO_JOB,    /* there is none, nor has one come since */
    CHECK_SILENT,    /* the server does not say */
    CHECK_NO_SERVER, /* it cannot be reached, or not now */
};

/* How a job that is over ended, or what one does that has not started. */
struct check_end {
    enum cli_exit code;  /* its own, or CLI_JOB_FAILED: none, and no success */
    const char *reason;  /* "" or why it did not succeed; in the arena */
    const char *waiting; /* states_waiting(); in the arena */
};

/* Why a job that has ended did not succeed, in words, or ""; it borrows from
 * `job`. */
const char *check_reason(const Berth__Api__JobSummary *job);

/* Ask it.  `ret_end` (may be NULL) is set for a job that is there. */
enum check_course check_course(struct cli *cli, char *id,
                               struct check_end *ret_end);

/* Say that there is no such job and what to do: CLI_NOT_FOUND. */
enum cli_exit check_no_job(struct cli *cli, const char *id);

/* CLI_NOT_FOUND, having said so and what to do, if there is no such job;
 * CLI_OK, with nothing said, if there is or the server does not say. */
enum cli_exit check_one_job(struct cli *cli, char *id);

/* CLI_NOT_FOUND, having said so, if there is no such executor. */
enum cli_exit check_executor(struct cli *cli, const char *name);
/* The same of a node; `executor` "": of any. */
enum cli_exit check_node(struct cli *cli, const char *name,
                         const char *executor);
/* Ask `request` of the node that the first argument names, if it is there, and
 * say that it is `done` ("Cordoned").  `executor` as above. */
enum cli_exit check_node_call(struct cli *cli, const char *executor,
                              const char *path, const ProtobufCMessage *request,
                              const char *done);
/* CLI_NOT_FOUND, having said so, if there is no such queue. */
enum cli_exit check_queue(struct cli *cli, const char *name);
/* Remark on the jobs that a queue which was deleted still has, and on what
 * becomes of them; nothing if it has none or the server does not say. */
void check_left_jobs(struct cli *cli, char *queue);
/* CLI_INVALID, having named those that there are, if one of these is no
 * priority class; CLI_OK also if the server does not say. */
enum cli_exit check_classes(struct cli *cli, char *const *names, size_t count);
/* Remark on each of these names that is the name of no pool, and on what comes
 * of that: `consequence`.  It may be made later, so nothing is refused; "" is
 * the default pool. */
void check_pools(struct cli *cli, char *const *names, size_t count,
                 const char *consequence);
/* Whether the server has a queue of that name; false if it does not say. */
bool check_has_queue(struct cli *cli, const char *name);
/* CLI_INVALID, having said so, unless a document has the version of Armada's
 * things in files. */
enum cli_exit check_version(struct cli *cli, const json_t *document);
