#include "control/command/command.h"

#include <pthread.h>

struct inbox {
    pthread_mutex_t mutex;
    struct command *first, *last; /* waiting, oldest first */
    uint32_t command_count;
    size_t byte_count;
    bool is_closed;
    void (*wake)(void *ctx);
    void *ctx;
};

struct command *command_create(enum command_kind kind)
{
    struct command *command = mem_alloc(sizeof(*command));

    command->kind = kind;
    return command;
}

void command_destroy(struct command *command)
{
    if (!command) {
        return;
    }
    arena_fini(&command->arena);
    mem_free(command);
}

struct inbox *inbox_create(void (*wake)(void *ctx), void *ctx)
{
    struct inbox *inbox = mem_alloc(sizeof(*inbox));

    pthread_mutex_init(&inbox->mutex, NULL);
    inbox->wake = wake;
    inbox->ctx = ctx;
    return inbox;
}

void inbox_destroy(struct inbox *inbox)
{
    if (!inbox) {
        return;
    }
    struct command *command = inbox->first;
    while (command) {
        struct command *next = command->next;
        command->result = COMMAND_UNAVAILABLE;
        command->result_text = STR("the server is stopping");
        command->done(command, command->ctx);
        command = next;
    }
    pthread_mutex_destroy(&inbox->mutex);
    mem_free(inbox);
}

int inbox_post(struct inbox *inbox, struct command *command)
{
    ASSERT(command->done);
    size_t byte_count = sizeof(*command) + command->arena.byte_count;
    int rc = 0;
    bool was_empty = false;

    pthread_mutex_lock(&inbox->mutex);
    if (inbox->is_closed) {
        rc = -ERR_UNAVAILABLE;
    } else if (inbox->command_count == INBOX_COMMANDS_MAX ||
               byte_count > INBOX_BYTES_MAX - inbox->byte_count) {
        rc = -ERR_LIMIT;
    } else {
        command->byte_count = byte_count;
        command->next = NULL;
        was_empty = inbox->first == NULL;
        if (was_empty) {
            inbox->first = command;
        } else {
            inbox->last->next = command;
        }
        inbox->last = command;
        inbox->command_count++;
        inbox->byte_count += byte_count;
    }
    pthread_mutex_unlock(&inbox->mutex);
    if (was_empty && inbox->wake) {
        inbox->wake(inbox->ctx);
    }
    return rc;
}

struct command *inbox_take(struct inbox *inbox)
{
    pthread_mutex_lock(&inbox->mutex);
    struct command *first = inbox->first;
    ASSERT((inbox->command_count == 0) == !first);
    inbox->first = inbox->last = NULL;
    inbox->command_count = 0;
    inbox->byte_count = 0;
    pthread_mutex_unlock(&inbox->mutex);
    return first;
}

void inbox_close(struct inbox *inbox)
{
    pthread_mutex_lock(&inbox->mutex);
    inbox->is_closed = true;
    pthread_mutex_unlock(&inbox->mutex);
}
