/*
 * Requests about all jobs that match: on a queue, an executor, a node
 * (armada-api.md 1.5, 1.9; trap 12).
 */
#include "api/core/state.h"
#include "api/handlers.h"
#include "armada/services.pb-c.h"

/* The texts of a repeated field, borrowed. */
static const struct str *texts(struct api_call *call, char **items,
                               size_t count)
{
    struct str *list = arena_alloc_array(&call->arena, count, sizeof(*list));

    for (size_t i = 0; i < count; i++) {
        list[i] = str_of(items[i]);
    }
    return list;
}

static struct event selection_of(enum selection_action action)
{
    struct event event = {.type = EVENT_SELECTION};

    event.selection.action = action;
    event.selection.states = STATE_SET_ALL;
    return event;
}

static void set_classes(struct api_call *call, struct event *event,
                        char **classes, size_t count)
{
    event->selection.priority_classes = texts(call, classes, count);
    event->selection.priority_class_count = (uint32_t)count;
}

static void set_pools(struct api_call *call, struct event *event, char **pools,
                      size_t count)
{
    event->selection.pools = texts(call, pools, count);
    event->selection.pool_count = (uint32_t)count;
}

/* An empty list of queues matches none: then there is nothing to do. */
static bool set_queues(struct api_call *call, struct event *event,
                       char **queues, size_t count)
{
    event->selection.queues = texts(call, queues, count);
    event->selection.queue_count = (uint32_t)count;
    if (count == 0) {
        api_call_reply_empty(call);
    }
    return count > 0;
}

static bool check_name(struct api_call *call, const char *what,
                       const char *name)
{
    if (!*name) {
        api_call_fail_wrapped(call, RPC_UNKNOWN, "%s name cannot be empty",
                              what);
    }
    return *name != '\0';
}

/* The states that CancelOnQueue may name; false: another one. */
static bool read_states(const Api__JobState *states, size_t count,
                        unsigned *ret_states)
{
    unsigned set = 0;

    for (size_t i = 0; i < count; i++) {
        switch ((int)states[i]) {
        case API__JOB_STATE__QUEUED:
            set |= STATE_SET_QUEUED;
            break;
        case API__JOB_STATE__LEASED:
            set |= STATE_SET_LEASED;
            break;
        case API__JOB_STATE__PENDING:
            set |= STATE_SET_PENDING;
            break;
        case API__JOB_STATE__RUNNING:
            set |= STATE_SET_RUNNING;
            break;
        default:
            return false;
        }
    }
    *ret_states = set;
    return true;
}

void handle_cancel_on_queue(struct api_call *call, struct str request)
{
    Api__QueueCancelRequest *message;
    unsigned states;

    if (!api_call_decode(call, &api__queue_cancel_request__descriptor, request,
                         &message) ||
        !check_name(call, "queue", message->name)) {
        return;
    }
    if (!read_states(message->jobstates, message->n_jobstates, &states)) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "job states may be queued, leased, pending and "
                              "running only");
        return;
    }
    if (states == 0) {
        api_call_reply_empty(call);
        return;
    }
    struct event event = selection_of(SELECTION_CANCEL);
    set_queues(call, &event, &message->name, 1);
    set_classes(call, &event, message->priorityclasses,
                message->n_priorityclasses);
    set_pools(call, &event, message->pools, message->n_pools);
    event.selection.states = (enum state_set)states;
    event_post(call, &event);
}

void handle_preempt_on_queue(struct api_call *call, struct str request)
{
    Api__QueuePreemptRequest *message;

    if (!api_call_decode(call, &api__queue_preempt_request__descriptor, request,
                         &message) ||
        !check_name(call, "queue", message->name)) {
        return;
    }
    struct event event = selection_of(SELECTION_PREEMPT);
    set_queues(call, &event, &message->name, 1);
    set_classes(call, &event, message->priorityclasses,
                message->n_priorityclasses);
    set_pools(call, &event, message->pools, message->n_pools);
    event_post(call, &event);
}

/* Requests to cancel and to preempt have the same fields, so each pair is
 * decoded as one of them. */

static void on_executor(struct api_call *call, struct str request,
                        enum selection_action action)
{
    struct event event = selection_of(action);
    Api__ExecutorCancelRequest *message;

    if (!api_call_decode(call, &api__executor_cancel_request__descriptor,
                         request, &message) ||
        !check_name(call, "executor", message->name) ||
        !set_queues(call, &event, message->queues, message->n_queues)) {
        return;
    }
    event.selection.executor_id = str_of(message->name);
    set_classes(call, &event, message->priorityclasses,
                message->n_priorityclasses);
    set_pools(call, &event, message->pools, message->n_pools);
    event_post(call, &event);
}

void handle_cancel_on_executor(struct api_call *call, struct str request)
{
    on_executor(call, request, SELECTION_CANCEL);
}

void handle_preempt_on_executor(struct api_call *call, struct str request)
{
    on_executor(call, request, SELECTION_PREEMPT);
}

static void on_node(struct api_call *call, struct str request,
                    enum selection_action action)
{
    struct event event = selection_of(action);
    Api__NodeCancelRequest *message;

    if (!api_call_decode(call, &api__node_cancel_request__descriptor, request,
                         &message) ||
        !check_name(call, "node", message->name) ||
        !check_name(call, "executor", message->executor) ||
        !set_queues(call, &event, message->queues, message->n_queues)) {
        return;
    }
    event.selection.node_name = str_of(message->name);
    event.selection.executor_id = str_of(message->executor);
    set_classes(call, &event, message->priorityclasses,
                message->n_priorityclasses);
    event_post(call, &event);
}

void handle_cancel_on_node(struct api_call *call, struct str request)
{
    on_node(call, request, SELECTION_CANCEL);
}

void handle_preempt_on_node(struct api_call *call, struct str request)
{
    on_node(call, request, SELECTION_PREEMPT);
}
