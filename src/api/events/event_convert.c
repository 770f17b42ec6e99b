#include "api/events/event_convert.h"

#include <string.h>

#include "api/events/event_convert_private.h"
#include "model/gang_terms.h"
#include "wire/message/message.h"

/* Facts were checked when they were logged: only their size is bounded. */
static const struct wire_limits fact_limits = {
    .byte_count_max = 64 << 20,
    .field_count_max = 4 << 20,
    .memory_bytes_max = 1u << 30,
    .depth_max = WIRE_DEPTH_MAX,
    .mends_text = true,
};

/* The value stored with the result wins over the sequence's user. */
static char *requestor(struct conversion *c, char *stored)
{
    return *stored ? stored : message_copy(c->arena, c->scope->user);
}

static int convert_submit(struct conversion *c,
                          const Armadaevents__SubmitJob *submit)
{
    Api__JobSubmittedEvent *submitted =
        NEW_EVENT(c, job_submitted_event, submit->job_id);
    Api__JobQueuedEvent *queued =
        NEW_EVENT(c, job_queued_event, submit->job_id);

    submitted->job = event_convert_job(submit, c->scope,
                                       message_time_ms(c->created), c->arena);
    submitted->job->created = c->created;
    int rc = EMIT(c, SUBMITTED, submitted, submitted);
    return rc ? rc : EMIT(c, QUEUED, queued, queued);
}

static int convert_leased(struct conversion *c,
                          const Armadaevents__JobRunLeased *leased)
{
    Api__JobLeasedEvent *event = NEW_EVENT(c, job_leased_event, leased->job_id);

    event->cluster_id = leased->executor_id;
    event->pool = leased->pool;
    return EMIT(c, LEASED, leased, event);
}

static int convert_reprioritise(struct conversion *c,
                                const Armadaevents__ReprioritiseJob *job)
{
    Api__JobReprioritizingEvent *event =
        NEW_EVENT(c, job_reprioritizing_event, job->job_id);

    event->new_priority = job->priority;
    event->requestor = message_copy(c->arena, c->scope->user);
    return EMIT(c, REPRIORITIZING, reprioritizing, event);
}

static int convert_reprioritised(struct conversion *c,
                                 const Armadaevents__ReprioritisedJob *job)
{
    Api__JobReprioritizedEvent *event =
        NEW_EVENT(c, job_reprioritized_event, job->job_id);

    event->new_priority = job->priority;
    event->requestor = requestor(c, job->requestor);
    return EMIT(c, REPRIORITIZED, reprioritized, event);
}

static int convert_cancel(struct conversion *c,
                          const Armadaevents__CancelJob *job)
{
    Api__JobCancellingEvent *event =
        NEW_EVENT(c, job_cancelling_event, job->job_id);

    event->requestor = message_copy(c->arena, c->scope->user);
    return EMIT(c, CANCELLING, cancelling, event);
}

static int convert_cancelled(struct conversion *c,
                             const Armadaevents__CancelledJob *job)
{
    Api__JobCancelledEvent *event =
        NEW_EVENT(c, job_cancelled_event, job->job_id);

    event->requestor = requestor(c, job->requestor);
    /* What people wrote is for the lists of jobs alone, as in Armada; by this
     * one a watcher tells that the group has succeeded. */
    if (job->reason && strcmp(job->reason, GANG_SUCCEEDED_REASON) == 0) {
        event->reason = job->reason;
    }
    return EMIT(c, CANCELLED, cancelled, event);
}

static int
convert_preempt(struct conversion *c,
                const Armadaevents__JobPreemptionRequested *requested)
{
    Api__JobPreemptingEvent *event =
        NEW_EVENT(c, job_preempting_event, requested->job_id);

    event->requestor = message_copy(c->arena, c->scope->user);
    event->reason = requested->reason;
    return EMIT(c, PREEMPTING, preempting, event);
}

static int convert_preempted(struct conversion *c,
                             const Armadaevents__JobRunPreempted *preempted)
{
    Api__JobPreemptedEvent *event =
        NEW_EVENT(c, job_preempted_event, preempted->preempted_job_id);

    event->run_id = preempted->preempted_run_id;
    event->reason = preempted->reason;
    event->preempting_job_id = preempted->preempting_job_id;
    event->requestor = preempted->requestor;
    return EMIT(c, PREEMPTED, preempted, event);
}

/* Most facts show nothing: see 2.2's list of those. */
static int convert(struct conversion *c,
                   const Armadaevents__EventSequence__Event *fact)
{
    switch ((int)fact->event_case) {
#define CASE(name, fn, member)                              \
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_##name: \
        return fn(c, fact->member);
        CASE(SUBMIT_JOB, convert_submit, submitjob)
        CASE(JOB_RUN_LEASED, convert_leased, jobrunleased)
        CASE(JOB_RUN_ASSIGNED, convert_assigned, jobrunassigned)
        CASE(JOB_RUN_RUNNING, convert_running, jobrunrunning)
        CASE(JOB_SUCCEEDED, convert_succeeded, jobsucceeded)
        CASE(JOB_ERRORS, convert_errors, joberrors)
        CASE(JOB_RUN_ERRORS, convert_run_errors, jobrunerrors)
        CASE(REPRIORITISE_JOB, convert_reprioritise, reprioritisejob)
        CASE(REPRIORITISED_JOB, convert_reprioritised, reprioritisedjob)
        CASE(CANCEL_JOB, convert_cancel, canceljob)
        CASE(CANCELLED_JOB, convert_cancelled, cancelledjob)
        CASE(JOB_PREEMPTION_REQUESTED, convert_preempt, jobpreemptionrequested)
        CASE(JOB_RUN_PREEMPTED, convert_preempted, jobrunpreempted)
        CASE(STANDALONE_INGRESS_INFO, convert_ingress, standaloneingressinfo)
        CASE(RESOURCE_UTILISATION, convert_utilisation, resourceutilisation)
#undef CASE
    default:
        return 0;
    }
}

int event_convert(struct str encoded, const struct event_scope *scope,
                  struct arena *arena, event_sink_fn *sink, void *ctx,
                  struct err *err)
{
    ProtobufCMessage *message;
    int rc = wire_decode(&armadaevents__event_sequence__event__descriptor,
                         encoded, &fact_limits, arena, &message, err);

    if (rc < 0) {
        return -ERR_CORRUPT;
    }
    const Armadaevents__EventSequence__Event *fact =
        (const Armadaevents__EventSequence__Event *)message;
    struct conversion c = {
        .scope = scope,
        .created = fact->created ? fact->created : message_time(arena, 0),
        .arena = arena,
        .sink = sink,
        .ctx = ctx,
    };
    return convert(&c, fact);
}
