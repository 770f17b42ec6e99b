#include "quality.h"

#include <stdio.h>

#include "measure.h"

enum { PIECE_CPU_MILLI = 16000, PIECE_MEMORY_GI = 64, QUEUES_ASKED_MAX = 1000 };

/* The columns of the default schema. */
enum { GPU, CPU, MEMORY };

static int64_t pieces(int64_t cpu_milli, int64_t memory_gi)
{
    int64_t by_cpu = cpu_milli / PIECE_CPU_MILLI;
    int64_t by_memory = memory_gi / PIECE_MEMORY_GI;

    return by_cpu < by_memory ? by_cpu : by_memory;
}

/* What runs on each node. */
static struct resource_vec *sum_nodes(const struct mixed *mixed,
                                      const struct cluster *cluster)
{
    struct resource_vec *used =
        mem_alloc_array(mixed->size.nodes, sizeof(*used));

    for (uint32_t job = 0; job < cluster->job_count; job++) {
        uint32_t node = sched_job_node(cluster->sched, job);
        if (node == SCHED_NONE) {
            continue;
        }
        struct resource_vec request = sched_job_request(cluster->sched, job);
        for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
            used[node].v[r] += request.v[r];
        }
    }
    return used;
}

static void measure_nodes(const struct mixed *mixed,
                          const struct resource_vec *used,
                          struct quality *quality)
{
    int64_t cpu_milli = 0, memory_gi = 0, fit = 0;

    for (uint32_t i = 0; i < mixed->size.nodes; i++) {
        struct mixed_capacity has = mixed_node(i);
        quality->nodes_used += used[i].v[CPU] > 0;
        if (has.gpu_count) {
            continue;
        }
        int64_t free_cpu_milli = has.cpu_milli - used[i].v[CPU];
        int64_t free_gi = has.memory_gi - (used[i].v[MEMORY] >> 30);
        cpu_milli += free_cpu_milli;
        memory_gi += free_gi;
        fit += pieces(free_cpu_milli, free_gi);
    }
    int64_t whole = pieces(cpu_milli, memory_gi);
    quality->fragmentation = whole > 0 ? 1 - (double)fit / (double)whole : 0;
}

static double lacking(struct cluster *cluster, uint32_t queues)
{
    double sum = 0;

    for (uint32_t i = 0; i < queues && i < QUEUES_ASKED_MAX; i++) {
        struct sched_queue_stats stats;
        sched_queue_stats(cluster->sched, i, 0, &stats);
        double gap = stats.adjusted_share - stats.actual_share;
        sum += gap > 0 ? gap : 0;
    }
    return sum;
}

static double fraction(const struct sched_pool_stats *stats, int column)
{
    return (double)stats->allocated.v[column] / (double)stats->total.v[column];
}

void quality_measure(const struct mixed *mixed, struct cluster *cluster,
                     struct quality *ret_quality)
{
    struct resource_vec *used = sum_nodes(mixed, cluster);
    struct sched_pool_stats stats;

    *ret_quality = (struct quality){0};
    measure_nodes(mixed, used, ret_quality);
    mem_free(used);
    sched_pool_stats(cluster->sched, 0, &stats);
    ret_quality->cpu = fraction(&stats, CPU);
    ret_quality->memory = fraction(&stats, MEMORY);
    ret_quality->gpu = fraction(&stats, GPU);
    ret_quality->share_lacking = lacking(cluster, mixed->size.queues);
}

static void print(const char *prefix, const char *what, const char *unit,
                  double value)
{
    char name[64];

    snprintf(name, sizeof(name), "%s_%s", prefix, what);
    measure_print(&(struct figure){name, unit, 0}, value);
}

void quality_print(const struct quality *quality, const char *prefix)
{
    print(prefix, "nodes_used", "nodes", quality->nodes_used);
    print(prefix, "cpu", "fraction", quality->cpu);
    print(prefix, "memory", "fraction", quality->memory);
    print(prefix, "gpu", "fraction", quality->gpu);
    print(prefix, "fragmentation", "fraction", quality->fragmentation);
    print(prefix, "share_lacking", "fraction", quality->share_lacking);
}
