/* What a checkpoint must carry, shard by shard. */
#include "pools/router.h"

enum { SHARDS_MARK = 1000 }; /* where a single state has its version */

static void pack_shard(const struct shard *shard, struct strbuf *buf)
{
    auto_strbuf bytes = {0};

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
    pack_u64(buf, pools->objects.count + 1);
    pack_shard(pools->shards.items[POOLS_DEFAULT], buf);
    for (size_t i = 0; i < pools->objects.count; i++) {
        pack_shard(pools->shards.items[pools->objects.items[i]], buf);
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
    return sched_history_unpack(shard->sched, bytes);
}

int pools_history_unpack(struct pools *pools, struct str bytes)
{
    struct pack_reader reader = {.rest = bytes};
    int rc = 0;

    ASSERT(pools->busy_count == 0);
    if (pools->is_mapped) {
        pools_pending_settle(pools); /* what is no news is told before it */
    }
    if (unpack_u64(&reader) != SHARDS_MARK) {
        return sched_history_unpack(first_of(pools), bytes);
    }
    if (!pools->is_mapped) {
        router_begin(pools); /* there were objects once */
        jobs_rehome(pools);
    }
    uint32_t count = unpack_count(&reader, POOLS_SHARDS_MAX);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        rc = unpack_shard(pools, &reader);
    }
    return rc == 0 && (reader.is_bad || reader.rest.byte_count) ? -ERR_CORRUPT
                                                                : rc;
}
