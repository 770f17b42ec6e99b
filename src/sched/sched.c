#include "sched/state.h"

enum { LIMITS_VERSION = 1 };

uint32_t level_of(const struct sched *sched, int32_t priority)
{
    uint32_t level = 0;

    while (level + 1 < sched->level_count &&
           sched->level_priority[level + 1] <= priority) {
        level++;
    }
    return level;
}

/* The distinct priorities of the policy's classes, in order. */
static void set_levels(struct sched *sched)
{
    const struct policy *policy = sched->policy;

    sched->level_count = 0;
    for (uint32_t c = 0; c < policy->class_count; c++) {
        int32_t priority = policy->classes[c].priority;
        uint32_t at = 0;
        while (at < sched->level_count &&
               sched->level_priority[at] < priority) {
            at++;
        }
        if (at < sched->level_count && sched->level_priority[at] == priority) {
            continue;
        }
        for (uint32_t i = sched->level_count++; i > at; i--) {
            sched->level_priority[i] = sched->level_priority[i - 1];
        }
        sched->level_priority[at] = priority;
    }
    for (uint32_t c = 0; c < policy->class_count; c++) {
        sched->class_level[c] =
            (uint8_t)level_of(sched, policy->classes[c].priority);
    }
}

static void set_pools(struct sched *sched)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        sched->pools.items[p].policy_index = -1;
        sched->pools.items[p].is_stale = true;
    }
    for (uint32_t i = 0; i < sched->policy->pool_count; i++) {
        uint32_t pool = pool_get(sched, sched->policy->pools[i].name);
        sched->pools.items[pool].policy_index = (int)i;
    }
}

struct sched *sched_create(const struct policy *policy)
{
    struct sched *sched = mem_alloc(sizeof(*sched));

    ASSERT(policy->class_count > 0);
    sched->policy = policy;
    sched->pool_names = intern_create();
    sched->executor_names = intern_create();
    sched->taint_sets = intern_create();
    (void)intern_add(sched->taint_sets, STR(""));
    sched->version = 1;
    set_levels(sched);
    set_pools(sched);
    return sched;
}

void sched_destroy(struct sched *sched)
{
    if (!sched) {
        return;
    }
    jobs_fini(sched);
    queues_fini(sched);
    nodes_fini(sched);
    classes_fini(sched);
    arena_fini(&sched->arena);
    VEC_FREE(&sched->decisions);
    VEC_FREE(&sched->journal);
    mem_free(sched);
}

static void unlink_all(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->gangs.count; i++) {
        if (sched->gangs.items[i].is_live) {
            gang_detach(sched, i);
        }
    }
    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        if (job->list == LIST_NONE) {
            continue;
        }
        if (job->run != NONE) {
            run_unlink(sched, job->run);
        } else {
            job_unwait(sched, i);
        }
    }
}

/* A gang has the level of its members' class. */
static void move_gang(struct sched *sched, const struct job *job)
{
    struct gang *gang = &sched->gangs.items[job->gang];
    const struct list *own = &sched->lists.items[job->list];
    uint32_t level = own->level;

    if (sched->lists.items[gang->list].level != level) {
        uint32_t list = list_get(sched, gang->queue, NONE, level, own->pool);
        list_put(sched, gang->list);
        gang->list = list;
    }
}

static void link_all(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        if (job->list == LIST_NONE) {
            continue;
        }
        if (job->gang != NONE) {
            move_gang(sched, job);
        }
        if (job->run != NONE) {
            run_link(sched, job->run);
        } else {
            job_wait(sched, i);
        }
    }
    for (uint32_t i = 0; i < sched->gangs.count; i++) {
        if (sched->gangs.items[i].is_live) {
            gang_attach(sched, i);
        }
    }
}

void sched_policy_set(struct sched *sched, const struct policy *policy)
{
    ASSERT(policy->class_count > 0);
    sched->version++;
    unlink_all(sched);
    sched->policy = policy;
    set_levels(sched);
    set_pools(sched);
    for (uint32_t i = 0; i < sched->classes.count; i++) {
        if (sched->classes.items[i].is_live) {
            class_resolve(sched, i);
        }
    }
    for (uint32_t i = 0; i < sched->lists.count; i++) {
        struct list *list = &sched->lists.items[i];
        if (list->use_count && list->class_index != NONE) {
            const struct class *class =
                &sched->classes.items[list->class_index];
            list->level = class->level;
            list->account = account_get(sched, list->queue, list->pool,
                                        class->priority_class);
        }
    }
    nodes_rebuild(sched);
    link_all(sched);
}

struct bucket_rule rate_rule(const struct rate_limit *limit)
{
    if (limit->rate_milli_per_s <= 0) {
        return (struct bucket_rule){0};
    }
    return (struct bucket_rule){
        .size = limit->burst > 1 ? limit->burst : 1,
        .refill = limit->rate_milli_per_s,
        .period_ms = 1000000,
    };
}

struct bucket_rule start_rule(const struct sched *sched, uint32_t p,
                              uint32_t column)
{
    const struct pool *pool = &sched->pools.items[p];
    struct bucket_rule rule = {.period_ms = sched->policy->round_period_ms};

    if (pool->policy_index < 0 || rule.period_ms <= 0) {
        return (struct bucket_rule){0};
    }
    const struct pool_policy *policy =
        &sched->policy->pools[pool->policy_index];
    for (uint32_t i = 0; i < policy->start_limit_count; i++) {
        int64_t ppm = policy->start_limits[i].fraction_ppm;
        if (ppm > 0 && str_equal(policy->start_limits[i].resource,
                                 sched->policy->schema.columns[column].name)) {
            i128 size = (i128)pool->total.v[column] * ppm / FRACTION_ONE_PPM;
            rule.size = size > 1 ? (int64_t)size : 1;
            rule.refill = rule.size;
        }
    }
    return rule;
}

static void pack_bucket(struct strbuf *buf, const struct bucket *bucket)
{
    pack_u64(buf, (uint64_t)((u128)bucket->missing >> 64));
    pack_u64(buf, (uint64_t)bucket->missing);
    pack_i64(buf, bucket->at_ms);
}

static struct bucket unpack_bucket(struct pack_reader *reader)
{
    uint64_t high = unpack_u64(reader);
    uint64_t low = unpack_u64(reader);
    struct bucket bucket = {.missing = (i128)((u128)high << 64 | low)};

    bucket.at_ms = unpack_i64(reader);
    return bucket;
}

void sched_limits_pack(const struct sched *sched, struct strbuf *buf)
{
    uint64_t queue_count = 0;

    for (size_t i = 0; i < sched->queues.count; i++) {
        queue_count += sched->queues.items[i].bucket.missing > 0;
    }
    pack_u64(buf, LIMITS_VERSION);
    pack_bucket(buf, &sched->bucket);
    pack_u64(buf, queue_count);
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->queues_by_name, at);
         seq_next(&sched->queues_by_name, &at)) {
        const struct queue *queue =
            &sched->queues.items[seq_get(&sched->queues_by_name, at)];
        if (queue->bucket.missing > 0) {
            pack_str(buf, str_make(queue->name, queue->name_bytes));
            pack_bucket(buf, &queue->bucket);
        }
    }
    pack_u64(buf, sched->pools.count);
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        pack_str(buf, intern_get(sched->pool_names, p));
        pack_u64(buf, sched->policy->schema.column_count);
        for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
            pack_str(buf, sched->policy->schema.columns[r].name);
            pack_bucket(buf, &sched->pools.items[p].start[r]);
        }
    }
}

static void unpack_queue(struct sched *sched, struct pack_reader *reader)
{
    struct str name = unpack_str(reader);
    struct bucket bucket = unpack_bucket(reader);

    for (size_t i = 0; i < sched->queues.count; i++) {
        struct queue *queue = &sched->queues.items[i];
        if (queue->name &&
            str_equal(str_make(queue->name, queue->name_bytes), name)) {
            queue->bucket = bucket;
        }
    }
}

static void unpack_pool(struct sched *sched, struct pack_reader *reader)
{
    uint32_t pool = intern_find(sched->pool_names, unpack_str(reader));
    uint32_t count = unpack_count(reader, RESOURCE_COLUMNS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        int r = resource_column(&sched->policy->schema, unpack_str(reader));
        struct bucket bucket = unpack_bucket(reader);
        if (pool != INTERN_NONE && r >= 0) {
            sched->pools.items[pool].start[r] = bucket;
        }
    }
}

int sched_limits_unpack(struct sched *sched, struct str bytes)
{
    struct pack_reader reader = {.rest = bytes};
    uint64_t version = unpack_u64(&reader);

    if (!reader.is_bad && version > LIMITS_VERSION) {
        return -ERR_VERSION;
    }
    sched->version++;
    sched->bucket = unpack_bucket(&reader);
    for (uint32_t n = unpack_count(&reader, QUEUES_MAX);
         n > 0 && !reader.is_bad; n--) {
        unpack_queue(sched, &reader);
    }
    for (uint32_t n = unpack_count(&reader, QUEUES_MAX);
         n > 0 && !reader.is_bad; n--) {
        unpack_pool(sched, &reader);
    }
    return reader.is_bad ? -ERR_CORRUPT : 0;
}

void sched_queue_stats(struct sched *sched, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats)
{
    auto_arena arena = {0};
    uint32_t count;

    ASSERT(pool_index < sched->policy->pool_count &&
           queue < sched->queues.count);
    nodes_sync(sched);
    queues_sync(sched);
    uint32_t pool = pool_get(sched, sched->policy->pools[pool_index].name);
    const struct share *shares = shares_of(sched, pool, &arena, &count);
    *ret_stats = (struct sched_queue_stats){
        .weight = (double)PRIORITY_FACTOR_ONE_MICRO /
                  (double)sched->queues.items[queue].factor_micro,
        .queued_count = sched->queues.items[queue].waiting_count,
    };
    for (uint32_t i = 0; i < count; i++) {
        if (shares[i].queue == queue) {
            ret_stats->fair_share = shares[i].fair;
            ret_stats->adjusted_share = shares[i].adjusted;
            ret_stats->actual_share = shares[i].actual;
            ret_stats->demand_share = shares[i].demand;
            ret_stats->allocated = shares[i].allocated;
            ret_stats->demand = shares[i].wanted;
            ret_stats->leased_count = shares[i].leased_count;
        }
    }
}

void sched_pool_stats(struct sched *sched, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats)
{
    auto_arena arena = {0};
    uint32_t count;

    ASSERT(pool_index < sched->policy->pool_count);
    nodes_sync(sched);
    queues_sync(sched);
    uint32_t p = pool_get(sched, sched->policy->pools[pool_index].name);
    const struct share *shares = shares_of(sched, p, &arena, &count);
    *ret_stats = (struct sched_pool_stats){
        .total = sched->pools.items[p].total,
        .node_count = sched->pools.items[p].node_count,
        .active_queue_count = count,
    };
    for (uint32_t i = 0; i < count; i++) {
        amounts_add(&ret_stats->allocated, &shares[i].allocated);
    }
}
