/* Posted commands that wait, and their answers. */

#include "control/state/inbox.h"

#include <stdio.h>

#include "control/state/state.h"

void command_answer(struct command *command, enum command_result result,
                    const char *text)
{
    command->result = result;
    command->result_text = arena_str(&command->arena, str_of(text));
    command->done(command, command->ctx);
}

void command_answer_full(struct command *command, uint32_t max,
                         const char *what)
{
    char text[ERR_TEXT_BYTES_MAX];

    (void)snprintf(text, sizeof(text), "the limit of %u %s is reached", max,
                   what);
    command_answer(command, COMMAND_OVERLOADED, text);
}

void command_answer_all(struct command *command, enum command_result result,
                        const char *text)
{
    while (command) {
        struct command *next = command->next;
        command_answer(command, result, text);
        command = next;
    }
}

/* Whether what waits is a list with an end, and takes room only if there is
 * some. */
static bool waiting_is_sound(const struct control *c)
{
    return c->waiting_first ? c->waiting_last && !c->waiting_last->next &&
                                  c->waiting_byte_count > 0
                            : !c->waiting_last && c->waiting_byte_count == 0;
}

void waiting_take(struct control *c)
{
    ASSERT(waiting_is_sound(c));
    if (c->waiting_byte_count > CONTROL_BATCH_BYTES) {
        return;
    }
    struct command *command = inbox_take(c->config.inbox);
    if (!command) {
        return;
    }
    if (c->waiting_last) {
        c->waiting_last->next = command;
    } else {
        c->waiting_first = command;
    }
    c->waiting_byte_count += command->byte_count;
    while (command->next) {
        command = command->next;
        c->waiting_byte_count += command->byte_count;
    }
    c->waiting_last = command;
    ASSERT(waiting_is_sound(c));
}

void waiting_refuse(struct control *c, const char *text)
{
    struct command *first = c->waiting_first;

    c->waiting_first = c->waiting_last = NULL;
    c->waiting_byte_count = 0;
    command_answer_all(first, COMMAND_UNAVAILABLE, text);
}
