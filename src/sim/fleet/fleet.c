#include "sim/fleet/fleet.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/intern.h"
#include "base/map.h"
#include "sim/play/play.h"
#include "sim/world/cluster.h"

enum { MS_PER_S = 1000, MILLI = 1000, START_MS = 2000 };

static const int64_t GIGABYTE = 1000000000;

#define GPU_LABEL "gpu-type"

/* A virtual cluster of the trace. */
struct virtual_cluster {
    struct str name;
    uint32_t queue; /* index in queues */
    double gpu_s;   /* that its jobs ask for */
};

/* A trace while it is played. */
struct playing {
    const struct fleet_trace *trace;
    const struct fleet_options *options;
    struct tally *tally;
    struct world *world;
    struct map kind_of; /* by queue and GPUs of a pod */
    struct intern queues;
    VEC(struct virtual_cluster) clusters;
    VEC(uint32_t) homes; /* type of machines by queue, with an inventory */
    size_t next, count;  /* jobs */
};

static void add_pool(struct playing *p)
{
    struct cluster_options options = {.name = STR("fleet"),
                                      .pool = STR("default"),
                                      .start_ms = START_MS,
                                      .report_ms = 5};
    struct resource_amount total = {STR("nvidia.com/gpu"),
                                    FLEET_NODE_GPUS * MILLI};
    struct node_record record = {.pool = STR("default"), .total = {&total, 1}};
    struct cluster *cluster = cluster_create(p->world, &options);
    uint32_t count =
        (p->options->gpu_count + FLEET_NODE_GPUS - 1) / FLEET_NODE_GPUS;

    for (uint32_t i = 0; i < count; i++) {
        auto_strbuf name = {0};
        strbuf_addf(&name, "node-%05u", i);
        record.name = strbuf_str(&name);
        cluster_add_node(cluster, &record);
    }
    cluster_open(cluster);
}

static void add_queues(struct playing *p)
{
    for (size_t i = p->next; i < p->count; i++) {
        const struct fleet_job *job = &p->trace->jobs.items[i];
        uint32_t at = intern_add(&p->queues, job->queue);
        if (at == p->clusters.count) {
            VEC_PUSH(&p->clusters, (struct virtual_cluster){job->queue, at, 0});
            VEC_PUSH(&p->homes, 0);
            world_add_queue(p->world, job->queue, 1, STR(""));
        }
        p->clusters.items[at].gpu_s +=
            (double)job->run_s * (double)job->gpu_count;
    }
}

static int compare_clusters(const void *a, const void *b)
{
    const struct virtual_cluster *x = a, *y = b;

    if (x->gpu_s != y->gpu_s) {
        return x->gpu_s > y->gpu_s ? -1 : 1;
    }
    return str_compare(x->name, y->name);
}

/* Give each virtual cluster, the largest first, the pool with the most GPUs
 * left for what it asks. */
static void find_homes(struct playing *p)
{
    const struct fleet_machines *machines = p->options->machines;
    double asked[FLEET_TYPES_MAX] = {0};
    size_t count = p->clusters.count;

    qsort(p->clusters.items, count, sizeof(*p->clusters.items),
          compare_clusters);
    for (size_t i = 0; i < count; i++) {
        const struct virtual_cluster *of = &p->clusters.items[i];
        uint32_t *home = &p->homes.items[of->queue];
        double least = 0;
        for (uint32_t t = 0; t < machines->type_count; t++) {
            double load = (asked[t] + of->gpu_s) / machines->types[t].gpu_count;
            if (t == 0 || load < least) {
                least = load;
                *home = t;
            }
        }
        asked[*home] += of->gpu_s;
    }
}

static void add_type_pool(struct playing *p, const struct fleet_type *type)
{
    struct label label = {STR(GPU_LABEL), type->name};
    struct pool_record record = {
        .name = type->name,
        .has_selector = true,
        .labels = &label,
        .label_count = 1,
    };

    world_add_pool(p->world, &record);
}

/* The inventory's machines, and a pool for each type. */
static void add_machines(struct playing *p)
{
    const struct fleet_machines *machines = p->options->machines;
    struct cluster_options options = {.name = STR("fleet"),
                                      .pool = STR("default"),
                                      .start_ms = START_MS,
                                      .report_ms = 5};
    struct cluster *cluster = cluster_create(p->world, &options);

    for (uint32_t i = 0; i < machines->type_count; i++) {
        add_type_pool(p, &machines->types[i]);
    }
    for (size_t i = 0; i < machines->items.count; i++) {
        const struct fleet_machine *of = &machines->items.items[i];
        struct label label = {STR(GPU_LABEL), machines->types[of->type].name};
        struct resource_amount total[] = {
            {STR("cpu"), of->core_count * MILLI},
            {STR("memory"), of->memory_gb * GIGABYTE * MILLI},
            {STR("nvidia.com/gpu"), (int64_t)of->gpu_count * MILLI},
        };
        struct node_record record = {
            .name = of->name,
            .pool = STR("default"),
            .labels = &label,
            .label_count = 1,
            .total = {total, ARRAY_COUNT(total)},
        };
        cluster_add_node(cluster, &record);
    }
    cluster_open(cluster);
}

static int set_up(struct playing *p, struct err *err)
{
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    struct world_config config = {
        .policy = policy,
        .watch = tally_watch(p->tally),
    };

    policy_defaults(policy);
    pool_policy_apply(&policy->pools[0], p->options->profile);
    p->world = world_create(&config, err);
    if (!p->world) {
        return -ERR_UNAVAILABLE;
    }
    add_queues(p);
    if (p->options->machines) {
        find_homes(p);
        add_machines(p);
    } else {
        add_pool(p);
    }
    tally_begin(p->tally, p->world, 0);
    int rc = world_step(p->world, err);
    return rc < 0 ? rc : 0;
}

/* The kind of a queue's pods with so many GPUs. */
static uint32_t kind_of(struct playing *p, struct str queue,
                        const struct fleet_type *home, uint32_t gpu_count)
{
    struct key128 key = {gpu_count, intern_find(&p->queues, queue)};
    uint32_t kind = map_find(&p->kind_of, key);
    struct resource_amount gpus = {STR("nvidia.com/gpu"),
                                   (int64_t)gpu_count * MILLI};
    struct world_kind of = {
        .queue = queue,
        .job_set = STR("trace"),
        .pool = home ? home->name : STR(""),
        .on_preemption = ON_LOSS_REQUEUE,
        .on_executor_lost = ON_LOSS_REQUEUE,
        .requirement =
            {
                .priority_class = STR("armada-preemptible"),
                .requests = {&gpus, 1},
                .lifetime_ms = LIFETIME_BY_CLASS,
            },
    };

    if (kind == MAP_NONE) {
        kind = world_add_kind(p->world, &of);
        map_put(&p->kind_of, key, kind);
    }
    return kind;
}

/* Where a job's queue is at home; NULL: there is one pool. */
static const struct fleet_type *home_of(const struct playing *p,
                                        const struct fleet_job *job)
{
    const struct fleet_machines *machines = p->options->machines;

    if (!machines) {
        return NULL;
    }
    uint32_t queue = intern_find(&p->queues, job->queue);
    return &machines->types[p->homes.items[queue]];
}

/* Submit a job: alone, or as a gang of as few equal pods as nodes hold. */
static void submit(struct playing *p, size_t index)
{
    const struct fleet_job *job = &p->trace->jobs.items[index];
    const struct fleet_type *home = home_of(p, job);
    uint32_t node_gpus = home ? home->gpus_min : FLEET_NODE_GPUS;
    uint32_t pods = (job->gpu_count + node_gpus - 1) / node_gpus;
    auto_strbuf id = {0};

    while (job->gpu_count % pods != 0) {
        pods++;
    }
    struct world_submission submission = {
        .kind = kind_of(p, job->queue, home, job->gpu_count / pods),
        .run_ms = job->run_s * MS_PER_S,
    };
    if (pods > 1) {
        strbuf_addf(&id, "gang-%zu", index);
        submission.gang_id = strbuf_str(&id);
        submission.gang_cardinality = submission.gang_minimum = pods;
    }
    auto_mem struct world_submission *all = mem_alloc_array(pods, sizeof(*all));
    for (uint32_t i = 0; i < pods; i++) {
        all[i] = submission;
    }
    world_submit(p->world, all, pods);
}

static int64_t arrival_ms(const struct playing *p, size_t index)
{
    int64_t since_s = p->trace->jobs.items[index].submit_s - p->options->from_s;

    return since_s * MS_PER_S;
}

static void plan_arrival(struct playing *p)
{
    if (p->next < p->count) {
        agenda_add(&p->world->agenda, arrival_ms(p, p->next), WORLD_ARRIVAL, 0);
    }
}

static void arrive(struct playing *p)
{
    while (p->next < p->count && arrival_ms(p, p->next) <= p->world->now_ms) {
        submit(p, p->next++);
    }
    plan_arrival(p);
}

/* Note how things stand: 1 when all is over. */
static int sample(struct playing *p, struct err *err)
{
    int rc = tally_sample(p->tally, err);
    if (rc < 0) {
        return rc;
    }
    if (p->options->progress) {
        p->options->progress(p->options->ctx, p->world, p->tally);
    }
    agenda_add(&p->world->agenda, p->world->now_ms + p->options->sample_ms,
               WORLD_SAMPLE, 0);
    return tally_is_over(p->tally, p->next < p->count);
}

static int go_on(struct playing *p, struct err *err)
{
    struct agenda_entry entry;
    int rc;

    plan_arrival(p);
    agenda_add(&p->world->agenda, p->options->sample_ms, WORLD_SAMPLE, 0);
    while ((rc = world_run(p->world, INT64_MAX, &entry, err)) == 1) {
        if (entry.kind == WORLD_ARRIVAL) {
            arrive(p);
            continue;
        }
        rc = sample(p, err);
        if (rc != 0) {
            return rc < 0 ? rc : 0;
        }
    }
    return rc;
}

/* Which jobs of the trace are played. */
static void choose_jobs(struct playing *p)
{
    const struct fleet_options *options = p->options;
    const struct fleet_job *jobs = p->trace->jobs.items;

    while (p->next < p->count && jobs[p->next].submit_s < options->from_s) {
        p->next++;
    }
    while (options->until_s > 0 && p->count > p->next &&
           jobs[p->count - 1].submit_s >= options->until_s) {
        p->count--;
    }
    if (options->job_limit > 0 && options->job_limit < p->count - p->next) {
        p->count = p->next + options->job_limit;
    }
}

/* Nothing could be said of a part without a job. */
static int refuse_empty(const struct fleet_trace *trace,
                        const struct fleet_options *options, struct err *err)
{
    enum { HOUR_S = 3600 };
    int64_t last_s = trace->jobs.count
                         ? trace->jobs.items[trace->jobs.count - 1].submit_s
                         : 0;

    return err_set(err, -ERR_INVALID,
                   "the trace has no job in that part, from %" PRId64
                   " h on; the last is after %" PRId64 " h",
                   options->from_s / HOUR_S, last_s / HOUR_S);
}

int fleet_play(const struct fleet_trace *trace,
               const struct fleet_options *options, struct tally *tally,
               struct world **ret_world, struct err *err)
{
    struct playing p = {
        .trace = trace,
        .options = options,
        .tally = tally,
        .count = trace->jobs.count,
    };

    choose_jobs(&p);
    if (p.next == p.count) {
        return refuse_empty(trace, options, err);
    }
    int rc = set_up(&p, err);
    if (rc == 0) {
        rc = go_on(&p, err);
    }
    map_fini(&p.kind_of);
    intern_fini(&p.queues);
    VEC_FREE(&p.clusters);
    VEC_FREE(&p.homes);
    if (rc < 0) {
        world_destroy(p.world);
        tally_fini(tally);
        return rc;
    }
    *ret_world = p.world;
    return 0;
}
