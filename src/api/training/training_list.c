/* Lists TrainingJobs with their progress. */
#include "api/core/view.h"
#include "api/training/training_private.h"
#include "wire/message/message.h"

enum { LIST_TRAINING_MAX = 1000 }; /* in one answer */

/* Pods of a component in one state, which has a name of the resource.  Those
 * that are gone were not wanted any more, and are not told of. */
struct pods {
    const char *state;
    uint32_t count;
};

enum { WAITING, STARTING, RUNNING, SUCCEEDED, FAILED, POD_STATES };

static void count_pods(const struct gang_part_status *part,
                       struct pods ret_pods[POD_STATES])
{
    ret_pods[WAITING] = (struct pods){"", part->waiting_count};
    ret_pods[STARTING] = (struct pods){"starting", part->starting_count};
    ret_pods[RUNNING] =
        (struct pods){"running", part->running_count - part->starting_count};
    ret_pods[SUCCEEDED] = (struct pods){"succeeded", part->succeeded_count};
    ret_pods[FAILED] = (struct pods){"failed", part->failed_count};
}

/* How a component is as a whole: as the worst of what its pods are. */
static const char *state_of(const struct pods pods[POD_STATES],
                            uint32_t min_count)
{
    uint32_t running = pods[RUNNING].count;

    if (pods[FAILED].count > 0) {
        return pods[FAILED].state;
    }
    if (running >= min_count && running > 0) {
        return pods[RUNNING].state;
    }
    if (pods[STARTING].count + running > 0) {
        return pods[STARTING].state;
    }
    return pods[SUCCEEDED].count > 0 ? pods[SUCCEEDED].state : "";
}

static Berth__Api__TrainingReplicas *
replicas_message(const Berth__Api__TrainingComponent *component,
                 const struct gang_part_status *part, struct arena *arena)
{
    Berth__Api__TrainingReplicas *message =
        message_new(arena, &berth__api__training_replicas__descriptor);
    struct pods pods[POD_STATES];

    count_pods(part, pods);
    message->type = component->type;
    message->state =
        message_copy(arena, str_of(state_of(pods, part->min_count)));
    message->min = part->min_count;
    message->resource_states =
        arena_alloc_array(arena, POD_STATES, sizeof(*message->resource_states));
    for (uint32_t i = 0; i < POD_STATES; i++) {
        if (pods[i].count == 0) {
            continue;
        }
        Berth__Api__TrainingReplicas__ResourceStatesEntry *entry = message_new(
            arena,
            &berth__api__training_replicas__resource_states_entry__descriptor);
        entry->key = message_copy(arena, str_of(pods[i].state));
        entry->value = pods[i].count;
        message->resource_states[message->n_resource_states++] = entry;
    }
    return message;
}

static void put_components(const Berth__Api__TrainingJob *object,
                           const struct training_row *row, struct arena *arena,
                           Berth__Api__TrainingJobStatus *message)
{
    message->replicas = arena_alloc_array(arena, object->n_components + 1,
                                          sizeof(*message->replicas));
    for (uint32_t i = 0; i < row->part_count && i < object->n_components; i++) {
        const Berth__Api__TrainingComponent *component = object->components[i];
        const struct gang_part_status *part = &row->parts[i];
        message->replicas[message->n_replicas++] =
            replicas_message(component, part, arena);
        if (strcmp(component->type,
                   training_component_type(TRAINING_TRAINER)) == 0) {
            message->min_instance = component->min;
            message->max_instance = component->max;
            message->running_instance =
                part->running_count - part->starting_count;
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
    if (wire_decode(&berth__api__training_job__descriptor, row->encoded,
                    &wire_request_limits, arena, &decoded, &err) == 0) {
        const Berth__Api__TrainingJob *object = (void *)decoded;
        message->name = object->name;
        message->namespace_ = object->namespace_;
        message->queue = object->queue;
        message->job_set = object->job_set;
        message->priority_class_name = object->priority_class_name;
        put_components(object, row, arena, message);
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
