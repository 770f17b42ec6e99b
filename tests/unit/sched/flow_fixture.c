#include "flow_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct pool_policy *flow_pool(struct world *w)
{
    return &w->policy.pools[0];
}

void flow_use(struct world *w, int64_t half_minutes)
{
    struct pool_policy *pool = flow_pool(w);

    pool_policy_apply(pool, PROFILE_FLOW);
    pool->cost_weights_ppm[CPU] = FRACTION_ONE_PPM;
    pool->half_time_ms = half_minutes * MINUTE;
    pool->admitted_window = pool->admitted_window_per_queue = 0;
    pool->over_share_ppm = POLICY_OFF;
    pool->excess_budget_minutes = POLICY_OFF;
}

uint32_t flow_make_pool(struct world *w, int64_t cores)
{
    world_restart(w);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    return world_node(w, &(struct world_node){"n", .cores = cores});
}

uint32_t flow_queue(const struct world *w, const char *name)
{
    uint32_t queue = 0;

    while (strcmp(w->queue_names[queue], name) != 0) {
        queue++;
    }
    return queue;
}

struct sched_queue_stats flow_stats(struct world *w, const char *queue)
{
    struct sched_queue_stats stats;

    sched_queue_stats(w->sched, flow_queue(w, queue), 0, &stats);
    return stats;
}

void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9) {
        fprintf(stderr, "%.12g is not %.12g\n", value, expected);
    }
    assert_true(fabs(value - expected) <= 1e-9);
}

uint32_t flow_run_job(struct world *w, const char *queue, int64_t cores,
                      uint32_t node, int64_t now_ms)
{
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = queue, .cores = cores});

    world_lease(w, job, node, now_ms);
    return job;
}

bool flow_is_waiting(const struct world *w, uint32_t job)
{
    return w->node_of[job] == SCHED_NONE && !w->is_gone[job];
}
