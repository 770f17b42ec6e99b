/* The rows of jobs: which shard has a job, by which handle, and whether that is
 * its home. */
#include <string.h>

#include "pools/jobs/jobs.h"
#include "pools/tables/pool_names.h"

struct pool_job *pool_job_get(const struct pools *pools, uint32_t job)
{
    ASSERT(job < pools->jobs.count);
    struct pool_job *row = &pools->jobs.items[job];

    ASSERT(row->local != NONE);
    return row;
}

struct pool_job *pool_job_make(struct pools *pools, uint32_t job)
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

void job_take(struct pools *pools, uint32_t job, struct shard *shard)
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

struct shard *job_home(const struct pools *pools, uint32_t job)
{
    const struct pool_job *row = pool_job_get(pools, job);

    if (row->gang != NONE && pools->gangs.items[row->gang].leased_count > 0) {
        struct shard *anchor =
            pools->shards.items[pools->gangs.items[row->gang].anchor];
        if (anchor && !anchor->is_closed) {
            return anchor;
        }
    }
    return home_of_name(pools, row->name);
}

bool job_is_borrowed(const struct pools *pools, uint32_t job,
                     const struct shard *in)
{
    const struct pool_job *row = pool_job_get(pools, job);

    return home_of_name(pools, row->name) != in ||
           (row->node == NONE && job_home(pools, job) != in);
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

void pool_jobs_fini(struct pools *pools)
{
    VEC_FREE(&pools->jobs);
    SLOTS_FREE(&pools->gangs);
    map_fini(&pools->gang_map);
}
