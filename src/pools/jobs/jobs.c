/* Adds and removes jobs. */

#include "pools/jobs/jobs.h"

#include "pools/jobs/deltas.h"
#include "pools/jobs/lent.h"
#include "pools/tables/pool_names.h"

void pools_job_add(struct pools *pools, uint32_t job,
                   const struct sched_job *record)
{
    if (!pools->is_mapped && record->pool.byte_count &&
        !is_configured(pools, record->pool)) {
        router_begin(pools); /* it is Default's, until there is such a pool */
    }
    if (!pools->is_mapped) {
        sched_job_add(first_of(pools), job, record);
        return;
    }
    pools->news_count++;
    struct pool_job *row = pool_job_make(pools, job);
    *row = (struct pool_job){
        .local = 0,
        .node = NONE,
        .name = name_of_pool(pools, record->pool),
        .queue = record->queue,
        .class_index = record->class_index,
    };
    gang_join(pools, job, record);
    job_enter(pools, job, job_home(pools, job), record);
    job_count_waiting(pools, row, 1);
    ASSERT_SLOW(row->gang == NONE || gang_is_right(pools, row->gang));
}

static void apply_remove(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_job_remove(shard->sched, delta->job);
}

void pools_job_remove(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_remove);

    if (!pools->is_mapped) {
        sched_job_remove(first_of(pools), job);
        return;
    }
    pools->news_count++;
    struct pool_job *row = pool_job_get(pools, job);
    bool was_leased = row->node != NONE;
    lent_over(pools, job);
    job_tell(pools, job, &delta);
    job_give(pools, job);
    if (was_leased) {
        job_unlease(pools, row);
    } else {
        job_count_waiting(pools, row, -1);
    }
    uint32_t gang = row->gang;
    gang_leave(pools, row);
    *row = (struct pool_job){.local = NONE};
    if (was_leased && gang_is_stranded(pools, gang)) {
        gang_recall(pools, gang);
    }
    ASSERT_SLOW(gang == NONE || gang_is_right(pools, gang));
}

void pools_job_fetch(const struct pools *pools, uint32_t job, bool is_run)
{
    if (!pools->is_mapped) {
        sched_job_fetch(first_of(pools), job, is_run);
    }
}

uint32_t pools_job_node(const struct pools *pools, uint32_t job)
{
    if (!pools->is_mapped) {
        return sched_job_node(first_of(pools), job);
    }
    return job < pools->jobs.count && pools->jobs.items[job].local != NONE
               ? pools->jobs.items[job].node
               : SCHED_NONE;
}
