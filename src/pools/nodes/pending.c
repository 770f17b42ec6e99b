/* Divides unmet requests of other schedulers' pods: an executor reports them
 * for its cluster, whose nodes may be in several pools.  Each pool gets the
 * fraction that it has of the cluster's resource, so that together the pools
 * make room for all of it, once. */
#include <string.h>

#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/nodes/nodes.h"
#include "sched/data/amounts.h"

static void apply_pending(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    (void)pools;
    sched_foreign_pending_set(shard->sched, delta->text, delta->record);
}

static void tell(struct pools *pools, struct shard *shard, struct str pool,
                 const struct resource_vec *amounts)
{
    struct delta delta = delta_of(apply_pending);

    delta.text = pool;
    delta.record = amounts;
    delta.copy = amounts_copy;
    deliver(pools, shard, &delta);
}

static void add(struct resource_vec *sum, const struct resource_vec *more)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t room = INT64_MAX / 2 - sum->v[r];
        sum->v[r] += more->v[r] < room ? more->v[r] : room;
    }
}

/* The reports. */

static void report_free(struct pending_report *report)
{
    mem_free(report->executor);
    mem_free(report->pool);
}

static bool is_nothing(const struct resource_vec *amounts)
{
    static const struct resource_vec nothing;

    return memcmp(amounts, &nothing, sizeof(nothing)) == 0;
}

/* What an executor said last, or NULL. */
static struct pending_report *report_find(const struct pools *pools,
                                          struct str executor)
{
    for (size_t i = 0; i < pools->reports.count; i++) {
        if (str_equal(str_of(pools->reports.items[i].executor), executor)) {
            return &pools->reports.items[i];
        }
    }
    return NULL;
}

/* Keep what an executor says; nothing is not kept. */
static void report_set(struct pools *pools, struct str executor,
                       struct str pool, const struct resource_vec *amounts)
{
    struct pending_report *report = report_find(pools, executor);

    if (is_nothing(amounts)) {
        if (report) {
            report_free(report);
            *report = pools->reports.items[--pools->reports.count];
        }
        return;
    }
    if (!report) {
        VEC_PUSH(&pools->reports, (struct pending_report){.executor = NULL});
        report = &pools->reports.items[pools->reports.count - 1];
    }
    char *name = str_dup(executor);
    report_free(report);
    *report = (struct pending_report){
        .executor = name, .pool = str_dup(pool), .amounts = *amounts};
}

void pools_pending_fini(struct pools *pools)
{
    for (size_t i = 0; i < pools->reports.count; i++) {
        report_free(&pools->reports.items[i]);
    }
    VEC_FREE(&pools->reports);
}

/* The sum of pending requests in a pool of the configuration. */
static struct resource_vec sum_of(const struct pools *pools, struct str pool)
{
    struct resource_vec sum = {0};

    for (size_t i = 0; i < pools->reports.count; i++) {
        if (str_equal(str_of(pools->reports.items[i].pool), pool)) {
            add(&sum, &pools->reports.items[i].amounts);
        }
    }
    return sum;
}

static void tell_first(struct pools *pools, struct str pool)
{
    struct resource_vec sum = sum_of(pools, pool);

    sched_foreign_pending_set(first_of(pools), pool, &sum);
}

void pools_foreign_pending_set(struct pools *pools, struct str executor,
                               struct str pool,
                               const struct resource_vec *amounts)
{
    const struct pending_report *said = report_find(pools, executor);
    auto_mem char *pool_before = said ? str_dup(str_of(said->pool)) : NULL;

    report_set(pools, executor, pool, amounts);
    pools->is_pending_stale = true;
    pools->news_count++;
    if (!pools->is_mapped) {
        tell_first(pools, pool);
        if (pool_before && !str_equal(str_of(pool_before), pool)) {
            tell_first(pools, str_of(pool_before));
        }
    } else if (pools->busy_count == 0) {
        pools_pending_settle(pools);
    } /* else before the next plan */
}

/* Parts. */

/* What the nodes of one report's executor have, by shard. */
struct cluster {
    struct resource_vec *by_shard;
    struct resource_vec sum;
};

static void measure(const struct pools *pools, struct cluster *clusters)
{
    struct map reports = {0};

    for (size_t i = 0; i < pools->reports.count; i++) {
        uint32_t executor = intern_find(
            pools->executors, str_of(pools->reports.items[i].executor));
        if (executor != INTERN_NONE) {
            map_put(&reports, key_of_u64(executor), (uint32_t)i);
        }
    }
    for (size_t n = 0; n < pools->nodes.count; n++) {
        const struct pool_node *row = &pools->nodes.items[n];
        uint32_t report = row->is_present && row->name
                              ? map_find(&reports, key_of_u64(row->executor))
                              : MAP_NONE;
        if (report != MAP_NONE) {
            add(&clusters[report].by_shard[row->shard], &row->total);
            add(&clusters[report].sum, &row->total);
        }
    }
    map_fini(&reports);
}

/* The part of a report that a pool object gets. */
static struct resource_vec part_of(const struct pending_report *report,
                                   const struct cluster *cluster,
                                   uint32_t shard)
{
    struct resource_vec part = {0};

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (cluster->sum.v[r] > 0) {
            part.v[r] =
                (int64_t)((i128)report->amounts.v[r] *
                          cluster->by_shard[shard].v[r] / cluster->sum.v[r]);
        }
    }
    return part;
}

/* The pools of the configuration have what is left. */
static void tell_default(struct pools *pools, const struct resource_vec *rests)
{
    struct shard *first = pools->shards.items[POOLS_DEFAULT];

    for (uint32_t p = 0; p < pools->policy->pool_count; p++) {
        struct resource_vec sum = {0};
        struct str name = pools->policy->pools[p].name;
        for (size_t i = 0; i < pools->reports.count; i++) {
            if (str_equal(str_of(pools->reports.items[i].pool), name)) {
                add(&sum, &rests[i]);
            }
        }
        tell(pools, first, name, &sum);
    }
}

void pools_pending_settle(struct pools *pools)
{
    auto_arena arena = {0};
    size_t report_count = pools->reports.count;

    if (!pools->is_pending_stale ||
        (report_count == 0 && !pools->has_pending)) {
        return;
    }
    pools->is_pending_stale = false;
    pools->has_pending = report_count > 0;
    struct cluster *clusters =
        arena_alloc_array(&arena, report_count, sizeof(*clusters));
    struct resource_vec *rests =
        arena_alloc_array(&arena, report_count, sizeof(*rests));
    for (size_t i = 0; i < report_count; i++) {
        clusters[i].by_shard = arena_alloc_array(&arena, pools->shards.count,
                                                 sizeof(*clusters[i].by_shard));
        rests[i] = pools->reports.items[i].amounts;
    }
    measure(pools, clusters);
    for (size_t o = 0; o < pools->objects.count; o++) {
        struct shard *shard = pools->shards.items[pools->objects.items[o]];
        struct resource_vec sum = {0};
        for (size_t i = 0; i < report_count; i++) {
            struct resource_vec part =
                part_of(&pools->reports.items[i], &clusters[i], shard->index);
            add(&sum, &part);
            amounts_subtract(&rests[i], &part);
        }
        tell(pools, shard, str_of(shard->name), &sum);
    }
    tell_default(pools, rests);
}
