/* Builds a TrainingJob's group of pods, the request that submits them, and the
 * event that creates the object. */
#include "api/training/training_private.h"
#include "wire/json/json.h"
#include "wire/log/log_codec.h"
#include "wire/message/message.h"

/* The group of its pods. */

/* A component's pod spec, encoded. */
static int make_template(struct training_incoming *in,
                         enum training_component component,
                         struct str *ret_template)
{
    struct arena *arena = &in->call->arena;
    ProtobufCMessage *message;
    struct err err;

    auto_json_t *json =
        training_job_pod(&in->job, &in->call->api->config->training, component);
    if (wire_json_read(&k8s__io__api__core__v1__pod_spec__descriptor, json, 0,
                       arena, &message, &err) < 0) {
        return refusal_set(&in->refusal, "%s: %s",
                           training_component_name(component), err.text);
    }
    *ret_template = wire_encode_arena(message, arena);
    return 0;
}

static int add_part(struct training_incoming *in,
                    enum training_component component)
{
    struct gang_terms *terms = &in->group.terms;
    const struct training_replicas *replicas = &in->job.replicas[component];
    bool is_trainer = component == TRAINING_TRAINER;
    uint32_t at = terms->sub_group_count;

    if (replicas->max_count == 0) {
        return 0;
    }
    in->parts[at] = component;
    in->group.labels[at].key = training_component_label(component);
    in->group.labels[at].value = message_copy(&in->call->arena, in->job.name);
    terms->sub_groups[at] = (struct sub_group){
        .name = str_of(training_component_name(component)),
        .min_count = replicas->min_count,
        .max_count = replicas->max_count,
        .hops_max = is_trainer && in->job.hops_max >= 0
                        ? (uint32_t)in->job.hops_max
                        : HOPS_ANY,
        .is_auxiliary = !is_trainer,
    };
    terms->sub_group_count++;
    return make_template(in, component, &in->group.templates[at]);
}

int training_group(struct training_incoming *in)
{
    int rc = 0;

    in->group.terms = (struct gang_terms){
        .kind =
            in->job.is_fault_tolerant ? GANG_TRAINING_TOLERANT : GANG_TRAINING,
        .freezing_window_ms = in->job.freezing_window_ms,
        .replace_timeout_ms = REPLACE_TIMEOUT_MS,
    };
    for (enum training_component i = 0; i < TRAINING_COMPONENTS && rc == 0;
         i++) {
        rc = add_part(in, i);
    }
    return rc;
}

/* The request that its pods are submitted by. */

static void put_labels(struct training_incoming *in,
                       Berth__Submission__Item *item)
{
    struct arena *arena = &in->call->arena;
    auto_json_t *labels = training_job_labels(&in->job);
    const char *key;
    json_t *value;

    item->labels = arena_alloc_array(arena, json_object_size(labels) + 1,
                                     sizeof(*item->labels));
    json_object_foreach(labels, key, value)
    {
        Berth__Submission__Item__LabelsEntry *entry = message_new(
            arena, &berth__submission__item__labels_entry__descriptor);
        entry->key = message_copy(arena, str_of(key));
        entry->value = message_copy(arena, str_of(json_string_value(value)));
        item->labels[item->n_labels++] = entry;
    }
}

static void put_annotations(struct training_incoming *in,
                            Berth__Submission__Item *item)
{
    struct arena *arena = &in->call->arena;
    auto_json_t *annotations = training_job_annotations(&in->job);
    const char *key;
    json_t *value;

    item->annotations = arena_alloc_array(
        arena, json_object_size(annotations) + 1, sizeof(*item->annotations));
    json_object_foreach(annotations, key, value)
    {
        Berth__Submission__Item__AnnotationsEntry *entry = message_new(
            arena, &berth__submission__item__annotations_entry__descriptor);
        entry->key = message_copy(arena, str_of(key));
        entry->value = message_copy(arena, str_of(json_string_value(value)));
        item->annotations[item->n_annotations++] = entry;
    }
}

Berth__Submission__Request *training_request(struct training_incoming *in)
{
    struct arena *arena = &in->call->arena;
    Berth__Submission__Request *request =
        message_new(arena, &berth__submission__request__descriptor);
    Berth__Submission__Item *item =
        message_new(arena, &berth__submission__item__descriptor);

    item->namespace_ = message_copy(arena, in->job.namespace_);
    put_labels(in, item);
    put_annotations(in, item);
    request->queue = in->queue;
    request->job_set_id = in->job_set;
    request->job_request_items =
        arena_alloc(arena, sizeof(*request->job_request_items));
    request->job_request_items[0] = item;
    request->n_job_request_items = 1;
    return request;
}

/* The event that makes the object. */

static Berth__Api__TrainingComponent *
make_component(struct training_incoming *in, const struct command *command,
               uint32_t sub_group, uint32_t *at)
{
    struct arena *arena = &in->call->arena;
    const struct sub_group *terms = &in->group.terms.sub_groups[sub_group];
    Berth__Api__TrainingComponent *component =
        message_new(arena, &berth__api__training_component__descriptor);
    char id[ID_TEXT_BYTES_MAX];

    component->type = message_copy(
        arena, str_of(training_component_type(in->parts[sub_group])));
    component->min = terms->min_count;
    component->max = terms->max_count;
    component->job_ids = arena_alloc_array(arena, terms->max_count + 1,
                                           sizeof(*component->job_ids));
    for (; component->n_job_ids < terms->max_count; (*at)++) {
        component->job_ids[component->n_job_ids++] = message_copy(
            arena, str_of(job_id_format(command->submit.items[*at].job, id)));
    }
    return component;
}

static Berth__Api__TrainingJob *make_object(struct training_incoming *in,
                                            const struct command *command,
                                            int64_t now_ms)
{
    struct arena *arena = &in->call->arena;
    Berth__Api__TrainingJob *object =
        message_new(arena, &berth__api__training_job__descriptor);
    auto_strbuf text = {0};
    uint32_t at = 0;
    char id[ID_TEXT_BYTES_MAX];

    object->name = message_copy(arena, in->job.name);
    object->namespace_ = message_copy(arena, in->job.namespace_);
    object->queue = in->queue;
    object->job_set = in->job_set;
    training_job_write(&in->job, &text);
    object->resource.len = text.byte_count;
    object->resource.data = (uint8_t *)arena_strdup(arena, strbuf_str(&text));
    object->reason = message_copy(arena, in->job.reason);
    object->created = message_time(arena, now_ms);
    object->priority_class_name = message_copy(arena, in->job.priority_class);
    object->fault_tolerant = in->job.is_fault_tolerant;
    if (command->submit.item_count == 0) {
        return object;
    }
    object->gang_id = message_copy(
        arena, str_of(job_id_format(command->submit.items[0].job, id)));
    object->components = arena_alloc_array(arena, TRAINING_COMPONENTS,
                                           sizeof(*object->components));
    for (uint32_t i = 0; i < in->group.terms.sub_group_count; i++) {
        object->components[object->n_components++] =
            make_component(in, command, i, &at);
    }
    return object;
}

void training_put_event(struct training_incoming *in, struct command *command,
                        int64_t now_ms)
{
    Berth__Api__TrainingJob *object = make_object(in, command, now_ms);
    auto_strbuf encoded = {0};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = EVENT_TRAINING_JOB_SET;
    event.created_ms = now_ms;
    event.training_job.name = in->job.name;
    event.training_job.gang_id = str_of(object->gang_id);
    event.training_job.encoded =
        wire_encode_arena(&object->base, &in->call->arena);
    log_encode_event(&encoded, &event);
    command->submit.training_name = arena_str(&command->arena, in->job.name);
    command->submit.training_event =
        arena_str(&command->arena, strbuf_str(&encoded));
}
