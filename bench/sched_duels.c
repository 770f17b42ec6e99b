/* The comparison with Armada (design.md 9): like nodes, like jobs. */
#include <stdio.h>

#include "cluster.h"
#include "measure.h"
#include "sched_cases.h"

/* A case of which the least time of `runs` counts; `peer` is Armada's time
 * in the unit of the figure, of which one second has `unit_per_s`. */
struct duel {
    uint32_t nodes, jobs, queues, runs;
    struct figure figure;
    double unit_per_s;
};

static void expect(const char *name, uint32_t found, uint32_t expected)
{
    if (found != expected) {
        fprintf(stderr, "%s: %u decisions, not %u\n", name, found, expected);
    }
}

static void say(struct figure figure, uint32_t tenths, double value)
{
    figure.peer = tenths == TENTHS_ONE ? figure.peer : 0;
    measure_print(&figure, value);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void run_first(const struct duel *duel, uint32_t tenths)
{
    double best_s = 1e9;

    for (uint32_t i = 0; i < duel->runs; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        cluster_make(&cluster, sized(duel->nodes, tenths));
        cluster_add_queues(&cluster, sized(duel->queues, tenths));
        cluster_add_jobs(&cluster, 0, sized(duel->queues, tenths),
                         sized(duel->jobs, tenths), 1);
        best_s = least(best_s, cluster_plan(&cluster, 1, ROUND_BALANCE, &plan));
        expect(duel->figure.name, plan.decision_count,
               sized(duel->jobs, tenths));
        cluster_fini(&cluster);
    }
    say(duel->figure, tenths, best_s);
}

void case_first(uint32_t tenths)
{
    static const struct duel duels[] = {
        {1000, 10000, 10, 7, {"sched.duel_first_1k_s", "s", 0.63}, 1},
        {5000, 100000, 100, 7, {"sched.duel_first_5k_s", "s", 8.6}, 1},
        {50000, 1000000, 1000, 3, {"sched.duel_first_50k_s", "s", 123}, 1},
    };

    for (size_t i = 0; i < ARRAY_COUNT(duels); i++) {
        run_first(&duels[i], tenths);
    }
}

void case_unchanged(uint32_t tenths)
{
    uint32_t queues = sized(100, tenths), jobs = sized(100000, tenths);
    struct cluster cluster;
    struct sched_plan plan;
    double best_s = 1e9;

    cluster_make(&cluster, sized(5000, tenths));
    cluster_add_queues(&cluster, queues);
    cluster_add_jobs(&cluster, 0, queues, jobs, 1);
    cluster_plan(&cluster, 1, ROUND_BALANCE, &plan);
    double start_s = measure_now_s();
    cluster_apply(&cluster, &plan, 1);
    say((struct figure){"sched.apply_lease_ns", "ns", 0}, tenths,
        (measure_now_s() - start_s) * 1e9 / jobs);
    for (int i = 0; i < 7; i++) {
        /* A queue that is set again as it was forces the round. */
        cluster_set_queue(&cluster, 0, PRIORITY_FACTOR_ONE_MICRO);
        best_s =
            least(best_s, cluster_plan(&cluster, 2 + i, ROUND_BALANCE, &plan));
        expect("unchanged", plan.decision_count, 0);
    }
    say((struct figure){"sched.duel_unchanged_5k_ms", "ms", 14100}, tenths,
        best_s * 1e3);
    cluster_fini(&cluster);
}

void case_preempt(uint32_t tenths)
{
    uint32_t slots = sized(5000, tenths) * 32;
    double best_s = 1e9;

    for (int i = 0; i < 5; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        cluster_make(&cluster, sized(5000, tenths));
        cluster_add_queues(&cluster, 2);
        cluster_add_jobs(&cluster, 0, 1, slots, 1);
        cluster_plan(&cluster, 1, ROUND_BALANCE, &plan);
        cluster_apply(&cluster, &plan, 1);
        cluster_add_jobs(&cluster, 1, 1, slots / 2, 1);
        best_s = least(best_s, cluster_plan(&cluster, 2, ROUND_BALANCE, &plan));
        expect("preempt", plan.decision_count, slots);
        cluster_fini(&cluster);
    }
    say((struct figure){"sched.duel_preempt_5k_s", "s", 27.7}, tenths, best_s);
}

void case_gang32k(uint32_t tenths)
{
    uint32_t slots = sized(1000, tenths) * 32;
    double best_s = 1e9;

    for (int i = 0; i < 7; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        cluster_make(&cluster, sized(1000, tenths));
        cluster_add_queues(&cluster, 1);
        cluster_add_jobs(&cluster, 0, 1, slots, slots);
        best_s = least(best_s, cluster_plan(&cluster, 1, ROUND_BALANCE, &plan));
        expect("gang32k", plan.decision_count, slots);
        cluster_fini(&cluster);
    }
    say((struct figure){"sched.duel_gang32k_ms", "ms", 589}, tenths,
        best_s * 1e3);
}

void case_nodes(uint32_t tenths)
{
    uint32_t nodes = sized(10000, tenths), queues = sized(100, tenths);
    struct cluster cluster;
    struct sched_plan plan;
    double best_s = 1e9;

    cluster_make(&cluster, nodes);
    cluster_add_queues(&cluster, queues);
    cluster_add_jobs(&cluster, 0, queues, nodes * 32, 1);
    cluster_plan(&cluster, 1, ROUND_FAST, &plan);
    cluster_apply(&cluster, &plan, 1);
    for (int i = 0; i < 7; i++) {
        double start_s = measure_now_s();
        sched_policy_set(cluster.sched, &cluster.policy);
        cluster_plan(&cluster, 2, ROUND_FAST, &plan);
        best_s = least(best_s, measure_now_s() - start_s);
    }
    say((struct figure){"sched.duel_nodes10k_ms", "ms", 717}, tenths,
        best_s * 1e3);
    cluster_fini(&cluster);
}

void case_memory(uint32_t tenths)
{
    uint32_t jobs = sized(1000000, tenths), queues = sized(1000, tenths);
    struct cluster cluster;

    cluster_make(&cluster, 10);
    cluster_add_queues(&cluster, queues);
    double before_bytes = measure_resident_bytes();
    cluster_add_jobs(&cluster, 0, queues, jobs, 1);
    say((struct figure){"sched.bytes_per_queued_job", "bytes", 0}, tenths,
        (measure_resident_bytes() - before_bytes) / jobs);
    cluster_fini(&cluster);
}
