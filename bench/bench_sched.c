/*
 * bench_sched - the planner against design.md 9, on one core.
 *
 *     bench_sched [NAME...]     all cases, or those named
 *
 * Times are of the processor, the least of a few runs, each on a state made
 * anew; `peer` is what Armada took for the same work.
 */
#include <stdio.h>
#include <time.h>

#include "sched/sched.h"

static const int64_t GI_MILLI = ((int64_t)1 << 30) * 1000;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Resident bytes of this process. */
static double resident_bytes(void)
{
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file) {
        if (fscanf(file, "%ld %ld", &ignored, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return (double)pages * 4096;
}

struct figure {
    const char *name, *unit;
    double peer; /* Armada's, for the same work here; 0: none */
};

static void print(const struct figure *figure, double value)
{
    printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", figure->name,
           value, figure->unit);
    if (figure->peer > 0) {
        printf(",\"peer\":%.6g", figure->peer);
    }
    printf("}\n");
    fflush(stdout);
}

/* A cluster of like nodes and like jobs. */
struct cluster {
    struct policy policy;
    struct sched *sched;
    uint32_t class_index;
    uint32_t job_count;
    uint32_t *nodes;
};

static void cluster_make(struct cluster *cluster, uint32_t node_count)
{
    *cluster = (struct cluster){0};
    policy_defaults(&cluster->policy);
    cluster->policy.lookback_max = 0;
    for (uint32_t c = 0; c < cluster->policy.class_count; c++) {
        cluster->policy.classes[c].queue_limit_count = 0;
    }
    cluster->sched = sched_create(&cluster->policy);
    cluster->nodes = mem_alloc_array(node_count, sizeof(*cluster->nodes));
    for (uint32_t i = 0; i < node_count; i++) {
        char name[32];
        struct resource_amount amounts[] = {
            {STR("cpu"), 32 * 1000},
            {STR("memory"), 256 * GI_MILLI},
        };
        snprintf(name, sizeof(name), "node-%06u", i);
        struct node_record record = {
            .name = str_of(name),
            .pool = STR("default"),
            .total = {amounts, 2},
        };
        cluster->nodes[i] =
            sched_node_set(cluster->sched, STR("bench"), &record, STR(""));
    }
    struct resource_amount amounts[] = {
        {STR("cpu"), 1000},
        {STR("memory"), 4 * GI_MILLI},
    };
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = STR("armada-preemptible"),
        .requests = {amounts, 2},
    };
    cluster->class_index = sched_class_add(cluster->sched, &requirement);
}

static void cluster_free(struct cluster *cluster)
{
    sched_destroy(cluster->sched);
    mem_free(cluster->nodes);
}

static void add_queues(struct cluster *cluster, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "queue-%05u", i);
        struct queue_record record = {
            .name = str_of(name),
            .priority_factor_micro = PRIORITY_FACTOR_ONE_MICRO,
        };
        sched_queue_set(cluster->sched, i, &record);
    }
}

/* `count` jobs, to queues first, first + 1, ... in turn. */
static void add_jobs(struct cluster *cluster, uint32_t first, uint32_t queues,
                     uint32_t count, uint32_t gang_cardinality)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = cluster->job_count++;
        struct sched_job record = {
            .queue = first + i % queues,
            .class_index = cluster->class_index,
            .submitted_ms = job,
            .id = {{1, job}},
            .gang_id = gang_cardinality > 1 ? STR("gang") : STR(""),
            .gang_cardinality = gang_cardinality,
            .gang_minimum = gang_cardinality,
        };
        sched_job_add(cluster->sched, job, &record);
    }
}

static void apply(struct cluster *cluster, const struct sched_plan *plan,
                  int64_t now_ms)
{
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *decision = &plan->decisions[i];
        if (decision->action == SCHED_LEASE) {
            sched_job_lease(cluster->sched, decision->job, decision->node,
                            decision->priority, now_ms, true);
        } else {
            sched_job_remove(cluster->sched, decision->job);
        }
    }
}

static double time_plan(struct cluster *cluster, int64_t now_ms,
                        enum round_kind kind, struct sched_plan *plan)
{
    double start = now_s();

    sched_plan(cluster->sched, now_ms, kind, SCHED_DECISIONS_MAX, plan);
    return now_s() - start;
}

struct duel {
    uint32_t nodes, jobs, queues, runs;
    struct figure figure;
};

static double duel_once(const struct duel *duel)
{
    struct cluster cluster;
    struct sched_plan plan;

    cluster_make(&cluster, duel->nodes);
    add_queues(&cluster, duel->queues);
    add_jobs(&cluster, 0, duel->queues, duel->jobs, 1);
    double seconds = time_plan(&cluster, 1, ROUND_BALANCE, &plan);
    if (plan.decision_count != duel->jobs) {
        fprintf(stderr, "%s: %u placed\n", duel->figure.name,
                plan.decision_count);
    }
    cluster_free(&cluster);
    return seconds;
}

static void run_duel(const struct duel *duel)
{
    double best = 1e9;

    for (uint32_t i = 0; i < duel->runs; i++) {
        double seconds = duel_once(duel);
        best = seconds < best ? seconds : best;
    }
    print(&duel->figure, best);
}

static void first_1k(void)
{
    run_duel(&(struct duel){
        1000, 10000, 10, 5, {"sched.duel_first_1k_s", "s", 0.63}});
}

static void first_5k(void)
{
    run_duel(&(struct duel){
        5000, 100000, 100, 5, {"sched.duel_first_5k_s", "s", 8.6}});
}

static void first_50k(void)
{
    run_duel(&(struct duel){
        50000, 1000000, 1000, 3, {"sched.duel_first_50k_s", "s", 123}});
}

/* The leases of the first round told back, and rounds after that. */
static void unchanged(void)
{
    struct cluster cluster;
    struct sched_plan plan;
    double best = 1e9;

    cluster_make(&cluster, 5000);
    add_queues(&cluster, 100);
    add_jobs(&cluster, 0, 100, 100000, 1);
    time_plan(&cluster, 1, ROUND_BALANCE, &plan);
    double start = now_s();
    apply(&cluster, &plan, 1);
    print(&(struct figure){"sched.apply_lease_ns", "ns", 0},
          (now_s() - start) * 1e9 / 100000);
    print(&(struct figure){"sched.after_leases_s", "s", 0},
          time_plan(&cluster, 1, ROUND_BALANCE, &plan));
    for (int i = 0; i < 5; i++) {
        double seconds = time_plan(&cluster, 2 + i, ROUND_BALANCE, &plan);
        best = seconds < best ? seconds : best;
    }
    print(&(struct figure){"sched.unchanged_5k_s", "s", 14.1}, best);
    cluster_free(&cluster);
}

/* A full cluster of A; B submits half of it. */
static void preempt_5k(void)
{
    double best = 1e9;

    for (int i = 0; i < 3; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        cluster_make(&cluster, 5000);
        add_queues(&cluster, 2);
        add_jobs(&cluster, 0, 1, 160000, 1);
        time_plan(&cluster, 1, ROUND_BALANCE, &plan);
        apply(&cluster, &plan, 1);
        add_jobs(&cluster, 1, 1, 80000, 1);
        double seconds = time_plan(&cluster, 2, ROUND_BALANCE, &plan);
        best = seconds < best ? seconds : best;
        if (plan.decision_count != 160000) {
            fprintf(stderr, "preempt: %u decisions\n", plan.decision_count);
        }
        cluster_free(&cluster);
    }
    print(&(struct figure){"sched.duel_preempt_5k_s", "s", 27.7}, best);
}

static void gang_32k(void)
{
    double best = 1e9;

    for (int i = 0; i < 3; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        cluster_make(&cluster, 1000);
        add_queues(&cluster, 1);
        add_jobs(&cluster, 0, 1, 32000, 32000);
        double seconds = time_plan(&cluster, 1, ROUND_BALANCE, &plan);
        best = seconds < best ? seconds : best;
        if (plan.decision_count != 32000) {
            fprintf(stderr, "gang: %u decisions\n", plan.decision_count);
        }
        cluster_free(&cluster);
    }
    print(&(struct figure){"sched.gang32k_s", "s", 0.59}, best);
}

/* The node table from 10,000 nodes with 320,000 running jobs: what a change
 * of policy rebuilds. */
static void nodes_10k(void)
{
    struct cluster cluster;
    struct sched_plan plan;
    double best = 1e9;

    cluster_make(&cluster, 10000);
    add_queues(&cluster, 100);
    add_jobs(&cluster, 0, 100, 320000, 1);
    time_plan(&cluster, 1, ROUND_FAST, &plan);
    apply(&cluster, &plan, 1);
    for (int i = 0; i < 3; i++) {
        double start = now_s();
        sched_policy_set(cluster.sched, &cluster.policy);
        time_plan(&cluster, 2, ROUND_FAST, &plan);
        double seconds = now_s() - start;
        best = seconds < best ? seconds : best;
    }
    print(&(struct figure){"sched.nodes10k_s", "s", 0.72}, best);
    cluster_free(&cluster);
}

/* 50,000 nodes nearly full, a backlog, and 1,000 events a round. */
static void incremental(void)
{
    struct cluster cluster;
    struct sched_plan plan;
    double worst = 0;
    uint32_t done = 0;

    cluster_make(&cluster, 50000);
    add_queues(&cluster, 1000);
    add_jobs(&cluster, 0, 1000, 1600000 + 100000, 1);
    time_plan(&cluster, 1, ROUND_FAST, &plan);
    apply(&cluster, &plan, 1);
    time_plan(&cluster, 2, ROUND_BALANCE, &plan);
    for (int round = 0; round < 5; round++) {
        double start = now_s();
        for (int i = 0; i < 1000; i++) {
            sched_job_remove(cluster.sched, done);
            done += 37;
        }
        time_plan(&cluster, 3 + round, ROUND_FAST, &plan);
        double seconds = now_s() - start;
        worst = seconds > worst ? seconds : worst;
        apply(&cluster, &plan, 3 + round);
    }
    print(&(struct figure){"sched.incremental_50k_s", "s", 0}, worst);
    for (uint32_t i = 0; i < 100; i++) {
        /* A tenth of what runs is now over its queue's share. */
        char name[32];
        snprintf(name, sizeof(name), "queue-%05u", i);
        struct queue_record record = {
            .name = str_of(name),
            .priority_factor_micro = 2 * (int64_t)PRIORITY_FACTOR_ONE_MICRO,
        };
        sched_queue_set(cluster.sched, i, &record);
    }
    double start = now_s();
    time_plan(&cluster, 100, ROUND_BALANCE, &plan);
    print(&(struct figure){"sched.balance_full_50k_s", "s", 0},
          now_s() - start);
    cluster_free(&cluster);
}

static void memory(void)
{
    struct cluster cluster;

    cluster_make(&cluster, 10);
    add_queues(&cluster, 1000);
    double before = resident_bytes();
    add_jobs(&cluster, 0, 1000, 1000000, 1);
    print(&(struct figure){"sched.bytes_per_queued_job", "B", 0},
          (resident_bytes() - before) / 1e6);
    cluster_free(&cluster);
}

/* A million jobs that are each a class of their own. */
static void many_classes(void)
{
    enum { COUNT = 1000000 };
    struct cluster cluster;
    struct sched_plan plan;

    cluster_make(&cluster, 1000);
    add_queues(&cluster, 10);
    double start = now_s();
    for (uint32_t i = 0; i < COUNT; i++) {
        struct resource_amount amounts[] = {
            {STR("cpu"), 1000},
            {STR("memory"), GI_MILLI + (int64_t)i * 1000},
        };
        struct requirement requirement = {
            .lifetime_ms = LIFETIME_BY_CLASS,
            .priority_class = STR("armada-preemptible"),
            .requests = {amounts, 2},
        };
        cluster.class_index = sched_class_add(cluster.sched, &requirement);
        add_jobs(&cluster, i % 10, 1, 1, 1);
    }
    print(&(struct figure){"sched.classes_1m_add_s", "s", 0}, now_s() - start);
    double first_s = time_plan(&cluster, 1, ROUND_BALANCE, &plan);
    apply(&cluster, &plan, 1);
    double second_s = time_plan(&cluster, 2, ROUND_BALANCE, &plan);
    print(&(struct figure){"sched.classes_1m_first_s", "s", 0}, first_s);
    print(&(struct figure){"sched.classes_1m_second_s", "s", 0}, second_s);
    cluster_free(&cluster);
}

/* The generator of the mixed workload (armada-scheduler.md 5.14). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

enum { SHAPES = 4, MIXED_CLASSES = 256 };

static void mixed_nodes(struct cluster *cluster, uint32_t count)
{
    static const int64_t cores[SHAPES] = {32, 64, 96, 128};
    static const int64_t gi[SHAPES] = {256, 512, 1024, 2048};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t shape = i % SHAPES;
        char name[32];
        struct resource_amount amounts[] = {
            {STR("cpu"), cores[shape] * 1000},
            {STR("memory"), gi[shape] * GI_MILLI},
            {STR("nvidia.com/gpu"), 8000},
        };
        struct taint taint = {STR("gpu"), STR("true"), TAINT_NO_SCHEDULE};
        bool has_gpu = shape == SHAPES - 1;
        snprintf(name, sizeof(name), "mixed-%06u", i);
        struct node_record record = {
            .name = str_of(name),
            .pool = STR("default"),
            .total = {amounts, has_gpu ? 3 : 2},
            .taints = &taint,
            .taint_count = has_gpu,
        };
        (void)sched_node_set(cluster->sched, STR("bench"), &record, STR(""));
    }
}

static uint32_t mixed_class(struct cluster *cluster, uint32_t index,
                            uint64_t *random)
{
    bool has_gpu = index % 16 == 0;
    struct resource_amount amounts[] = {
        {STR("cpu"), (int64_t)(1 + next_random(random) % 16) * 500},
        {STR("memory"), (int64_t)(2 + next_random(random) % 89) * GI_MILLI},
        {STR("nvidia.com/gpu"), (int64_t)(1 + next_random(random) % 4) * 1000},
    };
    struct toleration toleration = {.key = STR("gpu"), .is_exists = true};
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = STR("armada-preemptible"),
        .requests = {amounts, has_gpu ? 3 : 2},
        .tolerations = &toleration,
        .toleration_count = has_gpu,
    };

    return sched_class_add(cluster->sched, &requirement);
}

/* 50,000 nodes of four shapes, a million jobs of 256 classes in 1,000 queues
 * of four weights: more than fits. */
static void mixed(void)
{
    struct cluster cluster;
    struct sched_plan plan;
    uint32_t classes[MIXED_CLASSES];
    uint64_t random = 88172645463325252u;

    cluster_make(&cluster, 1);
    mixed_nodes(&cluster, 50000);
    for (uint32_t i = 0; i < MIXED_CLASSES; i++) {
        classes[i] = mixed_class(&cluster, i, &random);
    }
    add_queues(&cluster, 1000);
    for (uint32_t i = 0; i < 1000000; i++) {
        cluster.class_index = classes[next_random(&random) % MIXED_CLASSES];
        add_jobs(&cluster, (uint32_t)(next_random(&random) % 1000), 1, 1, 1);
    }
    double seconds = time_plan(&cluster, 1, ROUND_BALANCE, &plan);
    print(&(struct figure){"sched.mixed_50k_s", "s", 0}, seconds);
    print(&(struct figure){"sched.mixed_ns_per_placement", "ns", 0},
          seconds * 1e9 / plan.decision_count);
    print(&(struct figure){"sched.mixed_placed", "jobs", 0},
          plan.decision_count);
    apply(&cluster, &plan, 1);
    print(&(struct figure){"sched.mixed_second_s", "s", 0},
          time_plan(&cluster, 2, ROUND_BALANCE, &plan));
    cluster_free(&cluster);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        /* First, while the heap has no room left over from others. */
        {"memory", memory},
        {"first_1k", first_1k},
        {"first_5k", first_5k},
        {"first_50k", first_50k},
        {"unchanged", unchanged},
        {"preempt_5k", preempt_5k},
        {"gang_32k", gang_32k},
        {"nodes_10k", nodes_10k},
        {"incremental", incremental},
        {"mixed", mixed},
        {"many_classes", many_classes},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        bool is_wanted = argc == 1;
        for (int a = 1; a < argc; a++) {
            is_wanted |= strcmp(argv[a], cases[i].name) == 0;
        }
        if (is_wanted) {
            cases[i].run();
        }
    }
    return 0;
}
