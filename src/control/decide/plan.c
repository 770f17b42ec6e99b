/* Turns the decisions of a plan that are still valid into events of the batch.
 */
#include "control/decide/decide.h"
#include "control/fold/executors.h"
#include "control/state/state.h"

static void add_lease(struct control *c, const struct sched_decision *decision)
{
    struct job_decisions decisions;
    struct job_run run = {
        .executor_id = pools_node_executor(c->pools, decision->node),
        .node_name = pools_node_name(c->pools, decision->node),
        .pool = pools_node_pool(c->pools, decision->node),
        .priority = decision->priority,
        .is_backfilled = decision->is_backfilled,
        .excess_charge = decision->charge,
    };

    if (decision->revocable_for != SCHED_NONE) {
        struct job_view head;
        jobs_get(c->jobs, decision->revocable_for, &head);
        run.revocable_for = head.id;
        run.yields_at_once = decision->yields_at_once;
        run.yields_from_ms = decision->yields_from_ms;
    }
    ASSERT(run.executor_id.byte_count > 0); /* its node is there */
    job_lease(c->jobs, decision->job, &run, c->batch.time_ms, &decisions);
    decisions.events[0].leased.is_growth = decision->is_scaling;
    decisions.events[0].leased.is_by_share = decision->is_by_share;
    batch_add_decisions(&c->batch, &decisions);
    executor_get(c, run.executor_id)->in_batch_count++;
}

static void add_preemption(struct control *c,
                           const struct sched_decision *decision)
{
    struct job_decisions decisions;
    struct job_view preempting = {0};

    if (decision->for_job != SCHED_NONE &&
        jobs_is_live(c->jobs, decision->for_job)) {
        jobs_get(c->jobs, decision->for_job, &preempting);
    }
    ASSERT(decision->for_job != decision->job); /* none makes room for itself */
    struct str reason = preemption_reason(c, decision);
    if (pools_job_is_borrowed(c->pools, decision->job)) {
        job_recall(c->jobs, decision->job, reason, preempting.id,
                   c->batch.time_ms, &decisions);
    } else {
        job_preempt(c->jobs, decision->job, reason, preempting.id,
                    c->batch.time_ms, &decisions);
    }
    decisions.events[0].preempted.is_scaling = decision->is_scaling;
    decisions.events[0].preempted.is_yielding =
        decision->preemption == SCHED_PREEMPT_YIELD;
    decisions.events[0].preempted.is_by_share = decision->is_by_share;
    batch_add_decisions(&c->batch, &decisions);
}

static void add_gang_failure(struct control *c,
                             const struct sched_decision *decision)
{
    struct job_decisions decisions;

    job_refuse(c->jobs, decision->job, ERROR_GANG_UNSCHEDULABLE,
               STR("the gang started with its minimum cardinality, without "
                   "this member"),
               c->batch.time_ms, &decisions);
    batch_add_decisions(&c->batch, &decisions);
}

/* A job is admitted, or no longer. */
static void add_admission(struct control *c,
                          const struct sched_decision *decision)
{
    bool is_admitted = decision->action == SCHED_ADMIT;
    struct job_view view;

    jobs_get(c->jobs, decision->job, &view);
    struct job_decisions decisions = {
        .scope = {view.queue, view.job_set, {0}},
        .event_count = 1,
    };
    struct event *event = &decisions.events[0];
    event->type = is_admitted ? EVENT_ADMITTED : EVENT_DISMISSED;
    event->created_ms = c->batch.time_ms;
    event->job = view.id;
    event->admitted.pool = pools_pool_name(c->pools, decision->pool_index);
    if (is_admitted && decision->start_ms != SCHED_START_UNKNOWN) {
        event->admitted.start_ms = decision->start_ms;
    }
    event->admitted.excess_charge = decision->charge;
    batch_add_decisions(&c->batch, &decisions);
}

/* Whether a decision still stands beside what is in the batch already. */
static bool decision_stands(struct control *c,
                            const struct sched_decision *decision)
{
    const struct policy *policy = &c->policy->policy;

    if (!jobs_is_live(c->jobs, decision->job)) {
        return false;
    }
    enum job_state state = jobs_state(c->jobs, decision->job);
    bool is_touched = batch_is_touched(&c->batch, decision->job);
    if (decision->action == SCHED_PREEMPT) {
        /* A run that has ended, or ends in this batch, makes room too. */
        return true;
    }
    if (decision->action == SCHED_LEASE) {
        const struct control_executor *executor =
            executor_get(c, pools_node_executor(c->pools, decision->node));
        if (policy->unacknowledged_max > 0 &&
            executor->unacknowledged_count + executor->in_batch_count >=
                policy->unacknowledged_max) {
            return false;
        }
    }
    return state == JOB_QUEUED && !is_touched &&
           c->handles.items[decision->job].is_planned;
}

static void add_decision(struct control *c,
                         const struct sched_decision *decision)
{
    bool is_moot = decision->action == SCHED_PREEMPT &&
                   (!job_state_has_run(jobs_state(c->jobs, decision->job)) ||
                    batch_is_touched(&c->batch, decision->job));

    if (is_moot) {
        return;
    }
    /* No job is decided on twice in a batch. */
    ASSERT(!batch_is_touched(&c->batch, decision->job));
    switch (decision->action) {
    case SCHED_LEASE:
        add_lease(c, decision);
        break;
    case SCHED_PREEMPT:
        add_preemption(c, decision);
        break;
    case SCHED_FAIL:
        add_gang_failure(c, decision);
        break;
    case SCHED_ADMIT:
    case SCHED_DISMISS:
        add_admission(c, decision);
        return; /* another may follow */
    }
    batch_touch(&c->batch, decision->job);
}

/* Count how long a run has run that is preempted; nothing before it began. */
static void count_lost(struct control *c, const struct sched_decision *decision)
{
    struct job_view view;

    if (decision->action != SCHED_PREEMPT) {
        return;
    }
    jobs_get(c->jobs, decision->job, &view);
    if (view.has_run && view.run.started_ms) {
        round_counts_lost(&c->metrics.rounds, decision,
                          c->batch.time_ms - view.run.started_ms);
    }
}

bool batch_add_plan(struct control *c, const struct sched_plan *plan)
{
    uint32_t begin = 0;

    round_counts_plan(&c->metrics.rounds, plan);
    while (begin < plan->decision_count) {
        uint32_t end = begin;
        bool stands = true;
        uint32_t group = plan->decisions[begin].group;
        for (;
             end < plan->decision_count && plan->decisions[end].group == group;
             end++) {
            stands &= decision_stands(c, &plan->decisions[end]);
        }
        if (!stands) {
            return false;
        }
        /* A group is whole: none of its decisions stands further on. */
        ASSERT(end == plan->decision_count ||
               plan->decisions[end].group > group);
        round_counts_group(&c->metrics.rounds, &plan->decisions[begin],
                           end - begin);
        for (; begin < end; begin++) {
            count_lost(c, &plan->decisions[begin]);
            add_decision(c, &plan->decisions[begin]);
        }
    }
    return true;
}
