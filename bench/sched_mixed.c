/* The mixed workload: from empty, and from a full cluster; in the default
 * profile, and in that which does without admitted work. */
#include <inttypes.h>
#include <stdio.h>

#include "measure.h"
#include "quality.h"
#include "sched_cases.h"

enum { SETTLE_ROUNDS_MAX = 12, EVENTS = 1000, BATCHES = 10 };

static void make(struct mixed *mixed, uint32_t tenths,
                 enum pool_profile profile)
{
    mixed_make(mixed,
               (struct mixed_size){sized(50000, tenths), sized(1000000, tenths),
                                   sized(1000, tenths)});
    mixed->profile = profile;
}

/* Say a figure of the subject; under another profile than the default with
 * its name. */
static void say(const struct mixed *mixed, const char *name, const char *unit,
                double value)
{
    bool is_armada = mixed->profile == PROFILE_ARMADA;
    char full[64];

    snprintf(full, sizeof(full), "sched.%s%s", is_armada ? "armada_" : "",
             name);
    measure_print(&(struct figure){full, unit, 0}, value);
}

/* Say how well work is placed; once is enough. */
static void say_quality(const struct mixed *mixed, struct cluster *cluster,
                        const char *prefix)
{
    struct quality quality;

    if (mixed->profile == PROFILE_BERTH) {
        quality_measure(mixed, cluster, &quality);
        quality_print(&quality, prefix);
    }
}

static void say_hash(const struct mixed *mixed, uint32_t tenths)
{
    char text[32];

    snprintf(text, sizeof(text), "%016" PRIx64, mixed->hash);
    measure_print_text("sched.mixed_hash", text);
    if (tenths == TENTHS_ONE && mixed->hash != MIXED_HASH) {
        fprintf(stderr, "the mixed workload is not the one of mixed.h\n");
    }
}

/* How well half of what will run is placed, before it is full everywhere. */
static void say_half(const struct mixed *mixed, uint32_t placed)
{
    struct cluster cluster;
    struct sched_plan plan;

    mixed_load(mixed, &cluster, false);
    sched_plan(cluster.sched, 1, ROUND_BALANCE, placed / 2, &plan);
    cluster_apply(&cluster, &plan, 1);
    say_quality(mixed, &cluster, "sched.mixed_half");
    cluster_fini(&cluster);
}

static void measure_empty(uint32_t tenths, enum pool_profile profile)
{
    struct mixed mixed;
    double best_s = 1e9;
    uint32_t placed = 0;

    make(&mixed, tenths, profile);
    if (profile == PROFILE_BERTH) {
        say_hash(&mixed, tenths);
    }
    for (int i = 0; i < 3; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        mixed_load(&mixed, &cluster, false);
        double seconds = cluster_plan(&cluster, 1, ROUND_BALANCE, &plan);
        best_s = seconds < best_s ? seconds : best_s;
        placed = plan.decision_count;
        if (i == 0) {
            cluster_apply(&cluster, &plan, 1);
            say_quality(&mixed, &cluster, "sched.mixed_end");
        }
        cluster_fini(&cluster);
    }
    say(&mixed, "placements_per_s", "jobs/s", placed / best_s);
    say(&mixed, "mixed_empty_round_s", "s", best_s);
    say(&mixed, "mixed_empty_placed", "jobs", placed);
    if (profile == PROFILE_BERTH) {
        say_half(&mixed, placed);
    }
    mixed_fini(&mixed);
}

void case_mixed_empty(uint32_t tenths)
{
    measure_empty(tenths, PROFILE_BERTH);
    measure_empty(tenths, PROFILE_ARMADA);
}

/* From the start state to the state in which a round changes nothing. */
static void settle(const struct mixed *mixed, struct cluster *cluster,
                   int64_t *now_ms, bool is_said)
{
    uint32_t preempted = 0, rounds = 0, decided = 1;

    for (; rounds < SETTLE_ROUNDS_MAX && decided; rounds++) {
        struct sched_plan plan;
        double seconds = cluster_plan(cluster, ++*now_ms, ROUND_BALANCE, &plan);
        decided = plan.decision_count;
        preempted += (uint32_t)plan.counters.preemptions;
        cluster_apply(cluster, &plan, *now_ms);
        if (rounds == 0 && is_said) {
            say(mixed, "mixed_start_round_s", "s", seconds);
            say(mixed, "mixed_start_decisions", "jobs", decided);
        }
    }
    if (is_said) {
        say(mixed, "mixed_settle_rounds", "rounds", rounds);
        say(mixed, "mixed_preempted", "jobs", preempted);
    }
}

/* Queues from the first on, until a tenth of the shares in use is theirs,
 * weigh half as much. */
static void put_over_share(const struct mixed *mixed, struct cluster *cluster)
{
    double all = 0, sum = 0;

    for (uint32_t i = 0; i < mixed->size.queues; i++) {
        struct sched_queue_stats stats;
        sched_queue_stats(cluster->sched, i, 0, &stats);
        all += stats.actual_share;
    }
    for (uint32_t i = 0; i < mixed->size.queues && sum < all / 10; i++) {
        struct sched_queue_stats stats;
        sched_queue_stats(cluster->sched, i, 0, &stats);
        sum += stats.actual_share;
        cluster_set_queue(cluster, i,
                          PRIORITY_FACTOR_ONE_MICRO * INT64_C(24) /
                              mixed->queues[i].weight);
    }
}

/* Running jobs that are to end, spread over all. */
static void choose_ends(const struct cluster *cluster, uint32_t *ends,
                        uint32_t *next)
{
    for (uint32_t i = 0; i < EVENTS / 2; i++) {
        while (sched_job_node(cluster->sched, *next) == SCHED_NONE) {
            *next = (*next + 1) % cluster->job_count;
        }
        ends[i] = *next;
        *next = (*next + 7919) % cluster->job_count;
    }
}

/* Half of the events are ends of running jobs, half submissions. */
static double run_events(const struct mixed *mixed, struct cluster *cluster,
                         const uint32_t *ends)
{
    double start_s = measure_now_s();

    for (uint32_t i = 0; i < EVENTS / 2; i++) {
        if (sched_job_node(cluster->sched, ends[i]) != SCHED_NONE) {
            sched_job_remove(cluster->sched, ends[i]);
        }
        mixed_add_job(cluster, (i * 37) % mixed->size.queues,
                      (i * 5) % MIXED_CLASSES);
    }
    return measure_now_s() - start_s;
}

static void say_incremental(const struct mixed *mixed, struct cluster *cluster,
                            int64_t *now_ms)
{
    double worst_s = 0;
    uint32_t next_end = 0, placed = 0;
    uint32_t ends[EVENTS / 2];

    for (int i = 0; i < BATCHES; i++) {
        struct sched_plan plan;
        choose_ends(cluster, ends, &next_end);
        double seconds = run_events(mixed, cluster, ends);
        seconds += cluster_plan(cluster, ++*now_ms, ROUND_FAST, &plan);
        worst_s = seconds > worst_s ? seconds : worst_s;
        placed += plan.decision_count;
        cluster_apply(cluster, &plan, *now_ms);
    }
    say(mixed, "incremental_round_ms", "ms", worst_s * 1e3);
    say(mixed, "incremental_placed", "jobs", placed);
}

static void measure_full(uint32_t tenths, enum pool_profile profile)
{
    struct mixed mixed;
    struct cluster cluster;
    struct sched_plan plan;
    int64_t now_ms = 1;

    make(&mixed, tenths, profile);
    say(&mixed, "mixed_start_runs", "jobs", mixed.run_count);
    mixed_load(&mixed, &cluster, true);
    say_quality(&mixed, &cluster, "sched.mixed_start");
    settle(&mixed, &cluster, &now_ms, true);
    say_incremental(&mixed, &cluster, &now_ms);
    settle(&mixed, &cluster, &now_ms, false);
    cluster_set_queue(&cluster, 0,
                      PRIORITY_FACTOR_ONE_MICRO * INT64_C(12) /
                          mixed.queues[0].weight);
    say(&mixed, "forced_round_ms", "ms",
        1e3 * cluster_plan(&cluster, ++now_ms, ROUND_BALANCE, &plan));
    put_over_share(&mixed, &cluster);
    say(&mixed, "balance_round_ms", "ms",
        1e3 * cluster_plan(&cluster, ++now_ms, ROUND_BALANCE, &plan));
    say(&mixed, "balance_evicted", "jobs", (double)plan.counters.evicted);
    say(&mixed, "balance_preempted", "jobs", (double)plan.counters.preemptions);
    cluster_apply(&cluster, &plan, now_ms);
    say_quality(&mixed, &cluster, "sched.balance_end");
    cluster_fini(&cluster);
    mixed_fini(&mixed);
}

void case_mixed_full(uint32_t tenths)
{
    measure_full(tenths, PROFILE_BERTH);
    measure_full(tenths, PROFILE_ARMADA);
}
