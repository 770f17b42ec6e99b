#include "sched/order/starts.h"

#include "sched/fairness/rates.h"

void round_wake_held(struct round *round, const struct resource_vec *request)
{
    int64_t when_ms = INT64_MIN;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 && round->held_columns >> r & 1) {
            int64_t at_ms =
                bucket_when(&round->pool->start[r], &round->rate_start[r],
                            request->v[r], round->now_ms);
            when_ms = at_ms > when_ms ? at_ms : when_ms;
        }
    }
    if (when_ms > round->now_ms) {
        round_wake_by(round, when_ms);
    }
}

bool round_may_start(struct round *round, struct lane *lane, uint32_t count,
                     const struct resource_vec *request)
{
    struct sched *sched = round->sched;
    struct bucket *queue = &sched->queues.items[lane->queue].bucket;
    bool may = true;

    ASSERT(count > 0 && amounts_is_sum(request));
    if (round->are_starts_over || lane->are_starts_over) {
        lane->head_count = 0;
        return false;
    }
    if (!bucket_has(&sched->bucket, &round->rate_all, count, round->now_ms)) {
        round->are_starts_over = true;
        round_wake_by(round, bucket_when(&sched->bucket, &round->rate_all,
                                         count, round->now_ms));
        return false;
    }
    if (!bucket_has(queue, &round->rate_queue, count, round->now_ms)) {
        round_wake_by(round, bucket_when(queue, &round->rate_queue, count,
                                         round->now_ms));
        lane->are_starts_over = true;
        lane->head_count = 0;
        return false;
    }
    for (uint32_t r = 0; round->has_start_limits && r < RESOURCE_COLUMNS_MAX;
         r++) {
        struct bucket *bucket = &round->pool->start[r];
        if (request->v[r] > 0 && round->held_columns >> r & 1) {
            may = false; /* nor what is smaller */
        } else if (request->v[r] > 0 &&
                   !bucket_has(bucket, &round->rate_start[r], request->v[r],
                               round->now_ms)) {
            round->held_columns |= 1u << r;
            round_wake_by(round, bucket_when(bucket, &round->rate_start[r],
                                             request->v[r], round->now_ms));
            may = false;
        }
    }
    if (!may && round->has_flow) {
        round_wake_held(round, request);
    }
    return may;
}

void round_count_starts(struct round *round, const struct lane *lane,
                        uint32_t count, const struct resource_vec *request)
{
    struct sched *sched = round->sched;

    ASSERT(count > 0);
    bucket_take(&sched->bucket, &round->rate_all, count, round->now_ms);
    bucket_take(&sched->queues.items[lane->queue].bucket, &round->rate_queue,
                count, round->now_ms);
    for (uint32_t r = 0; round->has_start_limits && r < RESOURCE_COLUMNS_MAX;
         r++) {
        bucket_take(&round->pool->start[r], &round->rate_start[r],
                    request->v[r], round->now_ms);
    }
}

void gang_started(struct round *round, const struct lane *lane, uint32_t count,
                  const struct resource_vec *request)
{
    round->counters->placements += count;
    if (round_counts_starts(round)) {
        round_count_starts(round, lane, count, request);
    }
}

void round_set_rates(struct round *round)
{
    const struct policy *policy = round->sched->policy;
    const struct rate_limit *all = &policy->rate_global;
    const struct rate_limit *queue = &policy->rate_per_queue;

    round->rate_all = rate_rule(all);
    round->rate_queue = rate_rule(queue);
    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        round->rate_start[r] = start_rule(round->sched, round->p, r);
        round->has_start_limits |= round->rate_start[r].size > 0;
    }
}
