/* Gangs of 10,000 among mixed nodes: into free space, for others' less urgent
 * work, and for others' work over their share. */
#include <stdio.h>

#include "measure.h"
#include "mixed.h"
#include "sched_cases.h"

enum { DEMANDING = 20 };

static const int64_t GI_MILLI = ((int64_t)1 << 30) * 1000;

static uint32_t add_class(struct cluster *cluster, const char *priority_class,
                          int64_t cores, uint32_t selector_count)
{
    struct label nowhere = {STR("zone"), STR("none")};
    struct resource_amount amounts[] = {
        {STR("cpu"), cores * 1000},
        {STR("memory"), 4 * cores * GI_MILLI},
    };
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = str_of(priority_class),
        .requests = {amounts, 2},
        .selector = &nowhere,
        .selector_count = selector_count,
    };

    return sched_class_add(cluster->sched, &requirement);
}

/* A gang of members of 4 cores and 16 GiB, in a queue that has nothing. */
static void add_gang(struct cluster *cluster, uint32_t queue,
                     const char *priority_class, uint32_t count)
{
    cluster->class_index = add_class(cluster, priority_class, 4, 0);
    cluster_set_queue(cluster, queue, PRIORITY_FACTOR_ONE_MICRO);
    cluster_add_jobs(cluster, queue, 1, count, count);
}

/* Queues that ask for all there is and fit nowhere, so that others are over
 * their shares. */
static void add_demand(struct cluster *cluster, uint32_t first, uint32_t nodes)
{
    cluster->class_index = add_class(cluster, "low", 64, 1);
    for (uint32_t i = 0; i < DEMANDING; i++) {
        cluster_set_queue(cluster, first + i, PRIORITY_FACTOR_ONE_MICRO);
    }
    cluster_add_jobs(cluster, first, DEMANDING, nodes, 1);
}

static void run(const char *name, const struct mixed *mixed, bool is_full,
                const char *priority_class, uint32_t count)
{
    double best_s = 1e9;

    for (int i = 0; i < 3; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        mixed_load(mixed, &cluster, is_full);
        if (is_full) {
            add_demand(&cluster, mixed->size.queues + 1, mixed->size.nodes);
        }
        add_gang(&cluster, mixed->size.queues, priority_class, count);
        double seconds = cluster_plan(&cluster, 2, ROUND_BALANCE, &plan);
        best_s = seconds < best_s ? seconds : best_s;
        if (plan.counters.placements != count) {
            fprintf(stderr, "%s: %u placed\n", name,
                    (unsigned)plan.counters.placements);
        }
        cluster_fini(&cluster);
    }
    measure_print(&(struct figure){name, "ms", 0}, best_s * 1e3);
}

/* A group of SUB_GROUPS_MAX sub-groups, all of which must start. */
static void add_group(struct cluster *cluster, uint32_t queue, uint32_t count)
{
    struct gang_terms terms = {.sub_group_count = SUB_GROUPS_MAX};
    auto_strbuf packed = {0};
    uint32_t each = count / SUB_GROUPS_MAX;

    for (uint32_t i = 0; i < SUB_GROUPS_MAX; i++) {
        terms.sub_groups[i] =
            (struct sub_group){STR("part"), each, each, .hops_max = HOPS_ANY};
    }
    gang_terms_pack(&packed, &terms);
    cluster_set_queue(cluster, queue, PRIORITY_FACTOR_ONE_MICRO);
    for (uint32_t i = 0; i < each * SUB_GROUPS_MAX; i++) {
        if (i % each == 0) {
            cluster->class_index = add_class(cluster, "low", 2 + i / each, 0);
        }
        struct sched_job job = {
            .queue = queue,
            .class_index = cluster->class_index,
            .id = {{2, i}},
            .gang_id = STR("group"),
            .gang_cardinality = each * SUB_GROUPS_MAX,
            .gang_minimum = each * SUB_GROUPS_MAX,
            .gang_terms = strbuf_str(&packed),
            .sub_group = i / each,
        };
        sched_job_add(cluster->sched, cluster->job_count++, &job);
    }
}

/* Ask why a gang waits that finds no room: of so many members, or a group of
 * as many (no class). */
static double explain(const struct mixed *mixed, bool is_full,
                      const char *priority_class, uint32_t count)
{
    struct cluster cluster;
    struct sched_plan plan;
    struct sched_explanation why;
    struct sched_need need;

    mixed_load(mixed, &cluster, is_full);
    if (priority_class) {
        add_gang(&cluster, mixed->size.queues, priority_class, count);
    } else {
        add_group(&cluster, mixed->size.queues, count);
    }
    (void)cluster_plan(&cluster, 2, ROUND_BALANCE, &plan);
    double before_s = measure_now_s();
    sched_explain_need(cluster.sched, cluster.job_count - 1, 3, &why, &need);
    double seconds = measure_now_s() - before_s;
    if (why.wait != SCHED_WAIT_GANG_CAPACITY) {
        fprintf(stderr, "sched.explain_gang10k_ms: waits %d\n", (int)why.wait);
    }
    cluster_fini(&cluster);
    return seconds;
}

/* The worst of some: among as many nodes as of gang10k, where rounds cost too
 * much to try what would help, and a tenth of them, where that is tried; there
 * also larger gangs, for whom others would go, and on empty nodes. */
void case_explain(uint32_t tenths)
{
    uint32_t count = sized(10000, tenths);
    double worst_s = 0;

    for (uint32_t part = 1; part <= 10; part *= 10) {
        struct mixed mixed;
        mixed_make(&mixed, (struct mixed_size){sized(50000, tenths) / part, 0,
                                               sized(1000, tenths)});
        uint32_t many = count * 100 / part;
        double times_s[] = {
            explain(&mixed, true, "low", count),
            explain(&mixed, true, NULL, count),
            part > 1 ? explain(&mixed, true, "high", many) : 0,
            part > 1 ? explain(&mixed, false, "low", many) : 0,
        };
        for (uint32_t i = 0; i < ARRAY_COUNT(times_s); i++) {
            worst_s = times_s[i] > worst_s ? times_s[i] : worst_s;
        }
        mixed_fini(&mixed);
    }
    measure_print(&(struct figure){"sched.explain_gang10k_ms", "ms", 0},
                  worst_s * 1e3);
}

void case_gang10k(uint32_t tenths)
{
    uint32_t count = sized(10000, tenths);
    struct mixed mixed;

    /* The gang's jobs alone wait, so that it alone is timed. */
    mixed_make(&mixed, (struct mixed_size){sized(50000, tenths), 0,
                                           sized(1000, tenths)});
    run("sched.gang10k_ms", &mixed, false, "low", count);
    run("sched.gang10k_preempt_ms", &mixed, true, "high", count);
    run("sched.gang10k_preempt_fair_ms", &mixed, true, "low", count);
    mixed_fini(&mixed);
}
