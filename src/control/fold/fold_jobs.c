/* Reports a change of a job to the scheduler, to its executor and to listeners.
 */
#include "control/fold/executors.h"
#include "control/fold/fold.h"
#include "control/fold/health.h"
#include "control/fold/run_times.h"
#include "control/state/state.h"
#include "control/state/transitions.h"

/* The node that a job which goes back to its queue must avoid. */
static uint32_t node_to_avoid(struct control *c, uint32_t job,
                              enum job_state before, const struct event *event)
{
    struct job_tried tried[JOBS_TRIED_MAX];
    uint32_t count = before == JOB_RUN_RETURNED || event->requeued.avoids_node
                         ? jobs_tried(c->jobs, job, tried)
                         : 0;

    if (count == 0) {
        return SCHED_NONE;
    }
    uint32_t node = pools_node_index(c->pools, tried[count - 1].executor_id,
                                     tried[count - 1].node_name);
    return node == pools_job_node(c->pools, job) ? node : SCHED_NONE;
}

static void on_submitted(struct control *c, uint32_t job,
                         const struct log_item *item, uint64_t seq)
{
    struct job_digest digest;

    job_handles_make(c, job, item->scope.queue);
    if (c->handles.items[job].is_planned) {
        fold_unproven(c, job);
    }
    c->metrics.submitted_count++;
    if (digest_unpack(item->event.submit.digest, &digest) != 0) {
        return;
    }
    if (digest.gang_id.byte_count) {
        VEC_PUSH(&c->fresh_members, job);
    }
    if (digest.client_id.byte_count) {
        struct key128 key =
            dedup_key(c->dedup, item->scope.queue, digest.client_id);
        dedup_put(c->dedup, key, item->event.job, seq);
    }
}

static void on_leased(struct control *c, const struct jobs_change *change,
                      const struct event *event)
{
    uint32_t node = pools_node_index(c->pools, event->leased.executor_id,
                                     event->leased.node_name);

    /* One run at a time, and it is this job's. */
    ASSERT(pools_job_node(c->pools, change->job) == SCHED_NONE);
    ASSERT_SLOW(jobs_find_run(c->jobs, event->run) == change->job);
    pools_job_lease(c->pools, change->job, node, event->leased.priority,
                    event->created_ms, true);
    if (event->leased.is_backfilled) {
        pools_job_age_from(c->pools, change->job, event->created_ms);
    }
    if (event->leased.excess_charge > 0) {
        pools_job_charge(c->pools, change->job, event->leased.pool,
                         event->leased.excess_charge);
    }
    uint32_t head = jobs_find(c->jobs, event->leased.revocable_for);
    if (head != JOBS_NONE) {
        pools_job_yield(c->pools, change->job, head,
                        event->leased.yields_at_once,
                        event->leased.yields_from_ms);
    }
    note_run_began(c, change->run, event->leased.executor_id, event->run);
    c->metrics.leased_count++;
    if (c->state == CONTROL_LEADING && c->config.hooks.leased) {
        c->config.hooks.leased(c->config.hooks.ctx, event->job,
                               event->created_ms);
    }
}

void fold_admission(struct control *c, const struct event *event)
{
    uint32_t job = jobs_find(c->jobs, event->job);

    if (job == JOBS_NONE) {
        return;
    }
    if (event->type == EVENT_ADMITTED) {
        int64_t start_ms = event->admitted.start_ms;
        pools_job_admit(c->pools, job, event->admitted.pool,
                        start_ms > 0 ? start_ms : SCHED_START_UNKNOWN,
                        event->admitted.excess_charge);
    } else {
        pools_job_dismiss(c->pools, job);
    }
}

static void on_ended(struct control *c, const struct jobs_change *change)
{
    c->metrics.succeeded_count += change->after == JOB_SUCCEEDED;
    c->metrics.failed_count +=
        change->after == JOB_FAILED || change->after == JOB_REJECTED;
    c->metrics.cancelled_count += change->after == JOB_CANCELLED;
    c->metrics.preempted_count += change->after == JOB_PREEMPTED;
    if (change->after == JOB_SUCCEEDED) {
        pools_job_succeeded(c->pools, change->job);
    }
    job_handles_drop(c, change->job);
}

/* For the metrics; before the planner is told. */
static void count_transition(struct control *c,
                             const struct jobs_change *change,
                             const struct log_item *item)
{
    struct str pool = {0};
    uint32_t queue;

    if (change->before == change->after || c->state != CONTROL_LEADING) {
        return;
    }
    if (change->before != JOB_NONE &&
        !c->handles.items[change->job].is_planned) {
        queue = c->handles.items[change->job].queue;
    } else if (change->before != JOB_NONE) {
        uint32_t node = pools_job_node(c->pools, change->job);
        queue = c->handles.items[change->job].queue;
        pool = node == SCHED_NONE ? pool : pools_node_pool(c->pools, node);
    } else {
        queue = queue_find(c, item->scope.queue);
    }
    if (item->event.type == EVENT_LEASED) {
        pool = item->event.leased.pool;
    }
    if (queue == INTERN_NONE) {
        return;
    }
    transitions_count(c, queue, pool, change);
    if (change->after == JOB_LEASED && item->event.leased.attempt == 0) {
        transitions_waited(
            c, queue, item->event.created_ms - job_id_time_ms(item->event.job));
    }
    if (change->before == JOB_NONE && change->after == JOB_QUEUED &&
        c->unplanned_since_ns == 0) {
        c->unplanned_since_ns = control_mono_ns(c);
    }
}

void note_finished(struct control *c, uint32_t job, enum job_state state)
{
    if ((state == JOB_RUN_SUCCEEDED || state == JOB_RUN_FAILED ||
         state == JOB_RUN_CANCELLED) &&
        pools_job_node(c->pools, job) != SCHED_NONE) {
        pools_job_finished(c->pools, job);
    }
}

/* Tell who listens of jobs that came to an end without a run's report. */
static void tell_end(struct control *c, const struct jobs_change *change,
                     const struct event *event)
{
    const struct control_hooks *hooks = &c->config.hooks;

    if (change->before == change->after || c->state != CONTROL_LEADING) {
        return;
    }
    if (change->after == JOB_REJECTED && hooks->rejected) {
        hooks->rejected(hooks->ctx, event->job, event->error.message);
    }
    if (change->after == JOB_FAILED && change->before == JOB_QUEUED &&
        hooks->left_out) {
        hooks->left_out(hooks->ctx, event->job);
    }
    if (change->after == JOB_CANCELLED && hooks->cancelled) {
        hooks->cancelled(hooks->ctx, event->job);
    }
}

/* A job that has run once has shown that it fits; but one that failed to start
 * avoids some nodes. */
static void note_requeued(struct control *c, uint32_t job)
{
    struct job_tried tried[JOBS_TRIED_MAX];

    if (jobs_tried(c->jobs, job, tried) > 0) {
        fold_unproven(c, job);
    } else {
        jobs_set_unproven(c->jobs, job, false);
    }
}

/* Tell the scheduler what a job is now; whether that calls for a plan. */
static bool feed_change(struct control *c, const struct jobs_change *change,
                        const struct log_item *item, uint64_t seq)
{
    const struct event *event = &item->event;

    if (job_state_is_ended(change->after)) {
        on_ended(c, change);
    } else if (event->type == EVENT_SUBMIT) {
        on_submitted(c, change->job, item, seq);
    } else if (event->type == EVENT_LEASED) {
        on_leased(c, change, event);
        return false; /* a plan's own work wants no plan */
    } else if (event->type == EVENT_REQUEUED) {
        pools_job_requeue(c->pools, change->job,
                          node_to_avoid(c, change->job, change->before, event));
        note_requeued(c, change->job);
        /* What waits again has given its place back. */
        ASSERT(pools_job_node(c->pools, change->job) == SCHED_NONE);
        c->metrics.requeued_count++;
    } else if (change->after == JOB_RUNNING && change->before != JOB_RUNNING) {
        c->is_balance_wanted |= pools_job_started(c->pools, change->job);
        jobs_run_started(c->jobs, change->job,
                         pools_job_age_of(c->pools, change->job));
        return false;
    } else if (event->type == EVENT_HOLD_CHANGED) {
        if (job_handles_sync(c, change->job)) {
            fold_unproven(c, change->job);
        }
    } else if (event->type == EVENT_REPRIORITISED) {
        if (c->handles.items[change->job].is_planned) {
            pools_job_reprioritise(c->pools, change->job,
                                   event->reprioritise.priority);
        }
    } else if (event->type == EVENT_RECLASSIFIED) {
        job_handles_renew(c, change->job);
    } else {
        return false;
    }
    return true;
}

void fold_job_change(struct control *c, const struct jobs_change *change,
                     const struct log_item *item, uint64_t seq)
{
    const struct event *event = &item->event;

    ASSERT(seq > c->seq); /* the record is not of the state yet */
    health_note(c, change, event);
    if (change->before == JOB_RUNNING) {
        run_times_fold(c, change, event);
        note_finished(c, change->job, change->after);
    }
    count_transition(c, change, item);
    run_change_note(c, change, event);
    tell_end(c, change, event);
    if (feed_change(c, change, item, seq)) {
        c->is_plan_wanted = c->is_balance_wanted = true;
    }
}
