/*
 * ExecutorApi.ReportEvents (armada-api.md 6.3): appends sequences unchanged,
 * after checking that they are only about runs.
 */
#include "api/core/state.h"
#include "api/handlers.h"
#include "armada/executorapi.pb-c.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

enum {
    LIST_EVENTS = 1,
    SEQUENCE_EVENTS = 5,
    EVENT_CREATED = 18,
    FIELDS_MAX = 32 << 20,
    MEMORY_FACTOR = 32,
};

/* What executors may report, by field of EventSequence.Event. */
static bool is_report(uint32_t number)
{
    return number == EVENT_RUN_ASSIGNED || number == EVENT_RUN_RUNNING ||
           number == EVENT_RUN_SUCCEEDED || number == EVENT_RUN_ERRORS ||
           number == EVENT_INGRESS_INFO || number == EVENT_UTILISATION ||
           number == EVENT_RUN_PREEMPTED || number == EVENT_DEBUG_INFO;
}

/* Whether an event says one thing, and one that executors may say.  Fields
 * that armadaevents does not have mean something in the log: they count. */
static int check_event(struct str event, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(event);
    uint32_t fact_count = 0;

    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return err_set(err, -ERR_CORRUPT, "an event does not decode");
        }
        if (field.number == EVENT_CREATED) {
            continue;
        }
        if (!is_report(field.number) || ++fact_count > 1) {
            return err_set(err, -ERR_INVALID,
                           "an executor may not report event %u", field.number);
        }
    }
    return 0;
}

static int check_sequence(struct str sequence, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(sequence);
    int rc = 0;

    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return err_set(err, -ERR_CORRUPT, "a sequence does not decode");
        }
        if (field.number == SEQUENCE_EVENTS) {
            rc = field.type == FIELD_BYTES ? check_event(field.bytes, err)
                                           : -ERR_CORRUPT;
        }
    }
    return rc;
}

/* Check the list and put its sequences into the command. */
static int take_sequences(struct str list, struct command *command,
                          struct err *err)
{
    struct field_cursor cursor = field_cursor_make(list);
    VEC(struct event_sequence) sequences = {0};
    int rc = 0;

    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            rc = err_set(err, -ERR_CORRUPT, "the list does not decode");
        } else if (field.number == LIST_EVENTS && field.type == FIELD_BYTES) {
            rc = check_sequence(field.bytes, err);
            VEC_PUSH(&sequences, (struct event_sequence){
                                     arena_str(&command->arena, field.bytes)});
        }
    }
    command->events.sequences = arena_alloc_array(
        &command->arena, sequences.count, sizeof(command->events.sequences[0]));
    if (sequences.count) {
        memcpy(command->events.sequences, sequences.items,
               sequences.count * sizeof(sequences.items[0]));
    }
    command->events.sequence_count = (uint32_t)sequences.count;
    VEC_FREE(&sequences);
    return rc;
}

/* The list, well-formed; text that is not UTF-8 (programs write what they
 * like into error messages) is mended, for the executor would say the same
 * again for ever. */
static int tidy(struct api_call *call, struct str request, struct str *ret_list,
                struct err *err)
{
    size_t byte_count_max = call->api->config->lease_receive_bytes_max;
    struct wire_limits limits = {
        .byte_count_max = byte_count_max,
        .field_count_max = FIELDS_MAX,
        .memory_bytes_max = byte_count_max * MEMORY_FACTOR,
        .depth_max = WIRE_DEPTH_MAX,
    };
    const ProtobufCMessageDescriptor *type =
        &executorapi__event_list__descriptor;
    ProtobufCMessage *message;

    int rc = wire_check(type, request, &limits, err);
    if (rc != -ERR_CORRUPT) {
        *ret_list = request;
        return rc;
    }
    limits.mends_text = true;
    rc = wire_decode(type, request, &limits, &call->arena, &message, err);
    if (rc == 0) {
        *ret_list = wire_encode_arena(message, &call->arena);
    }
    return rc;
}

static const struct str *copy_texts(const struct str *texts, uint32_t count,
                                    struct arena *arena)
{
    struct str *copies =
        arena_alloc_array(arena, (size_t)count + 1, sizeof(*copies));

    for (uint32_t i = 0; i < count; i++) {
        copies[i] = arena_str(arena, texts[i]);
    }
    return copies;
}

void handle_report_events(struct api_call *call, struct str request)
{
    struct command *command = command_create(COMMAND_EVENTS);
    struct str list;
    struct err err;

    int rc = tidy(call, request, &list, &err);
    if (rc == 0) {
        rc = take_sequences(list, command, &err);
    }
    if (rc < 0) {
        command_destroy(command);
        api_call_fail(call,
                      rc == -ERR_LIMIT ? RPC_RESOURCE_EXHAUSTED
                                       : RPC_INVALID_ARGUMENT,
                      "%s", err.text);
        return;
    }
    if (command->events.sequence_count == 0) {
        command_destroy(command);
        api_call_reply_empty(call);
        return;
    }
    command->events.executors =
        copy_texts(call->principal.executors, call->principal.executor_count,
                   &command->arena);
    command->events.executor_count = call->principal.executor_count;
    api_call_post(call, command, api_call_done_empty);
}
