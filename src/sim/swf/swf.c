#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>

#include "sim/swf/swf_private.h"
#include "sim/world/cluster.h"

enum {
    SLOWDOWN_FLOOR_S = 10,
    PROGRESS_JOBS = 256,
    CANDIDATES_MAX = 1000000000,
    MILLION = 1000000,
};

/* The other clock hardly moves: nobody is silent. */
#define SILENCE_MS (INT64_C(30) * 24 * 3600 * MS_PER_S)

/* Setting up. */

static void set_policy(struct policy *policy, const struct swf_options *options)
{
    struct pool_policy *pool = &policy->pools[0];

    policy_defaults(policy);
    policy->schema.column_count = 1;
    policy->schema.columns[0].name = STR("cpu");
    policy->schema.columns[0].unit_milli = MS_PER_S; /* whole processors */
    policy->lookback_max = 0;
    policy->unacknowledged_max = MILLION;
    policy->balance_period_ms = 1;
    policy->executor_timeout_ms = policy->executor_lost_timeout_ms = SILENCE_MS;
    policy->classes[0].queue_limit_count = 0;
    policy->is_fair_share_preemption_off = true;
    policy->is_urgency_preemption_off = true;
    pool_policy_apply(pool, PROFILE_BERTH);
    pool->admitted_window = pool->admitted_window_per_queue = 1;
    pool->has_backfill = options->policy != SWF_FCFS;
    pool->is_strict = options->policy == SWF_FCFS;
    pool->backfill_order = options->policy == SWF_SJBF ? BACKFILL_SHORTEST_FIRST
                                                       : BACKFILL_IN_ORDER;
    pool->backfill_candidates_max = CANDIDATES_MAX;
}

static void add_machine(struct swf_playing *p)
{
    struct cluster_options options = {.name = STR("machine"),
                                      .pool = STR("default")};
    struct resource_amount total = {STR("cpu"),
                                    (int64_t)p->options->processors * MS_PER_S};
    struct node_record node = {
        .name = STR("node"), .pool = STR("default"), .total = {&total, 1}};
    struct cluster *cluster = cluster_create(p->world, &options);

    cluster_add_node(cluster, &node);
    cluster_open(cluster);
}

static void on_started(void *ctx, uint32_t job)
{
    struct swf_playing *p = ctx;
    const struct swf_options *options = p->options;
    int64_t origin_s = p->log->jobs.items[0].submit_s;

    p->log->jobs.items[job].start_s = origin_s + p->world->now_ms / MS_PER_S;
    p->started_count++;
    if (p->started) {
        p->started(p->ctx, job);
    }
    if (options->progress && p->started_count % PROGRESS_JOBS == 0) {
        options->progress(options->ctx, p->started_count);
    }
}

static int set_up(struct swf_playing *p, struct err *err)
{
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    struct world_config config = {
        .policy = policy,
        .is_wall_stepped = true,
        .watch = {.ctx = p, .started = on_started},
    };

    set_policy(policy, p->options);
    p->world = world_create(&config, err);
    if (!p->world) {
        return -ERR_UNAVAILABLE;
    }
    world_add_queue(p->world, STR("log"), 1, STR(""));
    add_machine(p);
    return world_step(p->world, err) < 0 ? -ERR_UNAVAILABLE : 0;
}

/* The kind of jobs with that many processors and that estimate. */
static uint32_t kind_of(struct swf_playing *p, const struct swf_job *job)
{
    struct key128 key = {job->processors, (uint64_t)job->estimate_s};
    uint32_t kind = map_find(&p->kind_of, key);
    struct resource_amount cpu = {STR("cpu"),
                                  (int64_t)job->processors * MS_PER_S};
    struct world_kind of = {
        .queue = STR("log"),
        .job_set = STR("log"),
        .requirement =
            {
                .priority_class = STR("armada-default"),
                .requests = {&cpu, 1},
                .lifetime_ms = LIFETIME_INFINITE,
                /* 0 would be none */
                .deadline_ms =
                    job->estimate_s > 0 ? job->estimate_s * MS_PER_S : 1,
            },
    };

    if (kind == MAP_NONE) {
        kind = world_add_kind(p->world, &of);
        map_put(&p->kind_of, key, kind);
    }
    return kind;
}

int64_t swf_arrival_ms(const struct swf_playing *p, size_t job)
{
    const struct swf_job *jobs = p->log->jobs.items;

    return (jobs[job].submit_s - jobs[0].submit_s) * MS_PER_S;
}

void swf_submit(struct swf_playing *p, size_t count)
{
    while (count > 0) {
        struct world_submission batch[256];
        uint32_t n = 0;
        for (; n < ARRAY_COUNT(batch) && count > 0; n++, count--) {
            const struct swf_job *job = &p->log->jobs.items[p->next++];
            batch[n] = (struct world_submission){
                .kind = kind_of(p, job),
                .run_ms = p->started ? SWF_NEVER_MS : job->run_s * MS_PER_S};
        }
        world_submit(p->world, batch, n);
    }
}

/* The convention `instant`. */

static void plan_arrival(struct swf_playing *p)
{
    if (p->next < p->log->jobs.count) {
        agenda_add(&p->world->agenda, swf_arrival_ms(p, p->next), WORLD_ARRIVAL,
                   0);
    }
}

static int play_instant(struct swf_playing *p, struct err *err)
{
    struct agenda_entry entry;
    int rc;

    plan_arrival(p);
    while ((rc = world_run(p->world, INT64_MAX, &entry, err)) == 1) {
        size_t end = p->next;
        while (end < p->log->jobs.count &&
               swf_arrival_ms(p, end) == p->world->now_ms) {
            end++;
        }
        swf_submit(p, end - p->next);
        plan_arrival(p);
    }
    return rc;
}

int swf_play(struct swf_log *log, const struct swf_options *options,
             struct err *err)
{
    struct swf_playing p = {.log = log, .options = options};

    if (log->jobs.count == 0) {
        return 0;
    }
    int rc = set_up(&p, err);
    if (rc == 0) {
        rc = options->convention == SWF_SC15 ? swf_play_sc15(&p, err)
                                             : play_instant(&p, err);
    }
    world_destroy(p.world);
    map_fini(&p.kind_of);
    return rc;
}

/* The figures. */

static void set_digest(const struct swf_log *log, char ret_text[17])
{
    EVP_MD_CTX *sha = EVP_MD_CTX_new();
    uint8_t digest[EVP_MAX_MD_SIZE];

    ASSERT(sha && EVP_DigestInit_ex(sha, EVP_sha256(), NULL));
    for (size_t i = 0; i < log->jobs.count; i++) {
        const struct swf_job *job = &log->jobs.items[i];
        char line[64];
        int byte_count =
            snprintf(line, sizeof(line), "%" PRId64 ",%" PRId64 "\n",
                     job->number, job->start_s);
        ASSERT(EVP_DigestUpdate(sha, line, (size_t)byte_count));
    }
    ASSERT(EVP_DigestFinal_ex(sha, digest, NULL));
    EVP_MD_CTX_free(sha);
    for (int i = 0; i < 8; i++) {
        snprintf(ret_text + 2 * i, 3, "%02x", digest[i]);
    }
}

static double slowdown(const struct swf_job *job)
{
    int64_t floor_s =
        job->run_s > SLOWDOWN_FLOOR_S ? job->run_s : SLOWDOWN_FLOOR_S;
    double value =
        (double)(job->start_s - job->submit_s + job->run_s) / (double)floor_s;

    return value > 1 ? value : 1;
}

void swf_sum(const struct swf_log *log, const struct swf_options *options,
             struct swf_result *ret_result)
{
    struct swf_result result = {.job_count = log->jobs.count};
    int64_t end_s = 0;
    double area = 0;

    for (size_t i = 0; i < log->jobs.count; i++) {
        const struct swf_job *job = &log->jobs.items[i];
        int64_t wait_s = job->start_s - job->submit_s;
        result.sum_wait_s += wait_s;
        result.mean_bounded_slowdown += slowdown(job);
        result.started_at_once_count += wait_s == 0;
        area += (double)job->processors * (double)job->run_s;
        end_s = job->start_s + job->run_s > end_s ? job->start_s + job->run_s
                                                  : end_s;
    }
    if (log->jobs.count > 0) {
        result.makespan_s = end_s - log->jobs.items[0].submit_s;
        result.mean_bounded_slowdown /= (double)log->jobs.count;
    }
    if (result.makespan_s > 0) {
        result.utilisation =
            area / ((double)result.makespan_s * (double)options->processors);
    }
    set_digest(log, result.digest);
    *ret_result = result;
}
