/* Lists TrainingJobs with their progress. */
#include "api/core/view.h"
#include "api/training/training_private.h"
#include "wire/message/message.h"

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
    if (!view_check_queue(call, str_of(message->queue))) {
        return;
    }
    struct command *command = training_command(call, COMMAND_QUERY_TRAINING,
                                               message->queue, message->name);
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
