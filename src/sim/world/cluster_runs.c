/* Runs and their pods, from a lease to the end, by the executors' planner. */
#include "sim/world/cluster_private.h"

static uint32_t run_add(struct cluster *cluster, struct run_id id)
{
    uint32_t run;

    if (cluster->free_runs.count) {
        run = cluster->free_runs.items[--cluster->free_runs.count];
    } else {
        run = (uint32_t)cluster->runs.count;
        VEC_PUSH(&cluster->runs, (struct cluster_run){0});
    }
    *cluster_run_at(cluster, run) = (struct cluster_run){
        .row = {.id = id, .want = RECONCILE_WANT_RUN},
        .due_ms = INT64_MAX,
    };
    map_put(&cluster->run_by_id, id.v, run);
    return run;
}

static void run_forget(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = cluster_run_at(cluster, run);

    map_remove(&cluster->run_by_id, of->row.id.v);
    VEC_PUSH(&cluster->gone, of->row.id);
    of->job = CLUSTER_FREE_RUN;
    of->due_ms = INT64_MAX;
    VEC_PUSH(&cluster->free_runs, run);
}

static void set_due(struct cluster *cluster, uint32_t run, int64_t in_ms)
{
    struct cluster_run *of = cluster_run_at(cluster, run);

    of->due_ms = cluster_now_ms(cluster) + in_ms;
    agenda_add(&cluster->world->agenda, of->due_ms, WORLD_POD_DUE,
               world_pod_id(of->job, cluster->index, run));
}

static void tell_ended(struct cluster *cluster, const struct cluster_run *run)
{
    const struct world_watch *watch = &cluster->world->config.watch;
    bool has_run = run->row.phase != RECONCILE_NEVER && run->started_ms >= 0;
    int64_t ran_ms = has_run ? cluster_now_ms(cluster) - run->started_ms : 0;

    if (watch->ended) {
        watch->ended(watch->ctx, run->job, ran_ms, run->row.is_stopping,
                     has_run);
    }
}

/* The pod is over. */
static void pod_end(struct cluster *cluster, uint32_t run,
                    enum reconcile_phase phase)
{
    struct cluster_run *of = cluster_run_at(cluster, run);
    struct world_job *job = &cluster->world->jobs.items[of->job];

    of->row.phase = phase;
    of->ended_ms = cluster_now_ms(cluster);
    of->due_ms = INT64_MAX;
    if (job->outcome != WORLD_CANCELLED) {
        job->outcome = phase == RECONCILE_SUCCEEDED ? WORLD_SUCCEEDED
                       : !of->row.is_stopping       ? WORLD_FAILED
                       : world_comes_back(cluster->world, job->kind)
                           ? WORLD_RUNNING
                           : WORLD_PREEMPTED;
    }
    if (job->outcome != WORLD_RUNNING) {
        job->ended_ms = cluster_now_ms(cluster);
    }
    tell_ended(cluster, of);
}

static void pod_start(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = cluster_run_at(cluster, run);
    struct world *world = cluster->world;
    struct world_job *job = &world->jobs.items[of->job];

    of->row.phase = RECONCILE_RUNNING;
    of->started_ms = cluster_now_ms(cluster);
    if (job->start_count < UINT16_MAX) {
        job->start_count++;
    }
    if (job->started_ms < 0) {
        job->started_ms = cluster_now_ms(cluster);
    }
    if (world->config.watch.started) {
        world->config.watch.started(world->config.watch.ctx, of->job);
    }
    set_due(cluster, run, job->run_ms);
}

static void pod_create(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = cluster_run_at(cluster, run);

    of->created_ms = cluster_now_ms(cluster);
    of->started_ms = -1;
    of->row.phase = RECONCILE_PENDING;
    VEC_PUSH(&cluster->held, of->row.id);
    if (cluster->nodes.items[of->node].is_down) {
        pod_end(cluster, run, RECONCILE_LOST);
    } else if (cluster->options.start_ms > 0) {
        set_due(cluster, run, cluster->options.start_ms);
    } else {
        pod_start(cluster, run);
    }
}

/* Do what the planner says about a run, until it says nothing more. */
void cluster_plan_run(struct cluster *cluster, uint32_t run)
{
    unsigned actions;

    while (
        (actions = reconcile_row_actions(&cluster_run_at(cluster, run)->row))) {
        struct cluster_run *of = cluster_run_at(cluster, run);
        if (actions & 1u << RECONCILE_STOP) {
            of->row.is_stopping = true;
            if (cluster->options.stop_ms > 0) {
                set_due(cluster, run, cluster->options.stop_ms);
            } else {
                pod_end(cluster, run, RECONCILE_FAILED);
            }
        }
        if (actions & 1u << RECONCILE_REPORT) {
            cluster_report_run(cluster, run);
        }
        if (actions & 1u << RECONCILE_CREATE) {
            pod_create(cluster, run);
        }
        if (actions & 1u << RECONCILE_FORGET) {
            if (of->row.phase == RECONCILE_NEVER) {
                of->row.is_stopping = true;
                tell_ended(cluster, of);
            }
            run_forget(cluster, run);
            return;
        }
    }
}

void cluster_pod_due(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = cluster_run_at(cluster, run);

    if (of->job == CLUSTER_FREE_RUN || of->due_ms != cluster_now_ms(cluster)) {
        return;
    }
    of->due_ms = INT64_MAX;
    if (of->row.is_stopping) {
        pod_end(cluster, run, RECONCILE_FAILED);
    } else if (of->row.phase == RECONCILE_PENDING) {
        pod_start(cluster, run);
    } else {
        bool is_failing = cluster->world->jobs.items[of->job].is_failing;
        pod_end(cluster, run,
                is_failing ? RECONCILE_FAILED : RECONCILE_SUCCEEDED);
    }
    cluster_plan_run(cluster, run);
}

void cluster_end_run(struct cluster *cluster, struct run_id id)
{
    uint32_t run = map_find(&cluster->run_by_id, id.v);

    ASSERT(run != MAP_NONE &&
           cluster_run_at(cluster, run)->row.phase == RECONCILE_RUNNING);
    pod_end(cluster, run, RECONCILE_SUCCEEDED);
    cluster_plan_run(cluster, run);
}

/* What the leader says. */

void cluster_take_lease(struct cluster *cluster,
                        const struct exchange_lease *lease)
{
    uint32_t number = world_job_number(lease->job);
    uint32_t node = intern_find(&cluster->node_names, lease->node_name);

    ASSERT(number < cluster->world->jobs.count && node != INTERN_NONE);
    if (map_find(&cluster->run_by_id, lease->run.v) != MAP_NONE) {
        return; /* held already */
    }
    uint32_t run = run_add(cluster, lease->run);
    cluster_run_at(cluster, run)->job = number;
    cluster_run_at(cluster, run)->node = node;
    cluster_plan_run(cluster, run);
}

void cluster_take_cancel(struct cluster *cluster, struct run_id id)
{
    uint32_t run = map_find(&cluster->run_by_id, id.v);

    if (run != MAP_NONE) {
        cluster_run_at(cluster, run)->row.want = RECONCILE_WANT_STOP;
        cluster_plan_run(cluster, run);
    }
}

void cluster_lose_runs(struct cluster *cluster, uint32_t node)
{
    for (uint32_t i = 0; i < cluster->runs.count; i++) {
        struct cluster_run *run = cluster_run_at(cluster, i);
        if (run->job != CLUSTER_FREE_RUN && run->node == node &&
            run->row.phase != RECONCILE_NEVER &&
            !reconcile_is_ended(run->row.phase)) {
            pod_end(cluster, i, RECONCILE_LOST);
            cluster_plan_run(cluster, i);
        }
    }
}
