/* Prefetches the rows of the next events.  With a million jobs the index, the
 * run and the job of an event are a cache miss each, and each is known only
 * when the one before it has arrived.  So they are fetched in stages, some
 * events ahead of jobs_apply(). */
#include "job/table/jobs_private.h"

enum { LINE_BYTES = 64 };

/* All lines of a row of up to two, wherever it begins. */
static void fetch_row(const void *row, size_t byte_count)
{
    __builtin_prefetch(row, 1);
    __builtin_prefetch((const char *)row + byte_count - 1, 1);
    if (byte_count > LINE_BYTES) {
        __builtin_prefetch((const char *)row + LINE_BYTES, 1);
    }
}

/* By the job alone: its row stands where its index says. */
static uint32_t fetch_job(const struct jobs *jobs, struct job_id id,
                          uint32_t stage)
{
    if (stage == 0) {
        id_index_fetch(&jobs->by_id, id.v);
        return JOBS_NONE;
    }
    uint32_t job = id_index_guess(&jobs->by_id, id.v);
    if (job != JOBS_NONE && stage == 1) {
        fetch_row(&jobs->rows.items[job], sizeof(struct job_row));
    }
    return job;
}

uint32_t jobs_fetch(const struct jobs *jobs, const struct event *event,
                    uint32_t stage)
{
    if (event->type == EVENT_LEASED || key128_is_none(event->run.v)) {
        if (stage == 0 && event->type == EVENT_LEASED) {
            id_index_fetch(&jobs->by_run, event->run.v); /* it will be there */
        }
        return fetch_job(jobs, event->job, stage);
    }
    if (stage == 0) {
        id_index_fetch(&jobs->by_run, event->run.v);
        return JOBS_NONE;
    }
    uint32_t run = id_index_guess(&jobs->by_run, event->run.v);
    if (run == JOBS_NONE) {
        return JOBS_NONE;
    }
    if (stage == 1) {
        fetch_row(&jobs->runs.items[run], sizeof(struct run_row));
        return JOBS_NONE;
    }
    uint32_t job = jobs->runs.items[run].job;
    if (job != JOBS_NONE && stage == 2) {
        fetch_row(&jobs->rows.items[job], sizeof(struct job_row));
    }
    return job;
}
