/* Service Event (armada-api.md 1.7, 2.1). */
#include "api/core/state.h"
#include "api/events/event_stream.h"
#include "api/handlers.h"
#include "armada/event.pb-c.h"

/* An unknown queue comes before permissions. */
static void start(struct api_call *call, const struct event_stream_query *query)
{
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, query->queue);

    if (!entry &&
        !api_call_reaches_orphans(call, query->queue, query->job_set)) {
        api_call_fail(call, RPC_NOT_FOUND,
                      "[GetJobSetEvents] Queue %.*s does not exist",
                      STR_ARG(query->queue));
        return;
    }
    queue_entry_unref(entry);
    if (api_call_authorize_job_set(call, query->queue, query->job_set)) {
        event_stream_start(call, query);
    }
}

void handle_get_job_set_events(struct api_call *call, struct str request)
{
    Api__JobSetRequest *message;

    if (!api_call_decode(call, &api__job_set_request__descriptor, request,
                         &message)) {
        return;
    }
    struct event_stream_query query = {
        .queue = str_of(message->queue),
        .job_set = str_of(message->id),
        .from_id = str_of(message->from_message_id),
        .is_watch = message->watch,
        .is_missing_error = message->errorifmissing,
    };
    start(call, &query);
}

void handle_watch(struct api_call *call, struct str request)
{
    Api__WatchRequest *message;

    if (!api_call_decode(call, &api__watch_request__descriptor, request,
                         &message)) {
        return;
    }
    struct event_stream_query query = {
        .queue = str_of(message->queue),
        .job_set = str_of(message->job_set_id),
        .from_id = str_of(message->from_id),
        .is_watch = true,
        .is_missing_error = true,
    };
    start(call, &query);
}
