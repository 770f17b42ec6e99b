/* RetryPolicyService (armada-api.md 1.6). */
#include "api/core/sequence.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/objects/retry_validate.h"
#include "armada/services.pb-c.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

static struct event event_now(const struct api_call *call, enum event_type type)
{
    const struct clock *clock = call->api->ports.clock;

    return (struct event){.type = type, .created_ms = clock->wall_ms(clock)};
}

static bool is_there(struct api_call *call, const char *name)
{
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.retry_policies, str_of(name));

    queue_entry_unref(entry);
    return entry != NULL;
}

static void put_policy(struct api_call *call, struct str request, bool is_new)
{
    struct event_scope scope = {.user = call->principal.name};
    struct sequence sequence = {0};
    struct refusal refusal;
    Api__RetryPolicy *policy;

    if (!api_call_decode(call, &api__retry_policy__descriptor, request,
                         &policy)) {
        return;
    }
    if (retry_policy_validate(policy, &refusal) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "invalid retry policy: %s",
                      refusal.text);
        return;
    }
    if (!is_new && !is_there(call, policy->name)) {
        api_call_fail(call, RPC_NOT_FOUND, "could not find retry policy \"%s\"",
                      policy->name);
        return;
    }
    struct event event = event_now(call, EVENT_RETRY_POLICY_SET);
    event.retry_policy.name = str_of(policy->name);
    event.retry_policy.encoded = wire_encode_arena(&policy->base, &call->arena);
    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, &event);
    api_call_post(call, sequence_command(&sequence, &scope),
                  api_call_done_empty);
}

void handle_create_retry_policy(struct api_call *call, struct str request)
{
    put_policy(call, request, true);
}

void handle_update_retry_policy(struct api_call *call, struct str request)
{
    put_policy(call, request, false);
}

/* Take `name` out of a queue's list; false if it is not there. */
static bool detach(Api__Queue *queue, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < queue->n_retry_policies; i++) {
        if (strcmp(queue->retry_policies[i], name) != 0) {
            queue->retry_policies[kept++] = queue->retry_policies[i];
        }
    }
    bool is_changed = kept < queue->n_retry_policies;
    queue->n_retry_policies = kept;
    return is_changed;
}

/* Add an edit for each queue that names the policy. */
static void detach_all(struct api_call *call, struct sequence *sequence,
                       const char *name)
{
    uint32_t count;
    const struct queue_entry **entries =
        queue_table_list(call->api->ports.queues, &count);

    for (uint32_t i = 0; i < count; i++) {
        ProtobufCMessage *message;
        struct err err;
        if (wire_decode(&api__queue__descriptor, entries[i]->encoded,
                        &wire_request_limits, &call->arena, &message,
                        &err) < 0 ||
            !detach((Api__Queue *)message, name)) {
            continue;
        }
        struct event event = event_now(call, EVENT_QUEUE_SET);
        event.queue.record.name = entries[i]->name;
        event.queue.encoded = wire_encode_arena(message, &call->arena);
        sequence_add(sequence, &event);
    }
    queue_list_free(entries, count);
}

static bool check_name(struct api_call *call, const char *name)
{
    if (!*name) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "retry policy name cannot be empty");
    }
    return *name != '\0';
}

void handle_delete_retry_policy(struct api_call *call, struct str request)
{
    struct event_scope scope = {.user = call->principal.name};
    struct sequence sequence = {0};
    Api__RetryPolicyDeleteRequest *message;

    if (!api_call_decode(call, &api__retry_policy_delete_request__descriptor,
                         request, &message)) {
        return;
    }
    if (!check_name(call, message->name)) {
        return;
    }
    if (!is_there(call, message->name)) {
        api_call_reply_empty(call);
        return;
    }
    struct event event = event_now(call, EVENT_RETRY_POLICY_DELETED);
    event.retry_policy.name = str_of(message->name);
    sequence_begin(&sequence, &scope);
    detach_all(call, &sequence, message->name);
    sequence_add(&sequence, &event);
    api_call_post(call, sequence_command(&sequence, &scope),
                  api_call_done_empty);
}

void handle_get_retry_policy(struct api_call *call, struct str request)
{
    Api__RetryPolicyGetRequest *message;

    if (!api_call_decode(call, &api__retry_policy_get_request__descriptor,
                         request, &message)) {
        return;
    }
    if (!check_name(call, message->name)) {
        return;
    }
    const struct queue_entry *entry = queue_table_find(
        call->api->ports.retry_policies, str_of(message->name));
    if (!entry) {
        api_call_fail(call, RPC_NOT_FOUND, "could not find retry policy \"%s\"",
                      message->name);
        return;
    }
    api_call_reply_bytes(call, entry->encoded);
    queue_entry_unref(entry);
}

void handle_get_retry_policies(struct api_call *call, struct str request)
{
    enum { LIST_RETRY_POLICIES = 1 };
    Api__RetryPolicyListRequest *message;
    auto_strbuf reply = strbuf_make(0);
    uint32_t count;

    if (!api_call_decode(call, &api__retry_policy_list_request__descriptor,
                         request, &message)) {
        return;
    }
    const struct queue_entry **entries =
        queue_table_list(call->api->ports.retry_policies, &count);
    for (uint32_t i = 0; i < count; i++) {
        field_put_bytes(&reply, LIST_RETRY_POLICIES, entries[i]->encoded);
    }
    queue_list_free(entries, count);
    api_call_reply_bytes(call, strbuf_str(&reply));
}
