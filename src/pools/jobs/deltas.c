
#include "pools/jobs/deltas.h"

#include "pools/jobs/jobs.h"
#include "pools/tables/classes.h"
#include "pools/tables/node_table.h"

void apply_add(struct pools *pools, struct shard *shard,
               const struct delta *delta)
{
    struct sched_job record = *(const struct sched_job *)delta->record;

    record.class_index = shard_class(pools, shard, delta->class_index);
    sched_job_add(shard->sched, delta->job, &record);
}

void apply_application(struct pools *pools, struct shard *shard,
                       const struct delta *delta)
{
    (void)pools;
    sched_job_application(shard->sched, delta->job, delta->text, delta->flag);
}

void apply_lease(struct pools *pools, struct shard *shard,
                 const struct delta *delta)
{
    uint32_t node = shard_node(pools, shard, delta->node);

    sched_job_lease(shard->sched, delta->job, node, delta->priority,
                    delta->at_ms, delta->flag);
}

void apply_age(struct pools *pools, struct shard *shard,
               const struct delta *delta)
{
    (void)pools;
    sched_job_age_from(shard->sched, delta->job, delta->at_ms);
}

void apply_protect(struct pools *pools, struct shard *shard,
                   const struct delta *delta)
{
    (void)pools;
    sched_job_protect(shard->sched, delta->job, delta->flag);
}

static void touch_local(struct shard *shard, uint32_t local)
{
    ASSERT(shard->is_busy); /* else no plan has taken it for granted */
    while (shard->touched.count <= local) {
        VEC_PUSH(&shard->touched, 0);
    }
    shard->touched.items[local] = 1;
}

void job_touch(struct pools *pools, uint32_t job)
{
    struct shard *shard = shard_of(pools, job);

    if (shard->is_busy) {
        touch_local(shard, pools->jobs.items[job].local);
    }
}

/* What the plan in the making may have taken for granted. */
static void touch(struct pools *pools, struct shard *shard,
                  const struct delta *delta)
{
    if (delta->job != NONE) {
        touch_local(shard, delta->job);
    }
    if (delta->node != NONE && !pools->nodes.items[delta->node].is_touched) {
        pools->nodes.items[delta->node].is_touched = true;
        VEC_PUSH(&shard->touched_nodes, delta->node);
    }
}

/* Which of the deltas tells of a job what it is (lent.c). */
static void index_job(struct shard *shard, const struct delta *delta)
{
    struct key128 key = key_of_u64(delta->job);
    uint32_t at = (uint32_t)shard->deltas.count;

    if (delta->apply == apply_add) {
        map_put(&shard->told_adds, key, at);
        map_remove(&shard->told_names, key);
    } else if (delta->apply == apply_application) {
        map_put(&shard->told_names, key, at);
    }
}

static void keep(struct pools *pools, struct shard *shard,
                 const struct delta *delta)
{
    struct delta kept = *delta;

    ASSERT(shard->deltas.count < POOLS_DELTAS_MAX);
    ASSERT(shard->delta_arena.byte_count < POOLS_DELTA_BYTES_MAX);
    if (delta->text.byte_count) {
        kept.text = arena_str(&shard->delta_arena, delta->text);
    }
    if (delta->record) {
        kept.record = delta->copy(delta->record, &shard->delta_arena);
    }
    if (delta->node != NONE) {
        pool_node_use(pools, delta->node, 1);
    }
    if (delta->class_index != NONE) {
        pools->classes.items[delta->class_index].pin_count++;
    }
    touch(pools, shard, delta);
    index_job(shard, delta);
    VEC_PUSH(&shard->deltas, kept);
}

void deliver(struct pools *pools, struct shard *shard,
             const struct delta *delta)
{
    if (shard->is_busy) {
        keep(pools, shard, delta);
    } else {
        delta->apply(pools, shard, delta);
    }
}

void deliver_all(struct pools *pools, const struct delta *delta)
{
    for (size_t i = 0; i < pools->shards.count; i++) {
        if (pools->shards.items[i]) {
            deliver(pools, pools->shards.items[i], delta);
        }
    }
}

void job_tell(struct pools *pools, uint32_t job, struct delta *delta)
{
    if (!pools->is_mapped) {
        delta->job = job;
        delta->apply(pools, pools->shards.items[POOLS_DEFAULT], delta);
        return;
    }
    delta->job = pool_job_get(pools, job)->local;
    deliver(pools, shard_of(pools, job), delta);
}

void gang_tell_others(struct pools *pools, uint32_t job, struct delta *delta)
{
    if (!pools->is_mapped) {
        return;
    }
    const struct pool_job *row = pool_job_get(pools, job);
    bool is_told[POOLS_SHARDS_MAX] = {false};

    if (row->gang == NONE || !gang_is_split(&pools->gangs.items[row->gang])) {
        return;
    }
    for (uint32_t member = pools->gangs.items[row->gang].first; member != NONE;
         member = pools->jobs.items[member].gang_next) {
        uint32_t in = pools->jobs.items[member].shard;
        if (in == row->shard) {
            continue;
        }
        /* Which of them stands for all must not matter. */
        job_touch(pools, member);
        if (!is_told[in]) {
            is_told[in] = true;
            job_tell(pools, member, delta);
        }
    }
}

void deltas_apply(struct pools *pools, struct shard *shard)
{
    ASSERT(!shard->is_busy);
    for (size_t i = 0; i < shard->deltas.count; i++) {
        const struct delta *delta = &shard->deltas.items[i];
        delta->apply(pools, shard, delta);
        if (delta->node != NONE) {
            pool_node_use(pools, delta->node, -1);
        }
        if (delta->class_index != NONE) {
            class_unpin(pools, delta->class_index);
        }
    }
    shard->deltas.count = 0;
    map_fini(&shard->told_adds);
    map_fini(&shard->told_names);
    arena_reset(&shard->delta_arena);
    for (size_t i = 0; i < shard->touched_nodes.count; i++) {
        ASSERT(pools->nodes.items[shard->touched_nodes.items[i]].is_touched);
        pools->nodes.items[shard->touched_nodes.items[i]].is_touched = false;
    }
    shard->touched_nodes.count = 0;
    shard->touched.count = 0;
    for (size_t i = 0; i < shard->retired_jobs.count; i++) {
        ASSERT(shard->jobs.items[shard->retired_jobs.items[i]] == NONE);
        SLOTS_GIVE(&shard->jobs, shard->retired_jobs.items[i]);
    }
    shard->retired_jobs.count = 0;
}

void deltas_fini(struct shard *shard)
{
    VEC_FREE(&shard->deltas);
    map_fini(&shard->told_adds);
    map_fini(&shard->told_names);
    VEC_FREE(&shard->touched);
    VEC_FREE(&shard->touched_nodes);
    VEC_FREE(&shard->retired_jobs);
    VEC_FREE(&shard->returning);
    arena_fini(&shard->delta_arena);
}
