#include "main/berthd/policy_event.h"

#include "main/common/say.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"

/* An armadaevents.EventSequence has its events at this number. */
enum { SEQUENCE_EVENTS = 5 };

static void done(struct command *command, void *ctx)
{
    (void)ctx;
    if (command->result != COMMAND_OK) {
        say(SAY_ERROR, "policy.refused",
            say_str("error", command->result_text));
    }
    command_destroy(command);
}

int policy_event_post(struct inbox *inbox, struct str yaml,
                      const struct clock *clock, struct err *err)
{
    struct command *command = command_create(COMMAND_EVENTS);
    auto_strbuf encoded = {0}, sequence = {0};
    struct event event = {
        .type = EVENT_POLICY_SET,
        .created_ms = clock->wall_ms(clock),
        .policy = {.text = yaml},
    };

    log_encode_event(&encoded, &event);
    field_put_bytes(&sequence, SEQUENCE_EVENTS, strbuf_str(&encoded));
    command->events.sequences =
        arena_alloc(&command->arena, sizeof(*command->events.sequences));
    command->events.sequences[0].bytes =
        arena_str(&command->arena, strbuf_str(&sequence));
    command->events.sequence_count = 1;
    command->done = done;
    int rc = inbox_post(inbox, command);
    if (rc < 0) {
        command_destroy(command);
        return err_set(err, rc, "the leader accepts no commands");
    }
    return 0;
}
