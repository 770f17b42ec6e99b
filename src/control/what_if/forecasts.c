/* When jobs start, by two courses. */
#include <stdlib.h>

#include "control/what_if/private.h"

/* When it starts, in ms of the course; -1: it does not. */
static int64_t start_in(const struct what_if *what_if, struct job_id job)
{
    uint32_t at = map_find(&what_if->index, job.v);

    return at == MAP_NONE ? -1 : what_if->jobs.items[at].started_ms;
}

static int by_start(const void *a, const void *b)
{
    const struct forecast *x = a;
    const struct forecast *y = b;

    return x->p50_ms != y->p50_ms
               ? (x->p50_ms > y->p50_ms) - (x->p50_ms < y->p50_ms)
               : key128_compare(x->job.v, y->job.v);
}

static int by_id(const void *a, const void *b)
{
    const struct forecast *x = a;
    const struct forecast *y = b;

    return key128_compare(x->job.v, y->job.v);
}

struct forecast *what_if_forecasts(const struct what_if *by_p50,
                                   const struct what_if *by_p90,
                                   uint32_t *ret_count)
{
    struct forecast *list =
        mem_alloc_array(by_p50->jobs.count + 1, sizeof(*list));
    size_t count = 0;

    for (size_t i = 0; i < by_p50->jobs.count; i++) {
        const struct what_if_job *job = &by_p50->jobs.items[i];
        int64_t late_ms = start_in(by_p90, job->id);
        if (job->started_ms < 0) {
            continue;
        }
        /* More time for others may let it start sooner: that tells nothing. */
        late_ms = late_ms < 0 || late_ms > job->started_ms ? late_ms
                                                           : job->started_ms;
        list[count++] = (struct forecast){
            .job = job->id,
            .made_ms = by_p50->began_ms,
            .p50_ms = by_p50->began_ms + job->started_ms,
            .p90_ms = late_ms < 0 ? 0 : by_p90->began_ms + late_ms,
        };
    }
    qsort(list, count, sizeof(*list), by_start);
    count = count < FORECASTS_MAX ? count : FORECASTS_MAX;
    qsort(list, count, sizeof(*list), by_id);
    *ret_count = (uint32_t)count;
    return list;
}
