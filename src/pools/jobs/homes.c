/* Moves jobs and gangs where they belong.  A job that cannot move yet counts as
 * moved: see docs/rules/pools.md. */
#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/lent.h"
#include "pools/tables/pool_names.h"

static void apply_borrowed(struct pools *pools, struct shard *shard,
                           const struct delta *delta)
{
    (void)pools;
    sched_job_borrowed_set(shard->sched, delta->job, delta->flag);
}

void job_borrowed_set(struct pools *pools, uint32_t job, bool is_borrowed)
{
    struct pool_job *row = pool_job_get(pools, job);
    struct delta delta = delta_of(apply_borrowed);
    bool is_waiting = row->node == NONE;

    if (row->is_borrowed == is_borrowed) {
        return;
    }
    if (is_waiting) {
        job_count_waiting(pools, row, -1);
    }
    row->is_borrowed = is_borrowed;
    if (is_waiting) {
        job_count_waiting(pools, row, 1);
    }
    delta.flag = is_borrowed;
    job_tell(pools, job, &delta);
}

void job_send_home(struct pools *pools, uint32_t job)
{
    const struct pool_job *row = pool_job_get(pools, job);

    if (row->node == NONE && job_home(pools, job) != shard_of(pools, job)) {
        job_move(pools, job, job_home(pools, job));
    }
}

void job_recall_home(struct pools *pools, uint32_t job)
{
    struct shard *shard = shard_of(pools, job);
    bool is_home = job_home(pools, job) == shard;

    if (!is_home && !shard->is_busy && !pools->jobs.items[job].is_chosen) {
        job_send_home(pools, job);
        return;
    }
    job_borrowed_set(pools, job, job_is_borrowed(pools, job, shard));
    if (is_home) {
        return;
    }
    lent_recall(pools, job);
    if (shard->is_busy) {
        VEC_PUSH(&shard->returning, job);
    } else {
        VEC_PUSH(&shard->borrowers, job); /* its lease may be told next */
    }
}

void gang_recall(struct pools *pools, uint32_t gang)
{
    uint32_t next;

    for (uint32_t job = pools->gangs.items[gang].first; job != NONE;
         job = next) {
        next = pools->jobs.items[job].gang_next;
        if (pools->jobs.items[job].node == NONE) {
            if (job_is_borrowed(pools, job, job_home(pools, job))) {
                lent_over(pools, job); /* it is where its gang runs now */
            }
            job_recall_home(pools, job);
        }
    }
}

void gang_anchor(struct pools *pools, uint32_t gang, const struct shard *in)
{
    struct pool_gang *gang_row = &pools->gangs.items[gang];
    ASSERT(gang_row->leased_count > 0); /* a gang is where it runs */
    bool is_same = gang_row->anchor == in->index && gang_row->leased_count > 1;

    gang_row->anchor = in->index;
    if (!is_same) {
        gang_recall(pools, gang);
    }
}

void gang_follow(struct pools *pools, uint32_t job, struct shard *to)
{
    const struct pool_job *row = pool_job_get(pools, job);
    const struct shard *from = shard_of(pools, job);
    uint32_t next;

    if (row->gang == NONE || pools->gangs.items[row->gang].leased_count > 0) {
        job_move(pools, job, to);
        return;
    }
    for (uint32_t member = pools->gangs.items[row->gang].first; member != NONE;
         member = next) {
        next = pools->jobs.items[member].gang_next;
        if (shard_of(pools, member) == from) {
            job_move(pools, member, to);
        }
    }
}

void job_lend(struct pools *pools, uint32_t job, struct shard *to)
{
    const struct pool_job *row = pool_job_get(pools, job);

    ASSERT(row->node == NONE); /* what runs is not lent */
    if (!row->is_borrowed && to != shard_of(pools, job)) {
        lent_begin(pools, job);
    }
    job_move(pools, job, to);
}

void returning_settle(struct pools *pools, struct shard *shard)
{
    for (size_t i = 0; i < shard->returning.count; i++) {
        uint32_t job = shard->returning.items[i];
        if (job < pools->jobs.count && pools->jobs.items[job].local != NONE &&
            pools->jobs.items[job].node == NONE &&
            shard_of(pools, job) == shard) {
            job_recall_home(pools, job);
            pools->has_moved = true;
        }
    }
    shard->returning.count = 0;
}

/* Whether the shard has the job down for another pool than the one that it
 * waits for. */
static bool is_misnamed(const struct pools *pools, const struct pool_job *row)
{
    const struct shard *shard = pools->shards.items[row->shard];
    struct sched_job record;

    if (!pools->are_names_stale || row->shard != POOLS_DEFAULT) {
        return false;
    }
    sched_job_record(shard->sched, row->local, &record);
    return !str_equal(record.pool, pool_in(pools, shard, row->name));
}

void jobs_rehome(struct pools *pools)
{
    ASSERT(pools->busy_count == 0); /* no job of a plan in the making moves */
    for (uint32_t job = 0; job < pools->jobs.count; job++) {
        const struct pool_job *row = &pools->jobs.items[job];
        if (row->local == NONE) {
            continue;
        }
        struct shard *in = shard_of(pools, job);
        struct shard *to = row->node == NONE ? job_home(pools, job) : in;
        bool is_borrowed = job_is_borrowed(pools, job, to);
        if (to != in || is_misnamed(pools, row)) {
            job_move(pools, job, to);
        } else {
            job_borrowed_set(pools, job, is_borrowed);
        }
    }
    pools->are_names_stale = false;
}
