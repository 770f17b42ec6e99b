/* Units that grow and shrink: 10,000 of them with ten pods each, in a hundred
 * queues, on nodes that are full.  A plan is timed with all that belongs to
 * it; nothing but units waits. */
#include <stdio.h>

#include "cluster.h"
#include "measure.h"
#include "model/gang_terms.h"
#include "sched_cases.h"

enum {
    CORES = 32,
    PODS = 10, /* of a unit */
    PODS_MIN = 4,
    PODS_MAX = 14,
    QUEUES = 100,
    FULL_MS = 2000000,
};

/* What is asked of the step. */
enum task { GROW, SHED, EVEN_OUT };

static void add_unit(struct cluster *cluster, uint32_t unit, struct str terms)
{
    char name[32];

    snprintf(name, sizeof(name), "unit-%06u", unit);
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        uint32_t job = cluster->job_count++;
        struct sched_job record = {
            .queue = unit % QUEUES,
            .class_index = cluster->class_index,
            .submitted_ms = unit,
            .id = {{1, job}},
            .gang_id = str_of(name),
            .gang_cardinality = PODS_MAX,
            .gang_minimum = PODS_MIN,
            .gang_terms = terms,
        };
        sched_job_add(cluster->sched, job, &record);
    }
}

/* Fill nodes with the first pods of each unit; no two units have run for
 * equally long. */
static void fill(struct cluster *cluster, uint32_t units)
{
    for (uint32_t unit = 0; unit < units; unit++) {
        uint32_t at = unit * 7919 % units;
        sched_set_time(cluster->sched, 1000 + unit * INT64_C(190));
        for (uint32_t i = 0; i < PODS; i++) {
            uint32_t job = at * PODS_MAX + i;
            sched_job_lease(cluster->sched, job, (unit * PODS + i) / CORES,
                            1000, 1000 + unit * INT64_C(190), false);
            (void)sched_job_started(cluster->sched, job);
        }
    }
    sched_set_time(cluster->sched, FULL_MS);
}

static double run(uint32_t units, enum task task, uint32_t *ret_count)
{
    struct gang_terms terms = {
        .kind = GANG_TRAINING_TOLERANT,
        .sub_groups = {{STR("trainer"), PODS_MIN, PODS_MAX,
                        .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t nodes = (units * PODS + CORES - 1) / CORES;
    auto_strbuf packed = {0};
    struct cluster cluster;
    struct sched_plan plan;

    gang_terms_pack(&packed, &terms);
    cluster_make(&cluster, task == GROW ? nodes + nodes / 10 : nodes);
    cluster_add_queues(&cluster, QUEUES);
    for (uint32_t i = 0; i < units; i++) {
        add_unit(&cluster, i, strbuf_str(&packed));
    }
    fill(&cluster, units);
    if (task == SHED) {
        struct resource_vec pending = {{0}};
        pending.v[1] = (int64_t)units * 1000;
        sched_foreign_pending_set(cluster.sched, STR("default"), &pending);
    }
    /* Plans change nothing: the first makes the memory warm. */
    (void)cluster_plan(&cluster, FULL_MS + 1, ROUND_BALANCE, &plan);
    double seconds = cluster_plan(&cluster, FULL_MS + 1, ROUND_BALANCE, &plan);
    *ret_count = plan.decision_count;
    cluster_fini(&cluster);
    return seconds;
}

static double measure(uint32_t units, enum task task, uint32_t least)
{
    double best_s = 1e9;

    for (int i = 0; i < 3; i++) {
        uint32_t count;
        double seconds = run(units, task, &count);
        best_s = seconds < best_s ? seconds : best_s;
        if (count < least) {
            fprintf(stderr, "sched.elastic: task %d: %u decisions\n", (int)task,
                    count);
        }
    }
    return best_s * 1e3;
}

void case_elastic(uint32_t tenths)
{
    uint32_t units = sized(10000, tenths);

    measure_print(&(struct figure){"sched.elastic_step_ms", "ms", 0},
                  measure(units, GROW, units * 9 / 10));
    measure_print(&(struct figure){"sched.elastic_shed_ms", "ms", 0},
                  measure(units, SHED, units * 9 / 10));
    measure_print(&(struct figure){"sched.elastic_even_ms", "ms", 0},
                  measure(units, EVEN_OUT, 2));
}
