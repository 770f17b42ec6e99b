/* At the first pool object, the router takes over the state of the Default
 * shard. */
#include "pools/jobs/jobs.h"
#include "pools/tables/classes.h"
#include "pools/tables/node_table.h"
#include "pools/tables/pool_names.h"

/* All jobs of the Default shard get a row. */
static void jobs_adopt(struct pools *pools)
{
    struct shard *shard = pools->shards.items[POOLS_DEFAULT];
    uint32_t end = sched_jobs_end(shard->sched);

    for (uint32_t job = 0; job < end; job++) {
        struct sched_job record;
        struct sched_run run;
        if (!sched_job_is_known(shard->sched, job)) {
            VEC_PUSH(&shard->jobs, NONE);
            SLOTS_GIVE(&shard->jobs, job);
            VEC_PUSH(&pools->jobs, (struct pool_job){.local = NONE});
            continue;
        }
        sched_job_record(shard->sched, job, &record);
        bool is_leased = sched_job_run(shard->sched, job, &run);
        struct pool_job row = {
            .local = job,
            .node = is_leased ? run.node : NONE,
            .name = name_of_pool(pools, record.pool),
            .queue = record.queue,
            .class_index = record.class_index,
            .is_aged = is_leased && run.age_from_ms != INT64_MAX,
            .leased_ms = is_leased ? run.leased_ms : 0,
        };
        VEC_PUSH(&shard->jobs, job);
        VEC_PUSH(&pools->jobs, row);
        gang_join(pools, job, &record);
        uint32_t gang = pools->jobs.items[job].gang;
        if (is_leased) {
            pool_node_use(pools, run.node, 1);
            if (gang != NONE) {
                pools->gangs.items[gang].leased_count++;
            }
        } else {
            job_count_waiting(pools, &row, 1);
        }
    }
}

void router_begin(struct pools *pools)
{
    const struct shard *first = pools->shards.items[POOLS_DEFAULT];

    ASSERT(!pools->is_mapped); /* it begins once */
    pools->is_mapped = true;
    pools->has_pending = pools->reports.count > 0;
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
    /* Handles of the Default shard are the router's, each for its own. */
    ASSERT(pools->jobs.count == first->jobs.count);
    ASSERT(pools->nodes.count == first->nodes.count);
    ASSERT(pools->classes.count == first->classes.count);
    ASSERT_SLOW(shard_is_right(pools, first));
}
