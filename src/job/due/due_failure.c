/* What is due after a run failed, was returned, or was lost. */
#include "job/due/due_private.h"
#include "job/due/retry.h"
#include "job/table/jobs_private.h"

#define TEXT_RETRY_ENDS " - this job will no longer be retried"

void due_fail(struct deciding *d, enum error_kind kind, struct str message,
              struct str subcategory)
{
    struct event *event =
        due_add(d->out, EVENT_FAILED, &d->view, d->rules->now_ms);

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

void due_fail_for_runs(struct deciding *d, const struct strbuf *why,
                       struct str last)
{
    auto_strbuf text = {0};

    strbuf_add_str(&text, strbuf_str(why));
    strbuf_add_text(&text, TEXT_RETRY_ENDS);
    if (last.byte_count) {
        strbuf_addf(&text, "\n\nFinal run error:\n%.*s", STR_ARG(last));
    }
    due_fail(d, ERROR_MAX_RUNS_EXCEEDED, arena_str(d->arena, strbuf_str(&text)),
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
    due_fail_for_runs(d, &why, last);
}

void due_after_return(struct deciding *d)
{
    bool is_fail_fast = d->view.flags & JOB_FLAG_FAIL_FAST;

    if (!is_fail_fast && has_tries(d, d->view.attempted_count)) {
        due_add_requeued(d->out, &d->view, d->rules->now_ms);
    } else {
        decide_no_more_runs(d, due_text(d, d->extra->error_message));
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
    struct event *event =
        due_add(d->out, EVENT_FAILED, &d->view, d->rules->now_ms);
    event->error = *error;
    event->error.retry_policy = d->rules->retry->name;
    event->error.is_terminal = !answer.is_retry;
    if (answer.is_retry) {
        due_add_requeued(d->out, &d->view, d->rules->now_ms);
        d->out->events[d->out->event_count - 1].requeued.avoids_node =
            answer.avoids_node;
        if (answer.delay_ms > 0) {
            event =
                due_add(d->out, EVENT_HOLD_CHANGED, &d->view, d->rules->now_ms);
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
        due_fail(d, ERROR_LEASE_EXPIRED, STR("Lease expired"),
                 STR("lease-expired"));
    } else if (has_tries(d, attempted_count)) {
        due_add_requeued(d->out, &d->view, d->rules->now_ms);
    } else {
        decide_no_more_runs(d, STR("Lease expired"));
    }
}

void due_on_loss(struct deciding *d)
{
    struct event *event =
        due_add(d->out, EVENT_RUN_ERRORS, &d->view, d->rules->now_ms);

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

void due_after_failure(struct deciding *d)
{
    if (is_replaced(d)) {
        due_add_requeued(d->out, &d->view, d->rules->now_ms);
        return;
    }
    const struct event_error error = {
        .kind = (enum error_kind)d->extra->error_kind,
        .message = due_text(d, d->extra->error_message),
        .category = due_text(d, d->extra->error_category),
        .subcategory = due_text(d, d->extra->error_subcategory),
        .exit_code = d->extra->error_exit_code,
    };
    if (decide_by_policy(d, &error, d->view.attempted_count + 1)) {
        return;
    }
    due_fail(d, (enum error_kind)d->extra->error_kind,
             due_text(d, d->extra->error_message), STR(""));
    d->out->events[d->out->event_count - 1].error.encoded =
        due_text(d, d->extra->error);
}

void due_after_expiry(struct deciding *d)
{
    decide_after_loss(d, d->view.attempted_count);
}
