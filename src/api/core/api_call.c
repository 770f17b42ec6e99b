#include "api/core/api_call.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/core/granters.h"
#include "api/core/message.h"
#include "api/core/state.h"
#include "model/node.h"
#include "wire/message/message.h"
#include "wire/text/printable.h"

enum { NS_PER_MS = 1000000 };

static void api_call_destroy(void *data)
{
    struct api_call *call = data;

    if (call->destroy_data) {
        call->destroy_data(call->data);
    }
    arena_fini(&call->arena);
    mem_free(call);
}

static void fail_denied(struct api_call *call, const char *format, ...)
    printf_like(2, 3);

static void fail_denied(struct api_call *call, const char *format, ...)
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

const char *method_scope_name(enum method_scope scope)
{
    static const char *const names[SCOPE_COUNT] = {
        [SCOPE_ANYONE] = "anyone",     [SCOPE_SERVER] = "server",
        [SCOPE_QUEUE] = "queue",       [SCOPE_JOBS] = "jobs",
        [SCOPE_EXECUTOR] = "executor",
    };

    ASSERT(scope < SCOPE_COUNT);
    return names[scope];
}

/* Whether the permission decides before the request is read. */
static bool is_decided_first(const struct method *method)
{
    switch (method->scope) {
    case SCOPE_SERVER:
    case SCOPE_EXECUTOR:
        return true;
    case SCOPE_ANYONE:
    case SCOPE_QUEUE:
    case SCOPE_JOBS:
    case SCOPE_COUNT:
        break;
    }
    return false;
}

static struct auth_claim claim_of(const struct api *api, struct rpc_call *rpc)
{
    const struct clock *clock = api->ports.clock;
    const char *peer = rpc_call_peer(rpc);
    const char *port = strrchr(peer, ':');
    struct auth_claim claim = {
        .authorization = rpc_call_header(rpc, "authorization"),
        .address = str_make(peer, port ? (size_t)(port - peer) : strlen(peer)),
        .now_ms = (int64_t)(clock->mono_ns(clock) / NS_PER_MS),
    };

    claim.has_user = rpc_call_peer_user(rpc, &claim.user_id);
    claim.is_outside_jobs = claim.has_user &&
                            auth_minds_jobs(&api->auth, claim.user_id) &&
                            rpc_call_peer_is_outside_jobs(rpc);
    return claim;
}

/* By what name a caller's requests are counted: of who is anonymous, by user or
 * address; p NULL: they are not. */
static struct str counted_as(struct api_call *call,
                             const struct auth_claim *claim)
{
    const struct principal *caller = &call->principal;

    if (caller->is_administrator || call->method->scope == SCOPE_EXECUTOR) {
        return (struct str){0};
    }
    if (!caller->is_anonymous) {
        return caller->name;
    }
    return str_of(
        claim->has_user
            ? message_format(&call->arena, "\nuid:%u", claim->user_id)
            : message_format(&call->arena, "\n%.*s", STR_ARG(claim->address)));
}

/* Whether the caller has asked for no more than it may; false: the call is
 * over. */
static bool take_rate(struct api_call *call, int64_t request_count,
                      int64_t byte_count)
{
    const struct clock *clock = call->api->ports.clock;
    int64_t now_ms = (int64_t)(clock->mono_ns(clock) / NS_PER_MS);

    if (!call->counted_as.p) {
        return true;
    }
    int64_t wait_ms = rate_take(&call->api->rate, call->counted_as,
                                request_count, byte_count, now_ms);
    if (wait_ms > 0) {
        api_call_fail(
            call, RPC_RESOURCE_EXHAUSTED,
            "%.*s exceeds the limits of server.rateLimit; try again in %lld ms",
            STR_ARG(call->principal.name), (long long)wait_ms);
    }
    return wait_ms == 0;
}

bool api_call_admit(struct api *api, const struct method *method,
                    struct rpc_call *rpc)
{
    struct api_call *call = mem_alloc(sizeof(*call));
    struct err err;

    *call = (struct api_call){.api = api, .method = method, .rpc = rpc};
    rpc_call_own(rpc, call, api_call_destroy);
    struct auth_claim claim = claim_of(api, rpc);
    call->began_ns = api->ports.clock->mono_ns(api->ports.clock);
    call->has_credentials = claim.authorization.byte_count > 0;
    int rc = auth_authenticate(&api->auth, &claim, &call->arena,
                               &call->principal, &err);
    if (rc < 0) {
        api_call_fail(call, RPC_UNAUTHENTICATED, "%s", err.text);
        return false;
    }
    if (is_decided_first(method) &&
        !auth_has_permission(&api->auth, &call->principal,
                             method->permission)) {
        auto_strbuf hint = {0};
        granters_say(&api->config->auth, method->permission, VERB_NONE, &hint);
        fail_denied(call, "%.*s lacks permission %s%s",
                    STR_ARG(call->principal.name),
                    permission_name(method->permission), strbuf_text(&hint));
        return false;
    }
    call->counted_as = counted_as(call, &claim);
    return take_rate(call, 1, 0);
}

void api_call_dispatch(struct rpc_call *rpc, struct str request)
{
    struct api_call *call = rpc_call_data(rpc);

    if (take_rate(call, 0, (int64_t)request.byte_count)) {
        call->method->handle(call, request);
    }
}

bool api_call_decode(struct api_call *call,
                     const ProtobufCMessageDescriptor *type, struct str request,
                     void *ret_message)
{
    ProtobufCMessage *message;
    struct err err;
    int rc = wire_decode(type, request, &wire_request_limits, &call->arena,
                         &message, &err);

    if (rc < 0) {
        api_call_fail(call,
                      rc == -ERR_LIMIT ? RPC_RESOURCE_EXHAUSTED
                                       : RPC_INVALID_ARGUMENT,
                      "cannot decode request: %s", err.text);
        return false;
    }
    *(ProtobufCMessage **)ret_message = message;
    return true;
}

bool api_call_is_granted(struct api_call *call, const struct queue_entry *entry,
                         enum queue_verb verb)
{
    ProtobufCMessage *queue;
    struct err err;

    if (wire_decode(&api__queue__descriptor, entry->encoded,
                    &wire_request_limits, &call->arena, &queue, &err) < 0) {
        return false;
    }
    return auth_queue_grants((const Api__Queue *)queue, &call->principal, verb);
}

struct str api_call_default_pool(struct api_call *call, struct str queue)
{
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, queue);
    ProtobufCMessage *message = NULL;
    struct err err;

    if (!entry) {
        return (struct str){0};
    }
    int rc = wire_decode(&api__queue__descriptor, entry->encoded,
                         &wire_request_limits, &call->arena, &message, &err);
    queue_entry_unref(entry);
    if (rc < 0 || !((const Api__Queue *)message)->scheduling) {
        return (struct str){0};
    }
    return str_of(((const Api__Queue *)message)->scheduling->default_pool);
}

/* Whether the query store has heard of a job set. */
static bool is_job_set_known(struct api_call *call, struct str queue,
                             struct str job_set)
{
    struct reader_pool *pool = call->api->readers;
    struct readers *readers;
    struct err err;
    int64_t key;

    if (reader_pool_lend(pool, &readers, &err) < 0) {
        return false;
    }
    int rc = store_job_set(readers->store, queue, job_set, &key, &err);
    reader_pool_give_back(pool, readers);
    return rc > 0;
}

bool api_call_reaches_orphans(struct api_call *call, struct str queue,
                              struct str job_set)
{
    return job_set.byte_count > 0 &&
           auth_has_permission(&call->api->auth, &call->principal,
                               call->method->permission) &&
           is_job_set_known(call, queue, job_set);
}

/* May the caller do the method's verb on this job set (or, with an empty name,
 * on the whole queue)? */
static bool authorize(struct api_call *call, struct str queue,
                      struct str job_set)
{
    const struct method *method = call->method;
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, queue);
    call->queue = arena_str(&call->arena, queue);
    call->job_set = arena_str(&call->arena, job_set);

    if (!entry) {
        if (api_call_reaches_orphans(call, queue, job_set)) {
            return true;
        }
        fail_denied(call, "could not find queue \"%.*s\"", STR_ARG(queue));
        return false;
    }
    bool is_allowed = auth_has_permission(&call->api->auth, &call->principal,
                                          method->permission) ||
                      api_call_is_granted(call, entry, method->verb);
    queue_entry_unref(entry);
    if (!is_allowed) {
        auto_strbuf hint = {0};
        granters_say(&call->api->config->auth, method->permission, method->verb,
                     &hint);
        fail_denied(call, "%.*s lacks permission %s required for action %s%s",
                    STR_ARG(call->principal.name),
                    permission_name(method->permission),
                    queue_verb_name(method->verb), strbuf_text(&hint));
    }
    return is_allowed;
}

bool api_call_authorize_queue(struct api_call *call, struct str queue)
{
    return authorize(call, queue, STR(""));
}

bool api_call_authorize_job_set(struct api_call *call, struct str queue,
                                struct str job_set)
{
    return authorize(call, queue, job_set);
}

static bool check_bytes(struct api_call *call, const char *what,
                        struct str text, size_t byte_count_max)
{
    if (text.byte_count <= byte_count_max) {
        return true;
    }
    api_call_fail(call, RPC_INVALID_ARGUMENT, "%s may have %zu bytes", what,
                  byte_count_max);
    return false;
}

bool api_call_check_name(struct api_call *call, const char *what,
                         struct str text)
{
    if (!check_bytes(call, what, text, NODE_NAME_BYTES_MAX)) {
        return false;
    }
    if (wire_is_printable(text)) {
        return true;
    }
    api_call_fail(call, RPC_INVALID_ARGUMENT,
                  "%s cannot contain control characters, line breaks or "
                  "characters that hide or reorder text",
                  what);
    return false;
}

bool api_call_check_note(struct api_call *call, const char *what,
                         struct str text)
{
    return check_bytes(call, what, text, NOTE_BYTES_MAX);
}

bool api_call_check_executor(struct api_call *call, struct str executor_id)
{
    const struct principal *caller = &call->principal;

    if (!api_call_check_name(call, "an executor's id", executor_id)) {
        return false;
    }
    if (auth_may_act_for(caller, executor_id)) {
        return true;
    }
    fail_denied(call,
                "%.*s may not act for executor \"%.*s\"; list it in the "
                "user's `executors` in the server's auth.basicAuthUsers",
                STR_ARG(caller->name), STR_ARG(executor_id));
    return false;
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
           method->verb == VERB_PREEMPT || method->verb == VERB_REPRIORITIZE;
}

/* Of who is anonymous, its user, if that is known. */
static struct str name_of(const struct principal *caller)
{
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

static void tell(struct api_call *call, enum rpc_code code, const char *text)
{
    const struct api_ports *ports = &call->api->ports;
    struct api_note note = {
        .method = call->method->path,
        .user = name_of(&call->principal),
        .peer = str_of(rpc_call_peer(call->rpc)),
        .queue = call->queue,
        .job_set = call->job_set,
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
    tell(call, code, text);
    rpc_call_finish(call->rpc, code, code == RPC_OK ? NULL : text, reply);
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

bool api_call_post(struct api_call *call, struct command *command,
                   command_done_fn *done)
{
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
        fail_denied(call, "could not find queue \"%.*s\"",
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
