/* The members of gangs, and the shards that they are in. */
#include "base/hash.h"
#include "pools/jobs/jobs.h"

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

void gang_leave(struct pools *pools, const struct pool_job *row)
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

bool gang_is_stranded(const struct pools *pools, uint32_t gang)
{
    const struct pool_gang *gang_row =
        gang == NONE ? NULL : &pools->gangs.items[gang];

    return gang_row && gang_row->leased_count == 0 && gang_row->count > 0;
}

bool gang_is_split(const struct pool_gang *gang_row)
{
    /* A variance is never negative. */
    ASSERT((u128)gang_row->count * gang_row->shard_square_sum >=
           (u128)gang_row->shard_sum * gang_row->shard_sum);
    return (u128)gang_row->count * gang_row->shard_square_sum !=
           (u128)gang_row->shard_sum * gang_row->shard_sum;
}

/* The member with the least id that runs. */
static uint32_t first_leased(const struct pools *pools, uint32_t gang)
{
    uint32_t first = NONE;
    struct sched_job record, least;

    for (uint32_t job = pools->gangs.items[gang].first; job != NONE;
         job = pools->jobs.items[job].gang_next) {
        if (pools->jobs.items[job].node == NONE) {
            continue;
        }
        sched_job_record(shard_of(pools, job)->sched,
                         pools->jobs.items[job].local, &record);
        if (first == NONE || key128_compare(record.id.v, least.id.v) < 0) {
            first = job;
            least = record;
        }
    }
    ASSERT(first != NONE); /* who has leases has members with a node */
    return first;
}

void gangs_leave(struct pools *pools, const struct shard *shard)
{
    for (uint32_t gang = 0; gang < pools->gangs.count; gang++) {
        struct pool_gang *gang_row = &pools->gangs.items[gang];
        if (gang_row->leased_count > 0 && gang_row->anchor == shard->index) {
            gang_row->anchor =
                pools->jobs.items[first_leased(pools, gang)].shard;
            /* What ran in a shard that ends has left it with its nodes. */
            ASSERT(gang_row->anchor != shard->index);
        }
    }
}
