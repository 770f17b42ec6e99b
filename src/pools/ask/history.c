/* Packs each shard's history for a checkpoint. */
#include "pools/ask/history.h"

#include <stdlib.h>

#include "pools/jobs/jobs.h"
#include "pools/nodes/nodes.h"
#include "pools/tables/pool_names.h"

/* Where a single state has its version; of the first form borrowers that wait
 * were at home. */
enum { SHARDS_MARK_FIRST = 1000, SHARDS_MARK = 1001 };

/* Nodes that are gone, of shards that only the labels that they had could
 * tell. */

struct gone {
    struct str executor, name, pool;
    const struct shard *shard;
};

static int compare_gone(const void *a, const void *b)
{
    const struct gone *x = a;
    const struct gone *y = b;
    int c = str_compare(x->executor, y->executor);

    return c ? c : str_compare(x->name, y->name);
}

static void pack_gone(const struct pools *pools, struct strbuf *buf)
{
    auto_mem struct gone *gone =
        mem_alloc_array(pools->nodes.count + 1, sizeof(*gone));
    uint32_t count = 0;

    for (uint32_t node = 0; node < pools->nodes.count; node++) {
        const struct pool_node *row = &pools->nodes.items[node];
        if (row->name && !row->is_present && row->use_count > 0) {
            gone[count++] = (struct gone){
                .executor = intern_get(pools->executors, row->executor),
                .name = str_of(row->name),
                .pool = pools_node_pool(pools, node),
                .shard = pools->shards.items[row->shard],
            };
        }
    }
    qsort(gone, count, sizeof(*gone), compare_gone);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_str(buf, gone[i].executor);
        pack_str(buf, gone[i].name);
        pack_str(buf, gone[i].pool);
        pack_str(buf, str_of(gone[i].shard->name));
    }
}

/* Passes over them, if their runs are there already. */
static void unpack_gone(struct pools *pools, struct pack_reader *reader,
                        bool is_known)
{
    uint32_t count = unpack_count(reader, UINT32_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        struct str executor = unpack_str(reader);
        struct str name = unpack_str(reader);
        struct str pool = unpack_str(reader);
        struct str shard = unpack_str(reader);
        if (!reader->is_bad && !is_known) {
            pool_node_restore(pools, executor, name, pool,
                              home_of_name(pools, name_of_pool(pools, shard)));
        }
    }
}

static void pack_shard(const struct pools *pools, const struct shard *shard,
                       struct strbuf *buf)
{
    auto_strbuf bytes = {0};

    sched_news_set(shard->sched, pools->news_count);
    sched_history_pack(shard->sched, &bytes);
    pack_str(buf, str_of(shard->name));
    pack_str(buf, strbuf_str(&bytes));
}

void pools_history_pack(const struct pools *pools, struct strbuf *buf)
{
    if (!pools->is_mapped) {
        sched_history_pack(first_of(pools), buf);
        return;
    }
    pack_u64(buf, SHARDS_MARK);
    pack_gone(pools, buf);
    history_pack_lending(pools, buf);
    pack_u64(buf, pools->objects.count + 1);
    for (size_t i = 0; i <= pools->objects.count; i++) {
        pack_shard(pools, history_shard(pools, i), buf);
    }
}

static int unpack_shard(struct pools *pools, struct pack_reader *reader)
{
    struct str name = unpack_str(reader);
    struct str bytes = unpack_str(reader);
    struct shard *shard = pools->shards.items[POOLS_DEFAULT];

    if (reader->is_bad) {
        return -ERR_CORRUPT;
    }
    if (name.byte_count) {
        shard = home_of_name(pools, name_of_pool(pools, name));
        if (shard->index == POOLS_DEFAULT) {
            return -ERR_CORRUPT;
        }
    }
    sched_news_set(shard->sched, pools->news_count);
    return sched_history_unpack(shard->sched, bytes);
}

void pools_gone_unpack(struct pools *pools, struct str bytes)
{
    struct pack_reader reader = {.rest = bytes};

    if (unpack_u64(&reader) != SHARDS_MARK || reader.is_bad) {
        return; /* nothing is known of them */
    }
    if (!pools->is_mapped) {
        router_begin(pools); /* there were objects once */
    }
    unpack_gone(pools, &reader, false);
}

int pools_history_unpack(struct pools *pools, struct str bytes)
{
    struct pack_reader reader = {.rest = bytes};
    int rc = 0;

    ASSERT(pools->busy_count == 0);
    if (pools->is_mapped) {
        pools_pending_settle(pools); /* what is no news is told before it */
    }
    uint64_t mark = unpack_u64(&reader);
    if (mark != SHARDS_MARK && mark != SHARDS_MARK_FIRST) {
        return sched_history_unpack(first_of(pools), bytes);
    }
    if (!pools->is_mapped) {
        router_begin(pools); /* there were objects once */
        jobs_rehome(pools);
    }
    if (mark == SHARDS_MARK) {
        unpack_gone(pools, &reader, true);
        history_unpack_lending(pools, &reader);
    }
    uint32_t count = unpack_count(&reader, POOLS_SHARDS_MAX);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        rc = unpack_shard(pools, &reader);
    }
    return rc == 0 && (reader.is_bad || reader.rest.byte_count) ? -ERR_CORRUPT
                                                                : rc;
}
