#include "api/core/view.h"

#include "api/core/message.h"
#include "api/core/state.h"
#include "wire/message/message.h"

/* What the queue's own permissions let the caller see. */
static enum view granted_view(struct api_call *call, struct str queue)
{
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, queue);
    ProtobufCMessage *message = NULL;
    enum view view = VIEW_NOTHING;
    struct err err;

    if (!entry) {
        return VIEW_NOTHING;
    }
    int rc = wire_decode(&api__queue__descriptor, entry->encoded,
                         &wire_request_limits, &call->arena, &message, &err);
    queue_entry_unref(entry);
    if (rc < 0) {
        return VIEW_NOTHING;
    }
    const Api__Queue *permissions = (const Api__Queue *)message;
    if (auth_queue_grants(permissions, &call->principal, VERB_WATCH)) {
        view = auth_queue_is_owner(permissions, &call->principal)
                   ? VIEW_ALL
                   : VIEW_REDACTED;
    }
    return view;
}

enum view view_of_unknown(struct api_call *call)
{
    const struct principal *caller = &call->principal;

    return caller->is_administrator ? VIEW_ALL
           : auth_has_permission(&call->api->auth, caller,
                                 PERMISSION_WATCH_ALL_EVENTS)
               ? VIEW_REDACTED
               : VIEW_NOTHING;
}

enum view view_of_job(struct api_call *call, struct str queue, struct str owner)
{
    const struct principal *caller = &call->principal;
    bool is_owner = !caller->is_anonymous && owner.byte_count > 0 &&
                    str_equal(owner, caller->name);

    if (caller->is_administrator || is_owner) {
        return VIEW_ALL;
    }
    if (!call->viewed_queue.p || !str_equal(call->viewed_queue, queue)) {
        call->viewed_queue = arena_str(&call->arena, queue);
        call->viewed = granted_view(call, queue);
    }
    enum view view = view_of_unknown(call);
    return (enum view)call->viewed > view ? (enum view)call->viewed : view;
}

bool view_check_queue(struct api_call *call, struct str queue)
{
    if (view_of_unknown(call) != VIEW_NOTHING) {
        return true;
    }
    if (queue.byte_count == 0) {
        api_call_fail(call, RPC_PERMISSION_DENIED,
                      "%.*s lacks permission %s, which is needed to see all "
                      "queues at once; name a queue",
                      STR_ARG(call->principal.name),
                      permission_name(PERMISSION_WATCH_ALL_EVENTS));
        return false;
    }
    return api_call_authorize_queue(call, queue);
}

static void redact_containers(K8s__Io__Api__Core__V1__Container **containers,
                              size_t count)
{
    for (size_t c = 0; c < count; c++) {
        for (size_t e = 0; e < containers[c]->n_env; e++) {
            if (containers[c]->env[e]->value) {
                containers[c]->env[e]->value = message_text(STR("<redacted>"));
            }
        }
    }
}

void view_redact(K8s__Io__Api__Core__V1__PodSpec *spec)
{
    if (!spec) {
        return;
    }
    redact_containers(spec->containers, spec->n_containers);
    redact_containers(spec->initcontainers, spec->n_initcontainers);
    for (size_t c = 0; c < spec->n_ephemeralcontainers; c++) {
        K8s__Io__Api__Core__V1__EphemeralContainerCommon *common =
            spec->ephemeralcontainers[c]->ephemeralcontainercommon;
        for (size_t e = 0; common && e < common->n_env; e++) {
            if (common->env[e]->value) {
                common->env[e]->value = message_text(STR("<redacted>"));
            }
        }
    }
}
