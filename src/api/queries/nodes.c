/* berth.api.Berth: nodes, and which of them get no work. */
#include "api/core/message.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"
#include "model/quantity.h"
#include "wire/kube/entries.h"

enum { LIST_NODES_DEFAULT = 1000, LIST_NODES_MAX = 5000 };

/* Amounts as a map<string, string> of quantities. */
static void *amounts_of(const struct resource_list *list,
                        const ProtobufCMessageDescriptor *type,
                        struct arena *arena)
{
    struct label *texts = arena_alloc_array(arena, list->count, sizeof(*texts));

    for (uint32_t i = 0; i < list->count; i++) {
        char text[QUANTITY_TEXT_BYTES_MAX];
        struct str name = list->items[i].name;
        bool is_binary = str_equal(name, STR("memory")) ||
                         str_equal(name, STR("ephemeral-storage"));
        quantity_format(list->items[i].milli, is_binary, text);
        texts[i] = (struct label){name, arena_str(arena, str_of(text))};
    }
    return entries_make_labels(texts, list->count, type, arena);
}

static void add_taints(Berth__Api__NodeStatus *message,
                       const struct node_status *node, struct arena *arena)
{
    message->taints =
        arena_alloc_array(arena, node->taint_count, sizeof(*message->taints));
    for (uint32_t i = 0; i < node->taint_count; i++) {
        Berth__Api__NodeTaint *taint =
            message_new(arena, &berth__api__node_taint__descriptor);
        taint->key = message_copy(arena, node->taints[i].key);
        taint->value = message_copy(arena, node->taints[i].value);
        taint->effect =
            message_copy(arena, str_of(effect_name(node->taints[i].effect)));
        message->taints[message->n_taints++] = taint;
    }
}

static void add_windows(Berth__Api__NodeStatus *message,
                        const struct node_status *node, struct arena *arena)
{
    message->maintenance_windows = arena_alloc_array(
        arena, node->window_count, sizeof(*message->maintenance_windows));
    for (uint32_t i = 0; i < node->window_count; i++) {
        Berth__Api__NodeWindow *window =
            message_new(arena, &berth__api__node_window__descriptor);
        window->name = message_copy(arena, node->windows[i].name);
        window->begin = message_time(arena, node->windows[i].begin_ms);
        window->end = message_time(arena, node->windows[i].end_ms);
        message->maintenance_windows[message->n_maintenance_windows++] = window;
    }
}

static Berth__Api__NodeStatus *status_message(const struct node_status *node,
                                              struct arena *arena)
{
    Berth__Api__NodeStatus *message =
        message_new(arena, &berth__api__node_status__descriptor);

    message->name = message_copy(arena, node->name);
    message->executor = message_copy(arena, node->executor);
    message->pool = message_copy(arena, node->pool);
    message->state = message_copy(arena, str_of(node->state));
    message->reason = message_copy(arena, node->reason);
    message->until =
        node->until_ms > 0 ? message_time(arena, node->until_ms) : NULL;
    message->n_capacity = node->capacity.count;
    message->capacity =
        amounts_of(&node->capacity,
                   &berth__api__node_status__capacity_entry__descriptor, arena);
    message->n_free = node->free.count;
    message->free = amounts_of(
        &node->free, &berth__api__node_status__free_entry__descriptor, arena);
    message->run_count = node->run_count;
    message->ended_count = node->ended_count;
    message->failed_count = node->failed_count;
    message->n_labels = node->label_count;
    message->labels = entries_make_labels(
        node->labels, node->label_count,
        &berth__api__node_status__labels_entry__descriptor, arena);
    add_taints(message, node, arena);
    add_windows(message, node, arena);
    return message;
}

static void nodes_known(struct command *command, void *ctx)
{
    Berth__Api__ListNodesResponse response =
        BERTH__API__LIST_NODES_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "log")) {
        response.nodes = arena_alloc_array(
            &call->arena, command->nodes.node_count, sizeof(*response.nodes));
        for (uint32_t i = 0; i < command->nodes.node_count; i++) {
            response.nodes[response.n_nodes++] =
                status_message(&command->nodes.nodes[i], &call->arena);
        }
        response.has_more = command->nodes.has_more;
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_list_nodes(struct api_call *call, struct str request)
{
    Berth__Api__ListNodesRequest *message;

    if (!api_call_decode(call, &berth__api__list_nodes_request__descriptor,
                         request, &message)) {
        return;
    }
    struct command *command = command_create(COMMAND_QUERY_NODES);
    struct arena *arena = &command->arena;
    uint32_t limit = message->limit ? message->limit : LIST_NODES_DEFAULT;
    command->nodes.pool = arena_str(arena, str_of(message->pool));
    command->nodes.executor = arena_str(arena, str_of(message->executor));
    command->nodes.name = arena_str(arena, str_of(message->node_name));
    command->nodes.after_name =
        arena_str(arena, str_of(message->after_node_name));
    command->nodes.after_executor =
        arena_str(arena, str_of(message->after_executor));
    command->nodes.count_max = limit < LIST_NODES_MAX ? limit : LIST_NODES_MAX;
    api_call_post(call, command, nodes_known);
}

static Berth__Api__ExecutorStatus *
executor_message(const struct executor_status *row, struct arena *arena)
{
    Berth__Api__ExecutorStatus *message =
        message_new(arena, &berth__api__executor_status__descriptor);

    message->name = message_copy(arena, row->name);
    message->pool = message_copy(arena, row->pool);
    message->state = message_copy(arena, str_of(row->state));
    message->cordoned = row->is_cordoned;
    message->cordon_reason = message_copy(arena, row->cordon_reason);
    message->held = row->is_held;
    message->silent_ms = (uint64_t)row->silent_ms;
    message->node_count = row->node_count;
    message->open_node_count = row->open_node_count;
    message->run_count = row->run_count;
    message->n_capacity = row->capacity.count;
    message->capacity = amounts_of(
        &row->capacity,
        &berth__api__executor_status__capacity_entry__descriptor, arena);
    message->n_available = row->available.count;
    message->available = amounts_of(
        &row->available,
        &berth__api__executor_status__available_entry__descriptor, arena);
    message->n_free = row->free.count;
    message->free =
        amounts_of(&row->free,
                   &berth__api__executor_status__free_entry__descriptor, arena);
    return message;
}

static void executors_known(struct command *command, void *ctx)
{
    Berth__Api__ListExecutorsResponse response =
        BERTH__API__LIST_EXECUTORS_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "log")) {
        response.executors =
            arena_alloc_array(&call->arena, command->executors.row_count,
                              sizeof(*response.executors));
        for (uint32_t i = 0; i < command->executors.row_count; i++) {
            response.executors[response.n_executors++] =
                executor_message(&command->executors.rows[i], &call->arena);
        }
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_list_executors(struct api_call *call, struct str request)
{
    Berth__Api__ListExecutorsRequest *message;

    if (api_call_decode(call, &berth__api__list_executors_request__descriptor,
                        request, &message)) {
        api_call_post(call, command_create(COMMAND_QUERY_EXECUTORS),
                      executors_known);
    }
}

/* Post an operator's word about a node. */
static void set_health(struct api_call *call, const char *node_name,
                       struct event *event)
{
    if (!*node_name) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "node_name must be given");
        return;
    }
    event->health.node_name = str_of(node_name);
    if (api_call_check_name(call, "node_name", event->health.node_name) &&
        api_call_check_name(call, "executor", event->health.executor_id) &&
        api_call_check_note(call, "reason", event->health.reason)) {
        event_post(call, event);
    }
}

void handle_quarantine_node(struct api_call *call, struct str request)
{
    struct event event = {.type = EVENT_NODE_HEALTH};
    Berth__Api__QuarantineNodeRequest *message;

    if (api_call_decode(call, &berth__api__quarantine_node_request__descriptor,
                        request, &message)) {
        event.health.executor_id = str_of(message->executor);
        event.health.health = NODE_OUT;
        event.health.is_pinned = true;
        event.health.reason = str_of(message->reason);
        set_health(call, message->node_name, &event);
    }
}

void handle_release_node(struct api_call *call, struct str request)
{
    struct event event = {.type = EVENT_NODE_HEALTH};
    Berth__Api__ReleaseNodeRequest *message;

    if (api_call_decode(call, &berth__api__release_node_request__descriptor,
                        request, &message)) {
        event.health.executor_id = str_of(message->executor);
        event.health.health = NODE_NORMAL;
        set_health(call, message->node_name, &event);
    }
}
