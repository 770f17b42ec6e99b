/*
 * helper - a runtime in a process of its own.
 *
 * The helper is forked before there are threads, and keeps what rights the
 * program was started with.  It opens the runtime when it is asked to, and
 * makes its calls; whoever starts it gets a runtime that hands its calls on,
 * and can give up all rights.
 *
 * What the helper believes: ids of runs and jobs, numbers within bounds, and
 * the job of a run, which is what any user may submit.  It takes no path, no
 * user and no option: these it had when it was forked.  A request that breaks
 * the protocol ends the helper.
 *
 * When the helper ends, `lost` is called and the runtime does nothing more.  A
 * helper whose answer is malformed, or does not fit, is ended: the next one
 * tells all again.  So is one that, once the runtime is open, takes longer for
 * an answer than HELPER_ANSWER_MS_MAX.  One that has not ended
 * HELPER_END_MS_MAX after it was to is killed.
 * When the other process ends, the helper ends too.  Pods outlive both.
 *
 * Threads: start, open and stop from one; the runtime as runtime.h says.
 */
#pragma once

#include <sys/types.h>

#include "executor/runtime.h"

enum {
    HELPER_ANSWER_MS_MAX = 120000,
    HELPER_END_MS_MAX = 20000,
};

struct helper;

/* What a helper is started with. */
struct helper_options {
    /* Open the runtime; in the helper, once.  As process_open(). */
    int (*open)(void *ctx, struct runtime **ret_runtime, struct err *ret_info,
                struct err *err);
    /* Called in the helper before it reads anything; may be NULL. */
    void (*begin)(void *ctx);
    void *open_ctx; /* of both; lives as long as the helper in its process */
    /* The helper has ended unasked; in the thread of the runtime's calls. */
    void (*lost)(void *ctx);
    void *lost_ctx;
    int64_t answer_ms_max; /* 0: HELPER_ANSWER_MS_MAX */
    int64_t end_ms_max;    /* 0: HELPER_END_MS_MAX */
};

/* Start the helper; before any thread.  NULL with `err` set. */
struct helper *helper_start(const struct helper_options *options,
                            struct err *err) must_check;

/* Have the runtime opened, once; after a failure it may be tried again.  It is
 * the caller's to close, which ends the
 * helper, and borrows it.  `ret_info` as the helper's open() set it.  Errors as
 * open()'s; -ERR_UNAVAILABLE: there is no helper any more. */
int helper_open(struct helper *helper, struct runtime **ret_runtime,
                struct err *ret_info, struct err *err) must_check;

/* As runtime_ops.logs; any thread. */
int helper_logs(struct helper *helper, const struct runtime_log_query *query,
                struct strbuf *buf, struct err *err) must_check;

/* As runtime_ops.files; any thread. */
int helper_files(struct helper *helper, const struct runtime_files_query *query,
                 struct strbuf *buf, struct err *err) must_check;

/* As runtime_ops.exec; any thread. */
int helper_exec(struct helper *helper, struct job_id job, int *ret_fd,
                struct err *err) must_check;

/* The helper's process id, for those who watch it. */
pid_t helper_pid(const struct helper *helper);

/* End the helper if its runtime was not closed, wait until it has ended or kill
 * it, and free what is left of it.  NULL is fine. */
void helper_stop(struct helper *helper);
