/* Several pools: what they gain from several cores, and a round in which all
 * that is lent is wanted back.
 *
 * usage: bench_pools [TENTHS]: the size, in tenths of that of the budgets */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "measure.h"
#include "mixed.h"
#include "pools/pools.h"
#include "sched_cases.h"

enum { SPEEDUP_POOLS = 8, RUNS = 5, MILLI = 1000 };

/* Pools beside one another.  Processor time is that of the thread that has most
 * to do: so other work on the machine hardly counts, but that the threads share
 * memory and caches does.  Time by the clock is what a user has of it. */

/* What planning took. */
struct taken {
    double processor_s, clock_s;
};

struct worker {
    pthread_t thread;
    struct cluster *clusters;
    uint32_t count;
    double took_s;
};

static double seconds(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *work(void *ctx)
{
    struct worker *worker = ctx;
    double begin_s = seconds(CLOCK_THREAD_CPUTIME_ID);
    struct sched_plan plan;

    for (uint32_t i = 0; i < worker->count; i++) {
        sched_plan(worker->clusters[i].sched, 1, ROUND_BALANCE,
                   SCHED_DECISIONS_MAX, &plan);
    }
    worker->took_s = seconds(CLOCK_THREAD_CPUTIME_ID) - begin_s;
    return NULL;
}

/* Plan all clusters with so many threads. */
static struct taken plan_all(struct cluster *clusters, uint32_t thread_count)
{
    struct worker workers[SPEEDUP_POOLS];
    uint32_t each = SPEEDUP_POOLS / thread_count;
    double begin_s = seconds(CLOCK_MONOTONIC);
    struct taken taken = {0};

    for (uint32_t i = 0; i < thread_count; i++) {
        workers[i] =
            (struct worker){.clusters = clusters + i * each, .count = each};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "bench_pools: cannot start a thread\n");
            exit(1);
        }
    }
    for (uint32_t i = 0; i < thread_count; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        if (workers[i].took_s > taken.processor_s) {
            taken.processor_s = workers[i].took_s;
        }
    }
    taken.clock_s = seconds(CLOCK_MONOTONIC) - begin_s;
    return taken;
}

static void keep_least(struct taken *best, struct taken taken)
{
    if (taken.processor_s < best->processor_s) {
        best->processor_s = taken.processor_s;
    }
    if (taken.clock_s < best->clock_s) {
        best->clock_s = taken.clock_s;
    }
}

static void measure_speedup(uint32_t tenths)
{
    struct cluster *clusters = mem_alloc(SPEEDUP_POOLS * sizeof(*clusters));
    struct mixed mixed;
    struct taken best[2] = {{1e9, 1e9}, {1e9, 1e9}};

    mixed_make(&mixed,
               (struct mixed_size){sized(6250, tenths), sized(125000, tenths),
                                   sized(125, tenths)});
    for (int i = 0; i < SPEEDUP_POOLS; i++) {
        mixed_load(&mixed, &clusters[i], false);
    }
    (void)plan_all(clusters, 1); /* indexes are made once */
    for (int run = 0; run < RUNS; run++) {
        for (uint32_t threads = 1; threads <= 2; threads++) {
            keep_least(&best[threads - 1], plan_all(clusters, threads));
        }
    }
    measure_print(&(struct figure){"sched.pools_speedup", "x", 0},
                  best[0].processor_s / best[1].processor_s);
    measure_print(&(struct figure){"sched.pools_speedup_clock", "x", 0},
                  best[0].clock_s / best[1].clock_s);
    for (int i = 0; i < SPEEDUP_POOLS; i++) {
        cluster_fini(&clusters[i]);
    }
    mixed_fini(&mixed);
    mem_free(clusters);
}

/* Lending. */

enum { LENDERS = 20, NODE_CORES = 2 };

struct town {
    struct policy policy;
    struct pools *pools;
    uint32_t class_index, job_count;
    uint32_t node_count; /* of each pool */
    char names[LENDERS][8];
};

static void town_init(struct town *town, uint32_t node_count)
{
    struct resource_amount cpu = {STR("cpu"), MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    struct cluster plain; /* for a policy without limits */

    cluster_init(&plain, NULL);
    town->policy = plain.policy;
    cluster_fini(&plain);
    town->node_count = node_count;
    town->pools = pools_create(&town->policy);
    for (uint32_t i = 0; i < LENDERS; i++) {
        snprintf(town->names[i], sizeof(town->names[i]), "p%02u", i);
        struct queue_record queue = queue_record_plain(str_of(town->names[i]));
        struct label label = {STR("pool"), queue.name};
        pools_queue_set(town->pools, i, &queue);
        pools_pool_set(town->pools, &(struct pool_record){
                                        .name = queue.name,
                                        .has_selector = true,
                                        .labels = &label,
                                        .label_count = 1,
                                    });
    }
    town->class_index = pools_class_add(town->pools, &requirement);
}

static uint32_t add_node(struct town *town, uint32_t pool, uint32_t number)
{
    struct resource_amount cpu = {STR("cpu"), NODE_CORES * MILLI};
    struct label label = {STR("pool"), str_of(town->names[pool])};
    char name[32];

    snprintf(name, sizeof(name), "n%u-%u", pool, number);
    return pools_node_set(town->pools, STR("e"),
                          &(struct node_record){
                              .name = str_of(name),
                              .labels = &label,
                              .label_count = 1,
                              .total = {&cpu, 1},
                          },
                          STR("default"));
}

static uint32_t add_job(struct town *town, uint32_t pool)
{
    uint32_t job = town->job_count++;

    pools_job_add(town->pools, job,
                  &(struct sched_job){
                      .queue = pool,
                      .class_index = town->class_index,
                      .submitted_ms = job,
                      .id = {{0, job + 1}},
                      .pool = str_of(town->names[pool]),
                  });
    return job;
}

/* Every node is full of jobs of the next pool; then each pool has as many of
 * its own. */
static void town_fill(struct town *town)
{
    for (uint32_t pool = 0; pool < LENDERS; pool++) {
        for (uint32_t n = 0; n < town->node_count; n++) {
            uint32_t node = add_node(town, pool, n);
            for (uint32_t k = 0; k < NODE_CORES; k++) {
                pools_job_lease(town->pools,
                                add_job(town, (pool + 1) % LENDERS), node, 1000,
                                1, false);
            }
        }
    }
    for (uint32_t i = 0; i < LENDERS * town->node_count * NODE_CORES; i++) {
        (void)add_job(town, i % LENDERS);
    }
}

static void measure_borrow(uint32_t tenths)
{
    double best_s = 1e9;

    for (int run = 0; run < 3; run++) {
        struct town *town = mem_alloc(sizeof(*town));
        uint32_t recalled = 0;
        town_init(town, sized(2500, tenths));
        town_fill(town);
        double begin_s = measure_now_s();
        for (uint32_t i = 0; i < LENDERS; i++) {
            struct sched_plan plan;
            uint32_t shard = pools_object_shard(town->pools, i);
            pools_plan(town->pools, shard, 2, ROUND_BALANCE,
                       SCHED_DECISIONS_MAX, &plan);
            (void)pools_borrow(town->pools, shard, ROUND_BALANCE, &plan);
            (void)pools_plan_commit(town->pools, shard);
            recalled += (uint32_t)plan.counters.preemptions;
        }
        double took_s = measure_now_s() - begin_s;
        best_s = took_s < best_s ? took_s : best_s;
        if (recalled != LENDERS * town->node_count * NODE_CORES) {
            fprintf(stderr, "bench_pools: %u were recalled\n", recalled);
        }
        pools_destroy(town->pools);
        mem_free(town);
    }
    measure_print(&(struct figure){"sched.borrow_round_ms", "ms", 0},
                  best_s * 1000);
}

int main(int argc, char **argv)
{
    uint32_t tenths =
        argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : TENTHS_ONE;

    measure_speedup(tenths);
    measure_borrow(tenths);
    return 0;
}
