#include "sim/world/cluster.h"

#include "sim/world/cluster_private.h"

struct cluster *cluster_create(struct world *world,
                               const struct cluster_options *options)
{
    struct cluster *cluster = mem_alloc(sizeof(*cluster));

    ASSERT(world->clusters.count < WORLD_CLUSTERS_MAX);
    cluster->world = world;
    cluster->index = (uint32_t)world->clusters.count;
    cluster->options = *options;
    cluster->options.name = arena_str(&cluster->arena, options->name);
    cluster->options.pool = arena_str(&cluster->arena, options->pool);
    cluster_session_init(cluster);
    VEC_PUSH(&world->clusters, cluster);
    return cluster;
}

void cluster_destroy(struct cluster *cluster)
{
    cluster_report_destroy(cluster->report);
    arena_fini(&cluster->arena);
    VEC_FREE(&cluster->nodes);
    intern_fini(&cluster->node_names);
    VEC_FREE(&cluster->runs);
    VEC_FREE(&cluster->free_runs);
    map_fini(&cluster->run_by_id);
    VEC_FREE(&cluster->held);
    VEC_FREE(&cluster->gone);
    VEC_FREE(&cluster->changed_nodes);
    mem_free(cluster);
}

/* Nodes. */

void cluster_add_node(struct cluster *cluster, const struct node_record *record)
{
    struct cluster_node node = {.is_down = false};
    uint32_t index = (uint32_t)cluster->nodes.count;

    ASSERT(index < CLUSTER_NODES_MAX);
    void *memory = arena_alloc(&cluster->arena, node_record_bytes(record));
    node_record_copy(record, memory, &node.record);
    VEC_PUSH(&cluster->nodes, node);
    uint32_t interned = intern_add(&cluster->node_names, record->name);
    ASSERT(interned == index); /* no other is called so */
}

/* Put the node's next failure, or the end of the present one, on the
 * agenda. */
static void plan_failure(struct cluster *cluster, uint32_t node)
{
    const struct cluster_options *options = &cluster->options;
    bool is_down = cluster->nodes.items[node].is_down;

    if (options->failure_ms > 0) {
        int64_t in_ms =
            is_down ? options->repair_ms
                    : draw_exponential(&cluster->failures, options->failure_ms);
        agenda_add(&cluster->world->agenda, cluster_now_ms(cluster) + in_ms,
                   is_down ? WORLD_NODE_UP : WORLD_NODE_DOWN,
                   (uint64_t)cluster->index << 32 | node);
    }
}

void cluster_open(struct cluster *cluster)
{
    cluster_exchange(cluster, true);
    cluster->failures = draw_make(cluster->world->config.seed,
                                  CLUSTER_FAILURES_STREAM + cluster->index);
    for (uint32_t i = 0; i < cluster->nodes.count; i++) {
        plan_failure(cluster, i);
    }
    if (!cluster->world->config.is_wall_stepped) {
        agenda_add(&cluster->world->agenda,
                   cluster_now_ms(cluster) + CLUSTER_HELLO_MS, WORLD_HELLO,
                   cluster->index);
    }
}

void cluster_set_node(struct cluster *cluster, uint32_t index, bool is_down)
{
    struct cluster_node *node = &cluster->nodes.items[index];

    if (node->is_down == is_down) {
        return;
    }
    node->is_down = is_down;
    if (cluster->world->config.watch.node) {
        cluster->world->config.watch.node(cluster->world->config.watch.ctx,
                                          &node->record, is_down);
    }
    VEC_PUSH(&cluster->changed_nodes, index);
    if (is_down) {
        cluster_lose_runs(cluster, index);
    }
    cluster_exchange(cluster, false);
    plan_failure(cluster, index);
}
