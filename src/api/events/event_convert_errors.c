/* Converts errors of jobs and runs. */
#include "api/events/event_convert_private.h"

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

int convert_errors(struct conversion *c, const Armadaevents__JobErrors *errors)
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

int convert_run_errors(struct conversion *c,
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
