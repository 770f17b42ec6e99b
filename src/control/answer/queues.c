/* The figures of queues in each pool, as data. */

#include "control/answer/answers.h"
#include "control/explain/amounts.h"
#include "control/fold/apps.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

enum { PPM = 1000000 };

struct named *queues_sorted(const struct control *c, uint32_t *ret_count)
{
    struct named *queues = mem_alloc_array(
        (size_t)intern_live_count(&c->queue_names) + 1, sizeof(*queues));
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->queues.count; i++) {
        if (c->queues.items[i].is_set || c->queues.items[i].job_count) {
            queues[count++] = (struct named){intern_get(&c->queue_names, i), i};
        }
    }
    ASSERT(count <= intern_live_count(&c->queue_names)); /* no name, no queue */
    named_sort(queues, count);
    *ret_count = count;
    return queues;
}

static int64_t ppm(double share)
{
    return (int64_t)(share * (double)PPM + 0.5);
}

/* Resource-minutes; less than 0 is no budget. */
static int64_t milli(double minutes)
{
    if (minutes < 0) {
        return -1;
    }
    return minutes < 1e15 ? (int64_t)(minutes * 1e3 + 0.5)
                          : (int64_t)1000000000000000000;
}

static void fill_share(struct control *c, struct command *command,
                       const struct named *queue, uint32_t pool,
                       const struct sched_queue_stats *stats,
                       struct queue_share *share)
{
    const struct queue_entry *entry =
        queue_table_find(c->config.queues, queue->name);

    struct application_counts applications;
    struct jobs_run_counts runs =
        jobs_run_counts(c->jobs, queue->name, pools_pool_name(c->pools, pool));

    apps_count(c, queue->index, &applications);
    ASSERT(runs.leased_count + runs.pending_count + runs.running_count <=
           c->queues.items[queue->index].job_count);
    *share = (struct queue_share){
        .queue = arena_str(&command->arena, queue->name),
        .pool = arena_str(&command->arena, pools_pool_name(c->pools, pool)),
        .weight_micro = (int64_t)(stats->weight * (double)PPM),
        .fair_share_ppm = ppm(stats->fair_share),
        .adjusted_share_ppm = ppm(stats->adjusted_share),
        .actual_share_ppm = ppm(stats->actual_share),
        .demand_share_ppm = ppm(stats->demand_share),
        .usage_ppm = ppm(stats->usage_share),
        .flow_ppm = ppm(stats->flow),
        .infinite_flow_ppm = ppm(stats->infinite_flow),
        .infinite_limit_ppm =
            stats->infinite_limit < 0 ? -1 : ppm(stats->infinite_limit),
        .budget_milli = milli(stats->budget_minutes),
        .budget_left_milli = milli(stats->budget_left_minutes),
        .queued_count = stats->queued_count,
        .leased_count = runs.leased_count,
        .pending_count = runs.pending_count,
        .running_count = runs.running_count,
        .job_count = c->queues.items[queue->index].job_count,
        .is_cordoned = !entry || entry->record.is_cordoned,
        .applications = applications,
        .allocated = name_amounts(c, &stats->allocated, &command->arena),
    };
    queue_entry_unref(entry);
}

/* Jobs that the last round looked at. */
static void count_looked(const struct control *c, struct queue_share *shares,
                         const uint32_t *row_of_queue, uint32_t pool_count)
{
    uint32_t count;
    const struct sched_looked *looked = pools_looked(c->pools, &count);

    for (uint32_t i = 0; i < count; i++) {
        const struct control_queue *queue = &c->queues.items[looked[i].queue];
        if (queue->is_set || queue->job_count) {
            ASSERT(looked[i].pool_index < pool_count);
            shares[row_of_queue[looked[i].queue] * pool_count +
                   looked[i].pool_index]
                .considered_count = looked[i].job_count;
        }
    }
}

/* What waits in each pool although its turn has come. */
static void fill_admitted(struct control *c, struct command *command)
{
    uint32_t count = pools_pool_count(c->pools);
    struct pool_admitted *rows =
        arena_alloc_array(&command->arena, count, sizeof(*rows));

    for (uint32_t p = 0; p < count; p++) {
        struct sched_pool_stats stats;
        pools_pool_stats(c->pools, p, &stats);
        rows[p] = (struct pool_admitted){
            .pool = arena_str(&command->arena, pools_pool_name(c->pools, p)),
            .count = stats.admitted_count,
            .start_ms = stats.head_start_ms,
        };
    }
    command->queues.admitted = rows;
    command->queues.admitted_count = count;
}

void queues_answer(struct control *c, struct command *command)
{
    uint32_t count, pool_count = pools_pool_count(c->pools);
    auto_mem struct named *queues = queues_sorted(c, &count);
    auto_mem uint32_t *row_of_queue =
        mem_alloc_array(c->queues.count + 1, sizeof(*row_of_queue));

    command->queues.share_count = count * pool_count;
    command->queues.shares =
        arena_alloc_array(&command->arena, (size_t)count * pool_count,
                          sizeof(*command->queues.shares));
    auto_mem uint32_t *indexes = mem_alloc_array(count + 1, sizeof(*indexes));
    auto_mem struct sched_queue_stats *stats =
        mem_alloc_array(count + 1, sizeof(*stats));
    for (uint32_t i = 0; i < count; i++) {
        row_of_queue[queues[i].index] = i;
        indexes[i] = queues[i].index;
    }
    for (uint32_t p = 0; p < pool_count; p++) {
        pools_queues_stats(c->pools, indexes, count, p, stats);
        for (uint32_t i = 0; i < count; i++) {
            fill_share(c, command, &queues[i], p, &stats[i],
                       &command->queues.shares[i * pool_count + p]);
        }
    }
    count_looked(c, command->queues.shares, row_of_queue, pool_count);
    fill_admitted(c, command);
    transitions_answer(c, command);
    command_answer(command, COMMAND_OK, "");
}
