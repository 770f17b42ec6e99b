#include "api/submit/submit_event.h"

#include "api/submit/defaults.h"
#include "api/submit/job_objects.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

/* Fields of armadaevents.SubmitJob and of what it holds. */
enum {
    SUBMIT_DEDUPLICATION_ID = 2,
    SUBMIT_PRIORITY = 3,
    SUBMIT_OBJECT_META = 4,
    SUBMIT_MAIN_OBJECT = 5,
    SUBMIT_OBJECTS = 6,
    SUBMIT_JOB_ID = 14,
    SUBMIT_EXTERNAL_JOB_URI = 16,
    META_NAMESPACE = 2,
    META_ANNOTATIONS = 5,
    META_LABELS = 6,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    MAIN_OBJECT_POD_SPEC = 2,
    POD_SPEC_WITH_AVOID_LIST_POD_SPEC = 1,
};

static void put_pair(struct strbuf *buf, uint32_t number, const char *key,
                     const char *value)
{
    size_t entry = field_begin(buf, number);

    field_put_set_bytes(buf, ENTRY_KEY, str_of(key));
    field_put_set_bytes(buf, ENTRY_VALUE, str_of(value));
    field_end(buf, entry);
}

static void put_meta(struct strbuf *buf, const Berth__Submission__Item *item)
{
    size_t meta = field_begin(buf, SUBMIT_OBJECT_META);

    field_put_set_bytes(buf, META_NAMESPACE, str_of(item->namespace_));
    for (size_t i = 0; i < item->n_annotations; i++) {
        put_pair(buf, META_ANNOTATIONS, item->annotations[i]->key,
                 item->annotations[i]->value);
    }
    for (size_t i = 0; i < item->n_labels; i++) {
        put_pair(buf, META_LABELS, item->labels[i]->key,
                 item->labels[i]->value);
    }
    field_end(buf, meta);
}

static void put_pod(struct strbuf *buf, struct str pod_spec)
{
    size_t object = field_begin(buf, SUBMIT_MAIN_OBJECT);
    size_t with_avoid_list = field_begin(buf, MAIN_OBJECT_POD_SPEC);

    field_put_bytes(buf, POD_SPEC_WITH_AVOID_LIST_POD_SPEC, pod_spec);
    field_end(buf, with_avoid_list);
    field_end(buf, object);
}

static void put_objects(struct strbuf *buf,
                        Armadaevents__KubernetesObject *const *objects,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t object = field_begin(buf, SUBMIT_OBJECTS);
        wire_encode(&objects[i]->base, buf);
        field_end(buf, object);
    }
}

static void put_all_objects(struct strbuf *buf,
                            const Berth__Submission__Item *item,
                            const struct submit_event *event,
                            struct arena *arena)
{
    uint32_t own_count, count;
    Armadaevents__KubernetesObject **own =
        job_objects_make(item, &event->owner, arena, &own_count);
    Armadaevents__KubernetesObject **services = services_make(
        item, event->ports, &event->owner, event->rules, arena, &count);

    put_objects(buf, own, own_count);
    put_objects(buf, services, count);
}

void submit_event_put(struct strbuf *buf, const Berth__Submission__Item *item,
                      const struct submit_event *event, struct arena *arena)
{
    field_put_set_bytes(buf, SUBMIT_DEDUPLICATION_ID, str_of(item->client_id));
    field_put_set_u64(buf, SUBMIT_PRIORITY, defaults_priority(item->priority));
    put_meta(buf, item);
    put_pod(buf, event->pod_spec);
    if (item->n_services || item->n_ingress || item->n_objects) {
        put_all_objects(buf, item, event, arena);
    }
    field_put_bytes(buf, SUBMIT_JOB_ID, str_of(event->owner.job_id));
    field_put_set_bytes(buf, SUBMIT_EXTERNAL_JOB_URI,
                        defaults_external_job_uri(item));
}
