/* Leases: a job starts, moves to another node, and is requeued. */
#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/lent.h"
#include "pools/jobs/quota.h"
#include "pools/tables/node_table.h"
#include "pools/tables/pool_names.h"

void job_unlease(struct pools *pools, struct pool_job *row)
{
    struct pool_gang *gang_row =
        row->gang == NONE ? NULL : &pools->gangs.items[row->gang];

    ASSERT(row->node != NONE);
    ASSERT(!gang_row || gang_row->leased_count > 0);
    pool_node_use(pools, row->node, -1);
    quotas_count(pools, row, -1);
    row->node = NONE;
    row->is_aged = false;
    if (gang_row) {
        gang_row->leased_count--;
        gang_row->loss = ++pools->loss_count;
    }
}

static void apply_start(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    sched_start_note(shard->sched, delta->other, delta->at_ms);
}

/* Limits on all starts, and on a queue's, are over all pools. */
static void count_start(struct pools *pools, const struct shard *in,
                        uint32_t queue, int64_t now_ms)
{
    struct delta delta = delta_of(apply_start);

    if (pools->policy->rate_global.rate_milli_per_s <= 0 &&
        pools->policy->rate_per_queue.rate_milli_per_s <= 0) {
        return;
    }
    delta.other = queue;
    delta.at_ms = now_ms;
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && shard != in) {
            deliver(pools, shard, &delta);
        }
    }
}

void pools_job_lease(struct pools *pools, uint32_t job, uint32_t node,
                     int32_t priority, int64_t now_ms, bool is_counted)
{
    struct delta delta = delta_of(apply_lease);

    if (!pools->is_mapped) {
        sched_job_lease(first_of(pools), job, node, priority, now_ms,
                        is_counted);
        return;
    }
    struct shard *shard = pools->shards.items[pools->nodes.items[node].shard];
    if (shard_of(pools, job) != shard) {
        gang_follow(pools, job, shard);
    }
    lent_over(pools, job);
    struct pool_job *row = pool_job_get(pools, job);
    job_borrowed_set(pools, job, home_of_name(pools, row->name) != shard);
    job_count_waiting(pools, row, -1);
    /* A job that runs is in the shard of its node. */
    ASSERT(row->node == NONE && row->shard == shard->index);
    delta.node = node;
    delta.priority = priority;
    delta.at_ms = now_ms;
    delta.flag = is_counted;
    job_tell(pools, job, &delta);
    row->node = node;
    row->leased_ms = now_ms;
    pool_node_use(pools, node, 1);
    quotas_count(pools, row, 1);
    if (row->gang != NONE) {
        pools->gangs.items[row->gang].leased_count++;
        gang_anchor(pools, row->gang, shard);
        row = pool_job_get(pools, job);
    }
    ASSERT_SLOW(row->gang == NONE || gang_is_right(pools, row->gang));
    if (is_counted) {
        count_start(pools, shard, row->queue, now_ms);
    }
}

static void apply_repack(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)sched_job_repack(shard->sched, delta->job,
                           shard_node(pools, shard, delta->node));
}

void pools_job_repack(struct pools *pools, uint32_t job, uint32_t node)
{
    struct delta delta = delta_of(apply_repack);

    if (!pools->is_mapped) {
        (void)sched_job_repack(first_of(pools), job, node);
        return;
    }
    struct pool_job *row = pool_job_get(pools, job);
    if (pools->nodes.items[node].shard != row->shard || row->node == node) {
        return;
    }
    delta.node = node;
    job_tell(pools, job, &delta);
    pool_node_use(pools, node, 1);
    pool_node_use(pools, row->node, -1);
    row->node = node;
}

static void apply_requeue(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    uint32_t node = delta->node == NONE ? SCHED_NONE
                                        : shard_node(pools, shard, delta->node);

    sched_job_requeue(shard->sched, delta->job, node);
}

static void apply_gang_requeued(struct pools *pools, struct shard *shard,
                                const struct delta *delta)
{
    (void)pools;
    sched_gang_requeued(shard->sched, delta->job);
}

void pools_job_requeue(struct pools *pools, uint32_t job, uint32_t avoid_node)
{
    struct delta delta = delta_of(apply_requeue);
    struct delta told = delta_of(apply_gang_requeued);

    if (!pools->is_mapped) {
        sched_job_requeue(first_of(pools), job, avoid_node);
        return;
    }
    struct pool_job *row = pool_job_get(pools, job);
    delta.node = avoid_node;
    job_tell(pools, job, &delta);
    gang_tell_others(pools, job, &told);
    job_unlease(pools, row);
    job_count_waiting(pools, row, 1);
    if (gang_is_stranded(pools, row->gang)) {
        gang_recall(pools, row->gang);
    } else {
        job_recall_home(pools, job);
    }
    ASSERT_SLOW(row->gang == NONE || gang_is_right(pools, row->gang));
}

void pools_job_age_from(struct pools *pools, uint32_t job, int64_t at_ms)
{
    struct delta delta = delta_of(apply_age);

    if (!pools->is_mapped) {
        sched_job_age_from(first_of(pools), job, at_ms);
        return;
    }
    delta.at_ms = at_ms;
    job_tell(pools, job, &delta);
    pool_job_get(pools, job)->is_aged = true;
}

static void apply_started(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    (void)pools;
    (void)sched_job_started(shard->sched, delta->job);
}

bool pools_job_started(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_started);

    if (!pools->is_mapped) {
        return sched_job_started(first_of(pools), job);
    }
    if (!shard_of(pools, job)->is_busy) {
        return sched_job_started(shard_of(pools, job)->sched,
                                 pool_job_get(pools, job)->local);
    }
    job_tell(pools, job, &delta);
    return true; /* it may be so */
}

int64_t pools_job_age_of(const struct pools *pools, uint32_t job)
{
    if (!pools->is_mapped) {
        return sched_job_age_of(first_of(pools), job);
    }
    const struct pool_job *row = pool_job_get(pools, job);
    const struct shard *shard = shard_of(pools, job);
    if (!shard->is_busy) {
        return sched_job_age_of(shard->sched, row->local);
    }
    return row->is_aged ? INT64_MAX : pools->now_ms;
}
