#include "sched/state/topology.h"

#include <string.h>

#include "sched/state/topology_make.h"

const struct pool_policy *topology_policy(const struct sched *sched,
                                          const struct pool *pool)
{
    return pool->policy_index < 0 ? NULL
                                  : &sched->policy->pools[pool->policy_index];
}

const struct topology *topology_of(const struct sched *sched, uint32_t pool)
{
    return sched->pools.items[pool].topology;
}

/* Making it. */

void topology_forget(struct pool *pool)
{
    struct topology *topology = pool->topology;

    pool->is_topology_stale = true;
    if (topology) {
        intern_destroy(topology->values);
        mem_free(topology->domains);
        mem_free(topology->nodes);
        mem_free(topology->lowest);
        mem_free(topology->place);
        mem_free(topology);
        pool->topology = NULL;
    }
}

void topology_sync(struct sched *sched, uint32_t index)
{
    struct pool *pool = &sched->pools.items[index];
    const struct pool_policy *policy = topology_policy(sched, pool);

    if (pool->is_topology_stale) {
        topology_forget(pool);
        if (policy &&
            (policy->level_count > 0 || sched->distance_cap_count > 0)) {
            pool->topology = topology_make(sched, index);
        }
        pool->is_topology_stale = false;
    }
}

static bool is_same_place(const struct pool_policy *policy,
                          const struct node_record *a,
                          const struct node_record *b)
{
    for (uint32_t l = 0; l < policy->level_count; l++) {
        const struct label *x =
            label_find(a->labels, a->label_count, policy->topology[l]);
        const struct label *y =
            label_find(b->labels, b->label_count, policy->topology[l]);
        if (!x != !y || (x && !str_equal(x->value, y->value))) {
            return false;
        }
    }
    return true;
}

static void go_stale(struct sched *sched, uint32_t pool)
{
    if (pool != NONE) {
        sched->pools.items[pool].is_topology_stale = true;
    }
}

void topology_note(struct sched *sched, uint32_t index, uint32_t pool,
                   const struct node_record *record)
{
    const struct node *node = &sched->nodes.items[index];
    const struct pool_policy *policy =
        pool == NONE ? NULL : topology_policy(sched, &sched->pools.items[pool]);

    if (node->pool == pool && node->record && record && policy &&
        is_same_place(policy, node->record, record)) {
        return;
    }
    go_stale(sched, node->pool);
    go_stale(sched, pool);
}

/* Asking it. */

uint32_t topology_lowest(const struct topology *topology, uint32_t node)
{
    uint32_t place =
        node < topology->place_count ? topology->place[node] : NONE;

    ASSERT(place == NONE || place < topology->node_count);
    return place == NONE ? NONE : topology->lowest[place];
}

uint32_t topology_common(const struct topology *topology, uint32_t a,
                         uint32_t b)
{
    if (a == NONE || b == NONE) {
        return a == NONE ? b : a;
    }
    while (a != b && a != NONE && b != NONE) {
        /* Numbers grow with the level, so the smaller is not above. */
        uint32_t *lower = a < b ? &a : &b;
        *lower = topology->domains[*lower].parent;
    }
    return a == b ? a : NONE;
}

uint32_t topology_hops(const struct topology *topology, uint32_t a, uint32_t b)
{
    uint32_t of_a = topology_lowest(topology, a);
    uint32_t of_b = topology_lowest(topology, b);

    if (of_a == NONE || of_b == NONE) {
        return HOPS_ANY;
    }
    if (a == b) {
        return 0;
    }
    uint32_t at = topology_common(topology, of_a, of_b);
    if (at == NONE || topology->domains[at].level > topology->level_count) {
        return HOPS_ANY;
    }
    return 2 * topology->domains[at].level;
}

uint32_t topology_level_max(const struct topology *topology, uint32_t hops_max)
{
    if (hops_max == HOPS_ANY) {
        return topology->level_count + 1;
    }
    uint32_t level = hops_max / 2;
    ASSERT(topology->level_count <= GANG_LEVELS_MAX);
    return level < topology->level_count ? level : topology->level_count;
}

bool topology_is_highest(const struct topology *topology, uint32_t domain,
                         uint32_t level)
{
    uint32_t parent = topology->domains[domain].parent;

    ASSERT(parent == NONE || parent > domain); /* numbers grow with the level */
    return topology->domains[domain].level <= level &&
           (parent == NONE || topology->domains[parent].level > level);
}
