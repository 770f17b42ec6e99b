/* What a head costs while it waits: 50,000 full nodes with 400,000 jobs of 4
 * cores that may run for days, and one that needs a whole node, or a gang
 * that needs a thousand of them; in each round 500 jobs end and as many
 * start. */
#include "cluster.h"
#include "measure.h"
#include "sched_cases.h"

enum {
    NODES = 50000,
    PER_NODE = 8,
    BATCH = 500,
    ROUNDS = 20,
    HOUR_MS = 3600000
};

static const int64_t GI_MILLI = ((int64_t)1 << 30) * 1000;

static uint32_t add_class(struct cluster *cluster, int64_t cores, int64_t hours)
{
    struct resource_amount amounts[] = {
        {STR("cpu"), cores * 1000},
        {STR("memory"), 8 * cores * GI_MILLI},
    };
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .deadline_ms = hours * HOUR_MS,
        .priority_class = STR("armada-default"),
        .requests = {amounts, 2},
    };

    return sched_class_add(cluster->sched, &requirement);
}

static void fill(struct cluster *cluster, uint32_t node_count)
{
    struct sched_plan plan;

    cluster_make(cluster, node_count);
    pool_policy_apply(&cluster->policy.pools[0], PROFILE_BERTH);
    sched_policy_set(cluster->sched, &cluster->policy);
    cluster_add_queues(cluster, 20);
    for (int64_t hours = 24; hours < 24 + PER_NODE; hours++) {
        cluster->class_index = add_class(cluster, 4, hours);
        cluster_add_jobs(cluster, 0, 20, node_count, 1);
    }
    (void)cluster_plan(cluster, 1, ROUND_FAST, &plan);
    cluster_apply(cluster, &plan, 1);
    for (uint32_t job = 0; job < cluster->job_count; job++) {
        (void)sched_job_started(cluster->sched, job);
    }
}

/* The mean of some rounds, each after some ends and some starts. */
static double mean_round_s(struct cluster *cluster, uint32_t run_count,
                           uint32_t batch)
{
    double sum_s = 0;
    struct sched_plan plan;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < batch; i++) {
            uint64_t n = round * batch + i;
            sched_job_remove(cluster->sched, (uint32_t)(n * 31 % run_count));
        }
        sum_s += cluster_plan(cluster, 2000 + round, ROUND_FAST, &plan);
        cluster_apply(cluster, &plan, 2000 + round);
    }
    return sum_s / ROUNDS;
}

static void run(const char *first, const char *later, uint32_t nodes,
                uint32_t members, uint32_t batch)
{
    struct cluster cluster;
    struct sched_plan plan;

    fill(&cluster, nodes);
    cluster_set_queue(&cluster, 20, PRIORITY_FACTOR_ONE_MICRO);
    cluster.class_index = add_class(&cluster, 32, 0);
    cluster_add_jobs(&cluster, 20, 1, members, members);
    cluster.class_index = add_class(&cluster, 4, 200);
    cluster_add_jobs(&cluster, 0, 20, 2 * ROUNDS * batch, 1);
    double s = cluster_plan(&cluster, 1000, ROUND_FAST, &plan);
    measure_print(&(struct figure){first, "ms", 0}, s * 1e3);
    cluster_apply(&cluster, &plan, 1000);
    s = mean_round_s(&cluster, nodes * PER_NODE, batch);
    measure_print(&(struct figure){later, "ms", 0}, s * 1e3);
    cluster_fini(&cluster);
}

void case_head(uint32_t tenths)
{
    uint32_t nodes = sized(NODES, tenths), batch = sized(BATCH, tenths);

    run("sched.head_first_ms", "sched.head_round_ms", nodes, 1, batch);
    run("sched.head_gang_first_ms", "sched.head_gang_round_ms", nodes,
        sized(1000, tenths), batch);
}
