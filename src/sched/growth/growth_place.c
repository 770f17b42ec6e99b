/* Where another pod may start. */
#include "sched/gang/locality_place.h"
#include "sched/growth/growth.h"
#include "sched/order/lane_quota.h"
#include "sched/order/lanes.h"
#include "sched/order/lending.h"
#include "sched/order/starts.h"
#include "sched/place/place.h"
#include "sched/state/floating.h"
#include "sched/state/topology.h"

uint32_t growth_next_spare(const struct growth *growth,
                           struct growth_part *part)
{
    const struct sched *sched = growth->round->sched;

    if (part->has_optional && !part->is_next_taken && part->next.block == 0 &&
        part->next.offset == 0 &&
        !(sched->job_flags.items[part->example] & JOB_PLANNED)) {
        return part->example;
    }
    const struct seq *optional =
        sub_group_optional(growth_team_of(growth, part)->gang, part->sub_group);
    if (part->is_next_taken) {
        part->is_next_taken = false;
        seq_next(optional, &part->next);
    }
    while (!seq_is_end(optional, part->next)) {
        uint32_t job = seq_get(optional, part->next);
        if (!(sched->job_flags.items[job] & JOB_PLANNED)) {
            ASSERT_SLOW(sub_group_is_optional(sched, job));
            return job;
        }
        seq_next(optional, &part->next);
    }
    return NONE;
}

uint32_t growth_class_of(const struct growth *growth,
                         const struct growth_part *part, uint32_t job)
{
    return job == part->example ? part->example_class
                                : class_of_job(growth->round->sched, job);
}

bool growth_may_grow(struct growth *growth, struct lane *lane,
                     const struct search *search)
{
    struct round *round = growth->round;
    const struct class *class = class_at(round, search->class_index);
    const struct usage *usage = lane_usage(round, lane, class->priority_class);
    struct resource_vec load = growth->load;

    amounts_add(&load, &class->request);
    return !growth_is_above(growth, &load, &class->request) &&
           (!usage || lending_is_within(round, usage, &class->request)) &&
           quota_short(round, lane, &class->request) < 0 &&
           floating_short(round->sched, round->p, &round->used,
                          &class->request) < 0 &&
           round_may_start(round, lane, search->job, 1, &class->request);
}

/* A free node, asked of each class and group only until there is none. */
static uint32_t room(struct growth *growth, const struct growth_team *team,
                     const struct search *search)
{
    struct round *round = growth->round;
    uint64_t group =
        team->only ? 1 + (uint64_t)(team->only - team->groups->groups) : 0;
    struct key128 key = {search->class_index, group};
    bool is_special = place_is_special(search);

    if ((team->groups && !team->only) ||
        (!is_special &&
         map_find(&growth->full, key) == (uint32_t)round->growth_count)) {
        return NONE;
    }
    uint32_t node = place_find(search);
    if (node == NONE && !is_special) {
        map_put(&growth->full, key, (uint32_t)round->growth_count);
    }
    return node;
}

/* Where the pods of a part are, counting the pods that the plan starts. */
static void anchor_part(struct growth *growth, struct growth_part *part)
{
    struct round *round = growth->round;
    const struct sched *sched = round->sched;
    const struct topology *topology = topology_of(sched, round->p);
    const struct growth_team *team = growth_team_of(growth, part);
    uint32_t gang = (uint32_t)(team->gang - sched->gangs.items);

    if (part->is_anchored) {
        return;
    }
    locality_anchor_of(sched, round->p, team->gang, part->sub_group,
                       &part->anchor);
    for (size_t i = round->decision_first;
         team->started && i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE &&
            sched->jobs.items[decision->job].gang == gang &&
            sub_group_of(sched, decision->job) == part->sub_group) {
            locality_anchor_add(topology, &part->anchor, decision->node);
        }
    }
    for (uint32_t at = part->change; at != NONE;
         at = growth->changes.items[at].previous) {
        if (growth->changes.items[at].is_lease) {
            locality_anchor_add(topology, &part->anchor,
                                growth->changes.items[at].node);
        }
    }
    part->is_anchored = true;
}

uint32_t growth_find(struct growth *growth, struct growth_part *part,
                     const struct search *search)
{
    const struct growth_team *team = growth_team_of(growth, part);

    if (!locality_matters(growth->round, team->gang)) {
        return room(growth, team, search);
    }
    anchor_part(growth, part);
    return team->groups && !team->only
               ? NONE
               : locality_find(search, team->gang, part->sub_group,
                               &part->anchor);
}
