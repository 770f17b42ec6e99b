#include "sched/gang/price.h"

#include "sched/evict/evicted.h"
#include "sched/gang/locality_place.h"
#include "sched/state/sub_groups.h"

/* A decision's victim, as far as its price needs it. */
static struct victim victim_of(const struct round *round,
                               const struct sched_decision *decision)
{
    const struct sched *sched = round->sched;
    const struct run *run =
        &sched->runs.items[sched->jobs.items[decision->job].run];
    bool is_evicted = decision->preemption == SCHED_PREEMPT_FAIR_SHARE &&
                      run->evicted_run != NONE;
    bool is_surplus = decision->preemption == SCHED_PREEMPT_SURPLUS;

    ASSERT(run->state == RUN_PREEMPTED); /* by this plan */
    return (struct victim){
        .job = decision->job,
        .gang = NONE,
        .group = is_surplus ? sched->jobs.items[decision->job].gang : NONE,
        .ordinal =
            is_evicted ? round->evicted->runs[run->evicted_run].ordinal : 0,
        .is_evicted = is_evicted,
        .is_surplus = is_surplus,
        .protected_count = run->is_protected,
    };
}

static void add(const struct attempt *attempt, size_t first, size_t end,
                struct victim_set *set)
{
    struct round *round = attempt->round;

    for (size_t i = first; i < end; i++) {
        const struct sched_decision *decision =
            &round->sched->decisions.items[i];
        if (decision->action == SCHED_PREEMPT) {
            struct victim victim = victim_of(round, decision);
            victim_set_add(round, set, &victim);
        }
    }
}

/* The levels of the sub-groups that ask, with what was leased. */
static uint32_t hops_of(const struct attempt *attempt)
{
    const struct round *round = attempt->round;
    const struct sched *sched = round->sched;
    const struct gang *gang = attempt->gang;
    const struct topology *topology = topology_of(sched, round->p);
    struct locality_anchor anchors[SUB_GROUPS_MAX];
    uint32_t levels = 0;

    if (!locality_matters(round, gang)) {
        return 0;
    }
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        locality_anchor_of(sched, round->p, gang, i, &anchors[i]);
    }
    for (size_t i = attempt->decision_mark; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE) {
            locality_anchor_add(topology,
                                &anchors[sub_group_of(sched, decision->job)],
                                decision->node);
        }
    }
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        levels += sub_group_required(gang, i)->count
                      ? locality_anchor_level(topology, &anchors[i])
                      : 0;
    }
    ASSERT(levels <= sub_groups_count(gang) * (topology->level_count + 1));
    return levels;
}

static uint64_t lost_by(const struct attempt *attempt)
{
    const struct round *round = attempt->round;
    struct sched *sched = round->sched;
    uint64_t lost = 0;

    sched->look++;
    for (size_t i = attempt->decision_mark; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action != SCHED_LEASE ||
            sched->nodes.items[decision->node].look == sched->look) {
            continue;
        }
        sched->nodes.items[decision->node].look = sched->look;
        lost += pool_weigh(round->pool, &sched->free[decision->node]);
    }
    return lost;
}

struct victim_set gang_price_of(const struct attempt *attempt)
{
    struct victim_set set = VICTIM_SET_NONE;

    add(attempt, attempt->decision_mark, attempt->round->sched->decisions.count,
        &set);
    set.hops = hops_of(attempt);
    set.lost = lost_by(attempt);
    return set;
}

void gang_price_limit(struct attempt *attempt, const struct victim_set *limit)
{
    attempt->price_limit = limit;
    attempt->spent = VICTIM_SET_NONE;
    attempt->spent_end = attempt->decision_mark;
}

bool gang_price_is_over(struct attempt *attempt)
{
    size_t end = attempt->round->sched->decisions.count;

    if (!attempt->price_limit) {
        return false;
    }
    ASSERT(attempt->spent_end <= end); /* nothing priced was undone */
    add(attempt, attempt->spent_end, end, &attempt->spent);
    attempt->spent_end = end;
    return victim_set_is_dearer(&attempt->spent, attempt->price_limit);
}
