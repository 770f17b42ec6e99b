/*
 * event_convert_private - what the parts of event_convert share; for
 * event_convert*.c only.
 *
 *     event_convert.c         facts of the leader and of requests
 *     event_convert_job.c     the job in a submission
 *     event_convert_pods.c    facts that executors report
 *     event_convert_errors.c  errors
 *
 * Each conversion gives its events to the sink: 0, or what the sink returned.
 */
#pragma once

#include "api/core/message.h"
#include "api/events/event_convert.h"

/* One fact on its way. */
struct conversion {
    const struct event_scope *scope;
    Google__Protobuf__Timestamp *created;
    struct arena *arena;
    event_sink_fn *sink;
    void *ctx;
};

/* An empty event of each type. */
#define DEFINE_NEW(type, message)                                        \
    static inline Api__##message *new_event_##type(struct conversion *c) \
    {                                                                    \
        return message_new(c->arena, &api__##type##__descriptor);        \
    }
/* Those of 2.2 that have such facts. */
DEFINE_NEW(job_submitted_event, JobSubmittedEvent)
DEFINE_NEW(job_queued_event, JobQueuedEvent)
DEFINE_NEW(job_leased_event, JobLeasedEvent)
DEFINE_NEW(job_lease_returned_event, JobLeaseReturnedEvent)
DEFINE_NEW(job_lease_expired_event, JobLeaseExpiredEvent)
DEFINE_NEW(job_pending_event, JobPendingEvent)
DEFINE_NEW(job_running_event, JobRunningEvent)
DEFINE_NEW(job_failed_event, JobFailedEvent)
DEFINE_NEW(job_succeeded_event, JobSucceededEvent)
DEFINE_NEW(job_reprioritized_event, JobReprioritizedEvent)
DEFINE_NEW(job_reprioritizing_event, JobReprioritizingEvent)
DEFINE_NEW(job_cancelling_event, JobCancellingEvent)
DEFINE_NEW(job_cancelled_event, JobCancelledEvent)
DEFINE_NEW(job_utilisation_event, JobUtilisationEvent)
DEFINE_NEW(job_ingress_info_event, JobIngressInfoEvent)
DEFINE_NEW(job_preempting_event, JobPreemptingEvent)
DEFINE_NEW(job_preempted_event, JobPreemptedEvent)

/* A new event of a type, its four common fields filled in. */
#define NEW_EVENT(c, type, id)                                              \
    __extension__({                                                         \
        __auto_type event_ = new_event_##type(c);                           \
        event_->job_id = (id);                                              \
        event_->job_set_id = message_copy((c)->arena, (c)->scope->job_set); \
        event_->queue = message_copy((c)->arena, (c)->scope->queue);        \
        event_->created = (c)->created;                                     \
        event_;                                                             \
    })

/* Give an event to the sink. */
#define EMIT(c, case_, member, event)                              \
    __extension__({                                                \
        Api__EventMessage message_ = API__EVENT_MESSAGE__INIT;     \
        message_.events_case = API__EVENT_MESSAGE__EVENTS_##case_; \
        message_.member = (event);                                 \
        (c)->sink((c)->ctx, &message_);                            \
    })

/* Copy a map into entries of another type of the same shape. */
#define COPY_MAP(arena, to, from, member_to, member_from, type)               \
    do {                                                                      \
        (to)->member_to = arena_alloc_array((arena), (from)->n_##member_from, \
                                            sizeof(*(to)->member_to));        \
        for (size_t i_ = 0; i_ < (from)->n_##member_from; i_++) {             \
            (to)->member_to[i_] = message_new((arena), &type##__descriptor);  \
            (to)->member_to[i_]->key = (from)->member_from[i_]->key;          \
            (to)->member_to[i_]->value = (from)->member_from[i_]->value;      \
        }                                                                     \
        (to)->n_##member_to = (from)->n_##member_from;                        \
    } while (0)

/* event_convert_pods.c */

/* A pod has a node. */
int convert_assigned(struct conversion *c,
                     const Armadaevents__JobRunAssigned *assigned);
/* It runs. */
int convert_running(struct conversion *c,
                    const Armadaevents__JobRunRunning *running);
/* It has succeeded, and its job with it. */
int convert_succeeded(struct conversion *c,
                      const Armadaevents__JobSucceeded *succeeded);
/* It is reached at addresses. */
int convert_ingress(struct conversion *c,
                    const Armadaevents__StandaloneIngressInfo *info);
/* It uses resources. */
int convert_utilisation(struct conversion *c,
                        Armadaevents__ResourceUtilisation *usage);

/* event_convert_errors.c */

/* A job has failed. */
int convert_errors(struct conversion *c, const Armadaevents__JobErrors *errors);
/* A run has.  Only what ends a lease shows; the job's own error says the
 * rest. */
int convert_run_errors(struct conversion *c,
                       const Armadaevents__JobRunErrors *errors);
