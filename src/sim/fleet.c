#include "sim/fleet.h"

#include "base/hash.h"
#include "sim/cluster.h"

enum { MS_PER_S = 1000, MILLI = 1000, START_MS = 2000 };

/* A trace while it is played. */
struct playing {
    const struct fleet_trace *trace;
    const struct fleet_options *options;
    struct tally *tally;
    struct world *world;
    struct map kind_of; /* by queue and GPUs of a pod */
    struct map queues;  /* by hash of the name */
    size_t next, count; /* jobs */
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
    for (size_t i = 0; i < p->count; i++) {
        struct str name = p->trace->jobs.items[i].queue;
        struct key128 key = key_of_u64(hash_bytes(name.p, name.byte_count, 0));
        if (map_find(&p->queues, key) == MAP_NONE) {
            map_put(&p->queues, key, p->queues.count);
            world_add_queue(p->world, name, 1, STR(""));
        }
    }
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
    add_pool(p);
    tally_begin(p->tally, p->world, 0);
    int rc = world_step(p->world, err);
    return rc < 0 ? rc : 0;
}

/* The kind of a queue's pods with so many GPUs. */
static uint32_t kind_of(struct playing *p, struct str queue, uint32_t gpu_count)
{
    struct key128 key = {gpu_count, hash_bytes(queue.p, queue.byte_count, 0)};
    uint32_t kind = map_find(&p->kind_of, key);
    struct resource_amount gpus = {STR("nvidia.com/gpu"),
                                   (int64_t)gpu_count * MILLI};
    struct world_kind of = {
        .queue = queue,
        .job_set = STR("trace"),
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

/* Submit a job: alone, or as a gang of as few equal pods as nodes hold. */
static void submit(struct playing *p, size_t index)
{
    const struct fleet_job *job = &p->trace->jobs.items[index];
    uint32_t pods = (job->gpu_count + FLEET_NODE_GPUS - 1) / FLEET_NODE_GPUS;
    auto_strbuf id = {0};

    while (job->gpu_count % pods != 0) {
        pods++;
    }
    struct world_submission submission = {
        .kind = kind_of(p, job->queue, job->gpu_count / pods),
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

static void plan_arrival(struct playing *p)
{
    if (p->next < p->count) {
        agenda_add(&p->world->agenda,
                   p->trace->jobs.items[p->next].submit_s * MS_PER_S,
                   WORLD_ARRIVAL, 0);
    }
}

static void arrive(struct playing *p)
{
    while (p->next < p->count &&
           p->trace->jobs.items[p->next].submit_s * MS_PER_S <=
               p->world->now_ms) {
        submit(p, p->next++);
    }
    plan_arrival(p);
}

/* Note how things stand: 1 when all is over. */
static int sample(struct playing *p, struct err *err)
{
    struct control_metrics metrics;

    int rc = tally_sample(p->tally, err);
    if (rc < 0) {
        return rc;
    }
    if (p->options->progress) {
        p->options->progress(p->options->ctx, p->world, p->tally);
    }
    control_metrics(p->world->control, &metrics);
    agenda_add(&p->world->agenda, p->world->now_ms + p->options->sample_ms,
               WORLD_SAMPLE, 0);
    return p->next == p->count && metrics.job_count == 0 &&
           p->tally->running_count == 0;
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

    if (options->job_limit > 0 && options->job_limit < p.count) {
        p.count = options->job_limit;
    }
    int rc = set_up(&p, err);
    if (rc == 0) {
        rc = go_on(&p, err);
    }
    map_fini(&p.kind_of);
    map_fini(&p.queues);
    if (rc < 0) {
        world_destroy(p.world);
        tally_fini(tally);
        return rc;
    }
    *ret_world = p.world;
    return 0;
}
