/* berth.api.Berth/GetApplications. */
#include "api/core/message.h"
#include "api/core/view.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"

enum { APPLICATION_STATES_MAX = 16 };

static Berth__Api__Application *
application_message(const struct application_row *row, struct arena *arena)
{
    Berth__Api__Application *message =
        message_new(arena, &berth__api__application__descriptor);

    message->queue = message_copy(arena, row->queue);
    message->id = message_copy(arena, row->id);
    message->state = message_copy(arena, row->state);
    message->since = message_time(arena, row->since_ms);
    if (row->until_ms) {
        message->until = message_time(arena, row->until_ms);
    }
    message->submitted = message_time(arena, row->submitted_ms);
    message->asks = row->ask_count;
    message->allocations = row->allocation_count;
    message->stateaware_disabled = row->has_stateaware_off;
    return message;
}

static void applications_known(struct command *command, void *ctx)
{
    Berth__Api__GetApplicationsResponse response =
        BERTH__API__GET_APPLICATIONS_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "log")) {
        response.total_count = command->apps.total_count;
        response.n_applications = command->apps.row_count;
        response.applications =
            arena_alloc_array(&call->arena, (size_t)command->apps.row_count + 1,
                              sizeof(*response.applications));
        for (uint32_t i = 0; i < command->apps.row_count; i++) {
            response.applications[i] =
                application_message(&command->apps.rows[i], &call->arena);
        }
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_get_applications(struct api_call *call, struct str request)
{
    Berth__Api__GetApplicationsRequest *message;

    if (!api_call_decode(call,
                         &berth__api__get_applications_request__descriptor,
                         request, &message)) {
        return;
    }
    if (!view_check_queue(call, str_of(message->queue))) {
        return;
    }
    if (message->n_states > APPLICATION_STATES_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "too many states");
        return;
    }
    struct command *command = command_create(COMMAND_QUERY_APPS);
    struct str *states = arena_alloc_array(
        &command->arena, message->n_states + 1, sizeof(*states));
    for (size_t i = 0; i < message->n_states; i++) {
        states[i] = arena_str(&command->arena, str_of(message->states[i]));
    }
    command->apps.queue = arena_str(&command->arena, str_of(message->queue));
    command->apps.states = states;
    command->apps.state_count = (uint32_t)message->n_states;
    command->apps.skip_count = message->skip;
    command->apps.limit =
        message->limit ? message->limit : APPLICATION_ROWS_MAX;
    api_call_post(call, command, applications_known);
}
