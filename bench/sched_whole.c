/* A gang of 1,000 pods that has its nodes whole, among 5,000 nodes of which
 * hardly two are alike. */
#include <stdio.h>

#include "cluster.h"
#include "measure.h"
#include "model/gang_terms.h"
#include "sched_cases.h"

static const int64_t GI_MILLI = ((int64_t)1 << 30) * 1000;

/* Of 8 to 128 cores with 2 to 8 GiB for each, in steps of quarters; what
 * others use there makes the rest odd. */
static void add_node(struct cluster *cluster, uint32_t i)
{
    uint32_t draw = i * 2654435761u;
    int64_t cores = 8 + (draw >> 8) % 121;
    int64_t memory_gib = cores * (8 + (draw >> 20) % 25) / 4;
    char name[32];
    struct resource_amount total[] = {
        {STR("cpu"), cores * 1000 - (draw >> 4) % 1000},
        {STR("memory"), memory_gib * GI_MILLI},
    };

    snprintf(name, sizeof(name), "node-%06u", i);
    struct node_record record = {
        .name = str_of(name),
        .pool = STR("default"),
        .total = {total, 2},
    };
    (void)sched_node_set(cluster->sched, STR("bench"), &record, STR(""));
}

static void add_group(struct cluster *cluster, uint32_t count)
{
    struct gang_terms terms = {
        .has_exclusive_nodes = true,
        .sub_groups = {{STR("worker"), count, count, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct resource_amount amounts[] = {
        {STR("cpu"), 4000},
        {STR("memory"), 16 * GI_MILLI},
    };
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = STR("armada-preemptible"),
        .requests = {amounts, 2},
    };
    auto_strbuf packed = {0};

    cluster->class_index = sched_class_add(cluster->sched, &requirement);
    gang_terms_pack(&packed, &terms);
    for (uint32_t i = 0; i < count; i++) {
        struct sched_job job = {
            .class_index = cluster->class_index,
            .id = {{1, i}},
            .gang_id = STR("group"),
            .gang_cardinality = count,
            .gang_minimum = count,
            .gang_terms = strbuf_str(&packed),
        };
        sched_job_add(cluster->sched, i, &job);
    }
    cluster->job_count = count;
}

static double run(uint32_t nodes, uint32_t count)
{
    struct policy policy;
    struct cluster cluster;
    struct sched_plan plan;

    policy_defaults(&policy);
    policy.rate_global.rate_milli_per_s = 0;
    policy.rate_per_queue.rate_milli_per_s = 0;
    cluster_init(&cluster, &policy);
    for (uint32_t i = 0; i < nodes; i++) {
        add_node(&cluster, i);
    }
    cluster_add_queues(&cluster, 1);
    (void)cluster_plan(&cluster, 1, ROUND_BALANCE, &plan);
    add_group(&cluster, count);
    double seconds = cluster_plan(&cluster, 2, ROUND_BALANCE, &plan);
    if (plan.counters.placements != count) {
        fprintf(stderr, "sched.whole_node_cover_ms: %u placed\n",
                (unsigned)plan.counters.placements);
    }
    cluster_fini(&cluster);
    return seconds;
}

void case_whole_nodes(uint32_t tenths)
{
    uint32_t nodes = sized(5000, tenths), count = sized(1000, tenths);
    double best_s = 1e9;

    for (int i = 0; i < 3; i++) {
        double seconds = run(nodes, count);
        best_s = seconds < best_s ? seconds : best_s;
    }
    measure_print(&(struct figure){"sched.whole_node_cover_ms", "ms", 0},
                  best_s * 1e3);
}
