#include "job/due/job_action.h"

#include "job/due/retry.h"
#include "job/table/jobs_private.h"

#define TEXT_RETRY_ENDS " - this job will no longer be retried"

/* One question, while it is answered. */
struct deciding {
    const struct jobs *jobs;
    const struct job_rules *rules;
    struct arena *arena;
    uint32_t job;
    struct job_view view;
    const struct extra_row *extra; /* or NULL */
    struct job_decisions *out;
};

static struct event *add(struct job_decisions *out, enum event_type type,
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

static void begin(struct job_decisions *out, const struct job_view *view)
{
    out->scope =
        (struct event_scope){.queue = view->queue, .job_set = view->job_set};
    out->event_count = 0;
}

static struct str text_of(const struct deciding *d, uint32_t index)
{
    return intern_get(&d->jobs->strings, index);
}

static struct str arena_format(struct arena *arena, const char *format,
                               struct str a, struct str b)
{
    auto_strbuf text = {0};

    strbuf_addf(&text, format, STR_ARG(a), STR_ARG(b));
    return arena_str(arena, strbuf_str(&text));
}

static void decide_priority(struct deciding *d)
{
    struct event *event =
        add(d->out, EVENT_REPRIORITISED, &d->view, d->rules->now_ms);

    event->reprioritise.priority = d->extra->priority;
    event->reprioritise.requestor = text_of(d, d->extra->priority_user);
}

static void decide_cancel(struct deciding *d)
{
    struct str user = {0}, reason = {0};
    struct event *event;

    if (d->extra) {
        user = text_of(d, d->extra->cancel_user);
        reason = text_of(d, d->extra->cancel_reason);
    }
    d->out->scope.user = user;
    if (d->view.flags & JOB_FLAG_CANCEL_SET) {
        event = add(d->out, EVENT_CANCEL, &d->view, d->rules->now_ms);
        event->cancel.reason = reason;
    }
    if (job_state_has_run(d->view.state)) {
        event = add(d->out, EVENT_RUN_CANCELLED, &d->view, d->rules->now_ms);
        event->cancel.reason = reason;
        event->cancel.requestor = user;
    }
    event = add(d->out, EVENT_CANCELLED, &d->view, d->rules->now_ms);
    event->cancel.reason = reason;
    event->cancel.requestor = user;
}

static void add_requeued(struct job_decisions *out, const struct job_view *view,
                         int64_t now_ms)
{
    add(out, EVENT_REQUEUED, view, now_ms)->requeued.priority = view->priority;
}

static void decide_failure(struct deciding *d, enum error_kind kind,
                           struct str message, struct str subcategory)
{
    struct event *event = add(d->out, EVENT_FAILED, &d->view, d->rules->now_ms);

    event->error = (struct event_error){
        .kind = kind,
        .is_terminal = true,
        .message = message,
        .category = subcategory.byte_count ? STR("internal") : STR(""),
        .subcategory = subcategory,
    };
}

/* Whether one more try is left, in the view that counts this one too. */
static bool has_tries(const struct deciding *d, uint32_t attempted_count)
{
    return attempted_count <= d->rules->retries_max;
}

static void decide_max_runs(struct deciding *d, const struct strbuf *why,
                            struct str last)
{
    auto_strbuf text = {0};

    strbuf_add_str(&text, strbuf_str(why));
    strbuf_add_text(&text, TEXT_RETRY_ENDS);
    if (last.byte_count) {
        strbuf_addf(&text, "\n\nFinal run error:\n%.*s", STR_ARG(last));
    }
    decide_failure(d, ERROR_MAX_RUNS_EXCEEDED,
                   arena_str(d->arena, strbuf_str(&text)),
                   STR("max-runs-exceeded"));
}

static void decide_no_more_runs(struct deciding *d, struct str last)
{
    auto_strbuf why = {0};

    if (d->view.flags & JOB_FLAG_FAIL_FAST) {
        strbuf_add_text(&why, "Job has fail fast flag set");
    } else {
        strbuf_addf(&why, "Maximum number of attempts (%u) reached",
                    d->rules->retries_max + 1);
    }
    decide_max_runs(d, &why, last);
}

static void decide_after_return(struct deciding *d)
{
    bool is_fail_fast = d->view.flags & JOB_FLAG_FAIL_FAST;

    if (!is_fail_fast && has_tries(d, d->view.attempted_count)) {
        add_requeued(d->out, &d->view, d->rules->now_ms);
    } else {
        decide_no_more_runs(d, text_of(d, d->extra->error_message));
    }
}

/* Why the policy lets a failure be the end. */
static void put_verdict(struct strbuf *text, const struct deciding *d,
                        const struct retry_answer *answer)
{
    const struct retry_policy *policy = d->rules->retry;

    strbuf_add_text(text, "Retry policy: ");
    switch (answer->cause) {
    case RETRY_BY_RULE:
        strbuf_addf(text, "rule %u of policy %.*s says Fail", answer->rule + 1,
                    STR_ARG(policy->name));
        break;
    case RETRY_BY_DEFAULT:
        strbuf_addf(text,
                    "no rule of policy %.*s matches, and its default is "
                    "Fail",
                    STR_ARG(policy->name));
        break;
    case RETRY_LIMIT:
        strbuf_addf(text, "the limit of policy %.*s (%u) is reached",
                    STR_ARG(policy->name), policy->limit);
        break;
    case RETRY_GLOBAL_LIMIT:
        strbuf_addf(text, "the limit of all policies (%u) is reached",
                    d->rules->policy_retries_max);
        break;
    }
}

/* The failure as a policy sees it; the job's runs have failed so often. */
static struct retry_failure failure_of(const struct deciding *d,
                                       const struct event_error *error,
                                       uint32_t failure_count)
{
    return (struct retry_failure){
        .category = error->category,
        .subcategory = error->subcategory,
        .message = error->message,
        .exit_code = d->extra ? d->extra->error_exit_code : 0,
        .failure_count = failure_count,
    };
}

/* Let the retry policy decide about a failure, if there is one: false if there
 * is none.  Members of gangs are not tried again one by one. */
static bool decide_by_policy(struct deciding *d,
                             const struct event_error *error,
                             uint32_t failure_count)
{
    auto_strbuf text = {0};

    if (!d->rules->retry || d->view.gang_index != JOBS_NONE ||
        (d->view.flags & JOB_FLAG_FAIL_FAST)) {
        return false;
    }
    struct retry_failure failure = failure_of(d, error, failure_count);
    struct retry_answer answer =
        retry_decide(d->rules->retry, d->rules->policy_retries_max, &failure);
    struct event *event = add(d->out, EVENT_FAILED, &d->view, d->rules->now_ms);
    event->error = *error;
    event->error.retry_policy = d->rules->retry->name;
    event->error.is_terminal = !answer.is_retry;
    if (answer.is_retry) {
        add_requeued(d->out, &d->view, d->rules->now_ms);
        d->out->events[d->out->event_count - 1].requeued.avoids_node =
            answer.avoids_node;
        if (answer.delay_ms > 0) {
            event = add(d->out, EVENT_HOLD_CHANGED, &d->view, d->rules->now_ms);
            event->hold.set = JOB_HOLD_UNTIL;
            event->hold.begin_ms = d->rules->now_ms + answer.delay_ms;
        }
        return true;
    }
    put_verdict(&text, d, &answer);
    strbuf_addf(&text, "\n\nFinal run error:\n%.*s", STR_ARG(error->message));
    event->error.kind = ERROR_MAX_RUNS_EXCEEDED;
    event->error.message = arena_str(d->arena, strbuf_str(&text));
    return true;
}

static const struct event_error lease_expired = {
    .kind = ERROR_LEASE_EXPIRED,
    .is_terminal = true,
    .message = {"Lease expired", sizeof("Lease expired") - 1},
    .category = {"internal", sizeof("internal") - 1},
    .subcategory = {"lease-expired", sizeof("lease-expired") - 1},
};

/* After its executor was lost; `attempted_count` has this run in it. */
static void decide_after_loss(struct deciding *d, uint32_t attempted_count)
{
    if (!(d->view.flags & JOB_FLAG_REQUEUE_LOST) &&
        decide_by_policy(d, &lease_expired, attempted_count)) {
        return;
    }
    if (!(d->view.flags & JOB_FLAG_REQUEUE_LOST)) {
        decide_failure(d, ERROR_LEASE_EXPIRED, STR("Lease expired"),
                       STR("lease-expired"));
    } else if (has_tries(d, attempted_count)) {
        add_requeued(d->out, &d->view, d->rules->now_ms);
    } else {
        decide_no_more_runs(d, STR("Lease expired"));
    }
}

static void decide_loss(struct deciding *d)
{
    struct event *event =
        add(d->out, EVENT_RUN_ERRORS, &d->view, d->rules->now_ms);

    event->error = lease_expired;
    decide_after_loss(d, d->view.attempted_count + 1);
}

/* Whether a pod of a group that ended badly is replaced: an auxiliary one, or
 * one to which something was done. */
static bool is_replaced(const struct deciding *d)
{
    struct group_view group;
    struct job_digest digest;

    if (d->view.gang_index == JOBS_NONE ||
        (d->view.flags & JOB_FLAG_FAIL_FAST) ||
        !jobs_group(d->jobs, d->view.gang_index, &group)) {
        return false;
    }
    jobs_digest(d->jobs, d->job, &digest);
    bool is_auxiliary = digest.sub_group < group.terms.sub_group_count &&
                        group.terms.sub_groups[digest.sub_group].is_auxiliary;
    return (is_auxiliary || d->extra->error_is_foreign) &&
           has_tries(d, d->view.attempted_count + 1);
}

static void decide_after_failure(struct deciding *d)
{
    if (is_replaced(d)) {
        add_requeued(d->out, &d->view, d->rules->now_ms);
        return;
    }
    const struct event_error error = {
        .kind = (enum error_kind)d->extra->error_kind,
        .message = text_of(d, d->extra->error_message),
        .category = text_of(d, d->extra->error_category),
        .subcategory = text_of(d, d->extra->error_subcategory),
        .exit_code = d->extra->error_exit_code,
    };
    if (decide_by_policy(d, &error, d->view.attempted_count + 1)) {
        return;
    }
    decide_failure(d, (enum error_kind)d->extra->error_kind,
                   text_of(d, d->extra->error_message), STR(""));
    d->out->events[d->out->event_count - 1].error.encoded =
        text_of(d, d->extra->error);
}

static void add_preempted_end(struct job_decisions *out,
                              const struct job_view *view, struct str reason,
                              int64_t now_ms)
{
    if (view->flags & JOB_FLAG_REQUEUE_PREEMPTED) {
        add_requeued(out, view, now_ms);
        return;
    }
    add(out, EVENT_FAILED, view, now_ms)->error = (struct event_error){
        .kind = ERROR_PREEMPTED, .is_terminal = true, .message = reason};
}

static void add_preemption(struct job_decisions *out,
                           const struct job_view *view, struct str reason,
                           int64_t now_ms)
{
    add(out, EVENT_RUN_PREEMPTED, view, now_ms)->preempted.reason = reason;
    add(out, EVENT_RUN_ERRORS, view, now_ms)->error = (struct event_error){
        .kind = ERROR_PREEMPTED, .is_terminal = true, .message = reason};
    add_preempted_end(out, view, reason, now_ms);
}

static struct str preemption_text(const struct deciding *d)
{
    struct str user = text_of(d, d->extra->preempt_user);
    struct str reason = text_of(d, d->extra->preempt_reason);

    if (user.byte_count && reason.byte_count) {
        return arena_format(d->arena, "Preempted by %.*s - %.*s", user, reason);
    }
    if (user.byte_count) {
        return arena_format(d->arena, "Preempted by %.*s%.*s", user, STR(""));
    }
    return reason.byte_count ? reason
                             : STR("Preempted - preemption requested via API");
}

static void decide_preemption(struct deciding *d)
{
    struct str user = text_of(d, d->extra->preempt_user);

    d->out->scope.user = user;
    uint32_t first = d->out->event_count;
    add_preemption(d->out, &d->view, preemption_text(d), d->rules->now_ms);
    d->out->events[first].preempted.requestor = user;
}

static void decide_success(struct deciding *d)
{
    add(d->out, EVENT_SUCCEEDED, &d->view, d->rules->now_ms);
}

static void decide_after_expiry(struct deciding *d)
{
    decide_after_loss(d, d->view.attempted_count);
}

static void decide_after_preemption(struct deciding *d)
{
    add_preempted_end(d->out, &d->view,
                      d->extra ? text_of(d, d->extra->error_message)
                               : STR("Preempted"),
                      d->rules->now_ms);
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
    decide_failure(d, ERROR_RECONCILIATION,
                   arena_str(d->arena, strbuf_str(&text)), STR("dependency"));
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
    if (held.begin_ms <= d->rules->now_ms) {
        cleared |= held.holds & JOB_HOLD_UNTIL;
    }
    if (held.is_broken) {
        decide_broken(d, &held);
    } else if (held.wait_until_ms && held.wait_until_ms <= d->rules->now_ms &&
               d->view.run_count == 0) {
        decide_failure(d, ERROR_RECONCILIATION,
                       STR("It did not start within the time that "
                           "berth.dev/maxWaitSeconds allows"),
                       STR("max-wait"));
    } else if (cleared) {
        add(d->out, EVENT_HOLD_CHANGED, &d->view, d->rules->now_ms)
            ->hold.cleared = cleared;
    }
}

/* A run that is alive goes on, unless it is lost or to be preempted. */
static void decide_on_run(struct deciding *d)
{
    if (d->view.flags & JOB_FLAG_LOST) {
        decide_loss(d);
    } else if (d->view.flags & JOB_FLAG_PREEMPT) {
        decide_preemption(d);
    }
}

/* What a state makes due for a job that nobody cancels; NULL: nothing. */
static void (*const due[JOB_STATE_COUNT])(struct deciding *d) = {
    [JOB_QUEUED] = decide_on_waiting,
    [JOB_LEASED] = decide_on_run,
    [JOB_PENDING] = decide_on_run,
    [JOB_RUNNING] = decide_on_run,
    [JOB_RUN_SUCCEEDED] = decide_success,
    [JOB_RUN_FAILED] = decide_after_failure,
    [JOB_RUN_RETURNED] = decide_after_return,
    [JOB_RUN_EXPIRED] = decide_after_expiry,
    [JOB_RUN_PREEMPTED] = decide_after_preemption,
    [JOB_RUN_CANCELLED] = decide_cancel,
};

static void ask(struct deciding *d, uint32_t job)
{
    uint32_t extra = d->jobs->rows.items[job].extra;

    d->job = job;
    jobs_get(d->jobs, job, &d->view);
    d->extra = extra == JOBS_NONE ? NULL : &d->jobs->extras.items[extra];
    begin(d->out, &d->view);
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
    begin(ret_decisions, &view);
    struct event *event = add(ret_decisions, EVENT_LEASED, &view, now_ms);
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

static void preempt(const struct job_view *view, struct str reason,
                    struct job_id preempting, int64_t now_ms,
                    struct job_decisions *ret_decisions)
{
    ASSERT(job_state_has_run(view->state));
    begin(ret_decisions, view);
    add_preemption(ret_decisions, view, reason, now_ms);
    ret_decisions->events[0].preempted.preempting_job = preempting;
}

void job_preempt(const struct jobs *jobs, uint32_t job, struct str reason,
                 struct job_id preempting, int64_t now_ms,
                 struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    preempt(&view, reason, preempting, now_ms, ret_decisions);
}

void job_recall(const struct jobs *jobs, uint32_t job, struct str reason,
                struct job_id preempting, int64_t now_ms,
                struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    view.flags |= JOB_FLAG_REQUEUE_PREEMPTED;
    preempt(&view, reason, preempting, now_ms, ret_decisions);
}

void job_refuse(const struct jobs *jobs, uint32_t job, enum error_kind kind,
                struct str message, int64_t now_ms,
                struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    ASSERT(view.state == JOB_QUEUED);
    begin(ret_decisions, &view);
    struct event *event = add(ret_decisions, EVENT_FAILED, &view, now_ms);
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
    decide_max_runs(&d, &why,
                    d.extra ? text_of(&d, d.extra->error_message)
                            : (struct str){0});
}

void job_end(const struct jobs *jobs, uint32_t job, struct str reason,
             int64_t now_ms, struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    ASSERT(job_state_has_run(view.state) || view.state == JOB_QUEUED);
    begin(ret_decisions, &view);
    if (job_state_has_run(view.state)) {
        add(ret_decisions, EVENT_RUN_CANCELLED, &view, now_ms)->cancel.reason =
            reason;
    }
    add(ret_decisions, EVENT_CANCELLED, &view, now_ms)->cancel.reason = reason;
}
