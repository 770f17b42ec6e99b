/* Which gangs may grow. */
#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/quota.h"
#include "pools/tables/classes.h"

static void tell(struct pools *pools, uint32_t job, struct delta *delta)
{
    delta->job = pools->jobs.items[job].local;
    deliver(pools, shard_of(pools, job), delta);
}

static void apply_scaled(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_gang_scaled(shard->sched, delta->job, delta->at_ms);
}

static void apply_freeze(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_gang_freeze(shard->sched, delta->job, delta->at_ms);
}

/* Whether some of a job's gang runs since an elastic period, anywhere. */
static bool is_old(const struct pools *pools, uint32_t job, int64_t at_ms)
{
    const struct shard *shard = shard_of(pools, job);
    const struct policy *policy = shard->policy ? shard->policy : pools->policy;
    int64_t before_ms = at_ms - policy->elastic.period_ms;
    uint32_t gang = pools->jobs.items[job].gang;

    for (uint32_t member = pools->gangs.items[gang].first; member != NONE;
         member = pools->jobs.items[member].gang_next) {
        const struct pool_job *row = &pools->jobs.items[member];
        if (row->node != NONE && row->leased_ms <= before_ms) {
            return true;
        }
    }
    return false;
}

void pools_gang_scaled(struct pools *pools, uint32_t job, int64_t at_ms)
{
    struct delta delta = delta_of(apply_scaled);

    if (!pools->is_mapped) {
        sched_gang_scaled(first_of(pools), job, at_ms);
        return;
    }
    delta.at_ms = at_ms;
    uint32_t gang = pools->jobs.items[job].gang;
    if (gang == NONE || !gang_is_split(&pools->gangs.items[gang])) {
        tell(pools, job, &delta);
    } else if (is_old(pools, job, at_ms)) {
        delta.apply = apply_freeze;
        tell(pools, job, &delta);
        gang_tell_others(pools, job, &delta);
    }
}

static void apply_reclass(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    sched_job_reclass(shard->sched, delta->job,
                      shard_class(pools, shard, delta->class_index));
}

void pools_job_reclass(struct pools *pools, uint32_t job, uint32_t class_index)
{
    struct delta delta = delta_of(apply_reclass);

    if (!pools->is_mapped) {
        sched_job_reclass(first_of(pools), job, class_index);
        return;
    }
    pools->news_count++;
    delta.class_index = class_index;
    tell(pools, job, &delta);
    struct pool_job *row = &pools->jobs.items[job];
    if (row->node != NONE) {
        quotas_count(pools, row, -1);
    }
    row->class_index = class_index;
    if (row->node != NONE) {
        quotas_count(pools, row, 1);
    }
}
