/* berth.api.Berth: maintenance windows.  The leader decides whether a window
 * exists, since requests may come at the same time. */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/objects/object_event.h"
#include "wire/kube/window_codec.h"
#include "wire/message/message.h"

enum { MS_PER_S = 1000 };

static void put_window(struct api_call *call, struct str request,
                       enum object_wish wish)
{
    Berth__Api__MaintenanceWindow *window;
    struct err err;

    if (!api_call_decode(call, &berth__api__maintenance_window__descriptor,
                         request, &window)) {
        return;
    }
    if (window_check(window, &err) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "invalid maintenance window: %s", err.text);
        return;
    }
    struct event event = event_now(call, EVENT_WINDOW_SET);
    if (window->end->seconds * MS_PER_S <= event.created_ms) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "invalid maintenance window: end: must be in the future");
        return;
    }
    event.window.encoded = wire_encode_arena(&window->base, &call->arena);
    object_post(call, &event, wish);
}

void handle_create_maintenance_window(struct api_call *call, struct str request)
{
    put_window(call, request, OBJECT_WISH_NEW);
}

void handle_update_maintenance_window(struct api_call *call, struct str request)
{
    put_window(call, request, OBJECT_WISH_THERE);
}

void handle_delete_maintenance_window(struct api_call *call, struct str request)
{
    Berth__Api__DeleteMaintenanceWindowRequest *message;

    if (!api_call_decode(
            call, &berth__api__delete_maintenance_window_request__descriptor,
            request, &message)) {
        return;
    }
    struct event event = event_now(call, EVENT_WINDOW_DELETED);
    event.window.record.name = str_of(message->name);
    if (!event.window.record.name.byte_count) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "name: must be given");
        return;
    }
    object_post(call, &event, OBJECT_WISH_THERE);
}

static Berth__Api__MaintenanceWindowStatus *
status_message(const struct window_row *row, struct arena *arena)
{
    Berth__Api__MaintenanceWindowStatus *status =
        message_new(arena, &berth__api__maintenance_window_status__descriptor);
    ProtobufCMessage *window;
    struct err err;

    if (wire_decode(&berth__api__maintenance_window__descriptor, row->encoded,
                    &wire_request_limits, arena, &window, &err) == 0) {
        status->window = (void *)window;
    }
    status->is_open = row->is_open;
    status->node_count = row->node_count;
    return status;
}

static void windows_known(struct command *command, void *ctx)
{
    Berth__Api__ListMaintenanceWindowsResponse response =
        BERTH__API__LIST_MAINTENANCE_WINDOWS_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "log")) {
        response.windows =
            arena_alloc_array(&command->arena, command->windows.row_count,
                              sizeof(*response.windows));
        for (uint32_t i = 0; i < command->windows.row_count; i++) {
            response.windows[response.n_windows++] =
                status_message(&command->windows.rows[i], &command->arena);
        }
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_list_maintenance_windows(struct api_call *call, struct str request)
{
    Berth__Api__ListMaintenanceWindowsRequest *message;

    if (!api_call_decode(
            call, &berth__api__list_maintenance_windows_request__descriptor,
            request, &message)) {
        return;
    }
    struct command *command = command_create(COMMAND_QUERY_WINDOWS);
    command->windows.name = arena_str(&command->arena, str_of(message->name));
    api_call_post(call, command, windows_known);
}
