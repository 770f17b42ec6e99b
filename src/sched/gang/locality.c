#include "sched/gang/locality.h"

void locality_anchor_add(const struct topology *topology,
                         struct locality_anchor *anchor, uint32_t node)
{
    uint32_t lowest = topology_lowest(topology, node);

    ASSERT(anchor->node_count <= 2);
    if (anchor->node_count == 0) {
        *anchor = (struct locality_anchor){1, node, lowest};
        return;
    }
    if (anchor->node_count == 1 && anchor->node == node) {
        return;
    }
    anchor->node_count = 2;
    anchor->domain = lowest == NONE || anchor->domain == NONE
                         ? NONE
                         : topology_common(topology, anchor->domain, lowest);
}

uint32_t locality_anchor_level(const struct topology *topology,
                               const struct locality_anchor *anchor)
{
    if (anchor->node_count < 2) {
        return 0;
    }
    return anchor->domain == NONE ? topology->level_count + 1
                                  : topology->domains[anchor->domain].level;
}

bool locality_around(const struct topology *topology, uint32_t level_max,
                     const struct locality_anchor *anchor, uint32_t *ret_first,
                     uint32_t *ret_count)
{
    uint32_t spread = locality_anchor_level(topology, anchor);
    uint32_t at = anchor->domain;

    level_max = level_max > spread ? level_max : spread;
    if (at == NONE) {
        return false;
    }
    if (level_max < topology->domains[at].level) {
        *ret_first = topology->place[anchor->node];
        *ret_count = 1;
        return true;
    }
    while (!topology_is_highest(topology, at, level_max)) {
        at = topology->domains[at].parent;
    }
    /* The highest domain around an anchor holds all that runs. */
    ASSERT(topology->domains[at].level >= spread);
    *ret_first = topology->domains[at].first;
    *ret_count = topology->domains[at].count;
    return true;
}

/* Whether `a` goes before `b`, both of one level. */
static bool goes_before(const struct locality_pick *a,
                        const struct locality_pick *b)
{
    if (a->count != b->count) {
        return a->count < b->count;
    }
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* The best of a level so far, behind those picked before. */
struct best {
    const struct locality_query *query;
    const struct locality_pick *last; /* NULL: of a level before */
    struct locality_pick pick;
    bool is_found;
};

static void consider(struct best *best, const struct locality_pick *pick)
{
    const struct locality_query *query = best->query;

    if (pick->count >= query->needed && pick->first >= query->first &&
        pick->first + pick->nodes <= query->end &&
        (!best->last || goes_before(best->last, pick)) &&
        (!best->is_found || goes_before(pick, &best->pick))) {
        best->pick = *pick;
        best->is_found = true;
    }
}

static void consider_node(struct best *best, uint32_t place)
{
    const struct domain_room *room = best->query->room;

    if (room->counts[place] >= best->query->needed) {
        consider(best,
                 &(struct locality_pick){
                     .level = 0,
                     .count = room->counts[place],
                     .key = room->keys[place],
                     .order = best->query->ranks[room->topology->nodes[place]],
                     .first = place,
                     .nodes = 1,
                 });
    }
}

static void consider_domain(struct best *best, uint32_t at)
{
    const struct domain_room *room = best->query->room;
    const struct domain *domain = &room->topology->domains[at];

    ASSERT(domain->first + domain->count <= room->topology->node_count);
    consider(best, &(struct locality_pick){
                       .level = domain->level,
                       .count = room->domain_sums[at],
                       .key = room->domain_keys[at],
                       .order = at,
                       .first = domain->first,
                       .nodes = domain->count,
                   });
}

static void consider_level(struct best *best, uint32_t level)
{
    const struct locality_query *query = best->query;
    const struct topology *topology = query->room->topology;
    const struct locality_anchor *anchor = &query->anchor;

    ASSERT(level <= topology->level_count + 1); /* a cluster's */
    if (level > 0 && anchor->node_count > 0) {
        for (uint32_t at = anchor->domain; at != NONE;
             at = topology->domains[at].parent) {
            if (topology->domains[at].level == level) {
                consider_domain(best, at);
            }
        }
    } else if (level > 0) {
        for (uint32_t at = topology->level_first[level];
             at < topology->level_first[level + 1]; at++) {
            consider_domain(best, at);
        }
    } else if (anchor->node_count == 0) {
        for (uint32_t i = query->first; i < query->end; i++) {
            consider_node(best, i);
        }
    } else if (anchor->node_count == 1 &&
               topology_lowest(topology, anchor->node) != NONE) {
        consider_node(best, topology->place[anchor->node]);
    }
}

bool locality_next(const struct locality_query *query,
                   struct locality_pick *pick)
{
    const struct topology *topology = query->room->topology;
    uint32_t spread = locality_anchor_level(topology, &query->anchor);
    uint32_t level_max = spread > query->level_max ? spread : query->level_max;
    bool is_first = pick->level == UINT32_MAX;
    struct locality_pick last = *pick;

    ASSERT(query->needed > 0 && query->first <= query->end &&
           query->end <= topology->node_count);
    for (uint32_t level = is_first ? 0 : last.level; level <= level_max;
         level++) {
        if (level == 0 && query->room->count_max < query->needed) {
            continue; /* the only level at which there are as many as nodes */
        }
        struct best best = {
            .query = query,
            .last = !is_first && level == last.level ? &last : NULL,
        };
        consider_level(&best, level);
        if (best.is_found) {
            *pick = best.pick;
            return true;
        }
    }
    return false;
}
