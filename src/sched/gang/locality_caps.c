/* The caps of a gang's sub-groups, and the order in which they are placed. */

#include "sched/gang/locality_place.h"
#include "sched/state/distance_cap.h"
#include "sched/state/sub_groups.h"

bool locality_matters(const struct round *round, const struct gang *gang)
{
    const struct topology *topology = topology_of(round->sched, round->p);

    return gang_has_terms(gang) && topology &&
           (topology->level_count > 0 || distance_is_capped(gang));
}

uint32_t locality_level_max(struct round *round, const struct gang *gang,
                            uint32_t sub_group)
{
    const struct topology *topology = topology_of(round->sched, round->p);
    int64_t end_ms = distance_cap_end_ms(round->sched, gang, sub_group);

    ASSERT(sub_group < sub_groups_count(gang));
    if (round->now_ms >= end_ms) {
        return topology->level_count + 1;
    }
    round_wake_by(round, end_ms);
    return topology_level_max(topology,
                              sub_group_terms(gang, sub_group)->hops_max);
}

bool locality_is_capped(struct round *round, const struct gang *gang)
{
    const struct topology *topology = topology_of(round->sched, round->p);
    bool is_capped = false;

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        is_capped |=
            locality_level_max(round, gang, i) <= topology->level_count;
    }
    return is_capped;
}

void locality_anchor_of(const struct sched *sched, uint32_t pool,
                        const struct gang *gang, uint32_t sub_group,
                        struct locality_anchor *ret_anchor)
{
    const struct topology *topology = topology_of(sched, pool);
    const struct seq *leased = sub_group_leased(gang, sub_group);

    *ret_anchor = (struct locality_anchor){.domain = NONE};
    for (struct seq_cursor at = {0}; !seq_is_end(leased, at);
         seq_next(leased, &at)) {
        const struct run *run =
            &sched->runs.items[sched->jobs.items[seq_get(leased, at)].run];
        if (run->state != RUN_PREEMPTED) {
            locality_anchor_add(topology, ret_anchor, run->node);
        }
    }
}

uint32_t locality_order(struct round *round, const struct gang *gang,
                        uint32_t order[SUB_GROUPS_MAX],
                        uint32_t level_max[SUB_GROUPS_MAX])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        uint32_t asked = sub_group_required(gang, i)->count;
        if (asked == 0) {
            continue;
        }
        level_max[i] = locality_level_max(round, gang, i);
        uint32_t at = count++;
        while (at > 0) {
            uint32_t other = order[at - 1];
            bool is_before =
                level_max[i] != level_max[other]
                    ? level_max[i] < level_max[other]
                    : asked > sub_group_required(gang, other)->count;
            if (!is_before) {
                break;
            }
            order[at] = other;
            at--;
        }
        order[at] = i;
    }
    /* The tightest cap goes first. */
    ASSERT(count < 2 || level_max[order[0]] <= level_max[order[count - 1]]);
    return count;
}

bool locality_is_alike(const struct sched *sched, const struct seq *asked)
{
    uint32_t class_index =
        class_of_job(sched, seq_get(asked, (struct seq_cursor){0}));

    ASSERT(asked->count > 0);
    for (struct seq_cursor c = {0}; !seq_is_end(asked, c);
         seq_next(asked, &c)) {
        uint32_t job = seq_get(asked, c);
        if (class_of_job(sched, job) != class_index ||
            sched->job_flags.items[job] & JOB_AVOIDS) {
            return false;
        }
    }
    return true;
}
