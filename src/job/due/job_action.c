#include "job/due/job_action.h"

#include "job/table/jobs_private.h"

#define TEXT_RETRY_ENDS " - this job will no longer be retried"

/* One question, while it is answered. */
struct owing {
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

static struct str text_of(const struct owing *o, uint32_t index)
{
    return intern_get(&o->jobs->strings, index);
}

static struct str arena_format(struct arena *arena, const char *format,
                               struct str a, struct str b)
{
    auto_strbuf text = {0};

    strbuf_addf(&text, format, STR_ARG(a), STR_ARG(b));
    return arena_str(arena, strbuf_str(&text));
}

static void owe_priority(struct owing *o)
{
    struct event *event =
        add(o->out, EVENT_REPRIORITISED, &o->view, o->rules->now_ms);

    event->reprioritise.priority = o->extra->priority;
    event->reprioritise.requestor = text_of(o, o->extra->priority_user);
}

static void owe_cancel(struct owing *o)
{
    struct str user = {0}, reason = {0};
    struct event *event;

    if (o->extra) {
        user = text_of(o, o->extra->cancel_user);
        reason = text_of(o, o->extra->cancel_reason);
    }
    o->out->scope.user = user;
    if (o->view.flags & JOB_FLAG_CANCEL_SET) {
        event = add(o->out, EVENT_CANCEL, &o->view, o->rules->now_ms);
        event->cancel.reason = reason;
    }
    if (job_state_has_run(o->view.state)) {
        event = add(o->out, EVENT_RUN_CANCELLED, &o->view, o->rules->now_ms);
        event->cancel.reason = reason;
        event->cancel.requestor = user;
    }
    event = add(o->out, EVENT_CANCELLED, &o->view, o->rules->now_ms);
    event->cancel.reason = reason;
    event->cancel.requestor = user;
}

static void add_requeued(struct job_decisions *out, const struct job_view *view,
                         int64_t now_ms)
{
    add(out, EVENT_REQUEUED, view, now_ms)->requeued.priority = view->priority;
}

static void owe_failure(struct owing *o, enum error_kind kind,
                        struct str message, struct str subcategory)
{
    struct event *event = add(o->out, EVENT_FAILED, &o->view, o->rules->now_ms);

    event->error = (struct event_error){
        .kind = kind,
        .is_terminal = true,
        .message = message,
        .category = subcategory.byte_count ? STR("internal") : STR(""),
        .subcategory = subcategory,
    };
}

/* Whether one more try is left, in the view that counts this one too. */
static bool has_tries(const struct owing *o, uint32_t attempted_count)
{
    return attempted_count <= o->rules->retries_max;
}

static void owe_max_runs(struct owing *o, const struct strbuf *why,
                         struct str last)
{
    auto_strbuf text = {0};

    strbuf_add_str(&text, strbuf_str(why));
    strbuf_add_text(&text, TEXT_RETRY_ENDS);
    if (last.byte_count) {
        strbuf_addf(&text, "\n\nFinal run error:\n%.*s", STR_ARG(last));
    }
    owe_failure(o, ERROR_MAX_RUNS_EXCEEDED,
                arena_str(o->arena, strbuf_str(&text)),
                STR("max-runs-exceeded"));
}

static void owe_no_more_runs(struct owing *o, struct str last)
{
    auto_strbuf why = {0};

    if (o->view.flags & JOB_FLAG_FAIL_FAST) {
        strbuf_add_text(&why, "Job has fail fast flag set");
    } else {
        strbuf_addf(&why, "Maximum number of attempts (%u) reached",
                    o->rules->retries_max + 1);
    }
    owe_max_runs(o, &why, last);
}

static void owe_after_return(struct owing *o)
{
    bool is_fail_fast = o->view.flags & JOB_FLAG_FAIL_FAST;

    if (!is_fail_fast && has_tries(o, o->view.attempted_count)) {
        add_requeued(o->out, &o->view, o->rules->now_ms);
    } else {
        owe_no_more_runs(o, text_of(o, o->extra->error_message));
    }
}

/* After its executor was lost; `attempted_count` has this run in it. */
static void owe_after_loss(struct owing *o, uint32_t attempted_count)
{
    if (!(o->view.flags & JOB_FLAG_REQUEUE_LOST)) {
        owe_failure(o, ERROR_LEASE_EXPIRED, STR("Lease expired"),
                    STR("lease-expired"));
    } else if (has_tries(o, attempted_count)) {
        add_requeued(o->out, &o->view, o->rules->now_ms);
    } else {
        owe_no_more_runs(o, STR("Lease expired"));
    }
}

static void owe_loss(struct owing *o)
{
    struct event *event =
        add(o->out, EVENT_RUN_ERRORS, &o->view, o->rules->now_ms);

    event->error = (struct event_error){
        .kind = ERROR_LEASE_EXPIRED,
        .is_terminal = true,
        .message = STR("Lease expired"),
        .category = STR("internal"),
        .subcategory = STR("lease-expired"),
    };
    owe_after_loss(o, o->view.attempted_count + 1);
}

/* Whether a pod of a group that ended badly is replaced: an auxiliary one, or
 * one to which something was done. */
static bool is_replaced(const struct owing *o)
{
    struct group_view group;
    struct job_digest digest;

    if (o->view.gang_index == JOBS_NONE ||
        (o->view.flags & JOB_FLAG_FAIL_FAST) ||
        !jobs_group(o->jobs, o->view.gang_index, &group)) {
        return false;
    }
    jobs_digest(o->jobs, o->job, &digest);
    bool is_auxiliary = digest.sub_group < group.terms.sub_group_count &&
                        group.terms.sub_groups[digest.sub_group].is_auxiliary;
    return (is_auxiliary || o->extra->error_is_foreign) &&
           has_tries(o, o->view.attempted_count + 1);
}

static void owe_run_failure(struct owing *o)
{
    if (is_replaced(o)) {
        add_requeued(o->out, &o->view, o->rules->now_ms);
        return;
    }
    owe_failure(o, (enum error_kind)o->extra->error_kind,
                text_of(o, o->extra->error_message), STR(""));
    o->out->events[o->out->event_count - 1].error.encoded =
        text_of(o, o->extra->error);
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

static struct str preemption_text(const struct owing *o)
{
    struct str user = text_of(o, o->extra->preempt_user);
    struct str reason = text_of(o, o->extra->preempt_reason);

    if (user.byte_count && reason.byte_count) {
        return arena_format(o->arena, "Preempted by %.*s - %.*s", user, reason);
    }
    if (user.byte_count) {
        return arena_format(o->arena, "Preempted by %.*s%.*s", user, STR(""));
    }
    return reason.byte_count ? reason
                             : STR("Preempted - preemption requested via API");
}

static void owe_preemption(struct owing *o)
{
    struct str user = text_of(o, o->extra->preempt_user);

    o->out->scope.user = user;
    uint32_t first = o->out->event_count;
    add_preemption(o->out, &o->view, preemption_text(o), o->rules->now_ms);
    o->out->events[first].preempted.requestor = user;
}

/* The fate of a job whose run has ended, or of one that is lost or to be
 * preempted. */
static void owe_fate(struct owing *o)
{
    switch ((int)o->view.state) {
    case JOB_RUN_SUCCEEDED:
        add(o->out, EVENT_SUCCEEDED, &o->view, o->rules->now_ms);
        return;
    case JOB_RUN_FAILED:
        owe_run_failure(o);
        return;
    case JOB_RUN_RETURNED:
        owe_after_return(o);
        return;
    case JOB_RUN_EXPIRED:
        owe_after_loss(o, o->view.attempted_count);
        return;
    case JOB_RUN_PREEMPTED:
        add_preempted_end(o->out, &o->view,
                          o->extra ? text_of(o, o->extra->error_message)
                                   : STR("Preempted"),
                          o->rules->now_ms);
        return;
    default:
        break;
    }
    if (!job_state_has_run(o->view.state)) {
        return;
    }
    if (o->view.flags & JOB_FLAG_LOST) {
        owe_loss(o);
    } else if (o->view.flags & JOB_FLAG_PREEMPT) {
        owe_preemption(o);
    }
}

static void ask(struct owing *o, uint32_t job)
{
    uint32_t extra = o->jobs->rows.items[job].extra;

    o->job = job;
    jobs_get(o->jobs, job, &o->view);
    o->extra = extra == JOBS_NONE ? NULL : &o->jobs->extras.items[extra];
    begin(o->out, &o->view);
}

void job_owed(const struct jobs *jobs, uint32_t job,
              const struct job_rules *rules, struct arena *arena,
              struct job_decisions *ret_decisions)
{
    struct owing o = {
        .jobs = jobs, .rules = rules, .arena = arena, .out = ret_decisions};

    ask(&o, job);
    if (o.view.flags & JOB_FLAG_PRIORITY) {
        owe_priority(&o);
    }
    if (o.view.flags & JOB_FLAG_CANCEL || o.view.state == JOB_RUN_CANCELLED) {
        owe_cancel(&o);
    } else {
        owe_fate(&o);
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
    struct owing o = {
        .jobs = jobs, .rules = &rules, .arena = arena, .out = ret_decisions};
    auto_strbuf why = {0};

    ask(&o, job);
    ASSERT(o.view.state == JOB_QUEUED);
    strbuf_addf(&why,
                "Job was attempted %u times, and has been tried once on all "
                "nodes it can run on",
                o.view.attempted_count);
    owe_max_runs(&o, &why,
                 o.extra ? text_of(&o, o.extra->error_message)
                         : (struct str){0});
}

void job_end(const struct jobs *jobs, uint32_t job, struct str reason,
             int64_t now_ms, struct job_decisions *ret_decisions)
{
    struct job_view view;

    jobs_get(jobs, job, &view);
    begin(ret_decisions, &view);
    if (job_state_has_run(view.state)) {
        add(ret_decisions, EVENT_RUN_CANCELLED, &view, now_ms)->cancel.reason =
            reason;
    }
    add(ret_decisions, EVENT_CANCELLED, &view, now_ms)->cancel.reason = reason;
}
