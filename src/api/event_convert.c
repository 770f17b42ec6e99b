#include "api/event_convert.h"

#include "api/message.h"
#include "api/pod_resources.h"
#include "k8s/networking.pb-c.h"
#include "wire/message.h"

/* Facts were checked when they were logged: only their size is bounded. */
static const struct wire_limits fact_limits = {
    .byte_count_max = 64 << 20,
    .field_count_max = 4 << 20,
    .memory_bytes_max = 1u << 30,
    .depth_max = WIRE_DEPTH_MAX,
    .mends_text = true,
};

/* One fact on its way. */
struct conversion {
    const struct event_scope *scope;
    Google__Protobuf__Timestamp *created;
    struct arena *arena;
    event_sink_fn *sink;
    void *ctx;
};

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

#define DEFINE_NEW(type, message)                                 \
    static Api__##message *new_event_##type(struct conversion *c) \
    {                                                             \
        return message_new(c->arena, &api__##type##__descriptor); \
    }
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

/* The value stored with the result wins over the sequence's user. */
static char *requestor(struct conversion *c, char *stored)
{
    return *stored ? stored : message_copy(c->arena, c->scope->user);
}

/* Copy a map into entries of another type of the same shape. */
#define COPY_MAP(c, to, from, member_to, member_from, type)                 \
    do {                                                                    \
        (to)->member_to = arena_alloc_array(                                \
            (c)->arena, (from)->n_##member_from, sizeof(*(to)->member_to)); \
        for (size_t i_ = 0; i_ < (from)->n_##member_from; i_++) {           \
            (to)->member_to[i_] =                                           \
                message_new((c)->arena, &type##__descriptor);               \
            (to)->member_to[i_]->key = (from)->member_from[i_]->key;        \
            (to)->member_to[i_]->value = (from)->member_from[i_]->value;    \
        }                                                                   \
        (to)->n_##member_to = (from)->n_##member_from;                      \
    } while (0)

static K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta *
make_meta(struct conversion *c, const Armadaevents__ObjectMeta *from)
{
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta *meta = message_new(
        c->arena,
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__descriptor);

    if (!from) {
        return meta;
    }
    meta->name = from->name;
    meta->namespace_ = from->namespace_;
    COPY_MAP(
        c, meta, from, annotations, annotations,
        k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__annotations_entry);
    COPY_MAP(
        c, meta, from, labels, labels,
        k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__labels_entry);
    return meta;
}

static void add_service(struct conversion *c, Api__Job *job,
                        const Armadaevents__KubernetesObject *object)
{
    K8s__Io__Api__Core__V1__Service *service =
        message_new(c->arena, &k8s__io__api__core__v1__service__descriptor);

    service->metadata = make_meta(c, object->objectmeta);
    service->spec = object->service;
    job->k8s_service[job->n_k8s_service++] = service;
}

static void add_ingress(struct conversion *c, Api__Job *job,
                        const Armadaevents__KubernetesObject *object)
{
    K8s__Io__Api__Networking__V1__Ingress *ingress = message_new(
        c->arena, &k8s__io__api__networking__v1__ingress__descriptor);

    ingress->metadata = make_meta(c, object->objectmeta);
    ingress->spec = object->ingress;
    job->k8s_ingress[job->n_k8s_ingress++] = ingress;
}

static void add_objects(struct conversion *c, Api__Job *job,
                        const Armadaevents__SubmitJob *submit)
{
    job->k8s_service = arena_alloc_array(c->arena, submit->n_objects,
                                         sizeof(job->k8s_service[0]));
    job->k8s_ingress = arena_alloc_array(c->arena, submit->n_objects,
                                         sizeof(job->k8s_ingress[0]));
    for (size_t i = 0; i < submit->n_objects; i++) {
        const Armadaevents__KubernetesObject *object = submit->objects[i];
        if (object->object_case ==
            ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_SERVICE) {
            add_service(c, job, object);
        } else if (object->object_case ==
                   ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_INGRESS) {
            add_ingress(c, job, object);
        }
    }
}

/* Clients read the field that the proto calls deprecated (trap 8). */
static void add_pod(struct conversion *c, Api__Job *job,
                    const Armadaevents__SubmitJob *submit)
{
    const Armadaevents__KubernetesMainObject *main = submit->mainobject;

    if (main &&
        main->object_case ==
            ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC &&
        main->pod_spec->pod_spec) {
        job->pod_spec = main->pod_spec->pod_spec;
        job->scheduling_resource_requirements =
            pod_resources(job->pod_spec, c->arena);
    }
}

Api__Job *event_convert_job(const Armadaevents__SubmitJob *submit,
                            const struct event_scope *scope, int64_t created_ms,
                            struct arena *arena)
{
    struct conversion c = {.scope = scope, .arena = arena};
    Api__Job *job = message_new(arena, &api__job__descriptor);

    job->id = submit->job_id;
    job->client_id = submit->deduplication_id;
    job->queue = message_copy(arena, scope->queue);
    job->job_set_id = message_copy(arena, scope->job_set);
    job->owner = message_copy(arena, scope->user);
    job->priority = submit->priority;
    job->created = message_time(arena, created_ms);
    if (submit->objectmeta) {
        job->namespace_ = submit->objectmeta->namespace_;
        COPY_MAP(&c, job, submit->objectmeta, labels, labels,
                 api__job__labels_entry);
        COPY_MAP(&c, job, submit->objectmeta, annotations, annotations,
                 api__job__annotations_entry);
    }
    add_pod(&c, job, submit);
    add_objects(&c, job, submit);
    return job;
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

/* The pod among the resources of a report; what is missing reads as empty. */
struct pod_facts {
    char *cluster_id, *kubernetes_id, *name, *namespace_, *node_name;
    int32_t number;
};

static struct pod_facts facts_of(Armadaevents__KubernetesResourceInfo **infos,
                                 size_t count)
{
    char *none = message_text(STR(""));
    struct pod_facts facts = {none, none, none, none, none, 0};

    if (!count) {
        return facts;
    }
    const Armadaevents__ObjectMeta *meta = infos[0]->objectmeta;
    if (meta) {
        facts.cluster_id = meta->executor_id;
        facts.kubernetes_id = meta->kubernetes_id;
        facts.name = meta->name;
        facts.namespace_ = meta->namespace_;
    }
    if (infos[0]->info_case ==
        ARMADAEVENTS__KUBERNETES_RESOURCE_INFO__INFO_POD_INFO) {
        facts.node_name = infos[0]->podinfo->node_name;
        facts.number = infos[0]->podinfo->pod_number;
    }
    return facts;
}

/* The pod's facts in an event that has them. */
#define PUT_POD(event, facts)                           \
    do {                                                \
        (event)->cluster_id = (facts).cluster_id;       \
        (event)->kubernetes_id = (facts).kubernetes_id; \
        (event)->pod_number = (facts).number;           \
        (event)->pod_name = (facts).name;               \
        (event)->pod_namespace = (facts).namespace_;    \
    } while (0)

static int convert_assigned(struct conversion *c,
                            const Armadaevents__JobRunAssigned *assigned)
{
    Api__JobPendingEvent *event =
        NEW_EVENT(c, job_pending_event, assigned->job_id);
    struct pod_facts facts =
        facts_of(assigned->resourceinfos, assigned->n_resourceinfos);

    PUT_POD(event, facts);
    event->pool = assigned->pool;
    return EMIT(c, PENDING, pending, event);
}

static int convert_running(struct conversion *c,
                           const Armadaevents__JobRunRunning *running)
{
    Api__JobRunningEvent *event =
        NEW_EVENT(c, job_running_event, running->job_id);
    struct pod_facts facts =
        facts_of(running->resourceinfos, running->n_resourceinfos);

    PUT_POD(event, facts);
    event->node_name = facts.node_name;
    event->pool = running->pool;
    return EMIT(c, RUNNING, running, event);
}

static int convert_succeeded(struct conversion *c,
                             const Armadaevents__JobSucceeded *succeeded)
{
    Api__JobSucceededEvent *event =
        NEW_EVENT(c, job_succeeded_event, succeeded->job_id);
    struct pod_facts facts =
        facts_of(succeeded->resourceinfos, succeeded->n_resourceinfos);

    PUT_POD(event, facts);
    event->node_name = facts.node_name;
    return EMIT(c, SUCCEEDED, succeeded, event);
}

/* armadaevents.KubernetesReason has the numbers of api.Cause. */
static Api__Cause cause_of(int reason)
{
    return reason >= 0 && reason <= API__CAUSE__DeadlineExceeded
               ? (Api__Cause)reason
               : API__CAUSE__Error;
}

static Api__ContainerStatus *
make_status(struct conversion *c, const Armadaevents__ContainerError *error)
{
    Api__ContainerStatus *status =
        message_new(c->arena, &api__container_status__descriptor);

    status->name =
        error->objectmeta ? error->objectmeta->name : message_text(STR(""));
    status->exitcode = error->exit_code;
    status->message = error->message;
    status->reason = error->reason;
    status->cause = cause_of((int)error->kubernetes_reason);
    return status;
}

static void put_pod_error(struct conversion *c, Api__JobFailedEvent *event,
                          const Armadaevents__PodError *error)
{
    const Armadaevents__ObjectMeta *meta = error->objectmeta;

    event->reason = error->message;
    event->cause = cause_of((int)error->kubernetes_reason);
    event->node_name = error->node_name;
    event->pod_number = error->pod_number;
    if (meta) {
        event->cluster_id = meta->executor_id;
        event->kubernetes_id = meta->kubernetes_id;
        event->pod_name = meta->name;
        event->pod_namespace = meta->namespace_;
    }
    event->container_statuses =
        arena_alloc_array(c->arena, error->n_containererrors,
                          sizeof(event->container_statuses[0]));
    for (size_t i = 0; i < error->n_containererrors; i++) {
        event->container_statuses[event->n_container_statuses++] =
            make_status(c, error->containererrors[i]);
    }
}

/* A category that the reason implies, unless the error names one. */
static void imply(Api__JobFailedEvent *event, const char *subcategory)
{
    if (!*event->failure_category) {
        event->failure_category = message_text(STR("internal"));
        event->failure_subcategory = message_text(str_of(subcategory));
    }
}

static void put_reason(struct conversion *c, Api__JobFailedEvent *event,
                       const Armadaevents__Error *error)
{
    switch ((int)error->reason_case) {
    case ARMADAEVENTS__ERROR__REASON_POD_ERROR:
        put_pod_error(c, event, error->poderror);
        break;
    case ARMADAEVENTS__ERROR__REASON_JOB_REJECTED:
        event->reason = error->jobrejected->message;
        event->cause = API__CAUSE__Rejected;
        imply(event, "job-rejected");
        break;
    case ARMADAEVENTS__ERROR__REASON_LEASE_EXPIRED:
        event->reason = message_text(STR("Lease expired"));
        imply(event, "lease-expired");
        break;
    case ARMADAEVENTS__ERROR__REASON_MAX_RUNS_EXCEEDED:
        event->reason = error->maxrunsexceeded->message;
        imply(event, "max-runs-exceeded");
        break;
    case ARMADAEVENTS__ERROR__REASON_JOB_RUN_PREEMPTED_ERROR:
        event->reason = error->jobrunpreemptederror->reason;
        break;
    case ARMADAEVENTS__ERROR__REASON_GANG_JOB_UNSCHEDULABLE:
        event->reason = error->gangjobunschedulable->message;
        break;
    case ARMADAEVENTS__ERROR__REASON_RECONCILIATION_ERROR:
        event->reason = error->reconciliationerror->message;
        break;
    default:
        break;
    }
}

static int convert_errors(struct conversion *c,
                          const Armadaevents__JobErrors *errors)
{
    int rc = 0;

    for (size_t i = 0; i < errors->n_errors && rc == 0; i++) {
        const Armadaevents__Error *error = errors->errors[i];
        Api__JobFailedEvent *event =
            NEW_EVENT(c, job_failed_event, errors->job_id);
        event->failure_category = error->failure_category;
        event->failure_subcategory = error->failure_subcategory;
        event->retryable = !error->terminal;
        put_reason(c, event, error);
        rc = EMIT(c, FAILED, failed, event);
    }
    return rc;
}

static int convert_returned(struct conversion *c, char *job_id,
                            const Armadaevents__PodLeaseReturned *returned)
{
    Api__JobLeaseReturnedEvent *event =
        NEW_EVENT(c, job_lease_returned_event, job_id);

    event->reason = returned->message;
    event->pod_number = returned->pod_number;
    event->run_attempted = returned->run_attempted;
    if (returned->objectmeta) {
        event->cluster_id = returned->objectmeta->executor_id;
        event->kubernetes_id = returned->objectmeta->kubernetes_id;
    }
    return EMIT(c, LEASE_RETURNED, lease_returned, event);
}

/* Only what ends a lease shows; the job's own error says the rest. */
static int convert_run_errors(struct conversion *c,
                              const Armadaevents__JobRunErrors *errors)
{
    int rc = 0;

    for (size_t i = 0; i < errors->n_errors && rc == 0; i++) {
        const Armadaevents__Error *error = errors->errors[i];
        if (error->reason_case ==
            ARMADAEVENTS__ERROR__REASON_POD_LEASE_RETURNED) {
            rc = convert_returned(c, errors->job_id, error->podleasereturned);
        } else if (error->reason_case ==
                   ARMADAEVENTS__ERROR__REASON_LEASE_EXPIRED) {
            Api__JobLeaseExpiredEvent *event =
                NEW_EVENT(c, job_lease_expired_event, errors->job_id);
            rc = EMIT(c, LEASE_EXPIRED, lease_expired, event);
        }
    }
    return rc;
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

static int convert_ingress(struct conversion *c,
                           const Armadaevents__StandaloneIngressInfo *info)
{
    Api__JobIngressInfoEvent *event =
        NEW_EVENT(c, job_ingress_info_event, info->job_id);

    if (info->objectmeta) {
        event->cluster_id = info->objectmeta->executor_id;
        event->kubernetes_id = info->objectmeta->kubernetes_id;
    }
    event->node_name = info->node_name;
    event->pod_number = info->pod_number;
    event->pod_name = info->pod_name;
    event->pod_namespace = info->pod_namespace;
    COPY_MAP(c, event, info, ingress_addresses, ingress_addresses,
             api__job_ingress_info_event__ingress_addresses_entry);
    return EMIT(c, INGRESS_INFO, ingress_info, event);
}

static int convert_utilisation(struct conversion *c,
                               Armadaevents__ResourceUtilisation *usage)
{
    Api__JobUtilisationEvent *event =
        NEW_EVENT(c, job_utilisation_event, usage->job_id);
    struct pod_facts facts =
        facts_of(&usage->resource_info, usage->resource_info != NULL);

    PUT_POD(event, facts);
    event->node_name = facts.node_name;
    COPY_MAP(c, event, usage, maxresourcesforperiod, max_resources_for_period,
             api__job_utilisation_event__max_resources_for_period_entry);
    COPY_MAP(c, event, usage, avgresourcesforperiod, avg_resources_for_period,
             api__job_utilisation_event__avg_resources_for_period_entry);
    COPY_MAP(c, event, usage, total_cumulative_usage, total_cumulative_usage,
             api__job_utilisation_event__total_cumulative_usage_entry);
    return EMIT(c, UTILISATION, utilisation, event);
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
