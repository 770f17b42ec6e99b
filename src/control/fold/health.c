/* Failing nodes: notes the ends of runs, and folds the logged decisions
 * (model.md 6.10b). */
#include "control/fold/health.h"

#include "base/hash.h"
#include "control/fold/executors.h"
#include "control/state/state.h"

/* What a run's end says of its node. */
enum sign {
    SIGN_NOTHING, /* the executor's, an operator's or the job's own doing */
    SIGN_GOOD,
    SIGN_EXIT, /* of the node or of the program */
    SIGN_BAD,
};

static enum sign sign_of_error(const struct event_error *error)
{
    if (error->cause == CAUSE_EVICTED ||
        str_equal(error->subcategory, STR("pod-missing"))) {
        return SIGN_BAD;
    }
    if (str_equal(error->category, STR("internal"))) {
        return SIGN_NOTHING; /* stopped, refused, or the server's fault */
    }
    return error->cause == CAUSE_DEADLINE_EXCEEDED ? SIGN_GOOD : SIGN_EXIT;
}

static enum sign sign_of(const struct jobs_change *change,
                         const struct event *event)
{
    if (!job_state_has_run(change->before)) {
        return SIGN_NOTHING;
    }
    switch ((int)change->after) {
    case JOB_RUN_SUCCEEDED:
        return SIGN_GOOD;
    case JOB_RUN_RETURNED:
        return SIGN_BAD; /* it did not start */
    case JOB_RUN_FAILED:
        return sign_of_error(&event->error);
    default:
        return SIGN_NOTHING;
    }
}

static uint64_t hash_of_set(const struct control *c, uint32_t job)
{
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    uint64_t seed = hash_bytes(view.queue.p, view.queue.byte_count, 0);
    return hash_bytes(view.job_set.p, view.job_set.byte_count, seed);
}

/* Whether an earlier run of the job came to nothing on another node. */
static bool failed_elsewhere(const struct control *c, uint32_t job,
                             const struct job_run *run)
{
    struct job_tried tried[JOBS_TRIED_MAX];
    uint32_t count = jobs_tried(c->jobs, job, tried);

    for (uint32_t i = 0; i < count; i++) {
        if (!str_equal(tried[i].node_name, run->node_name) ||
            !str_equal(tried[i].executor_id, run->executor_id)) {
            return true;
        }
    }
    return false;
}

void health_note(struct control *c, const struct jobs_change *change,
                 const struct event *event)
{
    enum sign sign = sign_of(change, event);
    struct job_run run;

    if (sign == SIGN_NOTHING) {
        return;
    }
    if (pools_job_node(c->pools, change->job) == SCHED_NONE) {
        return; /* a foreign log */
    }
    jobs_get_run(c->jobs, change->job, &run);
    bool is_failed =
        sign == SIGN_BAD ||
        (sign == SIGN_EXIT && !failed_elsewhere(c, change->job, &run));
    struct sched_outcome outcome = {
        .pool = run.pool,
        .is_failed = is_failed,
        .is_exit = sign == SIGN_EXIT,
        .job_set = is_failed ? hash_of_set(c, change->job) : 0,
    };
    pools_run_ended(c->pools, change->job, &outcome);
}

static void set_health(struct control *c, struct str executor_id,
                       const struct event *event)
{
    uint32_t node =
        pools_node_index(c->pools, executor_id, event->health.node_name);
    struct sched_health health = {
        .health = event->health.health,
        .is_pinned = event->health.is_pinned,
        .until_ms = event->health.until_ms,
        .probation_ms = event->health.probation_ms,
        .reason = event->health.reason,
    };

    pools_health_set(c->pools, node, &health);
}

/* An operator's word is for nodes that are there. */
static void set_where_it_is(struct control *c, const struct event *event)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        bool is_meant =
            executor && (event->health.executor_id.byte_count == 0 ||
                         str_equal(executor->id, event->health.executor_id));
        if (is_meant && intern_find(&executor->node_names,
                                    event->health.node_name) != INTERN_NONE) {
            set_health(c, executor->id, event);
        }
    }
}

void health_fold(struct control *c, const struct event *event)
{
    if (event->health.executor_id.byte_count > 0 && !event->health.is_pinned) {
        set_health(c, event->health.executor_id, event);
    } else {
        set_where_it_is(c, event);
    }
    c->metrics.quarantined_count = pools_health_count(c->pools, NODE_OUT);
    c->metrics.trial_count = pools_health_count(c->pools, NODE_TRIAL);
    c->node_generation++;
    c->is_plan_wanted = c->is_balance_wanted = true;
}
