/* The settings of executors (armada-api.md 1.9). */
#include "api/core/sequence.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "armada/services.pb-c.h"

void event_post(struct api_call *call, struct event *event)
{
    struct event_scope scope = {.user = call->principal.name};
    const struct clock *clock = call->api->ports.clock;
    struct sequence sequence = {0};

    event->created_ms = clock->wall_ms(clock);
    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, event);
    api_call_post(call, sequence_command(&sequence, &scope),
                  api_call_done_empty);
}

static bool check_name(struct api_call *call, const char *name)
{
    if (!*name) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "executor name cannot be empty");
    }
    return *name &&
           api_call_check_name(call, "an executor's name", str_of(name));
}

void handle_upsert_executor_settings(struct api_call *call, struct str request)
{
    Api__ExecutorSettingsUpsertRequest *message;

    if (!api_call_decode(call,
                         &api__executor_settings_upsert_request__descriptor,
                         request, &message) ||
        !check_name(call, message->name)) {
        return;
    }
    if (message->cordoned && !*message->cordonreason) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "cordon reason must be specified if cordoning");
        return;
    }
    if (!api_call_check_note(call, "cordon_reason",
                             str_of(message->cordonreason))) {
        return;
    }
    struct event event = {.type = EVENT_EXECUTOR_SETTINGS};
    event.settings.name = str_of(message->name);
    event.settings.is_cordoned = message->cordoned;
    event.settings.reason = str_of(message->cordonreason);
    event_post(call, &event);
}

void handle_delete_executor_settings(struct api_call *call, struct str request)
{
    Api__ExecutorSettingsDeleteRequest *message;

    if (!api_call_decode(call,
                         &api__executor_settings_delete_request__descriptor,
                         request, &message) ||
        !check_name(call, message->name)) {
        return;
    }
    struct event event = {.type = EVENT_EXECUTOR_SETTINGS};
    event.settings.name = str_of(message->name);
    event.settings.is_deleted = true;
    event_post(call, &event);
}

void handle_delete_executor(struct api_call *call, struct str request)
{
    Api__ExecutorDeleteRequest *message;

    if (!api_call_decode(call, &api__executor_delete_request__descriptor,
                         request, &message) ||
        !check_name(call, message->name)) {
        return;
    }
    struct event event = {.type = EVENT_EXECUTOR_DELETED};
    event.settings.name = str_of(message->name);
    event_post(call, &event);
}
