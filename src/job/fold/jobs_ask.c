/* Notes requests of users and the loss of executors; the leader then decides
 * about them (job_action.h). */
#include "job/table/jobs_private.h"

/* The job that a user's command names, if it is of that queue and job set:
 * the right to command was checked for these. */
static uint32_t find_in_scope(const struct jobs *jobs,
                              const struct event_scope *scope, struct job_id id)
{
    struct str queue, job_set;
    uint32_t job = jobs_find(jobs, id);

    if (job == JOBS_NONE) {
        return JOBS_NONE;
    }
    set_get(jobs, jobs->rows.items[job].set, &queue, &job_set);
    return str_equal(queue, scope->queue) && str_equal(job_set, scope->job_set)
               ? job
               : JOBS_NONE;
}

static void set_flag(struct jobs *jobs, uint32_t job, enum job_flag flag)
{
    row_will_change(jobs, job);
    jobs->rows.items[job].flags |= (uint16_t)flag;
    jobs_mark_dirty(jobs, job);
}

static void ask_priority(struct jobs *jobs, uint32_t job, uint32_t priority,
                         struct str user)
{
    struct job_row *row = &jobs->rows.items[job];

    if (row->priority == priority) {
        /* This also takes back an earlier request that has not been met yet. */
        row_will_change(jobs, job);
        row->flags &= (uint16_t)~JOB_FLAG_PRIORITY;
        return;
    }
    struct extra_row *extra = extra_of(jobs, job);
    extra->priority = priority;
    extra_set(jobs, &extra->priority_user, user);
    set_flag(jobs, job, JOB_FLAG_PRIORITY);
}

static void ask_cancel(struct jobs *jobs, uint32_t job, struct str user,
                       struct str reason, bool is_by_set)
{
    if (jobs->rows.items[job].flags & JOB_FLAG_CANCEL) {
        return;
    }
    struct extra_row *extra = extra_of(jobs, job);
    extra_set(jobs, &extra->cancel_user, user);
    extra_set(jobs, &extra->cancel_reason, reason);
    set_flag(jobs, job, JOB_FLAG_CANCEL);
    if (is_by_set) {
        set_flag(jobs, job, JOB_FLAG_CANCEL_SET);
    }
}

static void ask_preempt_one(struct jobs *jobs, uint32_t job, struct str user,
                            struct str reason)
{
    struct job_row *row = &jobs->rows.items[job];

    if (!job_state_has_run((enum job_state)row->state) ||
        (row->flags & JOB_FLAG_PREEMPT)) {
        return;
    }
    struct extra_row *extra = extra_of(jobs, job);
    extra_set(jobs, &extra->preempt_user, user);
    extra_set(jobs, &extra->preempt_reason, reason);
    set_flag(jobs, job, JOB_FLAG_PREEMPT);
}

/* A waiting job and one of a class that is not preempted stay as they are; a
 * gang goes with its member. */
static bool ask_preempt(struct jobs *jobs, uint32_t job, struct str user,
                        struct str reason)
{
    const struct job_row *row = &jobs->rows.items[job];

    if (!job_state_has_run((enum job_state)row->state) ||
        !jobs_is_preemptible(jobs, job)) {
        return false;
    }
    if (row->gang == JOBS_NONE) {
        ask_preempt_one(jobs, job, user, reason);
        return true;
    }
    const struct gang_row *gang = &jobs->gang_rows.items[row->gang];
    for (size_t i = 0; i < gang->members.count; i++) {
        ASSERT(jobs->rows.items[gang->members.items[i]].gang == row->gang);
        ask_preempt_one(jobs, gang->members.items[i], user, reason);
    }
    return true;
}

static bool state_matches(enum job_state state, enum state_set states)
{
    switch ((int)state) {
    case JOB_QUEUED:
        return states & STATE_SET_QUEUED;
    case JOB_LEASED:
        return states & STATE_SET_LEASED;
    case JOB_PENDING:
        return states & STATE_SET_PENDING;
    default: /* a run that has just ended counts as running */
        return states & STATE_SET_RUNNING;
    }
}

static enum jobs_answer on_set_command(struct jobs *jobs,
                                       const struct event_scope *scope,
                                       const struct event *event)
{
    uint32_t set = set_find(jobs, scope->queue, scope->job_set);

    if (set == INTERN_NONE) {
        return JOBS_LATE;
    }
    uint32_t job = jobs->set_lists.items[set].first;
    for (; job != JOBS_NONE; job = jobs->rows.items[job].set_next) {
        ASSERT(jobs->rows.items[job].set == set);
        enum job_state state = (enum job_state)jobs->rows.items[job].state;
        if (event->type == EVENT_REPRIORITISE_SET) {
            ask_priority(jobs, job, event->reprioritise.priority, scope->user);
        } else if (state_matches(state, event->cancel.states)) {
            ask_cancel(jobs, job, scope->user, event->cancel.reason, true);
        }
    }
    return JOBS_APPLIED;
}

static enum jobs_answer on_command(struct jobs *jobs,
                                   const struct event_scope *scope,
                                   const struct event *event)
{
    uint32_t job = find_in_scope(jobs, scope, event->job);

    if (job == JOBS_NONE) {
        return JOBS_LATE;
    }
    if (event->type == EVENT_REPRIORITISE) {
        ask_priority(jobs, job, event->reprioritise.priority, scope->user);
    } else if (event->type == EVENT_CANCEL) {
        ask_cancel(jobs, job, scope->user, event->cancel.reason, false);
        /* `cancelling` has just been said. */
        row_will_change(jobs, job);
        jobs->rows.items[job].flags &= (uint16_t)~JOB_FLAG_CANCEL_SET;
    } else {
        ask_preempt(jobs, job, scope->user, event->cancel.reason);
    }
    return JOBS_APPLIED;
}

static bool list_matches(const struct str *items, uint32_t count,
                         bool is_empty_any, struct str wanted)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(items[i], wanted)) {
            return true;
        }
    }
    return count == 0 && is_empty_any;
}

static bool selection_matches(const struct jobs *jobs, uint32_t job,
                              const struct event *event)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    if (!list_matches(event->selection.queues, event->selection.queue_count,
                      false, view.queue) ||
        !list_matches(event->selection.priority_classes,
                      event->selection.priority_class_count, true,
                      class_priority_class(view.class_key)) ||
        !state_matches(view.state, event->selection.states)) {
        return false;
    }
    if (event->selection.executor_id.byte_count &&
        (!view.has_run ||
         !str_equal(view.run.executor_id, event->selection.executor_id))) {
        return false;
    }
    if (event->selection.node_name.byte_count &&
        (!view.has_run ||
         !str_equal(view.run.node_name, event->selection.node_name))) {
        return false;
    }
    /* A waiting job has no pool yet, and is of none. */
    return list_matches(event->selection.pools, event->selection.pool_count,
                        true, view.has_run ? view.run.pool : STR(""));
}

static enum jobs_answer on_selection(struct jobs *jobs,
                                     const struct event_scope *scope,
                                     const struct event *event)
{
    for (uint32_t job = 0; job < jobs->rows.count; job++) {
        if (!jobs_is_live(jobs, job) || !selection_matches(jobs, job, event)) {
            continue;
        }
        if (event->selection.action == SELECTION_CANCEL) {
            ask_cancel(jobs, job, scope->user, event->selection.reason, false);
        } else {
            ask_preempt(jobs, job, scope->user, event->selection.reason);
        }
    }
    return JOBS_APPLIED;
}

static enum jobs_answer on_executor_state(struct jobs *jobs,
                                          const struct event *event)
{
    uint32_t job = JOBS_NONE;

    if (event->executor.state != EXECUTOR_LOST) {
        return JOBS_OTHER;
    }
    while ((job = jobs_next_on_executor(jobs, event->executor.name, job)) !=
           JOBS_NONE) {
        set_flag(jobs, job, JOB_FLAG_LOST);
    }
    return JOBS_APPLIED;
}

enum jobs_answer jobs_ask(struct jobs *jobs, const struct event_scope *scope,
                          const struct event *event)
{
    switch ((int)event->type) {
    case EVENT_REPRIORITISE:
    case EVENT_CANCEL:
    case EVENT_PREEMPT:
        return on_command(jobs, scope, event);
    case EVENT_REPRIORITISE_SET:
    case EVENT_CANCEL_SET:
        return on_set_command(jobs, scope, event);
    case EVENT_SELECTION:
        return on_selection(jobs, scope, event);
    case EVENT_EXECUTOR_STATE:
        return on_executor_state(jobs, event);
    default:
        return JOBS_OTHER;
    }
}
