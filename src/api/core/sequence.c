#include "api/core/sequence.h"

#include "wire/log/log_codec.h"
#include "wire/message/field.h"

enum {
    SEQUENCE_QUEUE = 1,
    SEQUENCE_JOB_SET = 2,
    SEQUENCE_USER = 3,
    SEQUENCE_EVENTS = 5,
};

void sequence_begin(struct sequence *sequence, const struct event_scope *scope)
{
    field_put_set_bytes(&sequence->buf, SEQUENCE_QUEUE, scope->queue);
    field_put_set_bytes(&sequence->buf, SEQUENCE_JOB_SET, scope->job_set);
    field_put_set_bytes(&sequence->buf, SEQUENCE_USER, scope->user);
}

void sequence_add(struct sequence *sequence, const struct event *event)
{
    size_t begin = field_begin(&sequence->buf, SEQUENCE_EVENTS);

    log_encode_event(&sequence->buf, event);
    field_end(&sequence->buf, begin);
    sequence->event_count++;
}

struct command *sequence_command(struct sequence *sequence,
                                 const struct event_scope *scope)
{
    struct command *command = command_create(COMMAND_EVENTS);
    struct arena *arena = &command->arena;

    command->scope = (struct event_scope){
        .queue = arena_str(arena, scope->queue),
        .job_set = arena_str(arena, scope->job_set),
        .user = arena_str(arena, scope->user),
    };
    command->events.sequences =
        arena_alloc(arena, sizeof(command->events.sequences[0]));
    command->events.sequences[0].bytes =
        arena_str(arena, strbuf_str(&sequence->buf));
    command->events.sequence_count = 1;
    strbuf_fini(&sequence->buf);
    return command;
}
