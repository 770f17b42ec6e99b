/* What is due when a run is preempted. */
#include "job/due/due_private.h"
#include "job/due/job_action.h"
#include "job/table/jobs_private.h"

static struct str arena_format(struct arena *arena, const char *format,
                               struct str a, struct str b)
{
    auto_strbuf text = {0};

    strbuf_addf(&text, format, STR_ARG(a), STR_ARG(b));
    return arena_str(arena, strbuf_str(&text));
}

static void add_preempted_end(struct job_decisions *out,
                              const struct job_view *view, struct str reason,
                              int64_t now_ms)
{
    if (view->flags & JOB_FLAG_REQUEUE_PREEMPTED) {
        due_add_requeued(out, view, now_ms);
        return;
    }
    due_add(out, EVENT_FAILED, view, now_ms)->error = (struct event_error){
        .kind = ERROR_PREEMPTED, .is_terminal = true, .message = reason};
}

static void add_preemption(struct job_decisions *out,
                           const struct job_view *view, struct str reason,
                           int64_t now_ms)
{
    due_add(out, EVENT_RUN_PREEMPTED, view, now_ms)->preempted.reason = reason;
    due_add(out, EVENT_RUN_ERRORS, view, now_ms)->error = (struct event_error){
        .kind = ERROR_PREEMPTED, .is_terminal = true, .message = reason};
    add_preempted_end(out, view, reason, now_ms);
}

static struct str preemption_text(const struct deciding *d)
{
    struct str user = due_text(d, d->extra->preempt_user);
    struct str reason = due_text(d, d->extra->preempt_reason);

    if (user.byte_count && reason.byte_count) {
        return arena_format(d->arena, "Preempted by %.*s - %.*s", user, reason);
    }
    if (user.byte_count) {
        return arena_format(d->arena, "Preempted by %.*s%.*s", user, STR(""));
    }
    return reason.byte_count ? reason
                             : STR("Preempted - preemption requested via API");
}

void due_preempt(struct deciding *d)
{
    struct str user = due_text(d, d->extra->preempt_user);

    d->out->scope.user = user;
    uint32_t first = d->out->event_count;
    add_preemption(d->out, &d->view, preemption_text(d), d->rules->now_ms);
    d->out->events[first].preempted.requestor = user;
}

void due_after_preemption(struct deciding *d)
{
    add_preempted_end(d->out, &d->view,
                      d->extra ? due_text(d, d->extra->error_message)
                               : STR("Preempted"),
                      d->rules->now_ms);
}

static void preempt(const struct job_view *view, struct str reason,
                    struct job_id preempting, int64_t now_ms,
                    struct job_decisions *ret_decisions)
{
    ASSERT(job_state_has_run(view->state));
    due_begin(ret_decisions, view);
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
