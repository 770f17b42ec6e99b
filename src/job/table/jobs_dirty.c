/* The jobs for which something may be due; job_action.h decides what. */
#include <stdlib.h>

#include "job/table/jobs_private.h"

void jobs_mark_dirty(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];

    if (row->state != JOB_NONE && !(row->flags & ROW_DIRTY)) {
        row->flags |= ROW_DIRTY;
        VEC_PUSH(&jobs->dirty, job);
    }
    if (row->state != JOB_NONE) {
        group_mark_of(jobs, job);
    }
}

void jobs_mark_all_dirty(struct jobs *jobs)
{
    enum {
        REQUESTS = JOB_FLAG_CANCEL | JOB_FLAG_PREEMPT | JOB_FLAG_PRIORITY |
                   JOB_FLAG_LOST
    };

    for (uint32_t job = 0; job < jobs->rows.count; job++) {
        const struct job_row *row = &jobs->rows.items[job];
        if ((row->flags & (REQUESTS | JOB_FLAG_HELD)) ||
            row->state >= JOB_RUN_SUCCEEDED) {
            jobs_mark_dirty(jobs, job);
        } else if (row->state != JOB_NONE) {
            group_mark_of(jobs, job);
        }
    }
}

bool jobs_has_dirty(const struct jobs *jobs)
{
    return jobs->dirty.count > 0 || jobs->dirty_groups.count > 0;
}

int sort_item_compare(const void *a, const void *b)
{
    const struct sort_item *x = a;
    const struct sort_item *y = b;

    return key128_compare(x->id.v, y->id.v);
}

uint32_t *jobs_take_dirty(struct jobs *jobs, uint32_t count_max,
                          uint32_t *ret_count)
{
    size_t listed = jobs->dirty.count;
    auto_mem struct sort_item *items =
        mem_alloc_array(listed + 1, sizeof(*items));
    uint32_t count = 0;
    size_t rest = 0;

    for (size_t i = 0; i < listed; i++) {
        uint32_t job = jobs->dirty.items[i];
        struct job_row *row = &jobs->rows.items[job];
        if (!(row->flags & ROW_DIRTY)) {
            continue; /* it ended, or is listed twice */
        }
        ASSERT(row->state != JOB_NONE); /* a job that has ended is not dirty */
        if (count_max > 0 && count == count_max) {
            jobs->dirty.items[rest++] = job;
            continue;
        }
        row->flags &= (uint16_t)~ROW_DIRTY;
        items[count++] = (struct sort_item){row->id, job};
    }
    jobs->dirty.count = rest;
    qsort(items, count, sizeof(*items), sort_item_compare);
    uint32_t *list = mem_alloc_array((size_t)count + 1, sizeof(*list));
    for (uint32_t i = 0; i < count; i++) {
        list[i] = items[i].job;
    }
    *ret_count = count;
    return list;
}
