#include "job/due/job_action.h"

#include "job/due/due_private.h"
#include "job/table/jobs_private.h"

struct event *due_add(struct job_decisions *out, enum event_type type,
                      const struct job_view *view, int64_t now_ms)
{
    ASSERT(out->event_count < JOB_DECISIONS_MAX);
    struct event *event = &out->events[out->event_count++];

    /* Not an initializer: that leaves members of the union as they were. */
    memset(event, 0, sizeof(*event));
    event->type = type;
    event->created_ms = now_ms;
    event->job = view->id;
    if (view->has_run) {
        event->run = view->run.id;
    }
    return event;
}

void due_begin(struct job_decisions *out, const struct job_view *view)
{
    out->scope =
        (struct event_scope){.queue = view->queue, .job_set = view->job_set};
    out->event_count = 0;
}

struct str due_text(const struct deciding *d, uint32_t index)
{
    return intern_get(&d->jobs->strings, index);
}

static void decide_priority(struct deciding *d)
{
    struct event *event =
        due_add(d->out, EVENT_REPRIORITISED, &d->view, d->rules->now_ms);

    event->reprioritise.priority = d->extra->priority;
    event->reprioritise.requestor = due_text(d, d->extra->priority_user);
}

static void decide_cancel(struct deciding *d)
{
    struct str user = {0}, reason = {0};
    struct event *event;

    if (d->extra) {
        user = due_text(d, d->extra->cancel_user);
        reason = due_text(d, d->extra->cancel_reason);
    }
    d->out->scope.user = user;
    if (d->view.flags & JOB_FLAG_CANCEL_SET) {
        event = due_add(d->out, EVENT_CANCEL, &d->view, d->rules->now_ms);
        event->cancel.reason = reason;
    }
    if (job_state_has_run(d->view.state)) {
        event =
            due_add(d->out, EVENT_RUN_CANCELLED, &d->view, d->rules->now_ms);
        event->cancel.reason = reason;
        event->cancel.requestor = user;
    }
    event = due_add(d->out, EVENT_CANCELLED, &d->view, d->rules->now_ms);
    event->cancel.reason = reason;
    event->cancel.requestor = user;
}

void due_add_requeued(struct job_decisions *out, const struct job_view *view,
                      int64_t now_ms)
{
    due_add(out, EVENT_REQUEUED, view, now_ms)->requeued.priority =
        view->priority;
}

static void decide_success(struct deciding *d)
{
    due_add(d->out, EVENT_SUCCEEDED, &d->view, d->rules->now_ms);
}

/* What it waits for will never be so: it ends. */
static void decide_broken(struct deciding *d, const struct job_held *held)
{
    char id[ID_TEXT_BYTES_MAX];
    auto_strbuf text = {0};

    strbuf_addf(&text, "It depends on job %s %s, and that job %s",
                job_id_format(held->broken.on, id),
                held->broken.want == JOB_WANT_SUCCEEDED ? "succeeding"
                                                        : "failing",
                held->broken_as == JOB_SUCCEEDED   ? "succeeded"
                : held->broken_as == JOB_CANCELLED ? "was cancelled"
                : held->broken_as == JOB_PREEMPTED ? "was preempted"
                : held->broken_as == JOB_REJECTED  ? "was rejected"
                                                   : "failed");
    due_fail(d, ERROR_RECONCILIATION, arena_str(d->arena, strbuf_str(&text)),
             STR("dependency"));
}

/* A job that waits: its time to begin may have come, or to give up. */
static void decide_on_waiting(struct deciding *d)
{
    struct job_held held;
    uint32_t cleared = 0;

    jobs_held(d->jobs, d->job, &held);
    if (held.wait_count == 0) {
        cleared |= held.holds & JOB_HOLD_FOR_JOBS;
    }
    if (held.has_turn) {
        cleared |= held.holds & JOB_HOLD_FOR_TURN;
    }
    if (held.begin_ms <= d->rules->now_ms) {
        cleared |= held.holds & JOB_HOLD_UNTIL;
    }
    if (held.is_broken) {
        decide_broken(d, &held);
    } else if (held.wait_until_ms && held.wait_until_ms <= d->rules->now_ms &&
               d->view.run_count == 0) {
        due_fail(d, ERROR_RECONCILIATION,
                 STR("It did not start within the time that "
                     "berth.dev/maxWaitSeconds allows"),
                 STR("max-wait"));
    } else if (cleared) {
        due_add(d->out, EVENT_HOLD_CHANGED, &d->view, d->rules->now_ms)
            ->hold.cleared = cleared;
    }
}

/* A run that is alive goes on, unless it is lost or to be preempted. */
static void decide_on_run(struct deciding *d)
{
    if (d->view.flags & JOB_FLAG_LOST) {
        due_on_loss(d);
    } else if (d->view.flags & JOB_FLAG_PREEMPT) {
        due_preempt(d);
    }
}

/* What a state makes due for a job that nobody cancels; NULL: nothing. */
static void (*const due[JOB_STATE_COUNT])(struct deciding *d) = {
    [JOB_QUEUED] = decide_on_waiting,
    [JOB_LEASED] = decide_on_run,
    [JOB_PENDING] = decide_on_run,
    [JOB_RUNNING] = decide_on_run,
    [JOB_RUN_SUCCEEDED] = decide_success,
    [JOB_RUN_FAILED] = due_after_failure,
    [JOB_RUN_RETURNED] = due_after_return,
    [JOB_RUN_EXPIRED] = due_after_expiry,
    [JOB_RUN_PREEMPTED] = due_after_preemption,
    [JOB_RUN_CANCELLED] = decide_cancel,
};

static void ask(struct deciding *d, uint32_t job)
{
    uint32_t extra = d->jobs->rows.items[job].extra;

    d->job = job;
    jobs_get(d->jobs, job, &d->view);
    d->extra = extra == JOBS_NONE ? NULL : &d->jobs->extras.items[extra];
    due_begin(d->out, &d->view);
}

void job_due(const struct jobs *jobs, uint32_t job,
             const struct job_rules *rules, struct arena *arena,
             struct job_decisions *ret_decisions)
{
    struct deciding d = {
        .jobs = jobs, .rules = rules, .arena = arena, .out = ret_decisions};

    ask(&d, job);
    if (d.view.flags & JOB_FLAG_PRIORITY) {
        decide_priority(&d);
    }
    if (d.view.flags & JOB_FLAG_CANCEL) {
        decide_cancel(&d);
    } else if (due[d.view.state]) {
        due[d.view.state](&d);
    }
}

void job_lease(const struct jobs *jobs, uint32_t job, const struct job_run *run,
               int64_t now_ms, struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    ASSERT(view.state == JOB_QUEUED);
    due_begin(ret_decisions, &view);
    struct event *event = due_add(ret_decisions, EVENT_LEASED, &view, now_ms);
    event->run = run_id_make(view.id, view.run_count);
    /* A run is started at most once. */
    ASSERT_SLOW(jobs_run_index(jobs, event->run) == JOBS_NONE);
    event->leased.executor_id = run->executor_id;
    event->leased.node_name = run->node_name;
    event->leased.pool = run->pool;
    event->leased.priority = run->priority;
    event->leased.attempt = view.run_count;
    event->leased.is_backfilled = run->is_backfilled;
    event->leased.revocable_for = run->revocable_for;
    event->leased.yields_at_once = run->yields_at_once;
    event->leased.yields_from_ms = run->yields_from_ms;
    event->leased.excess_charge = run->excess_charge;
}

void job_refuse(const struct jobs *jobs, uint32_t job, enum error_kind kind,
                struct str message, int64_t now_ms,
                struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    ASSERT(view.state == JOB_QUEUED);
    due_begin(ret_decisions, &view);
    struct event *event = due_add(ret_decisions, EVENT_FAILED, &view, now_ms);
    event->error = (struct event_error){
        .kind = kind, .is_terminal = true, .message = message};
    if (kind == ERROR_REJECTED) {
        event->error.category = STR("internal");
        event->error.subcategory = STR("job-rejected");
    }
}

void job_give_up(const struct jobs *jobs, uint32_t job, int64_t now_ms,
                 struct arena *arena, struct job_decisions *ret_decisions)
{
    struct job_rules rules = {.now_ms = now_ms};
    struct deciding d = {
        .jobs = jobs, .rules = &rules, .arena = arena, .out = ret_decisions};
    auto_strbuf why = {0};

    ask(&d, job);
    ASSERT(d.view.state == JOB_QUEUED);
    strbuf_addf(&why,
                "Job was attempted %u times, and has been tried once on all "
                "nodes it can run on",
                d.view.attempted_count);
    due_fail_for_runs(&d, &why,
                      d.extra ? due_text(&d, d.extra->error_message)
                              : (struct str){0});
}

void job_end(const struct jobs *jobs, uint32_t job, struct str reason,
             int64_t now_ms, struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    ASSERT(job_state_has_run(view.state) || view.state == JOB_QUEUED);
    due_begin(ret_decisions, &view);
    if (job_state_has_run(view.state)) {
        due_add(ret_decisions, EVENT_RUN_CANCELLED, &view, now_ms)
            ->cancel.reason = reason;
    }
    due_add(ret_decisions, EVENT_CANCELLED, &view, now_ms)->cancel.reason =
        reason;
}
