/*
 * swf - simulates logs in the Standard Workload Format with the production
 * scheduler: one queue, one node of so many processors, and estimates as
 * deadlines.
 *
 * The policies are knobs of the pool: `fcfs` a strict window of one, `easy`
 * the same with backfill, `sjbf` backfill that tries short estimates first.
 * Nothing is decided here but what happens at one second:
 *
 *     instant  all terminations, then all arrivals, then one pass
 *     sc15     one event at a time, terminations first; a pass after each,
 *              but after an arrival only if the new job could start now; what
 *              has come to its estimated end counts as free, even if its
 *              termination is still to be handled (Gaussier et al., SC'15)
 *
 * Jobs: processors are those requested, else those allocated; rows without,
 * or with more than the machine has, or with a negative run time or
 * submission, are left out; sc15 leaves out also run times of 0, more
 * allocated than there are, and missing estimates.  Without an estimate it is
 * the run time; the run time is cut to the estimate.  The order is that of
 * submission, then of job numbers.
 *
 * Threads: one.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"

enum {
    SWF_PROCESSORS_MAX = 1 << 24,
    SWF_JOBS_MAX = 1 << 25,
};

enum swf_policy { SWF_FCFS, SWF_EASY, SWF_SJBF };
enum swf_convention { SWF_INSTANT, SWF_SC15 };

/* One job of a log. */
struct swf_job {
    int64_t number;
    int64_t submit_s, run_s, estimate_s;
    int64_t start_s; /* after swf_play(); -1: never */
    uint32_t processors;
};

/* What to play, and how. */
struct swf_options {
    uint32_t processors;
    enum swf_policy policy;
    enum swf_convention convention;
    bool is_exact;      /* estimates are the run times */
    uint64_t job_limit; /* only the first so many; 0: all */
    /* Told now and then how many jobs have started; NULL: nobody. */
    void (*progress)(void *ctx, uint64_t started_count);
    void *ctx;
};

/* A log, in order of arrival. */
struct swf_log {
    VEC(struct swf_job) jobs;
    uint64_t skipped_count; /* rows that were left out */
};

/* The figures that schedules are compared by. */
struct swf_result {
    uint64_t job_count;
    int64_t sum_wait_s;
    double mean_bounded_slowdown; /* max(1, (wait + run) / max(run, 10)) */
    double utilisation;
    int64_t makespan_s; /* from the first submission to the last end */
    uint64_t started_at_once_count;
    char digest[17]; /* of the lines "job,start\n" */
};

/* Read a log, plain or gzipped; the caller swf_log_fini()s it.  -ERR_IO,
 * -ERR_INVALID with the line, or since no row is a job that could be played;
 * -ERR_LIMIT. */
int swf_read(const char *path, const struct swf_options *options,
             struct swf_log *ret_log, struct err *err) must_check;
/* The same from memory. */
int swf_parse(struct str text, const struct swf_options *options,
              struct swf_log *ret_log, struct err *err) must_check;
/* Free it. */
void swf_log_fini(struct swf_log *log);

/* Play a log: fills in the starts. */
int swf_play(struct swf_log *log, const struct swf_options *options,
             struct err *err) must_check;

/* Sum up what was played. */
void swf_sum(const struct swf_log *log, const struct swf_options *options,
             struct swf_result *ret_result);
