/* The one end of a call: a reply or a failure, and what the log says of it. */
#include <stdarg.h>
#include <stdio.h>

#include "api/core/api_call.h"
#include "api/core/message.h"
#include "api/core/state.h"
#include "wire/message/message.h"

void api_call_fail_denied(struct api_call *call, const char *format, ...)
{
    char text[ERROR_TEXT_BYTES_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    call->is_denied = true;
    if (call->method->traits & METHOD_DENIES_WRAPPED) {
        api_call_fail_wrapped(call, RPC_UNKNOWN, "%s", text);
    } else {
        api_call_fail(call, RPC_PERMISSION_DENIED, "%s", text);
    }
}

/* The caller's request id, or one made up. */
static const char *request_id(struct api_call *call)
{
    struct str given = rpc_call_header(call->rpc, "x-request-id");
    uint8_t random[RANDOM_ID_BYTES];
    char *id;

    if (call->request_id) {
        return call->request_id;
    }
    if (given.byte_count) {
        return call->request_id = arena_strdup(&call->arena, given);
    }
    id = arena_alloc(&call->arena, 2 * sizeof(random) + 1);
    call->api->ports.rng->fill(call->api->ports.rng, random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++) {
        snprintf(id + 2 * i, 3, "%02x", random[i]);
    }
    return call->request_id = id;
}

/* Whether it sets what people set: what everybody does all the time (jobs
 * submitted, executors' reports) does not. */
static bool is_change(const struct method *method)
{
    return method->scope == SCOPE_SERVER || method->verb == VERB_CANCEL ||
           method->verb == VERB_PREEMPT || method->verb == VERB_REPRIORITIZE ||
           method->verb == VERB_EXEC;
}

/* Of who is anonymous, its user, if that is known; of who was not let in, whom
 * it said to be. */
static struct str name_of(const struct principal *caller)
{
    if (caller->claimed.byte_count > 0) {
        return caller->claimed;
    }
    return caller->is_anonymous && caller->group_count > 1 ? caller->groups[1]
                                                           : caller->name;
}

/* Whether more than a few of such calls a second would be strange: then an id
 * is made up where the caller gave none. */
static bool is_told(const struct api_note *note)
{
    return note->is_denied || note->is_change || note->is_login ||
           note->code != RPC_OK;
}

/* The id that the call has already, or "". */
static const char *given_id(struct api_call *call)
{
    return call->request_id
               ? call->request_id
               : arena_strdup(&call->arena,
                              rpc_call_header(call->rpc, "x-request-id"));
}

static void tell(struct api_call *call, enum rpc_code code, const char *text,
                 bool is_begun)
{
    const struct api_ports *ports = &call->api->ports;
    struct api_note note = {
        .method = call->method->path,
        .user = name_of(&call->principal),
        .peer = str_of(rpc_call_peer(call->rpc)),
        .queue = call->queue,
        .job_set = call->job_set,
        .job = call->job,
        .is_begun = is_begun,
        .code = code,
        .text = text,
        .is_denied = call->is_denied,
        .is_change = is_change(call->method),
        .is_login = call->principal.is_first_login,
        .has_credentials = call->has_credentials,
    };

    if (ports->noted) {
        note.request_id = is_told(&note) ? request_id(call) : given_id(call);
        note.took_us =
            (int64_t)(ports->clock->mono_ns(ports->clock) - call->began_ns) /
            1000;
        ports->noted(ports->ctx, &note);
    }
}

/* The one way out: after it the call may be gone. */
static void finish(struct api_call *call, enum rpc_code code, const char *text,
                   struct str reply)
{
    tell(call, code, text, false);
    leader_questions_leave(&call->api->questions, &call->question);
    rpc_call_finish(call->rpc, code, code == RPC_OK ? NULL : text, reply);
}

void api_call_begun(struct api_call *call)
{
    tell(call, RPC_OK, "", true);
}

void api_call_reply_bytes(struct api_call *call, struct str reply)
{
    finish(call, RPC_OK, "", reply);
}

void api_call_reply(struct api_call *call, const ProtobufCMessage *reply)
{
    api_call_reply_bytes(call, wire_encode_arena(reply, &call->arena));
}

void api_call_reply_empty(struct api_call *call)
{
    api_call_reply_bytes(call, STR(""));
}

void api_call_end(struct api_call *call)
{
    api_call_reply_bytes(call, STR(""));
}

void api_call_fail(struct api_call *call, enum rpc_code code,
                   const char *format, ...)
{
    char text[RPC_MESSAGE_BYTES_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    finish(call, code, text, STR(""));
}

/* The text, cut to the limit but not inside a character. */
static const char *cut(struct api_call *call, const char *text)
{
    size_t at = ERROR_TEXT_BYTES_MAX;

    if (strlen(text) <= at) {
        return text;
    }
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) {
        at--;
    }
    return message_format(&call->arena, "%.*s... (truncated)", (int)at, text);
}

void api_call_fail_wrapped(struct api_call *call, enum rpc_code code,
                           const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *body = message_vformat(&call->arena, format, args);
    va_end(args);
    const char *text = message_format(&call->arena, "[x-request-id: \"%s\"] %s",
                                      request_id(call), body);
    finish(call, code, cut(call, text), STR(""));
}

void api_call_fail_field(struct api_call *call, const char *field,
                         const char *value, const char *message)
{
    api_call_fail_wrapped(call, RPC_INVALID_ARGUMENT,
                          "value \"%s\" is invalid for field \"%s\": %s", value,
                          field, message);
}

void api_call_fail_storage(struct api_call *call, const struct err *err)
{
    api_call_fail(call, RPC_UNAVAILABLE, "%s", err->text);
}

/* Whether the leader answers it and changes nothing. */
static bool is_question(enum command_kind kind)
{
    switch (kind) {
    case COMMAND_QUERY_REPORT:
    case COMMAND_QUERY_QUEUES:
    case COMMAND_QUERY_APPS:
    case COMMAND_EXPLAIN:
    case COMMAND_QUERY_ADMISSIONS:
    case COMMAND_QUERY_NODES:
    case COMMAND_QUERY_EXECUTORS:
    case COMMAND_QUERY_POOLS:
    case COMMAND_QUERY_TRAINING:
    case COMMAND_QUERY_GANGS:
    case COMMAND_QUERY_WINDOWS:
    case COMMAND_QUERY_PERIODIC:
    case COMMAND_WHAT_IF:
        return true;
    case COMMAND_SUBMIT:
    case COMMAND_EVENTS:
    case COMMAND_EXCHANGE:
    case COMMAND_POOL_METRICS:
    case COMMAND_SESSION_END:
    case COMMAND_TRAINING_UPDATE:
    case COMMAND_TRAINING_DELETE:
        break;
    }
    return false;
}

bool api_call_post(struct api_call *call, struct command *command,
                   command_done_fn *done)
{
    if (call->counted_as.p && is_question(command->kind) &&
        !leader_questions_enter(&call->api->questions, &call->question,
                                call->counted_as)) {
        command_destroy(command);
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED,
                      "%d of your questions wait for the scheduler; ask again "
                      "when one is answered",
                      QUESTIONS_EACH_MAX);
        return false;
    }
    command->done = done;
    command->ctx = call;
    int rc = inbox_post(call->api->ports.inbox, command);
    if (rc == 0) {
        return true;
    }
    command_destroy(command);
    if (rc == -ERR_LIMIT) {
        api_call_fail(
            call, RPC_RESOURCE_EXHAUSTED,
            "too many requests wait for the scheduler; try again later");
    } else {
        api_call_fail(call, RPC_UNAVAILABLE, "the scheduler does not run here");
    }
    return false;
}

bool api_call_fail_command(struct api_call *call, const struct command *command,
                           const char *log_failed)
{
    struct str text = command->result_text;

    switch (command->result) {
    case COMMAND_OK:
        return false;
    case COMMAND_UNKNOWN_QUEUE:
        api_call_fail_denied(call, "could not find queue \"%.*s\"",
                             STR_ARG(command->scope.queue));
        return true;
    case COMMAND_NOT_FOUND:
        api_call_fail(call, RPC_NOT_FOUND, "%.*s", STR_ARG(text));
        return true;
    case COMMAND_UNAVAILABLE:
        api_call_fail(call, RPC_UNAVAILABLE, "%.*s", STR_ARG(text));
        return true;
    case COMMAND_LOG_FAILED:
        api_call_fail(call, RPC_INTERNAL, "%s: %.*s", log_failed,
                      STR_ARG(text));
        return true;
    case COMMAND_OVERLOADED:
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED, "%.*s", STR_ARG(text));
        return true;
    case COMMAND_INVALID:
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%.*s", STR_ARG(text));
        return true;
    case COMMAND_EXISTS:
        api_call_fail(call, RPC_ALREADY_EXISTS, "%.*s", STR_ARG(text));
        return true;
    }
    ASSERT(!"a command ends in one of its results");
    return true;
}

void api_call_done_empty(struct command *command, void *ctx)
{
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "Failed to send message")) {
        api_call_reply_empty(call);
    }
    command_destroy(command);
}
