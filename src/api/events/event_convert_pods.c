/* Converts what executors report about pods. */
#include "api/events/event_convert_private.h"

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

int convert_assigned(struct conversion *c,
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

int convert_running(struct conversion *c,
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

int convert_succeeded(struct conversion *c,
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

int convert_ingress(struct conversion *c,
                    const Armadaevents__StandaloneIngressInfo *info)
{
    Api__JobIngressInfoEvent *event =
        NEW_EVENT(c, job_ingress_info_event, info->job_id);

    if (info->n_ingress_addresses == 0 && info->n_objects > 0) {
        return 0; /* clients know of no other objects */
    }
    if (info->objectmeta) {
        event->cluster_id = info->objectmeta->executor_id;
        event->kubernetes_id = info->objectmeta->kubernetes_id;
    }
    event->node_name = info->node_name;
    event->pod_number = info->pod_number;
    event->pod_name = info->pod_name;
    event->pod_namespace = info->pod_namespace;
    COPY_MAP(c->arena, event, info, ingress_addresses, ingress_addresses,
             api__job_ingress_info_event__ingress_addresses_entry);
    return EMIT(c, INGRESS_INFO, ingress_info, event);
}

int convert_utilisation(struct conversion *c,
                        Armadaevents__ResourceUtilisation *usage)
{
    Api__JobUtilisationEvent *event =
        NEW_EVENT(c, job_utilisation_event, usage->job_id);
    struct pod_facts facts =
        facts_of(&usage->resource_info, usage->resource_info != NULL);

    PUT_POD(event, facts);
    event->node_name = facts.node_name;
    COPY_MAP(c->arena, event, usage, maxresourcesforperiod,
             max_resources_for_period,
             api__job_utilisation_event__max_resources_for_period_entry);
    COPY_MAP(c->arena, event, usage, avgresourcesforperiod,
             avg_resources_for_period,
             api__job_utilisation_event__avg_resources_for_period_entry);
    COPY_MAP(c->arena, event, usage, total_cumulative_usage,
             total_cumulative_usage,
             api__job_utilisation_event__total_cumulative_usage_entry);
    return EMIT(c, UTILISATION, utilisation, event);
}
