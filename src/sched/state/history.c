#include "sched/state/history.h"

#include <stdlib.h>

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

uint32_t history_read_job(const struct sched *sched,
                          struct history_reader *reader)
{
    struct job_id id = {unpack_key128(&reader->pack)};

    return reader->pack.is_bad ? NONE : history_job(sched, reader, id);
}

static int compare_items(const void *a, const void *b)
{
    const struct history_item *x = a, *y = b;

    return key128_compare(x->id.v, y->id.v);
}

void history_sort(struct history_item *items, uint32_t count)
{
    qsort(items, count, sizeof(*items), compare_items);
}

void history_pack_times(struct strbuf *buf, struct history_item *items,
                        uint32_t count)
{
    if (count == 0) {
        return;
    }
    history_sort(items, count);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_key128(buf, items[i].id.v);
        pack_i64(buf, items[i].time_ms);
    }
}
