/* The domains that a reservation for a gang with a cap may use: the highest
 * ones within the cap, as groups of nodes. */
#include "sched/gang/locality_place.h"
#include "sched/place/place.h"
#include "sched/state/sub_groups.h"

/* The only sub-group that asks for members, or NONE: there are several. */
static uint32_t only_sub_group(const struct gang *gang)
{
    uint32_t only = NONE;

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        if (sub_group_required(gang, i)->count == 0) {
            continue;
        }
        if (only != NONE) {
            return NONE;
        }
        only = i;
    }
    return only;
}

static void add_group(const struct round *round, struct label_index *index,
                      uint32_t first, uint32_t count)
{
    const struct topology *topology = topology_of(round->sched, round->p);
    uint32_t *nodes = topology->nodes + first;

    ASSERT(count > 0 && first + count <= topology->node_count);
    index->groups[index->group_count++] = (struct label_group){
        .executor = round->sched->nodes.items[nodes[0]].executor,
        .nodes = nodes,
        .count = count,
    };
}

static struct label_index *index_create(struct round *round)
{
    const struct topology *topology = topology_of(round->sched, round->p);
    size_t most = (size_t)topology->node_count + topology->domain_count;
    struct label_index *index = arena_alloc(round->arena, sizeof(*index));

    index->groups =
        arena_alloc_array(round->arena, most, sizeof(*index->groups));
    return index;
}

/* The domains of a pool that a level allows, made once a round; a node that is
 * in none of them is one by itself. */
static const struct label_index *highest(struct round *round, uint32_t level)
{
    const struct topology *topology = topology_of(round->sched, round->p);

    ASSERT(level <= topology->level_count);
    if (round->domains[level]) {
        return round->domains[level];
    }
    struct label_index *index = index_create(round);
    for (uint32_t i = 0; i < topology->node_count; i++) {
        if (topology->domains[topology->lowest[i]].level > level) {
            add_group(round, index, i, 1);
        }
    }
    for (uint32_t d = 0; level > 0 && d < topology->domain_count; d++) {
        if (topology_is_highest(topology, d, level)) {
            add_group(round, index, topology->domains[d].first,
                      topology->domains[d].count);
        }
    }
    round->domains[level] = index;
    return index;
}

const struct label_index *locality_groups(struct round *round,
                                          const struct gang *gang)
{
    if (!locality_matters(round, gang) || gang->uniformity[0]) {
        return place_groups(round, gang);
    }
    const struct topology *topology = topology_of(round->sched, round->p);
    uint32_t sub_group = only_sub_group(gang);
    uint32_t level =
        sub_group == NONE ? NONE : locality_level_max(round, gang, sub_group);
    if (sub_group == NONE || level > topology->level_count) {
        return place_groups(round, gang);
    }
    struct locality_anchor anchor;
    locality_anchor_of(round->sched, round->p, gang, sub_group, &anchor);
    if (anchor.node_count == 0) {
        return highest(round, level);
    }
    uint32_t first, count;
    struct label_index *index = index_create(round);
    if (locality_around(topology, level, &anchor, &first, &count)) {
        add_group(round, index, first, count);
    }
    return index;
}
