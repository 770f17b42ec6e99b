/*
 * groups_at_risk - whether a search might preempt pods of a gang with terms.
 *
 * If it might, places are compared by what they cost (sets.h), since the price
 * of a pod depends on its gang.  Otherwise the faster searches serve
 * (search.h), whatever else runs.  So gangs with terms that a job may not
 * preempt do not affect whom it preempts (docs/decisions/0034).
 *
 * A pod is at risk if it runs on a node that the job may use, and the rules for
 * all work, or those for surplus, let the job preempt it.  Other reasons for
 * which its gang would be spared do not count.
 *
 * Private to src/sched; what is remembered lives in the round's arena.
 */
#pragma once

#include "sched/place/place.h"

/* Pods of gangs with terms that run in the round's pool. */
struct group_pods {
    uint32_t *runs; /* of one gang beside each other */
    uint32_t count;
    uint32_t level_min; /* of all of them */
};

/* Whether some pod of a gang with terms is at risk; by rules before
 * POLICY_RULES_GROUPS whether any runs in the pool. */
bool groups_at_risk(const struct search *search);
