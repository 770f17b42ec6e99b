/* Which gangs take part in a growth step. */
#include "sched/growth/growth.h"
#include "sched/place/place.h"
#include "sched/state/borrowed.h"
#include "sched/state/scale.h"

static struct growth_team *team_of_job(struct growth *growth, uint32_t job)
{
    const struct sched *sched = growth->round->sched;
    uint32_t gang = sched->jobs.items[job].gang;
    uint32_t place =
        gang == NONE ? NONE : sched->gangs.items[gang].elastic_place;

    return place == NONE ? NULL : &growth->teams[place];
}

/* What the round did to gangs so far. */
static void note_decisions(struct growth *growth)
{
    struct round *round = growth->round;
    const struct sched *sched = round->sched;

    for (size_t i = round->decision_first; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        struct growth_team *team = team_of_job(growth, decision->job);
        if (!team) {
            continue;
        }
        growth->has_changed = true;
        if (decision->action == SCHED_PREEMPT) {
            team->is_lost = true;
        } else if (decision->action == SCHED_LEASE) {
            if (!team->started) {
                team->started = arena_alloc_array(round->arena, SUB_GROUPS_MAX,
                                                  sizeof(*team->started));
            }
            team->started[sub_group_of(sched, decision->job)]++;
            team->started_count++;
            team->node = decision->node;
        }
    }
}

/* How many of a sub-group run or have succeeded, were the plan told back. */
static uint32_t count_of(const struct sched *sched,
                         const struct growth_team *team, uint32_t sub_group)
{
    return sub_group_running(sched, team->gang, sub_group) +
           sub_group_succeeded(team->gang, sub_group) +
           (team->started ? team->started[sub_group] : 0);
}

static bool has_minimums(const struct sched *sched,
                         const struct growth_team *team)
{
    for (uint32_t i = 0; i < sub_groups_count(team->gang); i++) {
        if (count_of(sched, team, i) <
            sub_group_terms(team->gang, i)->min_count) {
            return false;
        }
    }
    return true;
}

/* A node of what runs of it, and how long that has run. */
static void look_at_runs(const struct growth *growth, struct growth_team *team)
{
    const struct sched *sched = growth->round->sched;
    const struct seq *leased = &team->gang->leased;

    for (struct seq_cursor at = {0}; !seq_is_end(leased, at);
         seq_next(leased, &at)) {
        const struct run *run =
            &sched->runs.items[sched->jobs.items[seq_get(leased, at)].run];
        if (run->state != RUN_PREEMPTED) {
            team->node = run->node;
            break;
        }
    }
    team->work = scale_work(sched, team->gang);
}

/* Whether a gang takes part: it is whole, here, and at home here. */
static bool join(struct growth *growth, struct growth_team *team)
{
    struct round *round = growth->round;
    const struct sched *sched = round->sched;
    uint32_t lane = round->lane_of_queue[team->gang->queue];

    if (team->gang->leased.count == 0 && team->started_count == 0) {
        return false;
    }
    if (lane == NONE || !has_minimums(sched, team)) {
        return false;
    }
    look_at_runs(growth, team);
    team->first = sub_groups_first(sched, team->gang);
    if (team->node == NONE || sched->nodes.items[team->node].pool != round->p ||
        borrowed_has(sched, team->first)) {
        return false;
    }
    team->lane = &round->lanes[lane];
    ASSERT(team->lane->queue == team->gang->queue);
    growth->lanes[team->lane->rank] = team->lane;
    return true;
}

/* The nodes that the gang keeps to, found by one that it has. */
static void find_group(struct growth *growth, struct growth_team *team)
{
    const struct sched *sched = growth->round->sched;

    team->groups = place_groups(growth->round, team->gang);
    if (team->groups) {
        team->only = place_group_of(sched, team->groups,
                                    &sched->nodes.items[team->node]);
    }
}

/* A member to tell what pods of a sub-group ask for. */
static uint32_t example_of(const struct gang *gang, uint32_t sub_group)
{
    const struct seq *optional = sub_group_optional(gang, sub_group);
    const struct seq *seq =
        optional->count ? optional : sub_group_leased(gang, sub_group);

    ASSERT(seq->count > 0);
    return seq_get(seq, (struct seq_cursor){0});
}

/* Ask for a plan when a unit that could grow is looked at again. */
static void wake_for(struct round *round, const struct elastic_unit *unit,
                     int64_t frozen_ms)
{
    round_wake_by(round,
                  round->now_ms + round->sched->policy->elastic.period_ms);
    if (unit->is_frozen) {
        round_wake_by(round, frozen_ms);
    }
}

/* What pods of a sub-group ask for, and whether more of them wait. */
static struct growth_part part_of(const struct growth *growth, uint32_t t,
                                  uint32_t sub_group)
{
    const struct gang *gang = growth->teams[t].gang;
    uint32_t example = example_of(gang, sub_group);
    uint32_t example_class = class_of_job(growth->round->sched, example);

    return (struct growth_part){
        .team = t,
        .sub_group = sub_group,
        .change = NONE,
        .example = example,
        .example_class = example_class,
        .has_optional = sub_group_optional(gang, sub_group)->count > 0,
        .request = &class_at(growth->round, example_class)->request,
    };
}

static void add_part(struct growth *growth, uint32_t t, uint32_t sub_group,
                     const struct cfs_key *key)
{
    const struct growth_team *team = &growth->teams[t];
    struct round *round = growth->round;
    const struct sched *sched = round->sched;
    const struct seq *optional = sub_group_optional(team->gang, sub_group);
    uint32_t surplus = sub_group_surplus(sched, team->gang, sub_group);
    uint32_t count = count_of(sched, team, sub_group);
    int64_t frozen_ms = scale_frozen_until(sched, team->gang);

    if (optional->count == 0 && surplus == 0) {
        return;
    }
    ASSERT(surplus <= count); /* it is part of what runs */
    const struct growth_part part = part_of(growth, t, sub_group);
    growth->parts[growth->unit_count] = part;
    struct elastic_unit *unit = &growth->units[growth->unit_count];
    *unit = (struct elastic_unit){
        .key = *key,
        .lane = team->lane->rank,
        .min = count - surplus,
        .max = count + optional->count,
        .count = count,
        .is_frozen = frozen_ms > round->now_ms,
        .is_held =
            team->is_lost || sched->queues.items[team->gang->queue].is_cordoned,
        .handle = growth->unit_count++,
    };
    unit->key.part = sub_group;
    unit->key.pod = cfs_key_of(sched, part.example).pod;
    if (optional->count) {
        wake_for(round, unit, frozen_ms);
    }
}

static void add_parts(struct growth *growth, uint32_t t)
{
    struct growth_team *team = &growth->teams[t];
    const struct sched *sched = growth->round->sched;
    struct cfs_key key = cfs_key_of(sched, team->first);

    key.is_running = true;
    cfs_key_set_work(&key, team->work);
    for (uint32_t i = 0; i < sub_groups_count(team->gang); i++) {
        const struct sub_group *group = sub_group_terms(team->gang, i);
        if (group->min_count < group->max_count) {
            add_part(growth, t, i, &key);
        }
    }
}

void growth_gather(struct growth *growth)
{
    struct round *round = growth->round;
    struct sched *sched = round->sched;
    uint32_t count = (uint32_t)sched->elastic.count;
    uint32_t part_max = 0;

    growth->teams =
        arena_alloc_array(round->arena, count, sizeof(*growth->teams));
    growth->lanes = arena_alloc_array(round->arena, sched->queues.count,
                                      sizeof(*growth->lanes));
    for (uint32_t i = 0; i < count; i++) {
        growth->teams[i].gang = &sched->gangs.items[sched->elastic.items[i]];
        ASSERT(growth->teams[i].gang->elastic_place == i);
        growth->teams[i].node = NONE;
        part_max += sub_groups_count(growth->teams[i].gang);
    }
    note_decisions(growth);
    growth->parts =
        arena_alloc_array(round->arena, part_max, sizeof(*growth->parts));
    growth->units =
        arena_alloc_array(round->arena, part_max, sizeof(*growth->units));
    for (uint32_t i = 0; i < count; i++) {
        if (join(growth, &growth->teams[i])) {
            find_group(growth, &growth->teams[i]);
            add_parts(growth, i);
        }
    }
    ASSERT(growth->unit_count <= part_max);
    elastic_sort(growth->units, growth->unit_count, sched->aging_ms,
                 round->arena);
}
