/* Passes questions to the shard that knows the answer. */

#include "pools/ask/ask.h"

#include "pools/jobs/jobs.h"
#include "pools/jobs/quota.h"
#include "pools/tables/node_table.h"

void explanation_back(const struct shard *shard,
                      struct sched_explanation *explanation)
{
    explanation->nearest_node = node_back(shard, explanation->nearest_node);
    explanation->for_job = job_back(shard, explanation->for_job);
    explanation->behind = job_back(shard, explanation->behind);
}

/* Nothing can be said just now. */
static void explain_nothing(struct sched_explanation *ret_explanation)
{
    *ret_explanation = (struct sched_explanation){
        .wait = SCHED_WAIT_ROUND,
        .nearest_node = SCHED_NONE,
        .resource = -1,
        .for_job = SCHED_NONE,
        .behind = SCHED_NONE,
    };
}

void pools_explain_need(struct pools *pools, uint32_t job, int64_t now_ms,
                        struct sched_explanation *ret_explanation,
                        struct sched_need *ret_need)
{
    if (!pools->is_mapped) {
        sched_explain_need(first_of(pools), job, now_ms, ret_explanation,
                           ret_need);
        return;
    }
    quotas_settle(pools);
    struct shard *shard = shard_to_ask(pools, &job);
    if (!shard) {
        explain_nothing(ret_explanation);
        *ret_need = (struct sched_need){.node = SCHED_NONE};
        return;
    }
    sched_explain_need(shard->sched, job, now_ms, ret_explanation, ret_need);
    explanation_back(shard, ret_explanation);
    ret_need->node = node_back(shard, ret_need->node);
}

enum sched_wait pools_job_wait(struct pools *pools, uint32_t job,
                               int64_t now_ms, uint32_t *looks_left)
{
    if (!pools->is_mapped) {
        return sched_wait_of(first_of(pools), job, now_ms, looks_left);
    }
    quotas_settle(pools);
    struct shard *shard = shard_to_ask(pools, &job);
    return shard ? sched_wait_of(shard->sched, job, now_ms, looks_left)
                 : SCHED_WAIT_ROUND;
}

uint32_t pools_explain_kinds(struct pools *pools, uint32_t job, int64_t now_ms,
                             struct sched_node_kind *ret_kinds,
                             uint32_t *ret_left_out_count)
{
    if (!pools->is_mapped) {
        return sched_explain_kinds(first_of(pools), job, now_ms, ret_kinds,
                                   ret_left_out_count);
    }
    struct shard *shard = shard_to_ask(pools, &job);
    *ret_left_out_count = 0;
    if (!shard) {
        return 0;
    }
    uint32_t count = sched_explain_kinds(shard->sched, job, now_ms, ret_kinds,
                                         ret_left_out_count);
    for (uint32_t i = 0; i < count; i++) {
        ret_kinds[i].first = node_back(shard, ret_kinds[i].first);
        ret_kinds[i].freest = node_back(shard, ret_kinds[i].freest);
    }
    return count;
}

void pools_explain_nodes(struct pools *pools, uint32_t job,
                         struct sched_explanation *ret_explanation)
{
    if (!pools->is_mapped) {
        sched_explain_nodes(first_of(pools), job, ret_explanation);
        return;
    }
    struct shard *shard = shard_to_ask(pools, &job);
    if (!shard) {
        explain_nothing(ret_explanation);
        return;
    }
    sched_explain_nodes(shard->sched, job, ret_explanation);
    explanation_back(shard, ret_explanation);
}

uint32_t *pools_gang_waiting(const struct pools *pools, uint32_t job,
                             struct arena *arena, uint32_t *ret_count)
{
    if (!pools->is_mapped) {
        return sched_gang_waiting(first_of(pools), job, arena, ret_count);
    }
    const struct shard *shard = shard_to_ask(pools, &job);
    *ret_count = 0;
    if (!shard) {
        return arena_alloc_array(arena, 0, sizeof(uint32_t));
    }
    uint32_t *jobs = sched_gang_waiting(shard->sched, job, arena, ret_count);
    for (uint32_t i = 0; i < *ret_count; i++) {
        jobs[i] = job_back(shard, jobs[i]);
    }
    return jobs;
}

bool pools_gang_is_over_share(struct pools *pools, uint32_t job,
                              struct sched_gang_over_share *ret_gang_over_share)
{
    if (!pools->is_mapped) {
        return sched_gang_is_over_share(first_of(pools), job,
                                        ret_gang_over_share);
    }
    const struct shard *shard = shard_to_ask(pools, &job);
    return shard &&
           sched_gang_is_over_share(shard->sched, job, ret_gang_over_share);
}

bool pools_job_yielding(const struct pools *pools, uint32_t job,
                        struct sched_yielding *ret_yielding)
{
    if (!pools->is_mapped) {
        return sched_job_yielding(first_of(pools), job, ret_yielding);
    }
    const struct shard *shard = shard_to_ask(pools, &job);
    if (!shard || !sched_job_yielding(shard->sched, job, ret_yielding)) {
        return false;
    }
    ret_yielding->for_job = job_back(shard, ret_yielding->for_job);
    return true;
}

uint32_t pools_applications(const struct pools *pools, uint32_t queue,
                            int64_t now_ms, struct arena *arena,
                            struct sched_application **ret_applications)
{
    VEC(struct sched_application) all = {0};

    if (!pools->is_mapped) {
        return sched_applications(first_of(pools), queue, now_ms, arena,
                                  ret_applications);
    }
    for (size_t i = 0; i <= pools->objects.count; i++) {
        uint16_t at = i ? pools->objects.items[i - 1] : POOLS_DEFAULT;
        const struct shard *shard = pools->shards.items[at];
        struct sched_application *some;
        uint32_t count =
            shard->is_busy
                ? 0
                : sched_applications(shard->sched, queue, now_ms, arena, &some);
        for (uint32_t k = 0; k < count; k++) {
            VEC_PUSH(&all, some[k]);
        }
    }
    *ret_applications =
        arena_alloc_array(arena, all.count, sizeof(**ret_applications));
    for (size_t i = 0; i < all.count; i++) {
        (*ret_applications)[i] = all.items[i];
    }
    uint32_t count = (uint32_t)all.count;
    VEC_FREE(&all);
    return count;
}

void pools_application_counts(const struct pools *pools, uint32_t queue,
                              uint32_t ret_counts[SCHED_APP_STATES])
{
    uint32_t counts[SCHED_APP_STATES];

    for (int s = 0; s < SCHED_APP_STATES; s++) {
        ret_counts[s] = 0;
    }
    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        if (!shard || shard->is_busy) {
            continue;
        }
        sched_application_counts(shard->sched, queue, counts);
        for (int s = 0; s < SCHED_APP_STATES; s++) {
            ret_counts[s] += counts[s];
        }
    }
}

bool pools_is_consistent(struct pools *pools)
{
    if (pools->is_mapped && !quotas_are_right(pools)) {
        return false;
    }
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && !shard->is_busy &&
            (!sched_is_consistent(shard->sched) ||
             (pools->is_mapped && !shard_is_right(pools, shard)))) {
            return false;
        }
    }
    return true;
}
