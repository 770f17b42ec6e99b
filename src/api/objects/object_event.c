#include "api/objects/object_event.h"

#include "api/core/sequence.h"
#include "api/core/state.h"

void object_post(struct api_call *call, const struct event *event,
                 enum object_wish wish)
{
    struct event_scope scope = {.user = call->principal.name};
    struct sequence sequence = {0};

    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, event);
    struct command *command = sequence_command(&sequence, &scope);
    command->events.object_wish = wish;
    api_call_post(call, command, api_call_done_empty);
}

struct event event_now(const struct api_call *call, enum event_type type)
{
    const struct clock *clock = call->api->ports.clock;

    return (struct event){.type = type, .created_ms = clock->wall_ms(clock)};
}
