/* Moves nodes from shard to shard, with their runs and their health. */
#include <stdlib.h>

#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/nodes/nodes.h"
#include "pools/tables/node_table.h"

/* A node is of a pool as long as something runs there, be it gone: the shard
 * that it comes to hears of that before what runs there, and that the node is
 * not there after; it may be set later.  So what runs counts in that pool at
 * once, whether or not the shard remembers another pool of the node's. */
static void tell_removed_node(struct pools *pools, uint32_t node,
                              struct shard *to, bool is_end)
{
    struct node_record record = {
        .name = str_of(pools->nodes.items[node].name),
        .pool = to->name ? str_of(to->name) : pools_node_pool(pools, node),
    };
    struct delta delta = delta_of(is_end ? apply_node_gone : apply_node_set);

    delta.node = node;
    delta.record = is_end ? NULL : &record;
    delta.copy = node_copy;
    deliver(pools, to, &delta);
}

void pool_node_shift(struct pools *pools, uint32_t node, struct shard *to)
{
    struct pool_node *row = &pools->nodes.items[node];
    struct shard *from = pools->shards.items[row->shard];
    uint32_t local = shard_node(pools, from, node);
    struct sched_health health;
    uint32_t run;

    /* What a plan may have chosen stays where it is. */
    ASSERT(!from->is_busy && from != to);
    sched_health_get(from->sched, local, pools->now_ms, &health);
    bool has_runs = sched_node_first(from->sched, local) != SCHED_NONE;
    if (has_runs) {
        tell_removed_node(pools, node, to, false);
    }
    while ((run = sched_node_first(from->sched, local)) != SCHED_NONE) {
        uint32_t job = from->jobs.items[run];
        ASSERT(pools->jobs.items[job].node == node);
        /* The lease goes to the shard that has its node. */
        job_move(pools, job, to);
    }
    if (has_runs) {
        tell_removed_node(pools, node, to, true);
    }
    if (sched_node_is_present(from->sched, local)) {
        sched_node_remove(from->sched, local);
    }
    row = &pools->nodes.items[node];
    row->shard = to->index;
    pools->is_pending_stale = true;
    if (health.health != NODE_NORMAL) {
        struct sched_health normal = {0};
        pools_health_set(pools, node, &health);
        sched_health_set(from->sched, local, &normal); /* frees its reason */
    }
}

void pool_node_hold(struct pools *pools, uint32_t node, const struct shard *to,
                    const struct node_record *record)
{
    struct delta gone = delta_of(apply_node_gone);

    ASSERT(pools->shards.items[pools->nodes.items[node].shard]->is_busy);
    ASSERT(pools->nodes.items[node].shard != to->index);
    if (!pools->nodes.items[node].is_moving) {
        pool_node_tell(pools, node, &gone);
    }
    struct pool_node *row = &pools->nodes.items[node];
    pool_node_unhold(row);
    row->held = mem_alloc(sizeof(*row->held));
    row->record = node_copy(record, row->held);
    row->is_moving = true;
    row->target = to->index;
    if (!row->is_listed) {
        ASSERT(pools->moving_nodes.count < NODES_MAX);
        row->is_listed = true;
        VEC_PUSH(&pools->moving_nodes, node);
    }
}

void pool_nodes_settle(struct pools *pools, struct shard *shard)
{
    size_t left = 0;

    for (size_t i = 0; i < pools->moving_nodes.count; i++) {
        uint32_t node = pools->moving_nodes.items[i];
        struct pool_node *row = &pools->nodes.items[node];
        ASSERT(row->is_listed); /* each at most once */
        if (!row->is_moving) {
            row->is_listed = false;
            continue;
        }
        if (row->shard != shard->index) {
            pools->moving_nodes.items[left++] = node;
            continue;
        }
        row->is_listed = false;
        pool_node_shift(pools, node, pools->shards.items[row->target]);
        pool_node_set(pools, node, pools->nodes.items[node].record);
        pools->has_moved = true;
        pool_node_unhold(&pools->nodes.items[node]);
    }
    pools->moving_nodes.count = left;
}

/* A node that leaves, by its names. */
struct leaving {
    struct str executor, name;
    uint32_t node;
};

static int compare_leaving(const void *a, const void *b)
{
    const struct leaving *x = a;
    const struct leaving *y = b;
    int c = str_compare(x->executor, y->executor);

    return c ? c : str_compare(x->name, y->name);
}

/* In order of names, not of handles, of which leaders have different ones: what
 * comes and goes at the same time leaves another flow in another order. */
void pool_nodes_to_default(struct pools *pools, const struct shard *shard)
{
    auto_mem struct leaving *list =
        mem_alloc_array(pools->nodes.count + 1, sizeof(*list));
    uint32_t count = 0;

    for (uint32_t node = 0; node < pools->nodes.count; node++) {
        const struct pool_node *row = &pools->nodes.items[node];
        if (row->name && row->shard == shard->index) {
            list[count++] = (struct leaving){
                intern_get(pools->executors, row->executor),
                str_of(row->name),
                node,
            };
        }
    }
    qsort(list, count, sizeof(*list), compare_leaving);
    for (uint32_t i = 0; i < count; i++) {
        pool_node_shift(pools, list[i].node,
                        pools->shards.items[POOLS_DEFAULT]);
    }
}
