#include "sched/fairness/rates.h"

/* A job rate limit as a bucket's rule. */
static struct bucket_rule rate_rule(const struct rate_limit *limit)
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

/* The policy of a pool that limits starts; NULL: this one does not. */
static const struct pool_policy *limits_of(const struct sched *sched,
                                           uint32_t p)
{
    int index = p == NONE ? -1 : sched->pools.items[p].policy_index;

    if (index < 0 || sched->policy->round_period_ms <= 0 ||
        sched->policy->pools[index].start_limit_count == 0) {
        return NULL;
    }
    return &sched->policy->pools[index];
}

bool start_is_limited(const struct sched *sched, uint32_t pool)
{
    return sched->policy->rate_global.rate_milli_per_s > 0 ||
           sched->policy->rate_per_queue.rate_milli_per_s > 0 ||
           limits_of(sched, pool);
}

/* What a pool may start of a column. */
static struct bucket_rule start_rule(const struct sched *sched,
                                     const struct pool_policy *policy,
                                     int64_t total, uint32_t column)
{
    struct bucket_rule rule = {.period_ms = sched->policy->round_period_ms};

    for (uint32_t i = 0; i < policy->start_limit_count; i++) {
        int64_t ppm = policy->start_limits[i].fraction_ppm;
        if (ppm > 0 && str_equal(policy->start_limits[i].resource,
                                 sched->policy->schema.columns[column].name)) {
            i128 size = (i128)total * ppm / FRACTION_ONE_PPM;
            rule.size = size > 1 ? (int64_t)size : 1;
            ASSERT(rule.size > 0); /* a job may start at some time */
            rule.refill = rule.size;
        }
    }
    return rule;
}

struct start_rules start_rules_of(const struct sched *sched, uint32_t pool)
{
    const struct policy *policy = sched->policy;
    const struct pool_policy *limits = limits_of(sched, pool);
    struct start_rules rules = {
        .all = rate_rule(&policy->rate_global),
        .queue = rate_rule(&policy->rate_per_queue),
    };

    for (uint32_t r = 0; limits && r < policy->schema.column_count; r++) {
        rules.columns[r] =
            start_rule(sched, limits, sched->pools.items[pool].total.v[r], r);
        rules.has_columns |= rules.columns[r].size > 0;
    }
    return rules;
}

/* The columns of the pool of which too much would start. */
static uint32_t columns_short(const struct sched *sched,
                              const struct start_rules *rules,
                              const struct start_question *question)
{
    const struct pool *pool = &sched->pools.items[question->pool];
    uint32_t columns = 0;

    for (uint32_t r = 0; rules->has_columns && r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t asked = question->request->v[r];
        if (asked > 0 && !bucket_has(&pool->start[r], &rules->columns[r], asked,
                                     question->now_ms)) {
            columns |= 1u << r;
        }
    }
    return columns;
}

struct start_refusal start_ask(const struct sched *sched,
                               const struct start_rules *rules,
                               const struct start_question *question)
{
    const struct bucket *queue = &sched->queues.items[question->queue].bucket;
    uint32_t count = question->count;
    int64_t now_ms = question->now_ms;

    ASSERT(count > 0 && amounts_is_sum(question->request));
    if (!bucket_has(&sched->bucket, &rules->all, count, now_ms)) {
        return (struct start_refusal){
            .why = START_NOT_ANY,
            .until_ms = bucket_when(&sched->bucket, &rules->all, count, now_ms),
        };
    }
    if (!bucket_has(queue, &rules->queue, count, now_ms)) {
        return (struct start_refusal){
            .why = START_NOT_OF_QUEUE,
            .until_ms = bucket_when(queue, &rules->queue, count, now_ms),
        };
    }
    uint32_t columns = columns_short(sched, rules, question);
    return (struct start_refusal){
        .why = columns ? START_NOT_OF_POOL : START_MAY,
        .columns = columns,
    };
}

int64_t start_when(const struct sched *sched, const struct start_rules *rules,
                   const struct start_question *question, uint32_t column)
{
    const struct pool *pool = &sched->pools.items[question->pool];

    ASSERT(column < RESOURCE_COLUMNS_MAX && question->request->v[column] > 0);
    return bucket_when(&pool->start[column], &rules->columns[column],
                       question->request->v[column], question->now_ms);
}

void start_take(struct sched *sched, const struct start_rules *rules,
                const struct start_question *question)
{
    int64_t now_ms = question->now_ms;

    ASSERT(question->count > 0);
    bucket_take(&sched->bucket, &rules->all, question->count, now_ms);
    bucket_take(&sched->queues.items[question->queue].bucket, &rules->queue,
                question->count, now_ms);
    for (uint32_t r = 0; rules->has_columns && r < RESOURCE_COLUMNS_MAX; r++) {
        bucket_take(&sched->pools.items[question->pool].start[r],
                    &rules->columns[r], question->request->v[r], now_ms);
    }
}

static void pack_bucket(struct strbuf *buf, const struct bucket *bucket)
{
    pack_u128(buf, (u128)bucket->missing);
    pack_i64(buf, bucket->at_ms);
}

static struct bucket unpack_bucket(struct pack_reader *reader)
{
    struct bucket bucket = {.missing = (i128)unpack_u128(reader)};

    bucket.at_ms = unpack_i64(reader);
    return bucket;
}

/* A policy's pool of which something is missing, or NULL: others were only
 * heard of, by some leaders and not by all. */
static const struct pool *packed_pool(const struct sched *sched, uint32_t at)
{
    uint32_t p = intern_find(sched->pool_names, sched->policy->pools[at].name);
    const struct pool *pool = &sched->pools.items[p];

    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        if (pool->start[r].missing > 0) {
            return pool;
        }
    }
    return NULL;
}

static void pack_pools(const struct sched *sched, struct strbuf *buf)
{
    const struct policy *policy = sched->policy;
    uint64_t pool_count = 0;

    for (uint32_t i = 0; i < policy->pool_count; i++) {
        pool_count += packed_pool(sched, i) != NULL;
    }
    pack_u64(buf, pool_count);
    for (uint32_t i = 0; i < policy->pool_count; i++) {
        const struct pool *pool = packed_pool(sched, i);
        if (!pool) {
            continue;
        }
        pack_str(buf, policy->pools[i].name);
        pack_u64(buf, policy->schema.column_count);
        for (uint32_t r = 0; r < policy->schema.column_count; r++) {
            pack_str(buf, policy->schema.columns[r].name);
            pack_bucket(buf, &pool->start[r]);
        }
    }
}

void rates_pack(const struct sched *sched, struct strbuf *buf)
{
    uint64_t queue_count = 0;

    for (size_t i = 0; i < sched->queues.count; i++) {
        queue_count += sched->queues.items[i].bucket.missing > 0;
    }
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
    pack_pools(sched, buf);
}

static void unpack_queue(struct sched *sched, struct pack_reader *reader)
{
    uint32_t queue = queue_by_name(sched, unpack_str(reader));
    struct bucket bucket = unpack_bucket(reader);

    if (queue != NONE) {
        sched->queues.items[queue].bucket = bucket;
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

void rates_unpack(struct sched *sched, struct history_reader *reader)
{
    sched->bucket = unpack_bucket(&reader->pack);
    for (uint32_t n = unpack_count(&reader->pack, QUEUES_MAX);
         n > 0 && !reader->pack.is_bad; n--) {
        unpack_queue(sched, &reader->pack);
    }
    for (uint32_t n = unpack_count(&reader->pack, QUEUES_MAX);
         n > 0 && !reader->pack.is_bad; n--) {
        unpack_pool(sched, &reader->pack);
    }
}
