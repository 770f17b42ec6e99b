/* berth.api.Berth: the table of methods, and who may call them. */
#include "api/core/granters.h"
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"

static char **copy_groups(const struct str *groups, uint32_t count,
                          struct arena *arena)
{
    char **texts = arena_alloc_array(arena, (size_t)count + 1, sizeof(*texts));

    for (uint32_t i = 0; i < count; i++) {
        texts[i] = message_copy(arena, groups[i]);
    }
    return texts;
}

static Berth__Api__MethodPermission *
permission_message(struct api_call *call, const struct method *method)
{
    const struct auth *auth = &call->api->auth;
    const struct permission_grant *grant =
        &auth->config->grants[method->permission];
    Berth__Api__MethodPermission *message =
        message_new(&call->arena, &berth__api__method_permission__descriptor);

    /* Texts of the table live as long as the program. */
    message->method = message_text(str_of(method->path + 1));
    message->permission =
        message_text(str_of(permission_name(method->permission)));
    message->verb = message_text(str_of(queue_verb_name(method->verb)));
    message->scope = message_text(str_of(method_scope_name(method->scope)));
    message->groups =
        copy_groups(grant->groups, grant->group_count, &call->arena);
    message->n_groups = grant->group_count;
    message->allowed =
        auth_has_permission(auth, &call->principal, method->permission);
    return message;
}

/* By the permission that each verb's methods name. */
static bool may_anywhere(const struct api_call *call, enum queue_verb verb)
{
    const struct api *api = call->api;

    for (uint32_t i = 0; i < api->method_count; i++) {
        if (api->table[i].verb == verb) {
            return auth_has_permission(&api->auth, &call->principal,
                                       api->table[i].permission);
        }
    }
    return false;
}

/* What the caller may do on the queue; false: there is none, and the call is
 * over. */
static bool add_verbs(struct api_call *call, struct str queue,
                      Berth__Api__GetPermissionsResponse *response)
{
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, queue);

    if (!entry) {
        api_call_fail(call, RPC_NOT_FOUND, "could not find queue \"%.*s\"",
                      STR_ARG(queue));
        return false;
    }
    response->queue_verbs = arena_alloc_array(&call->arena, VERB_COUNT,
                                              sizeof(*response->queue_verbs));
    for (int i = VERB_NONE + 1; i < VERB_COUNT; i++) {
        enum queue_verb verb = (enum queue_verb)i;
        if (may_anywhere(call, verb) ||
            api_call_is_granted(call, entry, verb)) {
            response->queue_verbs[response->n_queue_verbs++] =
                message_text(str_of(queue_verb_name(verb)));
        }
    }
    queue_entry_unref(entry);
    return true;
}

static void add_granters(struct api_call *call,
                         Berth__Api__GetPermissionsResponse *response)
{
    const struct str *groups;
    uint32_t count =
        granters_list(&call->api->config->auth, &call->arena, &groups);

    response->granters = copy_groups(groups, count, &call->arena);
    response->n_granters = count;
}

void handle_get_permissions(struct api_call *call, struct str request)
{
    Berth__Api__GetPermissionsResponse response =
        BERTH__API__GET_PERMISSIONS_RESPONSE__INIT;
    const struct api *api = call->api;
    const struct principal *caller = &call->principal;
    Berth__Api__GetPermissionsRequest *message;

    if (!api_call_decode(call, &berth__api__get_permissions_request__descriptor,
                         request, &message)) {
        return;
    }
    if (*message->queue &&
        !add_verbs(call, str_of(message->queue), &response)) {
        return;
    }
    add_granters(call, &response);
    response.methods = arena_alloc_array(&call->arena, api->method_count,
                                         sizeof(*response.methods));
    for (uint32_t i = 0; i < api->method_count; i++) {
        response.methods[response.n_methods++] =
            permission_message(call, &api->table[i]);
    }
    response.user = message_copy(&call->arena, caller->name);
    response.groups =
        copy_groups(caller->groups, caller->group_count, &call->arena);
    response.n_groups = caller->group_count;
    response.administrator = caller->is_administrator;
    api_call_reply(call, &response.base);
}
