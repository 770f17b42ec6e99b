/* berth.api.Berth: TrainingJobs (model.md 4). */
#include "api/handlers.h"
#include "api/message.h"
#include "api/state.h"
#include "api/submission.h"
#include "api/validate.h"
#include "berth/api.pb-c.h"
#include "wire/json.h"
#include "wire/log_codec.h"
#include "wire/message.h"
#include "wire/pod.h"
#include "wire/training_job.h"

static const char queue_field[] = "metadata.annotations.armadaproject.io/queue";
static const char class_field[] =
    "metadata.annotations.armadaproject.io/priorityClassName";

/* One TrainingJob on its way in. */
struct incoming {
    struct api_call *call;
    struct training_job job; /* owned */
    char *queue, *job_set;
    struct refusal refusal;
    /* Of each sub-group, its component. */
    enum training_component parts[TRAINING_COMPONENTS];
    struct pod_group group;
};

/* The group of its pods. */

/* A component's pod spec, encoded. */
static int make_template(struct incoming *in, enum training_component component,
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

static int add_part(struct incoming *in, enum training_component component)
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

static int make_group(struct incoming *in)
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

static void put_labels(struct incoming *in, Berth__Submission__Item *item)
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

static void put_annotations(struct incoming *in, Berth__Submission__Item *item)
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

static Berth__Submission__Request *make_request(struct incoming *in)
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
make_component(struct incoming *in, const struct command *command,
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

static Berth__Api__TrainingJob *
make_object(struct incoming *in, const struct command *command, int64_t now_ms)
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

static void put_event(struct incoming *in, struct command *command,
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

/* Submission. */

/* What is wrong with a pod spec is said of its sub-group; users know that as a
 * component. */
static void name_component(struct refusal *refusal)
{
    static const char prefix[] = "podGroup.subGroups[";
    const char *name = strchr(refusal->text, '(');
    const char *end = name ? strstr(name, "): ") : NULL;
    struct refusal whole = *refusal;

    if (!end || strncmp(refusal->text, prefix, sizeof(prefix) - 1) != 0) {
        return;
    }
    size_t at = (size_t)(name + 1 - refusal->text);
    size_t length = (size_t)(end - name - 1);
    int rc = refusal_set(refusal, "spec.%.*s: %s", (int)length, whole.text + at,
                         whole.text + at + length + 3);
    (void)rc;
}

/* The command that makes it; NULL with the refusal. */
static struct command *make_command(struct incoming *in)
{
    struct api_call *call = in->call;
    const struct api_ports *ports = &call->api->ports;
    struct submit_rules rules = call->api->config->submit;
    struct submission_context context = {
        .rules = &rules,
        .rng = ports->rng,
        .owner = call->principal.name,
        .now_ms = ports->clock->wall_ms(ports->clock),
        .default_pool = api_call_default_pool(call, str_of(in->queue)),
    };
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    struct command *made = command;
    int rc = 0;

    /* They were always allowed to have more than they ask for. */
    rules.allows_larger_limits = true;
    command->scope = (struct event_scope){
        .queue = arena_str(&command->arena, str_of(in->queue)),
        .job_set = arena_str(&command->arena, str_of(in->job_set)),
        .user = arena_str(&command->arena, context.owner),
    };
    /* One that was refused has no pods, but is made all the same. */
    if (in->job.reason.byte_count == 0) {
        rc = make_group(in);
        rc = rc ? rc
                : submission_build_group(make_request(in), &in->group, STR(""),
                                         &context, command, &in->refusal);
    }
    if (rc < 0) {
        name_component(&in->refusal);
        return NULL;
    }
    put_event(in, command, context.now_ms);
    command = NULL;
    return made;
}

/* What the answer says. */
struct submitted {
    struct spec_hold *hold;
    Berth__Api__SubmitTrainingJobResponse response;
};

/* On the leader's thread. */
static void on_submitted(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    struct spec_cache *specs = call->api->specs;
    struct submitted *submitted = call->data;
    struct spec_hold *hold = submitted->hold;

    if (!api_call_fail_command(call, command,
                               "Failed to send events to Pulsar")) {
        api_call_reply(call, &submitted->response.base);
    }
    spec_cache_settle(specs, hold, command);
}

static void post(struct incoming *in, struct command *command)
{
    struct api_call *call = in->call;
    struct spec_cache *specs = call->api->specs;
    struct submitted *submitted = arena_alloc(&call->arena, sizeof(*submitted));

    submitted->hold = spec_cache_hold(specs, command);
    if (!submitted->hold) {
        command_destroy(command);
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED,
                      "the query store is too far behind what was submitted; "
                      "try again in a moment");
        return;
    }
    berth__api__submit_training_job_response__init(&submitted->response);
    submitted->response.name = message_copy(&call->arena, in->job.name);
    submitted->response.queue = in->queue;
    submitted->response.job_set = in->job_set;
    submitted->response.reason = message_copy(&call->arena, in->job.reason);
    call->data = submitted;
    if (!api_call_post(call, command, on_submitted)) {
        spec_cache_drop(specs, submitted->hold);
    }
}

/* Where it goes, and as what; false: the call is over. */
static bool take_place(struct incoming *in,
                       const Berth__Api__SubmitTrainingJobRequest *message)
{
    struct api_call *call = in->call;
    struct training_job *job = &in->job;

    in->queue = *message->queue ? message->queue
                                : message_copy(&call->arena, job->queue);
    in->job_set =
        *message->job_set
            ? message->job_set
            : message_copy(&call->arena,
                           job->job_set.byte_count ? job->job_set : job->name);
    if (!*in->queue) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "%s: a queue is required, here or from berthctl",
                      queue_field);
        return false;
    }
    if (strlen(in->job_set) > JOB_SET_ID_BYTES_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "metadata.annotations.armadaproject.io/jobSet: may have "
                      "%d bytes",
                      JOB_SET_ID_BYTES_MAX);
        return false;
    }
    return api_call_authorize_queue(call, str_of(in->queue));
}

static bool allows_class(struct api_call *call, struct str name,
                         const char *field)
{
    if (submit_rules_allow_class(&call->api->config->submit, name)) {
        return true;
    }
    api_call_fail(call, RPC_INVALID_ARGUMENT,
                  "%s: there is no priority class \"%.*s\"", field,
                  STR_ARG(name));
    return false;
}

static void submit(struct incoming *in,
                   const Berth__Api__SubmitTrainingJobRequest *message)
{
    struct api_call *call = in->call;
    struct training_rules rules = call->api->config->training;
    struct err err;

    rules.cpu_per_gpu_milli = call->api->cpu_per_gpu_milli;
    int rc = training_job_read(
        str_make(message->resource.data, message->resource.len), &rules,
        &in->job, &err);
    if (rc < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s", err.text);
        return;
    }
    if (!take_place(in, message) ||
        !allows_class(call, in->job.priority_class, class_field)) {
        return;
    }
    struct command *command = make_command(in);
    if (!command) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s", in->refusal.text);
        return;
    }
    post(in, command);
}

void handle_submit_training_job(struct api_call *call, struct str request)
{
    Berth__Api__SubmitTrainingJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__submit_training_job_request__descriptor,
                         request, &message)) {
        return;
    }
    auto_mem struct incoming *in = mem_alloc(sizeof(*in));
    in->call = call;
    submit(in, message);
    training_job_fini(&in->job);
}

/* Changes. */

/* A command about the object of that name. */
static struct command *about(struct api_call *call, enum command_kind kind,
                             const char *queue, const char *name)
{
    struct command *command = command_create(kind);

    command->scope = (struct event_scope){
        .queue = arena_str(&command->arena, str_of(queue)),
        .user = arena_str(&command->arena, call->principal.name),
    };
    command->training.name = arena_str(&command->arena, str_of(name));
    return command;
}

/* Both name one; false: the call is over. */
static bool check_names(struct api_call *call, const char *queue,
                        const char *name)
{
    if (!*queue || !*name) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s: is required",
                      *queue ? "name" : "queue");
        return false;
    }
    return true;
}

void handle_update_training_job(struct api_call *call, struct str request)
{
    Berth__Api__UpdateTrainingJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__update_training_job_request__descriptor,
                         request, &message) ||
        !check_names(call, message->queue, message->name) ||
        !api_call_authorize_job_set(call, str_of(message->queue), STR(""))) {
        return;
    }
    struct str priority_class = str_of(message->priority_class_name);
    if (!allows_class(call, priority_class, "priorityClassName")) {
        return;
    }
    struct command *command =
        about(call, COMMAND_TRAINING_UPDATE, message->queue, message->name);
    command->training.priority_class =
        arena_str(&command->arena, priority_class);
    api_call_post(call, command, api_call_done_empty);
}

void handle_delete_training_job(struct api_call *call, struct str request)
{
    Berth__Api__DeleteTrainingJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__delete_training_job_request__descriptor,
                         request, &message) ||
        !check_names(call, message->queue, message->name) ||
        !api_call_authorize_job_set(call, str_of(message->queue), STR(""))) {
        return;
    }
    api_call_post(
        call,
        about(call, COMMAND_TRAINING_DELETE, message->queue, message->name),
        api_call_done_empty);
}

/* Questions. */

enum { LIST_TRAINING_MAX = 1000 }; /* in one answer */

/* What the states of pods are called; those that are cancelled were not
 * wanted any more. */
static const char *const pod_states[TRAINING_POD_KINDS] = {
    "", "starting", "running", "succeeded", "failed", NULL};

/* How a component is as a whole: as the worst of what its pods are. */
static const char *state_of(const struct training_part_row *part)
{
    enum { WAITING, STARTING, RUNNING, SUCCEEDED, FAILED };

    if (part->counts[FAILED] > 0) {
        return pod_states[FAILED];
    }
    if (part->counts[RUNNING] >= part->min_count && part->counts[RUNNING] > 0) {
        return pod_states[RUNNING];
    }
    if (part->counts[STARTING] + part->counts[RUNNING] > 0) {
        return pod_states[STARTING];
    }
    return part->counts[SUCCEEDED] > 0 ? pod_states[SUCCEEDED] : "";
}

static Berth__Api__TrainingReplicas *
replicas_message(const struct training_part_row *part, struct arena *arena)
{
    Berth__Api__TrainingReplicas *message =
        message_new(arena, &berth__api__training_replicas__descriptor);

    message->type = message_copy(arena, part->type);
    message->state = message_copy(arena, str_of(state_of(part)));
    message->min = part->min_count;
    message->resource_states = arena_alloc_array(
        arena, TRAINING_POD_KINDS, sizeof(*message->resource_states));
    for (uint32_t i = 0; i < TRAINING_POD_KINDS; i++) {
        if (part->counts[i] == 0 || !pod_states[i]) {
            continue;
        }
        Berth__Api__TrainingReplicas__ResourceStatesEntry *entry = message_new(
            arena,
            &berth__api__training_replicas__resource_states_entry__descriptor);
        entry->key = message_copy(arena, str_of(pod_states[i]));
        entry->value = part->counts[i];
        message->resource_states[message->n_resource_states++] = entry;
    }
    return message;
}

static void put_trainers(const Berth__Api__TrainingJob *object,
                         const struct training_row *row,
                         Berth__Api__TrainingJobStatus *message)
{
    enum { RUNNING = 2 };

    for (uint32_t i = 0; i < row->part_count && i < object->n_components; i++) {
        const Berth__Api__TrainingComponent *component = object->components[i];
        if (strcmp(component->type,
                   training_component_type(TRAINING_TRAINER)) == 0) {
            message->min_instance = component->min;
            message->max_instance = component->max;
            message->running_instance = row->parts[i].counts[RUNNING];
        }
    }
}

static void put_times(const struct training_row *row, struct arena *arena,
                      Berth__Api__TrainingJobStatus *message)
{
    message->created = message_time(arena, row->created_ms);
    if (row->started_ms) {
        message->started = message_time(arena, row->started_ms);
    }
    if (row->completed_ms) {
        message->completed = message_time(arena, row->completed_ms);
    }
}

static Berth__Api__TrainingJobStatus *
status_message(const struct training_row *row, struct arena *arena)
{
    Berth__Api__TrainingJobStatus *message =
        message_new(arena, &berth__api__training_job_status__descriptor);
    ProtobufCMessage *decoded;
    struct err err;

    message->phase = message_copy(arena, str_of(row->phase));
    message->reason = message_copy(arena, row->reason);
    put_times(row, arena, message);
    message->replicas = arena_alloc_array(arena, TRAINING_ROW_PARTS_MAX,
                                          sizeof(*message->replicas));
    for (uint32_t i = 0; i < row->part_count; i++) {
        message->replicas[message->n_replicas++] =
            replicas_message(&row->parts[i], arena);
    }
    if (wire_decode(&berth__api__training_job__descriptor, row->encoded,
                    &wire_request_limits, arena, &decoded, &err) == 0) {
        const Berth__Api__TrainingJob *object = (void *)decoded;
        message->name = object->name;
        message->namespace_ = object->namespace_;
        message->queue = object->queue;
        message->job_set = object->job_set;
        message->priority_class_name = object->priority_class_name;
        put_trainers(object, row, message);
    }
    return message;
}

static void on_known(struct command *command, void *ctx)
{
    Berth__Api__ListTrainingJobsResponse response =
        BERTH__API__LIST_TRAINING_JOBS_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "log")) {
        response.training_jobs = arena_alloc_array(
            &call->arena, (size_t)command->training.row_count + 1,
            sizeof(*response.training_jobs));
        for (uint32_t i = 0; i < command->training.row_count; i++) {
            response.training_jobs[response.n_training_jobs++] =
                status_message(&command->training.rows[i], &call->arena);
        }
        response.has_more = command->training.has_more;
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_list_training_jobs(struct api_call *call, struct str request)
{
    Berth__Api__ListTrainingJobsRequest *message;

    if (!api_call_decode(call,
                         &berth__api__list_training_jobs_request__descriptor,
                         request, &message)) {
        return;
    }
    struct command *command =
        about(call, COMMAND_QUERY_TRAINING, message->queue, message->name);
    command->training.after_queue =
        arena_str(&command->arena, str_of(message->after_queue));
    command->training.after_name =
        arena_str(&command->arena, str_of(message->after_name));
    command->training.count_max =
        message->limit > 0 && message->limit < LIST_TRAINING_MAX
            ? message->limit
            : LIST_TRAINING_MAX;
    api_call_post(call, command, on_known);
}
