/* Checks that the tables of the router agree with each other and with the
 * shards. */
#include "pools/jobs/jobs.h"
#include "pools/tables/node_table.h"

bool shard_is_right(const struct pools *pools, const struct shard *shard)
{
    uint32_t waiting = 0, borrowers = 0;

    for (uint32_t i = 0; i < shard->jobs.count; i++) {
        uint32_t job = shard->jobs.items[i];
        bool is_there = sched_job_is_known(shard->sched, i);
        if ((job != NONE) != is_there) {
            return false;
        }
        if (!is_there) {
            continue;
        }
        const struct pool_job *row = &pools->jobs.items[job];
        uint32_t node = sched_job_node(shard->sched, i);
        if (row->local != i || row->shard != shard->index ||
            row->node != node_back(shard, node) ||
            row->is_borrowed != job_is_borrowed(pools, job, shard) ||
            (node != NONE &&
             pools->nodes.items[row->node].shard != shard->index)) {
            return false;
        }
        waiting += node == NONE && !row->is_borrowed;
        borrowers += node == NONE && row->is_borrowed;
    }
    return waiting == shard->waiting_count &&
           borrowers == shard->borrower_count &&
           sched_jobs_end(shard->sched) <= shard->jobs.count;
}

bool gang_is_right(const struct pools *pools, uint32_t gang)
{
    const struct pool_gang *row = &pools->gangs.items[gang];
    uint64_t sum = 0, square_sum = 0;
    uint32_t count = 0, leased = 0, before = NONE;

    for (uint32_t job = row->first; job != NONE;
         job = pools->jobs.items[job].gang_next) {
        const struct pool_job *member = &pools->jobs.items[job];
        if (member->gang != gang || member->gang_previous != before) {
            return false;
        }
        count++;
        leased += member->node != NONE;
        sum += member->shard;
        square_sum += (uint64_t)member->shard * member->shard;
        before = job;
    }
    return count == row->count && leased == row->leased_count &&
           sum == row->shard_sum && square_sum == row->shard_square_sum;
}
