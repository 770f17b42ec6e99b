/* Jobs: where each is, as it comes, is leased, waits again and goes. */

#include "pools/jobs/jobs.h"

#include <string.h>

#include "base/hash.h"
#include "pools/jobs/deltas.h"
#include "pools/jobs/lent.h"
#include "pools/jobs/quota.h"
#include "pools/tables/classes.h"
#include "pools/tables/node_table.h"
#include "pools/tables/pool_names.h"

/* The tables. */

struct pool_job *pool_job_get(const struct pools *pools, uint32_t job)
{
    ASSERT(job < pools->jobs.count);
    struct pool_job *row = &pools->jobs.items[job];

    ASSERT(row->local != NONE);
    return row;
}

static struct pool_job *pool_job_make(struct pools *pools, uint32_t job)
{
    while (pools->jobs.count <= job) {
        VEC_PUSH(&pools->jobs, (struct pool_job){.local = NONE});
    }
    ASSERT(pools->jobs.items[job].local == NONE);
    return &pools->jobs.items[job];
}

/* A member of its gang is in a shard, or (`sign` -1) no longer. */
static void count_member(struct pools *pools, const struct pool_job *row,
                         int sign)
{
    uint64_t shard = row->shard;

    if (row->gang != NONE) {
        struct pool_gang *gang_row = &pools->gangs.items[row->gang];
        ASSERT(sign > 0 || gang_row->shard_sum >= shard);
        ASSERT(sign > 0 || gang_row->shard_square_sum >= shard * shard);
        gang_row->shard_sum += (uint64_t)sign * shard;
        gang_row->shard_square_sum += (uint64_t)sign * shard * shard;
    }
}

static void local_take(struct pools *pools, uint32_t job, struct shard *shard)
{
    struct pool_job *row = &pools->jobs.items[job];

    ASSERT(!shard->is_closed); /* nobody enters a shard that ends */
    row->local = SLOTS_TAKE(&shard->jobs);
    shard->jobs.items[row->local] = job;
    row->shard = shard->index;
    count_member(pools, row, 1);
}

void job_give(struct pools *pools, uint32_t job)
{
    struct pool_job *row = &pools->jobs.items[job];
    struct shard *shard = shard_of(pools, job);

    ASSERT(shard->jobs.items[row->local] == job);
    shard->jobs.items[row->local] = NONE;
    count_member(pools, row, -1);
    if (shard->is_busy) {
        VEC_PUSH(&shard->retired_jobs, row->local);
    } else {
        SLOTS_GIVE(&shard->jobs, row->local);
    }
}

void job_count_waiting(struct pools *pools, const struct pool_job *row,
                       int sign)
{
    struct shard *shard = pools->shards.items[row->shard];

    ASSERT(row->node == NONE); /* a job that waits has no lease */
    ASSERT(sign > 0 || (row->is_borrowed ? shard->borrower_count
                                         : shard->waiting_count) > 0);
    if (row->is_borrowed) {
        shard->borrower_count += (uint32_t)sign;
    } else {
        shard->waiting_count += (uint32_t)sign;
    }
}

struct shard *shard_to_ask(const struct pools *pools, uint32_t *job)
{
    struct shard *shard = shard_of(pools, *job);

    *job = pools->jobs.items[*job].local;
    return shard->is_busy ? NULL : shard;
}

uint32_t job_back(const struct shard *shard, uint32_t local)
{
    /* A shard speaks of jobs that are in it. */
    ASSERT(local == SCHED_NONE || shard->jobs.items[local] != NONE);
    return local == SCHED_NONE ? SCHED_NONE : shard->jobs.items[local];
}

/* Gangs. */

static struct key128 gang_key(uint32_t queue, struct str id)
{
    return (struct key128){
        hash_bytes(id.p, id.byte_count, queue),
        hash_bytes(id.p, id.byte_count, hash_mix((uint64_t)queue << 32 | 1)),
    };
}

static uint32_t pool_gang_get(struct pools *pools,
                              const struct sched_job *record)
{
    struct key128 key = gang_key(record->queue, record->gang_id);
    uint32_t at = map_find(&pools->gang_map, key);

    if (at != MAP_NONE) {
        return at;
    }
    at = SLOTS_TAKE(&pools->gangs);
    pools->gangs.items[at] = (struct pool_gang){.key = key, .first = NONE};
    map_put(&pools->gang_map, key, at);
    return at;
}

void gang_join(struct pools *pools, uint32_t job,
               const struct sched_job *record)
{
    struct pool_job *row = &pools->jobs.items[job];

    row->gang = row->gang_next = row->gang_previous = NONE;
    if (record->gang_id.byte_count == 0 || record->gang_cardinality < 2) {
        return;
    }
    row->gang = pool_gang_get(pools, record);
    row->sub_group = record->sub_group & (SUB_GROUPS_MAX - 1);
    struct pool_gang *gang_row = &pools->gangs.items[row->gang];
    gang_row->has_terms = record->gang_terms.byte_count > 0;
    /* The members of a gang say so, and one without members is forgotten. */
    ASSERT((gang_row->count == 0) == (gang_row->first == NONE));
    ASSERT(gang_row->first == NONE ||
           pools->jobs.items[gang_row->first].gang == row->gang);
    row->gang_next = gang_row->first;
    if (gang_row->first != NONE) {
        pools->jobs.items[gang_row->first].gang_previous = job;
    }
    gang_row->first = job;
    gang_row->count++;
}

static void gang_leave(struct pools *pools, const struct pool_job *row)
{
    if (row->gang == NONE) {
        return;
    }
    struct pool_gang *gang_row = &pools->gangs.items[row->gang];
    if (row->gang_previous == NONE) {
        gang_row->first = row->gang_next;
    } else {
        pools->jobs.items[row->gang_previous].gang_next = row->gang_next;
    }
    if (row->gang_next != NONE) {
        pools->jobs.items[row->gang_next].gang_previous = row->gang_previous;
    }
    gang_row->count--;
    /* Leases of a gang are those of its members. */
    ASSERT(gang_row->leased_count <= gang_row->count);
    if (gang_row->count == 0) {
        ASSERT(gang_row->first == NONE);
        ASSERT(gang_row->shard_sum == 0 && gang_row->shard_square_sum == 0);
        map_remove(&pools->gang_map, gang_row->key);
        SLOTS_GIVE(&pools->gangs, row->gang);
    }
}

/* Telling shards. */

void job_tell(struct pools *pools, uint32_t job, struct delta *delta)
{
    delta->job = pool_job_get(pools, job)->local;
    deliver(pools, shard_of(pools, job), delta);
}

static struct str held_str(struct arena *arena, struct str s)
{
    return s.byte_count ? arena_str(arena, s) : s;
}

const void *amounts_copy(const void *from, struct arena *arena)
{
    struct resource_vec *amounts = arena_alloc(arena, sizeof(*amounts));

    *amounts = *(const struct resource_vec *)from;
    return amounts;
}

const void *job_copy(const void *from, struct arena *arena)
{
    struct sched_job *record = arena_alloc(arena, sizeof(*record));

    *record = *(const struct sched_job *)from;
    record->pool = held_str(arena, record->pool);
    record->gang_id = held_str(arena, record->gang_id);
    record->gang_uniformity = held_str(arena, record->gang_uniformity);
    record->application = held_str(arena, record->application);
    record->gang_terms = held_str(arena, record->gang_terms);
    return record;
}

void apply_add(struct pools *pools, struct shard *shard,
               const struct delta *delta)
{
    struct sched_job record = *(const struct sched_job *)delta->record;

    record.class_index = shard_class(pools, shard, delta->class_index);
    sched_job_add(shard->sched, delta->job, &record);
}

void job_enter(struct pools *pools, uint32_t job, struct shard *shard,
               const struct sched_job *record)
{
    struct pool_job *row = &pools->jobs.items[job];
    struct sched_job told = *record;
    struct delta delta = delta_of(apply_add);

    local_take(pools, job, shard);
    row->is_borrowed = job_is_borrowed(pools, job, shard);
    told.pool = pool_in(pools, shard, row->name);
    told.is_borrowed = row->is_borrowed;
    delta.class_index = record->class_index;
    delta.record = &told;
    delta.copy = job_copy;
    job_tell(pools, job, &delta);
}

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

/* A lease is gone. */
static void unlease(struct pools *pools, struct pool_job *row)
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

/* Whether a gang has just lost the last that ran of it, and some of it wait. */
static bool is_stranded(const struct pools *pools, uint32_t gang)
{
    const struct pool_gang *gang_row =
        gang == NONE ? NULL : &pools->gangs.items[gang];

    return gang_row && gang_row->leased_count == 0 && gang_row->count > 0;
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
        unlease(pools, row);
    } else {
        job_count_waiting(pools, row, -1);
    }
    uint32_t gang = row->gang;
    gang_leave(pools, row);
    *row = (struct pool_job){.local = NONE};
    if (was_leased && is_stranded(pools, gang)) {
        gang_recall(pools, gang);
    }
    ASSERT_SLOW(gang == NONE || gang_is_right(pools, gang));
}

void apply_lease(struct pools *pools, struct shard *shard,
                 const struct delta *delta)
{
    uint32_t node = shard_node(pools, shard, delta->node);

    sched_job_lease(shard->sched, delta->job, node, delta->priority,
                    delta->at_ms, delta->flag);
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
    unlease(pools, row);
    job_count_waiting(pools, row, 1);
    if (is_stranded(pools, row->gang)) {
        gang_recall(pools, row->gang);
    } else {
        job_recall_home(pools, job);
    }
    ASSERT_SLOW(row->gang == NONE || gang_is_right(pools, row->gang));
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

void pool_jobs_fini(struct pools *pools)
{
    VEC_FREE(&pools->jobs);
    SLOTS_FREE(&pools->gangs);
    map_fini(&pools->gang_map);
}
