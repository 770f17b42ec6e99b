#include "sched/victims/groups_at_risk.h"

#include "sched/order/lending.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/group_victims.h"
#include "sched/victims/searches.h"
#include "sched/victims/victims.h"

enum { PODS_A_LOOK = 16 /* so much cheaper they are to look at than nodes */ };

static void add_gang(const struct round *round, const struct gang *gang,
                     struct group_pods *pods)
{
    const struct sched *sched = round->sched;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t index = sched->jobs.items[seq_get(&gang->leased, at)].run;
        const struct run *run = &sched->runs.items[index];
        if (sched->nodes.items[run->node].pool == round->p) {
            pods->runs[pods->count++] = index;
            pods->level_min =
                run->level < pods->level_min ? run->level : pods->level_min;
        }
    }
}

/* What runs of gangs with terms; within a round nothing comes to it. */
static const struct group_pods *pods_of(struct round *round)
{
    const struct sched *sched = round->sched;
    struct group_pods *pods = round->searches->group_pods;

    if (!pods) {
        pods = arena_alloc(round->arena, sizeof(*pods));
        *pods = (struct group_pods){
            .runs =
                arena_alloc_array(round->arena, round->pool->terms_run_count,
                                  sizeof(*pods->runs)),
            .level_min = UINT32_MAX,
        };
        for (uint32_t i = 0; i < sched->gangs.count; i++) {
            const struct gang *gang = &sched->gangs.items[i];
            if (gang_has_terms(gang)) {
                add_gang(round, gang, pods);
            }
        }
        ASSERT(pods->count == round->pool->terms_run_count);
        round->searches->group_pods = pods;
    }
    return pods;
}

/* Whether a run on a node that the job may have is at risk. */
static bool is_at_risk(const struct search *search,
                       const struct victim_rules *rules, const struct run *run)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct gang *gang =
        &sched->gangs.items[sched->jobs.items[run->job].gang];
    uint32_t sub_group = sub_group_of(sched, run->job);

    if (victim_is_permitted(round, run, class_at(round, search->class_index),
                            rules)) {
        return true;
    }
    return !round->searches->keeps_surplus &&
           sub_group_surplus(sched, gang, sub_group) > 0 &&
           group_victims_may_shrink(search, gang, run, rules);
}

/* Whether level alone says that nothing of a level may go. */
static bool is_above(const struct search *search, uint32_t level)
{
    const struct round *round = search->round;

    return level > class_at(round, search->class_index)->level &&
           !round->reserve.asking && !lending_may_recall(round);
}

bool groups_at_risk(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;

    if (!round_has_terms(round) ||
        sched->policy->rules_revision < POLICY_RULES_GROUPS) {
        return round_has_terms(round);
    }
    const struct group_pods *pods = pods_of(round);
    if (is_above(search, pods->level_min)) {
        return false;
    }
    const struct victim_rules rules = victims_rules(search);
    bool is_any = false;
    for (uint32_t i = 0; i < pods->count && !is_any; i++) {
        const struct run *run = &sched->runs.items[pods->runs[i]];
        round->counters->nodes_examined += i % PODS_A_LOOK == 0;
        is_any = run->state != RUN_PREEMPTED && !is_above(search, run->level) &&
                 place_matches_ever(search, run->node) &&
                 is_at_risk(search, &rules, run);
    }
    return is_any;
}
