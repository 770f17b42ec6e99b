/* binoculars.Binoculars (armada-api.md 1.11). */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/logs/log_hub.h"
#include "api/logs/log_lines.h"
#include "api/queries/job_place.h"
#include "armada/binoculars.pb-c.h"
#include "berth/api.pb-c.h"
#include "wire/text/rfc3339.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, MS_PER_S = 1000 };

static char *time_text(const struct log_line *line, struct arena *arena)
{
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];

    wire_rfc3339_format(line->seconds, line->nanos, 9, text);
    return message_copy(arena, str_of(text));
}

static void reply_lines(struct api_call *call, struct log_answer *answer)
{
    Binoculars__LogResponse response = BINOCULARS__LOG_RESPONSE__INIT;
    struct log_line *lines;
    uint32_t count = log_lines_split(answer, &call->arena, &lines);

    response.log =
        arena_alloc_array(&call->arena, count, sizeof(response.log[0]));
    for (uint32_t i = 0; i < count; i++) {
        Binoculars__LogLine *line =
            message_new(&call->arena, &binoculars__log_line__descriptor);
        line->timestamp = time_text(&lines[i], &call->arena);
        line->line = message_copy(&call->arena, lines[i].text);
        response.log[response.n_log++] = line;
    }
    response.cut = answer->is_cut;
    api_call_reply(call, &response.base);
}

/* From when on, as RFC 3339: the request's own time, or one of the
 * options'. */
static int read_since(const struct api_call *call,
                      const Binoculars__LogRequest *message,
                      struct arena *arena, struct str *ret_since)
{
    const K8s__Io__Api__Core__V1__PodLogOptions *options = message->log_options;
    const struct clock *clock = call->api->ports.clock;
    int64_t seconds;
    int32_t nanos;

    *ret_since = (struct str){0};
    if (*message->since_time) {
        *ret_since = str_of(message->since_time);
        return wire_rfc3339_parse(*ret_since, &seconds, &nanos);
    }
    if (options->sincetime && options->sincetime->has_seconds) {
        const K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__Time *time =
            options->sincetime;
        seconds = time->seconds;
        nanos = time->has_nanos ? time->nanos : 0;
    } else if (options->has_sinceseconds) {
        int64_t now_ms = clock->wall_ms(clock);
        if (__builtin_sub_overflow(now_ms / MS_PER_S, options->sinceseconds,
                                   &seconds)) {
            seconds = INT64_MAX; /* only what is to come; clamped below */
        }
        nanos = (int32_t)(now_ms % MS_PER_S) * NS_PER_MS;
    } else {
        return 0;
    }
    if (seconds < 0 || nanos < 0 || nanos >= NS_PER_S) {
        return 0; /* before any log: all of it */
    }
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];
    wire_rfc3339_format(seconds, nanos, 9, text);
    *ret_since = arena_str(arena, str_of(text));
    return 0;
}

static void on_answered(struct api_call *call, int rc,
                        struct log_answer *answer, const struct err *err)
{
    if (rc >= 0) {
        reply_lines(call, answer);
        return;
    }
    job_place_refuse(call, rc, err);
}

/* Ask the executor that has it; the answer comes, or it has none. */
static void read_logs(struct api_call *call, const struct log_query *query)
{
    struct str executor = {0};
    struct err err;

    int rc = job_place_find(call, query->job, &executor, &err);
    if (rc > 0) {
        rc = log_hub_ask(call->api->log_hub, executor, query, call, on_answered,
                         &err);
    }
    if (rc < 0) {
        job_place_refuse(call, rc, &err);
    }
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
    if (read_since(call, message, &call->arena, &query.since) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "since_time \"%s\" is not an RFC 3339 time",
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
    if (api_call_check_name(call, "node_name", event.settings.node_name)) {
        event_post(call, &event);
    }
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
