/* Pool objects and their shards. */
#include <string.h>

#include "pools/tables/node_table.h"
#include "pools/tables/router.h"

/* Names. */

/* How many names there may be: users may name what they like, but only jobs
 * and nodes that are there count. */
static size_t names_max(const struct pools *pools)
{
    return 2 * (pools->places.count + pools->posts.count) + NAMES_SPARE_MAX;
}

/* Keep only the names of jobs and nodes. */
static void names_renew(struct pools *pools)
{
    auto_ptr(intern) old = pools->names;

    pools->names = intern_create();
    (void)intern_add(pools->names, STR(""));
    for (size_t i = 0; i < pools->places.count; i++) {
        struct place *place = &pools->places.items[i];
        if (place->local != NONE) {
            place->name =
                intern_add(pools->names, intern_get(old, place->name));
        }
    }
    for (size_t i = 0; i < pools->posts.count; i++) {
        struct post *post = &pools->posts.items[i];
        if (post->name && post->pool != NONE) {
            post->pool = intern_add(pools->names, intern_get(old, post->pool));
        }
    }
}

uint32_t name_of_pool(struct pools *pools, struct str name)
{
    uint32_t at = intern_find(pools->names, name);

    if (at != INTERN_NONE) {
        return at;
    }
    if (intern_count(pools->names) >= names_max(pools)) {
        names_renew(pools);
    }
    return intern_add(pools->names, name);
}

bool is_configured(const struct pools *pools, struct str name)
{
    for (uint32_t i = 0; i < pools->policy->pool_count; i++) {
        if (str_equal(pools->policy->pools[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* The place of an object of that name, or where it would be. */
static size_t object_place(const struct pools *pools, struct str name,
                           bool *ret_is_there)
{
    size_t at = 0;

    while (at < pools->records.count &&
           str_compare(pools->records.items[at]->name, name) < 0) {
        at++;
    }
    *ret_is_there = at < pools->records.count &&
                    str_equal(pools->records.items[at]->name, name);
    return at;
}

struct shard *home_of_name(const struct pools *pools, uint32_t name)
{
    bool is_there;

    if (name == 0) {
        return pools->shards.items[POOLS_DEFAULT];
    }
    size_t at = object_place(pools, intern_get(pools->names, name), &is_there);
    return pools->shards
        .items[is_there ? pools->objects.items[at] : POOLS_DEFAULT];
}

struct str pool_in(const struct pools *pools, const struct shard *shard,
                   uint32_t name)
{
    struct str text = intern_get(pools->names, name);

    if (shard->name) {
        return str_of(shard->name);
    }
    return is_configured(pools, text) ? text : (struct str){0};
}

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
    VEC_FREE(&shard->jobs);
    VEC_FREE(&shard->spare_jobs);
    VEC_FREE(&shard->nodes);
    VEC_FREE(&shard->classes);
    VEC_FREE(&shard->class_back);
    VEC_FREE(&shard->decisions);
    VEC_FREE(&shard->looked);
    VEC_FREE(&shard->lend_candidates);
    VEC_FREE(&shard->guests);
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
        sched_executor_set(shard->sched, intern_get(pools->executors, i),
                           pools->accepts.items[i]);
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

/* The router. */

void router_begin(struct pools *pools)
{
    pools->is_mapped = true;
    pools->has_pending = pools->words.count > 0;
    pools->are_names_stale = true;
    pools->names = intern_create();
    (void)intern_add(pools->names, STR(""));
    pools->executors = intern_create();
    for (uint32_t i = 0; i < sched_queues_end(first_of(pools)); i++) {
        VEC_PUSH(&pools->by_application,
                 sched_queue_has_applications(first_of(pools), i));
    }
    pools->news_count = sched_news_follow(first_of(pools));
    classes_adopt(pools);
    nodes_adopt(pools);
    jobs_adopt(pools);
}

void pools_pool_set(struct pools *pools, const struct pool_record *record)
{
    bool is_there;

    ASSERT(pools->busy_count == 0);
    if (!pools->is_mapped) {
        router_begin(pools);
    }
    guests_send_home(pools); /* while it is where they came from */
    pools->news_count++;
    size_t at = object_place(pools, record->name, &is_there);
    struct shard *shard = NULL;
    if (is_there) {
        shard = pools->shards.items[pools->objects.items[at]];
        record_set(shard, record);
        policy_renew(pools, shard);
    } else {
        ASSERT(pools->records.count < POOL_OBJECTS_MAX);
        auto_mem char *name = str_dup(record->name);
        auto_mem struct policy *policy = policy_of(pools, str_of(name));
        shard = shard_create(pools, policy);
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
    }
    jobs_rehome(pools);
    quotas_renew(pools);
}

void pools_pool_delete(struct pools *pools, struct str name)
{
    bool is_there;

    ASSERT(pools->busy_count == 0);
    size_t at = object_place(pools, name, &is_there);
    if (!is_there) {
        return;
    }
    struct shard *shard = pools->shards.items[pools->objects.items[at]];
    size_t after = pools->records.count - 1 - at;
    guests_send_home(pools); /* likewise */
    pools->news_count++;
    memmove(pools->objects.items + at, pools->objects.items + at + 1,
            after * sizeof(*pools->objects.items));
    memmove(pools->records.items + at, pools->records.items + at + 1,
            after * sizeof(*pools->records.items));
    pools->objects.count--;
    pools->records.count--;
    shard->is_closed = true;
    moves_clear(pools, shard);
    posts_leave(pools, shard);
    gangs_leave(pools, shard);
    jobs_rehome(pools);
    ASSERT(shard->waiting_count == 0 && shard->guest_count == 0);
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
    return pools->is_mapped ? pools->places.items[job].shard : POOLS_DEFAULT;
}

struct str pools_job_names(const struct pools *pools, uint32_t job)
{
    struct sched_job record;

    if (pools->is_mapped) {
        return intern_get(pools->names, pools->places.items[job].name);
    }
    sched_job_record(first_of(pools), job, &record);
    return record.pool;
}

bool pools_job_is_away(const struct pools *pools, uint32_t job)
{
    return pools->is_mapped && pools->places.items[job].is_borrowed;
}

uint32_t pools_node_shard(const struct pools *pools, uint32_t node)
{
    return pools->is_mapped ? pools->posts.items[node].shard : POOLS_DEFAULT;
}

uint32_t pools_pool_count(const struct pools *pools)
{
    return pools->policy->pool_count + (uint32_t)pools->records.count;
}

struct str pools_pool_name(const struct pools *pools, uint32_t pool_index)
{
    uint32_t count = pools->policy->pool_count;

    return pool_index < count ? pools->policy->pools[pool_index].name
                              : pools->records.items[pool_index - count]->name;
}

uint32_t pools_shard_pool(const struct pools *pools, uint32_t shard)
{
    for (uint32_t i = 0; i < pools->objects.count; i++) {
        if (pools->objects.items[i] == shard) {
            return pools->policy->pool_count + i;
        }
    }
    return 0;
}

uint32_t pools_pool_shard(const struct pools *pools, uint32_t pool_index)
{
    uint32_t count = pools->policy->pool_count;

    return pool_index < count ? POOLS_DEFAULT
                              : pools->objects.items[pool_index - count];
}
