/*
 * groups_at_risk - whether some gang with terms may lose pods to what is
 * searched for.
 *
 * Where one may, places are compared by what they cost (sets.h), since the
 * price of a pod is not its own; else by the faster searches (search.h),
 * whoever runs besides.  So gangs with terms that a job may not preempt have no
 * part in whom it preempts (docs/decisions/0034).
 *
 * A pod is at risk if it runs on a node that the job may have, and may be
 * preempted for it by the rules for all work or as surplus; that its gang would
 * be spared for other reasons does not count.
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
