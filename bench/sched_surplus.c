/* Surplus of gangs with terms that goes for minimums: single jobs of a queue
 * that has nothing, on nodes that are full of units above their minimums. */
#include <stdio.h>

#include "cluster.h"
#include "measure.h"
#include "model/gang_terms.h"
#include "sched_cases.h"

enum { CORES = 32, PODS = 40, PODS_MIN = 20, QUEUES = 10 };

static void add_unit(struct cluster *cluster, uint32_t unit, struct str terms)
{
    char name[32];

    snprintf(name, sizeof(name), "unit-%06u", unit);
    for (uint32_t i = 0; i < PODS; i++) {
        uint32_t job = cluster->job_count++;
        struct sched_job record = {
            .queue = 1 + unit % QUEUES,
            .class_index = cluster->class_index,
            .submitted_ms = unit,
            .id = {{1, job}},
            .gang_id = str_of(name),
            .gang_cardinality = PODS,
            .gang_minimum = PODS_MIN,
            .gang_terms = terms,
        };
        sched_job_add(cluster->sched, job, &record);
        sched_job_lease(cluster->sched, job, job / CORES, 1000, 1, false);
    }
}

static double run(uint32_t nodes, uint32_t count)
{
    struct gang_terms terms = {
        .kind = GANG_TRAINING_TOLERANT,
        .sub_groups = {{STR("trainer"), PODS_MIN, PODS, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    auto_strbuf packed = {0};
    struct cluster cluster;
    struct sched_plan plan;

    gang_terms_pack(&packed, &terms);
    cluster_make(&cluster, nodes);
    cluster_add_queues(&cluster, 1 + QUEUES);
    for (uint32_t i = 0; i < nodes * CORES / PODS; i++) {
        add_unit(&cluster, i, strbuf_str(&packed));
    }
    cluster_add_jobs(&cluster, 0, 1, count, 1);
    double seconds = cluster_plan(&cluster, 1000, ROUND_BALANCE, &plan);
    if (plan.counters.placements != count) {
        fprintf(stderr, "sched.surplus: %u placed\n",
                (unsigned)plan.counters.placements);
    }
    cluster_fini(&cluster);
    return seconds;
}

void case_surplus(uint32_t tenths)
{
    uint32_t count = sized(10000, tenths);
    double best_s = 1e9;

    for (int i = 0; i < 3; i++) {
        double seconds = run(sized(5000, tenths), count);
        best_s = seconds < best_s ? seconds : best_s;
    }
    measure_print(&(struct figure){"sched.surplus10k_ms", "ms", 0},
                  best_s * 1e3);
}
