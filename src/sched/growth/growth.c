#include "sched/growth/growth.h"

#include "sched/order/lanes.h"
#include "sched/order/starts.h"
#include "sched/place/exclusive_node.h"
#include "sched/place/place.h"
#include "sched/state/exclusive.h"
#include "sched/state/topology.h"

static bool is_overloaded(void *context, uint32_t index)
{
    const struct growth *growth = context;

    return growth_is_above(growth, &growth->load,
                           growth_part_of(growth, index)->request);
}

static void note_change(struct growth *growth, struct growth_part *part,
                        struct growth_change change)
{
    change.previous = part->change;
    part->change = (uint32_t)growth->changes.count;
    VEC_PUSH(&growth->changes, change);
}

/* A node for another pod of a part, or NONE. */
static uint32_t find_node(struct growth *growth, struct growth_part *part,
                          struct lane *lane, struct search *search)
{
    struct round *round = growth->round;
    const struct class *class = class_at(round, search->class_index);

    if (!growth_asks_for_gpu(round->sched, &class->request) &&
        !growth->is_gpu_known) {
        round->is_growth_off_gpus = growth_is_off_gpus(round);
        growth->is_gpu_known = true;
    }
    return growth_may_grow(growth, lane, search)
               ? growth_find(growth, part, search)
               : NONE;
}

static bool grow(void *context, uint32_t index)
{
    struct growth *growth = context;
    struct round *round = growth->round;
    struct growth_part *part = growth_part_of(growth, index);
    struct growth_team *team = growth_team_of(growth, part);
    uint32_t job = growth_next_spare(growth, part);

    if (job == NONE) {
        return false;
    }
    uint32_t class_index = growth_class_of(growth, part, job);
    struct class *class = class_round(round, class_index);
    struct search search = {round, class_index, job, team->only};
    uint32_t node = find_node(growth, part, team->lane, &search);
    if (node == NONE) {
        return false;
    }
    place_put(round, team->lane, class_index, node, 1);
    if (part->is_anchored) {
        locality_anchor_add(topology_of(round->sched, round->p), &part->anchor,
                            node);
    }
    if (exclusive_node_is_for(team->gang)) {
        exclusive_node_take(
            round, (uint32_t)(team->gang - round->sched->gangs.items), node);
        class->cached_node = NONE;
    }
    gang_started(round, team->lane, 1, &class->request);
    amounts_add(&growth->load, &class->request);
    growth->is_cost_known[team->lane->rank] = false;
    note_change(growth, part,
                (struct growth_change){
                    .job = job,
                    .node = node,
                    .class_index = class_index,
                    .is_lease = true,
                });
    part->is_next_taken = true;
    return true;
}

static bool shrink(void *context, uint32_t index)
{
    struct growth *growth = context;
    struct round *round = growth->round;
    struct sched *sched = round->sched;
    struct growth_part *part = growth_part_of(growth, index);
    struct growth_team *team = growth_team_of(growth, part);
    uint32_t job = sub_group_last_surplus(sched, team->gang, part->sub_group);

    if (job == NONE) {
        return false;
    }
    uint32_t node = sched->runs.items[sched->jobs.items[job].run].node;
    uint32_t class_index = class_of_job(sched, job);
    place_preempt(round, job);
    part->is_anchored = false;
    round->growth_count++;
    VEC_PUSH(&round->watch.grown, node);
    amounts_subtract(&growth->load, &class_at(round, class_index)->request);
    ASSERT(amounts_is_sum(&growth->load)); /* it was part of the load */
    growth->is_cost_known[team->lane->rank] = false;
    note_change(growth, part,
                (struct growth_change){
                    .job = job, .node = node, .class_index = class_index});
    return true;
}

static uint64_t mark(void *context)
{
    struct growth *growth = context;

    growth->load_before = growth->load;
    return (uint64_t)growth->round->sched->journal.count << 32 |
           growth->changes.count;
}

/* Only pods that were taken are ever given back: growth that fails takes
 * nothing. */
static void back(void *context, uint64_t mark)
{
    struct growth *growth = context;
    uint32_t count = (uint32_t)mark;

    ASSERT(count <= growth->changes.count);
    while (growth->changes.count > count) {
        uint32_t last = (uint32_t)growth->changes.count - 1;
        for (uint32_t i = 0; i < growth->unit_count; i++) {
            if (growth->parts[i].change == last) {
                growth->parts[i].change = growth->changes.items[last].previous;
            }
        }
        growth->changes.count--;
    }
    place_rollback(growth->round, (size_t)(mark >> 32));
    growth->load = growth->load_before;
    for (uint32_t i = 0; i < growth->unit_count; i++) {
        growth->is_cost_known[growth->units[i].lane] = false;
        growth->parts[i].is_anchored = false;
    }
}

static const struct cost *cost_of_lane(struct growth *growth, uint32_t rank)
{
    ASSERT(growth->lanes[rank]->rank == rank);
    if (!growth->is_cost_known[rank]) {
        lane_set_new_cost(growth->round, growth->lanes[rank], NULL,
                          &growth->costs[rank]);
        growth->is_cost_known[rank] = true;
    }
    return &growth->costs[rank];
}

static int compare_lanes(void *context, uint32_t a, uint32_t b)
{
    struct growth *growth = context;

    return cost_compare(&growth->round->pool->base, cost_of_lane(growth, a),
                        cost_of_lane(growth, b));
}

struct elastic_space growth_space(struct growth *growth)
{
    return (struct elastic_space){
        .context = growth,
        .grow = grow,
        .shrink = shrink,
        .is_overloaded = is_overloaded,
        .mark = mark,
        .back = back,
        .compare_lanes = compare_lanes,
    };
}

void growth_step(struct round *round)
{
    struct sched *sched = round->sched;
    const struct pool_policy *policy =
        &sched->policy->pools[round->pool->policy_index];
    struct growth growth = {.round = round};
    size_t left = sched->decisions.count < round->decision_max
                      ? round->decision_max - sched->decisions.count
                      : 0;

    ASSERT(round->kind == ROUND_BALANCE); /* fast rounds start what waits */
    growth_gather(&growth);
    if (growth.unit_count == 0) {
        return;
    }
    growth_measure(&growth);
    round->is_growing = true;
    growth.costs = arena_alloc_array(round->arena, sched->queues.count,
                                     sizeof(*growth.costs));
    growth.is_cost_known = arena_alloc_array(round->arena, sched->queues.count,
                                             sizeof(*growth.is_cost_known));
    struct elastic_rules rules = {
        .aging_ms = sched->aging_ms,
        .evenness_ppm = policy->evenness_ppm,
        .growth_max = (uint32_t)left,
        .has_changed = growth.has_changed,
    };
    struct elastic_space space = growth_space(&growth);
    round->is_truncated |= elastic_step(growth.units, growth.unit_count, &rules,
                                        &space, round->arena);
    growth_decide_all(&growth);
    round->is_growth_off_gpus = round->is_growing = false;
    VEC_FREE(&growth.changes);
    map_fini(&growth.full);
}
