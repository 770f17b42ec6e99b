#include "api/core/api_call.h"

#include "api/core/caller_place.h"
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

/* By what name a caller's requests are counted: of who is anonymous, by where
 * it comes from; p NULL: they are not. */
static struct str counted_as(struct api_call *call,
                             const struct auth_claim *claim)
{
    const struct principal *caller = &call->principal;
    auto_strbuf name = {0};

    if (caller->is_administrator || call->method->scope == SCOPE_EXECUTOR) {
        return (struct str){0};
    }
    if (!caller->is_anonymous) {
        return caller->name;
    }
    strbuf_add_char(&name, '\n'); /* no user's name has one */
    caller_place_put(claim, &name);
    return arena_str(&call->arena, strbuf_str(&name));
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
        api_call_fail_denied(
            call, "%.*s lacks permission %s%s", STR_ARG(call->principal.name),
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

bool api_queue_grants(const struct queue_entry *entry,
                      const struct principal *principal, enum queue_verb verb,
                      struct arena *arena)
{
    ProtobufCMessage *queue;
    struct err err;

    if (wire_decode(&api__queue__descriptor, entry->encoded,
                    &wire_request_limits, arena, &queue, &err) < 0) {
        return false;
    }
    return auth_queue_grants((const Api__Queue *)queue, principal, verb);
}

bool api_call_is_granted(struct api_call *call, const struct queue_entry *entry,
                         enum queue_verb verb)
{
    return api_queue_grants(entry, &call->principal, verb, &call->arena);
}

struct str api_default_pool(const struct api *api, struct str queue,
                            struct arena *arena)
{
    const struct queue_entry *entry =
        queue_table_find(api->ports.queues, queue);
    ProtobufCMessage *message = NULL;
    struct err err;

    if (!entry) {
        return (struct str){0};
    }
    int rc = wire_decode(&api__queue__descriptor, entry->encoded,
                         &wire_request_limits, arena, &message, &err);
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
        api_call_fail_denied(call, "could not find queue \"%.*s\"",
                             STR_ARG(queue));
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
        api_call_fail_denied(
            call, "%.*s lacks permission %s required for action %s%s",
            STR_ARG(call->principal.name), permission_name(method->permission),
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
    api_call_fail_denied(
        call,
        "%.*s may not act for executor \"%.*s\"; list it in the "
        "user's `executors` in the server's auth.basicAuthUsers",
        STR_ARG(caller->name), STR_ARG(executor_id));
    return false;
}
