/* Reports a change of a run to the planner (run and gang) and to its executor.
 */
#include "control/fold/executors.h"
#include "control/fold/fold.h"
#include "control/state/state.h"

/* Where a pod is may be another node of the pool than it was leased for: its
 * executor found that one short of room (BK-11). */
static void note_node(struct control *c, const struct jobs_change *change,
                      const struct event *event)
{
    struct job_run run;
    struct str name = event->pod.node_name;

    if ((event->type != EVENT_RUN_ASSIGNED &&
         event->type != EVENT_RUN_RUNNING) ||
        !name.byte_count ||
        pools_job_node(c->pools, change->job) == SCHED_NONE) {
        return;
    }
    jobs_get_run(c->jobs, change->job, &run);
    if (str_equal(name, run.node_name)) {
        return;
    }
    const struct control_executor *executor =
        control_find_executor(c, run.executor_id);
    if (!executor || intern_find(&executor->node_names, name) == INTERN_NONE) {
        return;
    }
    uint32_t node = pools_node_index(c->pools, run.executor_id, name);
    uint32_t from = pools_job_node(c->pools, change->job);
    if (str_equal(pools_node_pool(c->pools, node),
                  pools_node_pool(c->pools, from))) {
        pools_job_repack(c->pools, change->job, node);
        ASSERT(pools_job_node(c->pools, change->job) == node);
        jobs_run_moved(c->jobs, change->job, name);
    }
}

/* Its gang is frozen from now on; before the job may go. */
static void note_scaled(struct control *c, uint32_t job,
                        const struct event *event)
{
    bool is_growth = event->type == EVENT_LEASED && event->leased.is_growth;
    bool is_truncated =
        event->type == EVENT_RUN_PREEMPTED && event->preempted.is_scaling;

    if (is_growth || is_truncated) {
        pools_gang_scaled(c->pools, job, event->created_ms);
    }
}

/* It takes nothing for fairness for a while; before the job may go. */
static void note_cooldown(struct control *c, uint32_t job,
                          const struct event *event)
{
    bool took = event->type == EVENT_LEASED && event->leased.is_by_share;
    bool gave =
        event->type == EVENT_RUN_PREEMPTED && event->preempted.is_yielding;

    if (took || gave) {
        pools_job_cooldown(c->pools, job);
    }
}

/* What it has run was lost for fairness, or since it had promised to give way;
 * before the job may go. */
static void note_lost(struct control *c, uint32_t job,
                      const struct event *event)
{
    if (event->type == EVENT_RUN_PREEMPTED &&
        (event->preempted.is_by_share || event->preempted.is_yielding)) {
        pools_job_lost(c->pools, job);
    }
}

/* A run that is reported for the first time, or that its executor must stop. */
static void note_run(struct control *c, const struct jobs_change *change,
                     const struct event *event)
{
    if (change->before == JOB_LEASED && change->after != JOB_LEASED) {
        note_run_acknowledged(c, change->run);
    }
    if (change->before != change->after &&
        (change->after == JOB_RUN_CANCELLED ||
         change->after == JOB_RUN_PREEMPTED ||
         change->after == JOB_RUN_EXPIRED)) {
        note_run_unwanted(c, change->run, event->run);
    }
}

void run_change_note(struct control *c, const struct jobs_change *change,
                     const struct event *event)
{
    note_node(c, change, event);
    note_scaled(c, change->job, event);
    note_cooldown(c, change->job, event);
    note_lost(c, change->job, event);
    note_run(c, change, event);
}
