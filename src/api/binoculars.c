/* binoculars.Binoculars (armada-api.md 1.11). */
#include "api/handlers.h"
#include "api/message.h"
#include "api/state.h"
#include "armada/binoculars.pb-c.h"
#include "berth/api.pb-c.h"
#include "wire/rfc3339.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, MS_PER_S = 1000 };

static char *time_text(int64_t time_ns, struct arena *arena)
{
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];
    int64_t rest_ns = (time_ns % NS_PER_S + NS_PER_S) % NS_PER_S;

    wire_rfc3339_format((time_ns - rest_ns) / NS_PER_S, (int32_t)rest_ns, 9,
                        text);
    return message_copy(arena, str_of(text));
}

static void reply_lines(struct api_call *call, const struct log_line *lines,
                        uint32_t count)
{
    Binoculars__LogResponse response = BINOCULARS__LOG_RESPONSE__INIT;

    response.log =
        arena_alloc_array(&call->arena, count, sizeof(response.log[0]));
    for (uint32_t i = 0; i < count; i++) {
        Binoculars__LogLine *line =
            message_new(&call->arena, &binoculars__log_line__descriptor);
        line->timestamp = time_text(lines[i].time_ns, &call->arena);
        line->line = message_copy(&call->arena, lines[i].text);
        response.log[response.n_log++] = line;
    }
    api_call_reply(call, &response.base);
}

/* From when on: the request's own time, or one of the options'. */
static int read_since(const struct api_call *call,
                      const Binoculars__LogRequest *message,
                      int64_t *ret_since_ms)
{
    const K8s__Io__Api__Core__V1__PodLogOptions *options = message->log_options;
    const struct clock *clock = call->api->ports.clock;
    int64_t seconds;
    int32_t nanos;

    *ret_since_ms = INT64_MIN;
    if (*message->since_time) {
        if (wire_rfc3339_parse(str_of(message->since_time), &seconds, &nanos) <
            0) {
            return -ERR_INVALID;
        }
        *ret_since_ms = seconds * MS_PER_S + nanos / NS_PER_MS;
    } else if (options->sincetime && options->sincetime->has_seconds) {
        *ret_since_ms = options->sincetime->seconds * MS_PER_S;
    } else if (options->has_sinceseconds) {
        *ret_since_ms =
            clock->wall_ms(clock) - options->sinceseconds * MS_PER_S;
    }
    return 0;
}

static void read_logs(struct api_call *call, const struct log_query *query)
{
    const struct log_source *source = call->api->ports.logs;
    struct log_line *lines;
    struct err err;

    if (!source) {
        api_call_fail(call, RPC_NOT_FOUND,
                      "no pods run inside this server; ask the executor that "
                      "runs the job for its logs");
        return;
    }
    int count = source->read(source, query, &call->arena, &lines, &err);
    if (count >= 0) {
        reply_lines(call, lines, (uint32_t)count);
        return;
    }
    api_call_fail(call,
                  count == -ERR_NOT_FOUND ? RPC_NOT_FOUND : RPC_UNAVAILABLE,
                  "%s", err.text);
}

void handle_get_logs(struct api_call *call, struct str request)
{
    Binoculars__LogRequest *message;
    struct log_query query = {.tail_lines = -1,
                              .byte_count_max = LOG_BYTES_MAX};

    if (!api_call_decode(call, &binoculars__log_request__descriptor, request,
                         &message)) {
        return;
    }
    const K8s__Io__Api__Core__V1__PodLogOptions *options = message->log_options;
    if (!options) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "log_options must be given");
        return;
    }
    if (job_id_parse(str_of(message->job_id), &query.job) < 0 ||
        message->pod_number != 0) {
        api_call_fail(call, RPC_NOT_FOUND, "pods \"armada-%s-%d\" not found",
                      message->job_id, message->pod_number);
        return;
    }
    if (read_since(call, message, &query.since_ms) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "since_time \"%s\" is no RFC 3339 time",
                      message->since_time);
        return;
    }
    query.container = str_of(options->container);
    query.is_previous = options->previous;
    if (options->has_taillines && options->taillines >= 0) {
        query.tail_lines = options->taillines;
    }
    if (options->has_limitbytes && options->limitbytes > 0 &&
        options->limitbytes < LOG_BYTES_MAX) {
        query.byte_count_max = (size_t)options->limitbytes;
    }
    read_logs(call, &query);
}

/* Whichever executors have the node: in Armada each cluster has a Binoculars
 * of its own, here one serves them all. */
static void set_cordon(struct api_call *call, const char *node_name,
                       bool is_cordoned)
{
    struct event event = {.type = EVENT_EXECUTOR_SETTINGS};

    if (!*node_name) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "node_name must be given");
        return;
    }
    event.settings.node_name = str_of(node_name);
    event.settings.is_cordoned = is_cordoned;
    event_post(call, &event);
}

void handle_cordon_node(struct api_call *call, struct str request)
{
    Binoculars__CordonRequest *message;

    if (api_call_decode(call, &binoculars__cordon_request__descriptor, request,
                        &message)) {
        set_cordon(call, message->node_name, true);
    }
}

void handle_uncordon_node(struct api_call *call, struct str request)
{
    Berth__Api__UncordonNodeRequest *message;

    if (api_call_decode(call, &berth__api__uncordon_node_request__descriptor,
                        request, &message)) {
        set_cordon(call, message->node_name, false);
    }
}
