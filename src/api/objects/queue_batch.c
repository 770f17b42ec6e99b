/* Queues that are created or changed by one request. */
#include "api/core/message.h"
#include "api/core/sequence.h"
#include "api/handlers.h"
#include "api/objects/queue_service.h"

enum { QUEUES_PER_REQUEST_MAX = 10000 };

/* Queues of one request that are refused, with the text of each. */
struct failures {
    Api__Queue **queues;
    char **texts;
    uint32_t count;
};

static void reply_created(struct api_call *call,
                          const struct failures *failures)
{
    Api__BatchQueueCreateResponse response =
        API__BATCH_QUEUE_CREATE_RESPONSE__INIT;

    response.failed_queues = arena_alloc_array(
        &call->arena, failures->count, sizeof(response.failed_queues[0]));
    for (uint32_t i = 0; i < failures->count; i++) {
        Api__QueueCreateResponse *failed =
            message_new(&call->arena, &api__queue_create_response__descriptor);
        failed->queue = failures->queues[i];
        failed->error = failures->texts[i];
        response.failed_queues[response.n_failed_queues++] = failed;
    }
    api_call_reply(call, &response.base);
}

static void reply_updated(struct api_call *call,
                          const struct failures *failures)
{
    Api__BatchQueueUpdateResponse response =
        API__BATCH_QUEUE_UPDATE_RESPONSE__INIT;

    response.failed_queues = arena_alloc_array(
        &call->arena, failures->count, sizeof(response.failed_queues[0]));
    for (uint32_t i = 0; i < failures->count; i++) {
        Api__QueueUpdateResponse *failed =
            message_new(&call->arena, &api__queue_update_response__descriptor);
        failed->queue = failures->queues[i];
        failed->error = failures->texts[i];
        response.failed_queues[response.n_failed_queues++] = failed;
    }
    api_call_reply(call, &response.base);
}

static void on_created(struct command *command, void *ctx)
{
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "Failed to send message")) {
        reply_created(call, call->data);
    }
    command_destroy(command);
}

static void on_updated(struct command *command, void *ctx)
{
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "Failed to send message")) {
        reply_updated(call, call->data);
    }
    command_destroy(command);
}

/* Note a refused queue in the words of a Go client's error. */
static void note_failure(struct api_call *call, struct failures *failures,
                         Api__Queue *queue, bool is_new,
                         const struct refusal *refusal)
{
    auto_strbuf text = strbuf_make(0);

    strbuf_addf(&text, "rpc error: code = InvalidArgument desc = %s%s",
                is_new ? "error validating queue: " : "error: ", refusal->text);
    failures->queues[failures->count] = queue;
    failures->texts[failures->count++] =
        message_copy(&call->arena, strbuf_str(&text));
}

static void put_queues(struct api_call *call, struct str request, bool is_new)
{
    struct failures *failures = arena_alloc(&call->arena, sizeof(*failures));
    struct event_scope scope = queue_event_scope(call);
    struct sequence sequence = {0};
    Api__QueueList *list;

    if (!api_call_decode(call, &api__queue_list__descriptor, request, &list)) {
        return;
    }
    if (list->n_queues > QUEUES_PER_REQUEST_MAX) {
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED,
                      "%zu queues in one request, more than the %d allowed",
                      list->n_queues, QUEUES_PER_REQUEST_MAX);
        return;
    }
    failures->queues = arena_alloc_array(&call->arena, list->n_queues,
                                         sizeof(failures->queues[0]));
    failures->texts = arena_alloc_array(&call->arena, list->n_queues,
                                        sizeof(failures->texts[0]));
    call->data = failures;
    sequence_begin(&sequence, &scope);
    for (size_t i = 0; i < list->n_queues; i++) {
        struct refusal refusal;
        if (queue_prepare(call, list->queues[i], is_new, &refusal) < 0) {
            note_failure(call, failures, list->queues[i], is_new, &refusal);
        } else {
            queue_add_set(call, &sequence, list->queues[i]);
        }
    }
    struct command *command = sequence_command(&sequence, &scope);
    command_done_fn *done = is_new ? on_created : on_updated;
    if (failures->count == list->n_queues) {
        done(command, call);
    } else {
        api_call_post(call, command, done);
    }
}

void handle_create_queues(struct api_call *call, struct str request)
{
    put_queues(call, request, true);
}

void handle_update_queues(struct api_call *call, struct str request)
{
    put_queues(call, request, false);
}
