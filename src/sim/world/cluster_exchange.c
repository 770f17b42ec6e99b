/* Exchanges with the leader: sends nodes and runs, receives leases and cancels.
 */
#include "sim/world/cluster_private.h"

static void take_response(struct cluster *cluster,
                          const struct exchange_response *response)
{
    for (uint32_t i = 0; i < response->cancel_count; i++) {
        cluster_take_cancel(cluster, response->cancels[i]);
    }
    for (uint32_t i = 0; i < response->lease_count; i++) {
        cluster_take_lease(cluster, &response->leases[i]);
    }
    cluster->credit -= response->lease_count < cluster->credit
                           ? response->lease_count
                           : cluster->credit;
    if (cluster->credit < CLUSTER_LEASES_MAX / 2) {
        cluster_flush_soon(cluster); /* with an exchange: see cluster_flush() */
    }
}

static void on_push(struct exchange_session *session,
                    const struct exchange_response *response)
{
    take_response(session->ctx, response);
}

static void on_released(struct exchange_session *session,
                        enum command_result result)
{
    (void)session;
    (void)result; /* the leader stops: the simulation is over */
}

static void on_exchanged(struct command *command, void *ctx)
{
    struct cluster *cluster = ctx;

    if (command->result == COMMAND_OK) {
        take_response(cluster, &command->exchange.response);
    } else {
        world_refused(cluster->world, command);
    }
    command_destroy(command);
}

static void add_runs(struct cluster *cluster, struct command *command)
{
    struct exchange_request *request = &command->exchange.request;
    struct run_id *held =
        arena_alloc_array(&command->arena, cluster->held.count, sizeof(*held));
    struct run_id *gone =
        arena_alloc_array(&command->arena, cluster->gone.count, sizeof(*gone));

    for (size_t i = 0; i < cluster->held.count; i++) {
        if (map_find(&cluster->run_by_id, cluster->held.items[i].v) !=
            MAP_NONE) {
            held[request->run_count++] = cluster->held.items[i];
        }
    }
    for (size_t i = 0; i < cluster->gone.count; i++) {
        gone[request->runs_gone_count++] = cluster->gone.items[i];
    }
    request->runs = held;
    request->runs_gone = gone;
    cluster->held.count = cluster->gone.count = 0;
}

static void add_nodes(struct cluster *cluster, struct command *command,
                      bool is_first)
{
    struct exchange_request *request = &command->exchange.request;
    size_t count =
        is_first ? cluster->nodes.count : cluster->changed_nodes.count;
    struct node_record *nodes =
        arena_alloc_array(&command->arena, count, sizeof(*nodes));
    struct str *gone = arena_alloc_array(&command->arena, count, sizeof(*gone));

    for (size_t i = 0; i < count; i++) {
        const struct cluster_node *node =
            &cluster->nodes
                 .items[is_first ? i : cluster->changed_nodes.items[i]];
        if (node->is_down) {
            gone[request->nodes_gone_count++] = node->record.name;
        } else {
            nodes[request->node_count++] = node->record;
        }
    }
    request->nodes = nodes;
    request->nodes_gone = gone;
    request->has_nodes = count > 0;
    cluster->changed_nodes.count = 0;
}

void cluster_exchange(struct cluster *cluster, bool is_first)
{
    struct command *command = command_create(COMMAND_EXCHANGE);
    struct exchange_request *request = &command->exchange.request;

    request->session = &cluster->session;
    request->executor_id = cluster->options.name;
    request->pool = cluster->options.pool;
    request->is_full = is_first;
    request->lease_max = CLUSTER_LEASES_MAX;
    add_nodes(cluster, command, is_first);
    add_runs(cluster, command);
    cluster->credit = CLUSTER_LEASES_MAX;
    command->done = on_exchanged;
    command->ctx = cluster;
    world_post(cluster->world, command);
}

void cluster_hello(struct cluster *cluster)
{
    cluster_exchange(cluster, false);
}

void cluster_session_init(struct cluster *cluster)
{
    cluster->session = (struct exchange_session){
        .push = on_push, .released = on_released, .ctx = cluster};
}
