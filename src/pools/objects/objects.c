/* Pool objects and their shards. */

#include "pools/objects/objects.h"

#include <string.h>

#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/quota.h"
#include "pools/nodes/nodes.h"
#include "pools/plan/plan.h"
#include "pools/tables/classes.h"
#include "pools/tables/pool_names.h"

/* Shards. */

struct shard *shard_create(struct pools *pools, const struct policy *policy)
{
    struct shard *shard = mem_alloc(sizeof(*shard));
    size_t at = 0;

    while (at < pools->shards.count && pools->shards.items[at]) {
        at++;
    }
    if (at == pools->shards.count) {
        VEC_PUSH(&pools->shards, NULL);
    }
    /* One for each object, and Default, which is the first. */
    ASSERT(at < POOLS_SHARDS_MAX);
    ASSERT((at == POOLS_DEFAULT) == !pools->is_mapped);
    shard->index = (uint16_t)at;
    shard->sched = sched_create(policy);
    pools->shards.items[at] = shard;
    return shard;
}

void shard_destroy(struct shard *shard)
{
    sched_destroy(shard->sched);
    deltas_fini(shard);
    pools_figures_forget(shard);
    SLOTS_FREE(&shard->jobs);
    VEC_FREE(&shard->nodes);
    VEC_FREE(&shard->classes);
    VEC_FREE(&shard->class_back);
    VEC_FREE(&shard->decisions);
    VEC_FREE(&shard->looked);
    VEC_FREE(&shard->borrowers);
    VEC_FREE(&shard->moves);
    arena_fini(&shard->arena);
    mem_free(shard->name);
    mem_free(shard->policy);
    mem_free(shard);
}

/* Its own pool alone: with the settings that the configuration has for a pool
 * of that name, or else those of the Default pool. */
static struct policy *policy_of(const struct pools *pools, struct str name)
{
    struct policy *policy = mem_alloc(sizeof(*policy));

    *policy = *pools->policy;
    policy->pools[0] = *policy_pool_of(pools->policy, name);
    policy->pools[0].name = name;
    policy->pool_count = 1;
    return policy;
}

static void policy_renew(struct pools *pools, struct shard *shard)
{
    struct policy *old = shard->policy;

    shard->policy = policy_of(pools, str_of(shard->name));
    sched_policy_set(shard->sched, shard->policy);
    mem_free(old);
}

static void tell_all(struct pools *pools, struct shard *shard)
{
    const struct sched *first = first_of(pools);
    struct queue_record queue;

    sched_set_time(shard->sched, pools->now_ms);
    for (uint32_t i = 0; i < sched_queues_end(first); i++) {
        if (sched_queue_record(first, i, &queue)) {
            sched_queue_set(shard->sched, i, &queue);
        }
    }
    for (uint32_t i = 0; i < pools->accepts.count; i++) {
        if (intern_is_live(pools->executors, i)) {
            sched_executor_set(shard->sched, intern_get(pools->executors, i),
                               pools->accepts.items[i]);
        }
    }
}

/* Records. */

static const struct label *copy_labels(struct arena *arena,
                                       const struct pool_record *record)
{
    struct label *labels =
        arena_alloc_array(arena, record->label_count, sizeof(*labels));

    for (uint32_t i = 0; i < record->label_count; i++) {
        labels[i].key = arena_str(arena, record->labels[i].key);
        labels[i].value = arena_str(arena, record->labels[i].value);
    }
    return labels;
}

static struct str *copy_strs(struct arena *arena, const struct str *from,
                             uint32_t count)
{
    struct str *strs = arena_alloc_array(arena, count, sizeof(*strs));

    for (uint32_t i = 0; i < count; i++) {
        strs[i] = arena_str(arena, from[i]);
    }
    return strs;
}

static void record_set(struct shard *shard, const struct pool_record *record)
{
    struct arena old = shard->arena;
    struct arena *arena = &shard->arena;

    shard->arena = (struct arena){0};
    struct affinity_expression *expressions = arena_alloc_array(
        arena, record->expression_count, sizeof(*expressions));
    for (uint32_t i = 0; i < record->expression_count; i++) {
        const struct affinity_expression *from = &record->expressions[i];
        expressions[i] = *from;
        expressions[i].key = arena_str(arena, from->key);
        expressions[i].values =
            copy_strs(arena, from->values, from->value_count);
    }
    shard->record = *record;
    shard->record.name = arena_str(arena, record->name);
    shard->record.labels = copy_labels(arena, record);
    shard->record.expressions = expressions;
    shard->record.lenders =
        copy_strs(arena, record->lenders, record->lender_count);
    sched_preemption_set(shard->sched, record->is_preemption_off);
    arena_fini(&old);
}

/* Pools. */

/* Make the shard of a new pool, which comes at a place in the order of names.
 */
static void pool_add(struct pools *pools, const struct pool_record *record,
                     size_t at)
{
    ASSERT(pools->records.count < POOL_OBJECTS_MAX);
    auto_mem char *name = str_dup(record->name);
    auto_mem struct policy *policy = policy_of(pools, str_of(name));
    struct shard *shard = shard_create(pools, policy);

    (void)sched_news_follow(shard->sched);
    sched_news_set(shard->sched, pools->news_count);
    shard->name = name;
    shard->policy = policy;
    name = NULL;
    policy = NULL;
    record_set(shard, record);
    tell_all(pools, shard);
    VEC_PUSH(&pools->objects, 0);
    VEC_PUSH(&pools->records, NULL);
    size_t after = pools->records.count - 1 - at;
    memmove(pools->objects.items + at + 1, pools->objects.items + at,
            after * sizeof(*pools->objects.items));
    memmove(pools->records.items + at + 1, pools->records.items + at,
            after * sizeof(*pools->records.items));
    pools->objects.items[at] = shard->index;
    pools->records.items[at] = &shard->record;
    ASSERT(at == 0 ||
           str_compare(pools->records.items[at - 1]->name, record->name) < 0);
}

void pools_pool_set(struct pools *pools, const struct pool_record *record)
{
    bool is_there;

    ASSERT(pools->busy_count == 0);
    if (!pools->is_mapped) {
        router_begin(pools);
    }
    borrowers_send_home(pools); /* while it is where they came from */
    pools->news_count++;
    size_t at = object_position(pools, record->name, &is_there);
    if (is_there) {
        struct shard *shard = pools->shards.items[pools->objects.items[at]];
        record_set(shard, record);
        policy_renew(pools, shard);
    } else {
        pool_add(pools, record, at);
    }
    ASSERT(pools->objects.items[at] != POOLS_DEFAULT);
    jobs_rehome(pools);
    quotas_renew(pools);
}

void pools_pool_delete(struct pools *pools, struct str name)
{
    bool is_there;

    ASSERT(pools->busy_count == 0);
    size_t at = object_position(pools, name, &is_there);
    if (!is_there) {
        return;
    }
    struct shard *shard = pools->shards.items[pools->objects.items[at]];
    size_t after = pools->records.count - 1 - at;
    borrowers_send_home(pools); /* likewise */
    pools->news_count++;
    memmove(pools->objects.items + at, pools->objects.items + at + 1,
            after * sizeof(*pools->objects.items));
    memmove(pools->records.items + at, pools->records.items + at + 1,
            after * sizeof(*pools->records.items));
    pools->objects.count--;
    pools->records.count--;
    shard->is_closed = true;
    moves_clear(pools, shard);
    pool_nodes_to_default(pools, shard);
    gangs_leave(pools, shard);
    jobs_rehome(pools);
    ASSERT(shard->waiting_count == 0 && shard->borrower_count == 0);
    ASSERT(shard->deltas.count == 0 && shard->retired_jobs.count == 0);
    ASSERT(shard->returning.count == 0 && shard->moves.count == 0);
    pools->shards.items[shard->index] = NULL;
    shard_destroy(shard);
    quotas_renew(pools);
}

void pools_policy_set(struct pools *pools, const struct policy *policy)
{
    ASSERT(pools->busy_count == 0);
    pools->policy = policy;
    pools->news_count++;
    sched_policy_set(first_of(pools), policy);
    for (size_t i = 0; i < pools->objects.count; i++) {
        policy_renew(pools, pools->shards.items[pools->objects.items[i]]);
    }
    for (size_t i = 0; i < pools->shards.count; i++) {
        if (pools->shards.items[i]) {
            pools_figures_forget(pools->shards.items[i]);
        }
    }
    if (pools->is_mapped) {
        pools->are_names_stale = true;
        jobs_rehome(pools);
        quotas_renew(pools);
    }
}

/* Who is there. */

uint32_t pools_object_count(const struct pools *pools)
{
    return (uint32_t)pools->records.count;
}

const struct pool_record *pools_object(const struct pools *pools, uint32_t at)
{
    return pools->records.items[at];
}

uint32_t pools_object_shard(const struct pools *pools, uint32_t at)
{
    return pools->objects.items[at];
}

const struct pool_record *pools_shard_record(const struct pools *pools,
                                             uint32_t shard)
{
    return shard == POOLS_DEFAULT ? NULL : &pools->shards.items[shard]->record;
}

uint32_t pools_job_shard(const struct pools *pools, uint32_t job)
{
    return pools->is_mapped ? pools->jobs.items[job].shard : POOLS_DEFAULT;
}

struct str pools_job_names(const struct pools *pools, uint32_t job)
{
    struct sched_job record;

    if (pools->is_mapped) {
        return intern_get(pools->names, pools->jobs.items[job].name);
    }
    sched_job_record(first_of(pools), job, &record);
    return record.pool;
}

bool pools_job_is_borrowed(const struct pools *pools, uint32_t job)
{
    return pools->is_mapped && pools->jobs.items[job].is_borrowed;
}

uint32_t pools_node_shard(const struct pools *pools, uint32_t node)
{
    return pools->is_mapped ? pools->nodes.items[node].shard : POOLS_DEFAULT;
}
