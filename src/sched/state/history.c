#include "sched/state/history.h"

uint32_t history_job(const struct sched *sched, struct history_reader *reader,
                     struct job_id id)
{
    if (reader->jobs->count == 0) {
        for (uint32_t i = 0; i < sched->jobs.count; i++) {
            if (sched->jobs.items[i].list != LIST_NONE) {
                map_put(reader->jobs, sched->jobs.items[i].id.v, i);
            }
        }
    }
    uint32_t job = map_find(reader->jobs, id.v);
    return job == MAP_NONE ? NONE : job;
}
