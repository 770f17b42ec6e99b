/* Whether members of a gang fit only too far from each other. */
#include "sched/explain/private.h"
#include "sched/gang/locality_fit.h"
#include "sched/state/distance_cap.h"
#include "sched/state/sub_groups.h"
#include "sched/state/topology.h"

/* Whether a sub-group of its gang has too little room near enough in a pool:
 * though there is room further away, or though nodes were empty. */
static bool is_too_far(struct question *question, uint32_t pool,
                       const struct gang *gang, uint32_t sub_group)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    uint32_t wanted = sub_group_required(gang, sub_group)->count;
    int64_t end_ms = distance_cap_end_ms(sched, gang, sub_group);
    struct locality_fit fit;

    if (wanted == 0 || question->now_ms >= end_ms ||
        sub_group_terms(gang, sub_group)->hops_max == HOPS_ANY) {
        return false;
    }
    locality_fit_of(sched, pool, gang, sub_group, &fit);
    if (fit.free_count >= wanted ||
        (fit.open_count < wanted && fit.empty_count >= wanted)) {
        return false;
    }
    uint32_t levels = topology_level_max(
        topology_of(sched, pool), sub_group_terms(gang, sub_group)->hops_max);
    answer->present = (uint32_t)fit.free_count;
    answer->wanted = wanted;
    answer->empty =
        fit.empty_count < wanted ? (uint32_t)fit.empty_count : wanted;
    answer->domain = fit.domain;
    answer->sub_group = sub_group_terms(gang, sub_group)->name;
    question->lacking = sub_group;
    answer->hops = 2 * levels;
    answer->pool = intern_get(sched->pool_names, pool);
    answer->until_ms = end_ms == INT64_MAX ? 0 : end_ms;
    return true;
}

bool explain_distance(struct question *question)
{
    const struct sched *sched = question->sched;
    uint32_t index = question->record->gang;
    const struct gang *gang = index == NONE ? NULL : &sched->gangs.items[index];
    bool is_far = false;

    if (!gang || gang->position == NONE || !distance_is_capped(gang)) {
        return false;
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        bool is_here = false;
        if (!explain_is_in_pools(question, p) || !topology_of(sched, p)) {
            continue;
        }
        for (uint32_t i = 0; i < sub_groups_count(gang) && !is_here; i++) {
            is_here = is_too_far(question, p, gang, i);
        }
        if (!is_here) {
            return false;
        }
        is_far = true;
    }
    if (is_far) {
        question->answer->wait = SCHED_WAIT_TOPOLOGY;
    }
    return is_far;
}
