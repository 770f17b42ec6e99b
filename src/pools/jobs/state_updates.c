/* Passes changes that do not move a job to its shard. */
#include "pools/jobs/jobs.h"
#include "pools/jobs/lent.h"
#include "pools/tables/node_table.h"

static void apply_avoid(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    sched_job_avoid(shard->sched, delta->job,
                    shard_node(pools, shard, delta->node));
}

void pools_job_avoid(struct pools *pools, uint32_t job, uint32_t node)
{
    struct delta delta = delta_of(apply_avoid);

    if (!pools->is_mapped) {
        sched_job_avoid(first_of(pools), job, node);
        return;
    }
    delta.node = node;
    job_tell(pools, job, &delta);
}

void pools_job_protect(struct pools *pools, uint32_t job, bool is_protected)
{
    struct delta delta = delta_of(apply_protect);

    delta.flag = is_protected;
    job_tell(pools, job, &delta);
}

static void apply_yield(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    sched_job_yield(shard->sched, delta->job, delta->other, delta->flag,
                    delta->at_ms);
}

void pools_job_yield(struct pools *pools, uint32_t job, uint32_t for_job,
                     bool is_at_once, int64_t from_ms)
{
    struct delta delta = delta_of(apply_yield);

    if (!pools->is_mapped) {
        sched_job_yield(first_of(pools), job, for_job, is_at_once, from_ms);
    } else if (shard_of(pools, job) == shard_of(pools, for_job)) {
        delta.other = pool_job_get(pools, for_job)->local;
        delta.flag = is_at_once;
        delta.at_ms = from_ms;
        job_tell(pools, job, &delta);
    }
}

static void apply_cooldown(struct pools *pools, struct shard *shard,
                           const struct delta *delta)
{
    (void)pools;
    sched_job_cooldown(shard->sched, delta->job);
}

void pools_job_cooldown(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_cooldown);

    job_tell(pools, job, &delta);
    gang_tell_others(pools, job, &delta);
}

static void apply_lost(struct pools *pools, struct shard *shard,
                       const struct delta *delta)
{
    (void)pools;
    sched_job_lost(shard->sched, delta->job);
}

void pools_job_lost(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_lost);

    job_tell(pools, job, &delta);
}

static void apply_admit(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    sched_job_admit(shard->sched, delta->job, delta->text, delta->at_ms,
                    delta->amount);
}

void pools_job_admit(struct pools *pools, uint32_t job, struct str pool,
                     int64_t start_ms, int64_t charge)
{
    struct delta delta = delta_of(apply_admit);

    delta.text = pool;
    delta.at_ms = start_ms;
    delta.amount = charge;
    job_tell(pools, job, &delta);
}

static void apply_dismiss(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    (void)pools;
    sched_job_dismiss(shard->sched, delta->job);
}

void pools_job_dismiss(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_dismiss);

    job_tell(pools, job, &delta);
}

bool pools_job_admission(const struct pools *pools, uint32_t job,
                         struct sched_admission *ret_admission)
{
    if (!pools->is_mapped) {
        return sched_job_admission(first_of(pools), job, ret_admission);
    }
    const struct shard *shard = shard_to_ask(pools, &job);
    return shard && sched_job_admission(shard->sched, job, ret_admission);
}

static void apply_charge(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_job_charge(shard->sched, delta->job, delta->text, delta->amount);
}

void pools_job_charge(struct pools *pools, uint32_t job, struct str pool,
                      int64_t charge)
{
    struct delta delta = delta_of(apply_charge);

    delta.text = pool;
    delta.amount = charge;
    job_tell(pools, job, &delta);
}

static void apply_reprioritise(struct pools *pools, struct shard *shard,
                               const struct delta *delta)
{
    (void)pools;
    sched_job_reprioritise(shard->sched, delta->job, delta->other);
}

void pools_job_reprioritise(struct pools *pools, uint32_t job,
                            uint32_t priority)
{
    struct delta delta = delta_of(apply_reprioritise);

    if (!pools->is_mapped) {
        sched_job_reprioritise(first_of(pools), job, priority);
        return;
    }
    pools->news_count++;
    delta.other = priority;
    job_tell(pools, job, &delta);
}

void pools_job_application(struct pools *pools, uint32_t job, struct str id,
                           bool has_stateaware_off)
{
    struct delta delta = delta_of(apply_application);

    if (!pools->is_mapped) {
        sched_job_application(first_of(pools), job, id, has_stateaware_off);
        return;
    }
    delta.text = id;
    delta.flag = has_stateaware_off;
    job_tell(pools, job, &delta);
    if (pools->jobs.items[job].is_lent) {
        lent_ask(pools, job, id, has_stateaware_off);
    }
}

static void apply_ended(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    struct sched_outcome outcome = {
        .pool = delta->text,
        .is_failed = delta->flag,
        .is_exit = delta->priority != 0,
        .job_set = (uint64_t)delta->amount,
    };

    (void)pools;
    sched_run_ended(shard->sched, delta->job, &outcome);
}

void pools_run_ended(struct pools *pools, uint32_t job,
                     const struct sched_outcome *outcome)
{
    struct delta delta = delta_of(apply_ended);

    delta.text = outcome->pool;
    delta.flag = outcome->is_failed;
    delta.priority = outcome->is_exit;
    delta.amount = (int64_t)outcome->job_set;
    job_tell(pools, job, &delta);
}

static void apply_finished(struct pools *pools, struct shard *shard,
                           const struct delta *delta)
{
    (void)pools;
    sched_job_finished(shard->sched, delta->job);
}

void pools_job_finished(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_finished);

    job_tell(pools, job, &delta);
}

static void apply_succeeded(struct pools *pools, struct shard *shard,
                            const struct delta *delta)
{
    (void)pools;
    sched_job_ended_well(shard->sched, delta->job);
    sched_job_succeeded(shard->sched, delta->job);
}

static void apply_gang_succeeded(struct pools *pools, struct shard *shard,
                                 const struct delta *delta)
{
    (void)pools;
    sched_gang_succeeded(shard->sched, delta->job, delta->other);
}

void pools_job_succeeded(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_succeeded);

    if (!pools->is_mapped) {
        sched_job_ended_well(first_of(pools), job);
        sched_job_succeeded(first_of(pools), job);
        return;
    }
    job_tell(pools, job, &delta);
    if (pool_job_get(pools, job)->node != NONE) {
        struct delta told = delta_of(apply_gang_succeeded);
        told.other = pool_job_get(pools, job)->sub_group;
        gang_tell_others(pools, job, &told);
    }
}
