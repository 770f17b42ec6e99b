/* berth.api.Berth: groups of pods and other gangs, with their state. */
#include "api/core/message.h"
#include "api/core/view.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"

enum { LIST_GANGS_MAX = 1000 }; /* in one answer */

static Berth__Api__SubGroupStatus *
part_message(const struct gang_part_status *part, struct arena *arena)
{
    Berth__Api__SubGroupStatus *message =
        message_new(arena, &berth__api__sub_group_status__descriptor);

    message->name = message_copy(arena, part->name);
    message->auxiliary = part->is_auxiliary;
    message->min = part->min_count;
    message->max = part->max_count;
    message->waiting = part->waiting_count;
    message->running = part->running_count;
    message->succeeded = part->succeeded_count;
    message->failed = part->failed_count;
    return message;
}

static void put_jobs(const struct gang_status *row, struct arena *arena,
                     Berth__Api__PodGroupStatus *message)
{
    message->job_ids = arena_alloc_array(arena, (size_t)row->job_count + 1,
                                         sizeof(*message->job_ids));
    for (uint32_t i = 0; i < row->job_count; i++) {
        char text[ID_TEXT_BYTES_MAX];
        message->job_ids[message->n_job_ids++] =
            message_copy(arena, str_of(job_id_format(row->jobs[i], text)));
    }
}

static Berth__Api__PodGroupStatus *gang_message(const struct gang_status *row,
                                                struct arena *arena)
{
    Berth__Api__PodGroupStatus *message =
        message_new(arena, &berth__api__pod_group_status__descriptor);
    char oldest[ID_TEXT_BYTES_MAX];

    message->oldest_job_id =
        message_copy(arena, str_of(job_id_format(row->oldest, oldest)));
    message->id = message_copy(arena, row->gang_id);
    message->queue = message_copy(arena, row->queue);
    message->job_set = message_copy(arena, row->job_set);
    message->kind = message_copy(arena, str_of(row->kind));
    if (row->below_since_ms) {
        message->below_since = message_time(arena, row->below_since_ms);
    }
    message->sub_groups =
        arena_alloc_array(arena, row->part_count, sizeof(*message->sub_groups));
    for (uint32_t i = 0; i < row->part_count; i++) {
        message->sub_groups[message->n_sub_groups++] =
            part_message(&row->parts[i], arena);
    }
    put_jobs(row, arena, message);
    return message;
}

static void on_gangs_known(struct command *command, void *ctx)
{
    Berth__Api__ListPodGroupsResponse response =
        BERTH__API__LIST_POD_GROUPS_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "log")) {
        response.pod_groups = arena_alloc_array(
            &call->arena, (size_t)command->gangs.row_count + 1,
            sizeof(*response.pod_groups));
        for (uint32_t i = 0; i < command->gangs.row_count; i++) {
            response.pod_groups[response.n_pod_groups++] =
                gang_message(&command->gangs.rows[i], &call->arena);
        }
        response.has_more = command->gangs.has_more;
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_list_pod_groups(struct api_call *call, struct str request)
{
    Berth__Api__ListPodGroupsRequest *message;

    if (!api_call_decode(call, &berth__api__list_pod_groups_request__descriptor,
                         request, &message)) {
        return;
    }
    if (!view_check_queue(call, str_of(message->queue))) {
        return;
    }
    struct job_id after = {0};
    if (*message->after_oldest_job_id &&
        job_id_parse(str_of(message->after_oldest_job_id), &after) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "after_oldest_job_id \"%s\" is not a job id",
                      message->after_oldest_job_id);
        return;
    }
    struct command *command = command_create(COMMAND_QUERY_GANGS);
    struct arena *arena = &command->arena;
    command->scope.queue = arena_str(arena, str_of(message->queue));
    command->gangs.gang_id = arena_str(arena, str_of(message->id));
    command->gangs.after_queue = arena_str(arena, str_of(message->after_queue));
    command->gangs.after_gang_id = arena_str(arena, str_of(message->after_id));
    command->gangs.after_job = after;
    command->gangs.wants_jobs = *message->id && message->with_job_ids;
    command->gangs.count_max =
        message->limit > 0 && message->limit < LIST_GANGS_MAX ? message->limit
                                                              : LIST_GANGS_MAX;
    api_call_post(call, command, on_gangs_known);
}
