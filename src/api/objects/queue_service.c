/* QueueService, and the same methods in Submit (armada-api.md 1.5). */
#include "api/objects/queue_service.h"

#include "api/core/sequence.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/objects/queue_convert.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

struct event_scope queue_event_scope(const struct api_call *call)
{
    return (struct event_scope){.user = call->principal.name};
}

static struct event event_now(const struct api_call *call, enum event_type type)
{
    const struct clock *clock = call->api->ports.clock;

    return (struct event){.type = type, .created_ms = clock->wall_ms(clock)};
}

void queue_add_set(struct api_call *call, struct sequence *sequence,
                   const Api__Queue *queue)
{
    struct event event = event_now(call, EVENT_QUEUE_SET);

    event.queue.record.name = str_of(queue->name);
    event.queue.encoded = wire_encode_arena(&queue->base, &call->arena);
    sequence_add(sequence, &event);
}

static void post_set(struct api_call *call, const Api__Queue *queue)
{
    struct event_scope scope = queue_event_scope(call);
    struct sequence sequence = {0};

    sequence_begin(&sequence, &scope);
    queue_add_set(call, &sequence, queue);
    api_call_post(call, sequence_command(&sequence, &scope),
                  api_call_done_empty);
}

/* Whether every retry policy that the queue names exists. */
static int check_policies(struct api_call *call, const Api__Queue *queue,
                          struct refusal *refusal)
{
    auto_strbuf missing = {0};

    for (size_t i = 0; i < queue->n_retry_policies; i++) {
        const struct queue_entry *entry = queue_table_find(
            call->api->ports.retry_policies, str_of(queue->retry_policies[i]));
        if (entry) {
            queue_entry_unref(entry);
            continue;
        }
        strbuf_addf(&missing, "%s%s", missing.byte_count ? ", " : "",
                    queue->retry_policies[i]);
    }
    return missing.byte_count
               ? refusal_set(refusal, "retry policies do not exist: %s",
                             strbuf_text(&missing))
               : 0;
}

int queue_prepare(struct api_call *call, Api__Queue *queue, bool is_new,
                  struct refusal *refusal)
{
    if (is_new) {
        queue_default_owner(queue, call->principal.name, &call->arena);
    }
    int rc = queue_validate(queue, refusal);
    if (rc == 0) {
        rc = check_policies(call, queue, refusal);
    }
    if (rc == 0) {
        queue_to_stored(queue, &call->arena);
    }
    return rc;
}

static void put_queue(struct api_call *call, struct str request, bool is_new)
{
    struct refusal refusal;
    Api__Queue *queue;

    if (!api_call_decode(call, &api__queue__descriptor, request, &queue)) {
        return;
    }
    if (queue_prepare(call, queue, is_new, &refusal) < 0) {
        api_call_fail(
            call, RPC_INVALID_ARGUMENT, "%s%s",
            is_new ? "error validating queue: " : "error: ", refusal.text);
        return;
    }
    post_set(call, queue);
}

void handle_create_queue(struct api_call *call, struct str request)
{
    put_queue(call, request, true);
}

void handle_update_queue(struct api_call *call, struct str request)
{
    put_queue(call, request, false);
}

void handle_delete_queue(struct api_call *call, struct str request)
{
    struct event_scope scope = queue_event_scope(call);
    struct sequence sequence = {0};
    Api__QueueDeleteRequest *message;

    if (!api_call_decode(call, &api__queue_delete_request__descriptor, request,
                         &message)) {
        return;
    }
    struct str name = str_of(message->name);
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, name);
    if (!entry) {
        api_call_reply_empty(call);
        return;
    }
    queue_entry_unref(entry);
    struct event event = event_now(call, EVENT_QUEUE_DELETED);
    event.queue.record.name = name;
    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, &event);
    api_call_post(call, sequence_command(&sequence, &scope),
                  api_call_done_empty);
}

void handle_get_queue(struct api_call *call, struct str request)
{
    Api__QueueGetRequest *message;

    if (!api_call_decode(call, &api__queue_get_request__descriptor, request,
                         &message)) {
        return;
    }
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, str_of(message->name));
    if (!entry) {
        api_call_fail(call, RPC_NOT_FOUND, "error: could not find queue \"%s\"",
                      message->name);
        return;
    }
    api_call_reply_bytes(call, entry->encoded);
    queue_entry_unref(entry);
}

/* A listing that goes out one queue at a time. */
struct listing {
    struct api_call *call;
    const struct queue_entry **entries; /* owned, in order of name */
    uint32_t entry_count;
    uint32_t show_count; /* of them, to show */
    uint32_t at;
    bool is_ended; /* the end marker is out */
};

static void listing_destroy(void *data)
{
    struct listing *listing = data;

    queue_list_free(listing->entries, listing->entry_count);
    mem_free(listing);
}

static void listing_sent(void *ctx, struct rpc_call *rpc, bool is_ok);

/* The next message: a queue as it is kept, or the end. */
static void listing_encode(struct listing *listing, struct strbuf *buf)
{
    enum { MESSAGE_QUEUE = 1, MESSAGE_END = 2 };

    if (listing->at < listing->show_count) {
        field_put_bytes(buf, MESSAGE_QUEUE,
                        listing->entries[listing->at++]->encoded);
    } else {
        field_put_bytes(buf, MESSAGE_END, STR(""));
        listing->is_ended = true;
    }
}

static void listing_next(struct listing *listing)
{
    auto_strbuf buf = strbuf_make(0);

    if (listing->is_ended) {
        api_call_end(listing->call);
        return;
    }
    listing_encode(listing, &buf);
    if (rpc_call_send(listing->call->rpc, strbuf_str(&buf), listing_sent,
                      listing) < 0) {
        api_call_fail(listing->call, RPC_CANCELLED, "cancelled");
    }
}

static void listing_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    struct listing *listing = ctx;

    (void)rpc;
    if (is_ok) {
        listing_next(listing);
    } else {
        api_call_fail(listing->call, RPC_CANCELLED, "cancelled");
    }
}

void handle_get_queues(struct api_call *call, struct str request)
{
    Api__StreamingQueueGetRequest *message;

    if (!api_call_decode(call, &api__streaming_queue_get_request__descriptor,
                         request, &message)) {
        return;
    }
    struct listing *listing = mem_alloc(sizeof(*listing));
    listing->call = call;
    listing->entries =
        queue_table_list(call->api->ports.queues, &listing->entry_count);
    listing->show_count = listing->entry_count;
    if (message->num && message->num < listing->show_count) {
        listing->show_count = message->num;
    }
    call->data = listing;
    call->destroy_data = listing_destroy;
    listing_next(listing);
}

/* Change `cordoned` of a queue that exists and nothing else. */
static void set_cordoned(struct api_call *call, struct str name,
                         bool is_cordoned)
{
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, name);
    ProtobufCMessage *queue;
    struct err err;

    if (!entry) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "could not find queue \"%.*s\"", STR_ARG(name));
        return;
    }
    int rc = wire_decode(&api__queue__descriptor, entry->encoded,
                         &wire_request_limits, &call->arena, &queue, &err);
    queue_entry_unref(entry);
    if (rc < 0) {
        api_call_fail(call, RPC_INTERNAL, "stored queue: %s", err.text);
        return;
    }
    ((Api__Queue *)queue)->cordoned = is_cordoned;
    post_set(call, (Api__Queue *)queue);
}

void handle_cordon_queue(struct api_call *call, struct str request)
{
    Api__QueueCordonRequest *message;

    if (!api_call_decode(call, &api__queue_cordon_request__descriptor, request,
                         &message)) {
        return;
    }
    if (!*message->name) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "cannot cordon queue with empty "
                              "name");
        return;
    }
    set_cordoned(call, str_of(message->name), true);
}

void handle_uncordon_queue(struct api_call *call, struct str request)
{
    Api__QueueUncordonRequest *message;

    if (!api_call_decode(call, &api__queue_uncordon_request__descriptor,
                         request, &message)) {
        return;
    }
    if (!*message->name) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "cannot uncordon queue with empty name");
        return;
    }
    set_cordoned(call, str_of(message->name), false);
}
