#include "cli/shared/event_stream.h"

#include "model/gang_terms.h"

struct rpc_stream *event_stream_open(struct cli *cli, char *queue,
                                     char *job_set, const char *from_id,
                                     bool is_live)
{
    Api__JobSetRequest request = API__JOB_SET_REQUEST__INIT;
    struct rpc_call_options options = cli_call_options(cli);
    auto_strbuf bytes = {0};

    request.queue = queue;
    request.id = job_set;
    request.watch = is_live;
    request.errorifmissing = true;
    request.from_message_id = cli_format(cli, "%s", from_id);
    struct rpc_stream *stream =
        rpc_stream_open(cli->channel, "/api.Event/GetJobSetEvents", &options);
    wire_encode(&request.base, &bytes);
    (void)rpc_stream_send(stream, strbuf_str(&bytes), -1);
    rpc_stream_close_send(stream);
    return stream;
}

bool event_stream_is_final(enum rpc_code code)
{
    return code == RPC_OK || code == RPC_NOT_FOUND ||
           code == RPC_PERMISSION_DENIED || code == RPC_UNAUTHENTICATED ||
           code == RPC_INVALID_ARGUMENT || code == RPC_UNIMPLEMENTED;
}

const Api__EventStreamMessage *
event_stream_decode(struct cli *cli, struct str bytes, struct arena *arena)
{
    ProtobufCMessage *decoded;
    struct err err;

    if (wire_decode(&api__event_stream_message__descriptor, bytes,
                    &wire_request_limits, arena, &decoded, &err) < 0) {
        (void)cli_fail(cli, CLI_FAILED, "an event cannot be read: %s",
                       err.text);
        return NULL;
    }
    return (const Api__EventStreamMessage *)(const void *)decoded;
}

struct event_end event_stream_end(const Api__EventMessage *message)
{
    switch ((int)message->events_case) {
    case API__EVENT_MESSAGE__EVENTS_SUCCEEDED:
        return (struct event_end){message->succeeded->job_id, true, ""};
    case API__EVENT_MESSAGE__EVENTS_CANCELLED:
        return (struct event_end){
            message->cancelled->job_id,
            strcmp(message->cancelled->reason, GANG_SUCCEEDED_REASON) == 0,
            "it was cancelled"};
    case API__EVENT_MESSAGE__EVENTS_FAILED:
        /* One that is retried goes on. */
        return message->failed->retryable
                   ? (struct event_end){0}
                   : (struct event_end){message->failed->job_id, false,
                                        message->failed->reason};
    default:
        return (struct event_end){0};
    }
}
