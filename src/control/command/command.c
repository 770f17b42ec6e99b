#include "control/command/command.h"

#include <pthread.h>

#include "model/pack.h"

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
    if (command->kind == COMMAND_WHAT_IF) {
        command_destroy(command->what_if.changes.submission);
    }
    arena_fini(&command->arena);
    mem_free(command);
}

void command_set_sequences(struct command *command, struct str payload)
{
    struct pack_reader reader = {.rest = arena_str(&command->arena, payload)};
    VEC(struct event_sequence) sequences = {0};

    ASSERT(command->kind == COMMAND_EVENTS);
    while (reader.rest.byte_count > 0) {
        unpack_u64(&reader); /* the tag */
        struct event_sequence sequence = {unpack_str(&reader)};
        VEC_PUSH(&sequences, sequence);
    }
    command->events.sequence_count = (uint32_t)sequences.count;
    command->events.sequences = arena_alloc_array(
        &command->arena, sequences.count, sizeof(*command->events.sequences));
    if (sequences.count) {
        memcpy(command->events.sequences, sequences.items,
               sequences.count * sizeof(*sequences.items));
    }
    VEC_FREE(&sequences);
}

const char *what_if_effect_word(enum what_if_effect effect)
{
    static const char *const words[] = {
        [WHAT_IF_SAME] = "same",
        [WHAT_IF_STARTS] = "starts",
        [WHAT_IF_WAITS] = "waits",
        [WHAT_IF_EARLIER] = "earlier",
        [WHAT_IF_LATER] = "later",
        [WHAT_IF_MOVES] = "moves",
        [WHAT_IF_PREEMPTED] = "preempted",
        [WHAT_IF_KEPT] = "kept",
        [WHAT_IF_REFUSED] = "refused",
        [WHAT_IF_NOT_REFUSED] = "not-refused",
    };

    _Static_assert(ARRAY_COUNT(words) == WHAT_IF_EFFECTS, "a word for each");
    return words[effect];
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
    size_t byte_count = sizeof(*command) + command->arena.byte_count;
    int rc = 0;
    bool was_empty = false;

    pthread_mutex_lock(&inbox->mutex);
    ASSERT(inbox->command_count <= INBOX_COMMANDS_MAX &&
           inbox->byte_count <= INBOX_BYTES_MAX); /* it refuses what is more */
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
