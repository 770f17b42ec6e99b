#include "mixed.h"

#include <stdio.h>

#include "base/vec.h"

enum { SHAPES = 4, SHAPE_GPU = 3, MISSES_MAX = 16, GANG_ONE_IN = 1618 };

static const uint32_t CORES[SHAPES] = {32, 64, 96, 128};
static const uint32_t MEMORY_GI[SHAPES] = {256, 512, 1024, 2048};
static const int64_t GI_MILLI = ((int64_t)1 << 30) * 1000;

/* The draws and their hash. */
struct drawer {
    uint64_t state, hash;
};

static uint32_t draw(struct drawer *drawer, uint32_t count)
{
    uint64_t x = drawer->state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    drawer->state = x;
    return (uint32_t)(x % count);
}

static void hash(struct drawer *drawer, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        drawer->hash ^= value >> (8 * i) & 0xff;
        drawer->hash *= UINT64_C(1099511628211);
    }
}

static uint32_t rack_of(const struct mixed_size *size, uint32_t node)
{
    return (uint32_t)((uint64_t)node * MIXED_RACKS / size->nodes);
}

static uint32_t zone_of(const struct mixed_size *size, uint32_t node)
{
    return rack_of(size, node) % MIXED_ZONES;
}

struct mixed_capacity mixed_node(uint32_t node)
{
    uint32_t shape = node % SHAPES;

    return (struct mixed_capacity){CORES[shape] * 1000, MEMORY_GI[shape],
                                   shape == SHAPE_GPU ? 8 : 0};
}

static void hash_nodes(const struct mixed_size *size, struct drawer *drawer)
{
    for (uint32_t i = 0; i < size->nodes; i++) {
        hash(drawer, i % SHAPES);
        hash(drawer, rack_of(size, i));
        hash(drawer, zone_of(size, i));
    }
}

static void make_class(struct drawer *drawer, uint32_t index,
                       struct mixed_class *class)
{
    bool has_gpu = index % 16 == 0;

    class->cpu_milli = (1 + draw(drawer, 16)) * 500;
    class->memory_gi = 2 + draw(drawer, 89);
    class->gpu_count = 1 + draw(drawer, 4);
    class->gpu_count = has_gpu ? class->gpu_count : 0;
    uint32_t level = draw(drawer, 10);
    class->level = level < 7 ? 0 : level < 9 ? 1 : 2;
    class->zone = draw(drawer, 10 * MIXED_ZONES);
    class->zone = class->zone < MIXED_ZONES ? class->zone : MIXED_ANY;
    class->is_tolerant = has_gpu || index % 4 == 1;
    hash(drawer, class->cpu_milli);
    hash(drawer, class->memory_gi);
    hash(drawer, class->gpu_count);
    hash(drawer, class->level);
    hash(drawer, class->zone);
    hash(drawer, class->is_tolerant);
}

/* The tenth root of `n` in 20 fractional bits, cut. */
static uint64_t root10(uint64_t n)
{
    uint64_t low = 1 << 20, high = 4 << 20;

    while (low + 1 < high) {
        uint64_t x = (low + high) / 2;
        u128 power = x;
        for (int i = 1; i < 10; i++) {
            power = power * x >> 20;
        }
        if (power <= (u128)n << 20) {
            low = x;
        } else {
            high = x;
        }
    }
    return low;
}

static void make_queues(struct mixed *mixed, struct drawer *drawer)
{
    uint32_t count = mixed->size.queues, left = mixed->size.jobs;
    uint64_t *weights = mem_alloc_array(count, sizeof(*weights));
    u128 sum = 0;

    mixed->queues = mem_alloc_array(count, sizeof(*mixed->queues));
    for (uint32_t i = 0; i < count; i++) {
        mixed->queues[i].weight = 1 + draw(drawer, 4);
        uint64_t n = i + 1;
        weights[i] = ((uint64_t)1 << 60) / (n * root10(n));
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        mixed->queues[i].backlog =
            (uint32_t)((u128)mixed->size.jobs * weights[i] / sum);
        left -= mixed->queues[i].backlog;
    }
    for (uint32_t i = 0; left > 0; i++, left--) {
        mixed->queues[i].backlog++;
    }
    for (uint32_t i = 0; i < count; i++) {
        hash(drawer, mixed->queues[i].weight);
        hash(drawer, mixed->queues[i].backlog);
    }
    mem_free(weights);
}

static void hash_job(struct drawer *drawer, const struct mixed_job *job)
{
    hash(drawer, job->queue);
    hash(drawer, job->class_index);
    hash(drawer, job->gang);
    hash(drawer, job->gang_size);
    hash(drawer, job->is_uniform);
}

static void make_jobs(struct mixed *mixed, struct drawer *drawer)
{
    uint32_t at = 0, gangs = 0;

    mixed->jobs = mem_alloc_array(mixed->size.jobs, sizeof(*mixed->jobs));
    for (uint32_t queue = 0; queue < mixed->size.queues; queue++) {
        uint32_t left = mixed->queues[queue].backlog;
        while (left > 0) {
            struct mixed_job job = {.queue = queue, .gang_size = 1};
            uint32_t coin = draw(drawer, GANG_ONE_IN);
            if (coin == 0 && left > 1) {
                uint32_t size = 2 + draw(drawer, 63);
                job.gang = ++gangs;
                job.gang_size = size < left ? size : left;
                job.is_uniform = draw(drawer, 2);
            }
            job.class_index = draw(drawer, MIXED_CLASSES);
            for (uint32_t i = 0; i < job.gang_size; i++) {
                hash_job(drawer, &job);
                mixed->jobs[at++] = job;
            }
            left -= job.gang_size;
        }
    }
    ASSERT(at == mixed->size.jobs);
}

/* What is left on the node that is being filled. */
struct room {
    uint32_t node, shape, zone;
    int64_t cpu_milli, memory_gi, gpu_count;
};

static bool take(struct room *room, const struct mixed_class *class)
{
    if ((class->zone != MIXED_ANY && class->zone != room->zone) ||
        (room->shape == SHAPE_GPU && !class->is_tolerant) ||
        class->cpu_milli > room->cpu_milli ||
        class->memory_gi > room->memory_gi ||
        class->gpu_count > room->gpu_count) {
        return false;
    }
    room->cpu_milli -= class->cpu_milli;
    room->memory_gi -= class->memory_gi;
    room->gpu_count -= class->gpu_count;
    return true;
}

static void make_runs(struct mixed *mixed, struct drawer *drawer)
{
    VEC(struct mixed_run) runs = {0};

    for (uint32_t node = 0; node < mixed->size.nodes; node++) {
        uint32_t shape = node % SHAPES;
        struct room room = {
            .node = node,
            .shape = shape,
            .zone = zone_of(&mixed->size, node),
            .cpu_milli = mixed_node(node).cpu_milli / 100 * 95,
            .memory_gi = mixed_node(node).memory_gi,
            .gpu_count = mixed_node(node).gpu_count,
        };
        for (int misses = 0; misses < MISSES_MAX;) {
            struct mixed_run run = {.node = node};
            run.queue = draw(drawer, mixed->size.queues * 3 / 10);
            run.class_index = draw(drawer, MIXED_CLASSES);
            if (!take(&room, &mixed->classes[run.class_index])) {
                misses++;
                continue;
            }
            misses = 0;
            hash(drawer, run.queue);
            hash(drawer, run.class_index);
            hash(drawer, run.node);
            VEC_PUSH(&runs, run);
        }
    }
    mixed->runs = runs.items;
    mixed->run_count = (uint32_t)runs.count;
}

void mixed_make(struct mixed *mixed, struct mixed_size size)
{
    struct drawer drawer = {UINT64_C(88172645463325252),
                            UINT64_C(14695981039346656037)};

    *mixed = (struct mixed){.size = size};
    hash_nodes(&size, &drawer);
    for (uint32_t i = 0; i < MIXED_CLASSES; i++) {
        make_class(&drawer, i, &mixed->classes[i]);
    }
    make_queues(mixed, &drawer);
    make_jobs(mixed, &drawer);
    make_runs(mixed, &drawer);
    mixed->hash = drawer.hash;
}

void mixed_fini(struct mixed *mixed)
{
    mem_free(mixed->queues);
    mem_free(mixed->jobs);
    mem_free(mixed->runs);
    *mixed = (struct mixed){0};
}

/* Into a cluster. */

static void load_policy(struct policy *policy)
{
    policy_defaults(policy);
    policy->class_count = 3;
    policy->classes[0] = (struct priority_class){
        .name = STR("low"), .priority = 1000, .is_preemptible = true};
    policy->classes[1] = (struct priority_class){
        .name = STR("mid"), .priority = 2000, .is_preemptible = true};
    policy->classes[2] =
        (struct priority_class){.name = STR("high"), .priority = 3000};
    policy->default_class_index = 0;
}

static void load_node(const struct mixed *mixed, struct cluster *cluster,
                      uint32_t i)
{
    char name[32], rack[16], zone[16];
    struct mixed_capacity capacity = mixed_node(i);
    struct resource_amount amounts[] = {
        {STR("cpu"), capacity.cpu_milli},
        {STR("memory"), capacity.memory_gi * GI_MILLI},
        {STR("nvidia.com/gpu"), capacity.gpu_count * (int64_t)1000},
    };
    struct taint taint = {STR("gpu"), STR("true"), TAINT_NO_SCHEDULE};
    bool has_gpu = capacity.gpu_count > 0;

    snprintf(name, sizeof(name), "mixed-%06u", i);
    snprintf(rack, sizeof(rack), "rack-%03u", rack_of(&mixed->size, i));
    snprintf(zone, sizeof(zone), "zone-%u", zone_of(&mixed->size, i));
    struct label labels[] = {
        {STR("rack"), str_of(rack)},
        {STR("zone"), str_of(zone)},
    };
    struct node_record record = {
        .name = str_of(name),
        .pool = STR("default"),
        .labels = labels,
        .label_count = 2,
        .total = {amounts, has_gpu ? 3 : 2},
        .taints = &taint,
        .taint_count = has_gpu,
    };
    uint32_t index =
        sched_node_set(cluster->sched, STR("bench"), &record, STR(""));
    ASSERT(index == i);
}

static void load_class(const struct mixed_class *class, struct cluster *cluster,
                       uint32_t i)
{
    static const char *const levels[] = {"low", "mid", "high"};
    char zone[16];
    struct resource_amount amounts[] = {
        {STR("cpu"), class->cpu_milli},
        {STR("memory"), class->memory_gi * GI_MILLI},
        {STR("nvidia.com/gpu"), class->gpu_count * (int64_t)1000},
    };
    struct toleration toleration = {.key = STR("gpu"), .is_exists = true};

    snprintf(zone, sizeof(zone), "zone-%u", class->zone);
    struct label selector = {STR("zone"), str_of(zone)};
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = str_of(levels[class->level]),
        .requests = {amounts, class->gpu_count ? 3 : 2},
        .tolerations = &toleration,
        .toleration_count = class->is_tolerant,
        .selector = &selector,
        .selector_count = class->zone != MIXED_ANY,
    };
    uint32_t index = sched_class_add(cluster->sched, &requirement);
    ASSERT(index == i);
}

static void load_jobs(const struct mixed *mixed, struct cluster *cluster)
{
    for (uint32_t i = 0; i < mixed->size.jobs; i++) {
        const struct mixed_job *job = &mixed->jobs[i];
        char gang[16];
        snprintf(gang, sizeof(gang), "gang-%u", job->gang);
        struct sched_job record = {
            .queue = job->queue,
            .class_index = job->class_index,
            .submitted_ms = i,
            .id = {{1, i}},
            .gang_id = job->gang ? str_of(gang) : STR(""),
            .gang_cardinality = job->gang_size,
            .gang_minimum = job->gang_size,
            .gang_uniformity = job->is_uniform ? STR("rack") : STR(""),
        };
        sched_job_add(cluster->sched, i, &record);
    }
    cluster->job_count = mixed->size.jobs;
}

static void load_runs(const struct mixed *mixed, struct cluster *cluster)
{
    for (uint32_t i = 0; i < mixed->run_count; i++) {
        const struct mixed_run *run = &mixed->runs[i];
        uint32_t level = mixed->classes[run->class_index].level;
        uint32_t job = mixed_add_job(cluster, run->queue, run->class_index);
        sched_job_lease(cluster->sched, job, run->node,
                        cluster->policy.classes[level].priority, 1, true);
    }
}

void mixed_load(const struct mixed *mixed, struct cluster *cluster,
                bool has_runs)
{
    struct policy policy;

    load_policy(&policy);
    pool_policy_apply(&policy.pools[0], mixed->profile);
    cluster_init(cluster, &policy);
    for (uint32_t i = 0; i < mixed->size.nodes; i++) {
        load_node(mixed, cluster, i);
    }
    for (uint32_t i = 0; i < MIXED_CLASSES; i++) {
        load_class(&mixed->classes[i], cluster, i);
    }
    for (uint32_t i = 0; i < mixed->size.queues; i++) {
        cluster_set_queue(cluster, i,
                          PRIORITY_FACTOR_ONE_MICRO * INT64_C(12) /
                              mixed->queues[i].weight);
    }
    load_jobs(mixed, cluster);
    if (has_runs) {
        load_runs(mixed, cluster);
    }
}

uint32_t mixed_add_job(struct cluster *cluster, uint32_t queue,
                       uint32_t class_index)
{
    uint32_t job = cluster->job_count++;
    struct sched_job record = {
        .queue = queue,
        .class_index = class_index,
        .submitted_ms = job,
        .id = {{1, job}},
        .gang_cardinality = 1,
        .gang_minimum = 1,
    };

    sched_job_add(cluster->sched, job, &record);
    return job;
}
