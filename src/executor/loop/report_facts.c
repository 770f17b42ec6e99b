/* What is known of pods that live: where they are reached, what was made beside
 * them, what they use. */
#include "executor/loop/report_private.h"
#include "wire/kube/entries.h"

typedef Armadaevents__StandaloneIngressInfo__IngressAddressesEntry entry_t;

static entry_t **make_entries(struct report *report,
                              const struct runtime_status *status)
{
    entry_t **entries = arena_alloc_array(
        &report->arena, status->address_count + 1, sizeof(entry_t *));

    for (uint32_t i = 0; i < status->address_count; i++) {
        entries[i] = NEW(
            &report->arena, entry_t,
            armadaevents__standalone_ingress_info__ingress_addresses_entry__init);
        entries[i]->key = status->addresses[i].port;
        entries[i]->value = report_copy(report, status->addresses[i].address);
    }
    return entries;
}

static Berth__Api__JobObject **make_objects(struct report *report,
                                            const struct runtime_status *status)
{
    Berth__Api__JobObject **objects = arena_alloc_array(
        &report->arena, status->object_count + 1, sizeof(*objects));

    for (uint32_t i = 0; i < status->object_count; i++) {
        const struct runtime_object *from = &status->objects[i];
        Berth__Api__JobObject *object =
            NEW(&report->arena, Berth__Api__JobObject,
                berth__api__job_object__init);
        object->index = from->index;
        object->api_version = report_copy(report, from->api_version);
        object->kind = report_copy(report, from->kind);
        object->name = report_copy(report, from->name);
        object->namespace_ = report_copy(report, from->namespace_);
        object->uid = report_copy(report, from->uid);
        object->message = report_copy(report, from->message);
        object->generation = from->generation;
        object->changed_ms = from->changed_ms;
        object->state = from->uid.byte_count > 0
                            ? BERTH__API__JOB_OBJECT__STATE__PRESENT
                            : BERTH__API__JOB_OBJECT__STATE__REJECTED;
        objects[i] = object;
    }
    return objects;
}

static void add_place(struct report *report, const struct report_run *run,
                      int64_t at_ms)
{
    report_event *event = report_new_event(report, run, at_ms);
    Armadaevents__StandaloneIngressInfo *info =
        NEW(&report->arena, Armadaevents__StandaloneIngressInfo,
            armadaevents__standalone_ingress_info__init);

    info->objectmeta = report_pod_meta(report, run);
    info->node_name = report_copy(report, run->node_name);
    info->pod_name = report_copy(report, run->pod_name);
    info->pod_namespace = report_copy(report, run->namespace_);
    info->job_id = report_job_text(report, run->job);
    info->run_id = report_run_text(report, run->run);
    info->ingress_addresses = make_entries(report, run->status);
    info->n_ingress_addresses = run->status->address_count;
    info->objects = make_objects(report, run->status);
    info->n_objects = run->status->object_count;
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_STANDALONE_INGRESS_INFO;
    event->standaloneingressinfo = info;
}

static void add_usage(struct report *report, const struct report_run *run,
                      int64_t at_ms)
{
    const struct runtime_status *status = run->status;
    report_event *event = report_new_event(report, run, at_ms);
    Armadaevents__ResourceUtilisation *usage =
        NEW(&report->arena, Armadaevents__ResourceUtilisation,
            armadaevents__resource_utilisation__init);

    usage->resource_info = report_pod_infos(report, run, true)[0];
    usage->job_id = report_job_text(report, run->job);
    usage->run_id = report_run_text(report, run->run);
    usage->n_max_resources_for_period = status->used_max.count;
    usage->max_resources_for_period = entries_make_amounts(
        &status->used_max,
        &armadaevents__resource_utilisation__max_resources_for_period_entry__descriptor,
        &report->arena);
    usage->n_total_cumulative_usage = status->used_sum.count;
    usage->total_cumulative_usage = entries_make_amounts(
        &status->used_sum,
        &armadaevents__resource_utilisation__total_cumulative_usage_entry__descriptor,
        &report->arena);
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_RESOURCE_UTILISATION;
    event->resourceutilisation = usage;
}

void report_add_facts(struct report *report, const struct report_run *run,
                      int64_t at_ms)
{
    if (run->status->address_count + run->status->object_count > 0) {
        add_place(report, run, at_ms);
    }
    if (run->status->used_max.count > 0 || run->status->used_sum.count > 0) {
        add_usage(report, run, at_ms);
    }
}
