/*
 * forecasts - when waiting jobs will probably start, and how good such
 * forecasts were.
 *
 * The newest forecast of each job is kept for who asks, and the first one until
 * the job starts: that one is judged.  A forecast promises nothing: others may
 * be submitted, and jobs may run longer than those before them.
 *
 * Threads: any, and one alone that puts; one mutex, which is never held for
 * long: the leader takes it for each job that it leases.
 */
#pragma once

#include "model/id.h"

enum {
    FORECASTS_MAX = 100000, /* jobs; the first to start */
    FORECASTS_HOURS = 24,   /* so long starts are counted */
};

/* When a job starts, in wall time. */
struct forecast {
    struct job_id job;
    int64_t made_ms;
    int64_t p50_ms; /* it has started by then, with a chance of a half */
    int64_t p90_ms; /* likewise of nine in ten; 0: not known */
};

/* Of the jobs that have started in the last FORECASTS_HOURS and of which there
 * was a forecast before: by the first one. */
struct forecast_quality {
    uint64_t started_count;
    uint64_t within_p50_count;
    uint64_t p90_count, within_p90_count; /* of those that had a p90 */
    /* How far p50 was off, either way, and how long the jobs had waited since
     * the forecast was made. */
    int64_t error_ms_sum, wait_ms_sum;
};

/* Count a job that started `at_ms`. */
void forecast_judge(struct forecast_quality *quality,
                    const struct forecast *forecast, int64_t at_ms);

struct forecasts;

/* Empty.  The caller owns it. */
struct forecasts *forecasts_create(void) must_check;
/* NULL is fine. */
void forecasts_destroy(struct forecasts *forecasts);
DEFINE_AUTO(forecasts, forecasts_destroy)

/* These are the newest of all jobs that wait, in order of id; `list` is taken
 * (mem_free). */
void forecasts_put(struct forecasts *forecasts, struct forecast *list,
                   uint32_t count);
/* The newest of a job; false: there is none. */
bool forecasts_find(struct forecasts *forecasts, struct job_id job,
                    struct forecast *ret_forecast);
/* A job has a place since `at_ms`. */
void forecasts_started(struct forecasts *forecasts, struct job_id job,
                       int64_t at_ms);

/* How many there are now. */
uint32_t forecasts_count(struct forecasts *forecasts);
/* How good they were, as of a moment of wall time. */
void forecasts_quality(struct forecasts *forecasts, int64_t now_ms,
                       struct forecast_quality *ret_quality);
