/* Changes of gangs with terms that the caller reports. */
#include "sched/state/distance_cap.h"
#include "sched/state/sub_groups.h"

void sched_gang_succeeded(struct sched *sched, uint32_t job, uint32_t sub_group)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    uint32_t at = sched->jobs.items[job].gang;

    if (!sub_groups_is_member(sched, job) ||
        sub_group >= sub_groups_count(&sched->gangs.items[at])) {
        return;
    }
    struct gang *gang = &sched->gangs.items[at];
    sched->version++;
    gang_detach(sched, at);
    sub_group_set_succeeded(gang, sub_group,
                            sub_group_succeeded(gang, sub_group) + 1);
    gang_attach(sched, at);
}

void sched_gang_requeued(struct sched *sched, uint32_t job)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);

    if (!sub_groups_is_member(sched, job)) {
        return;
    }
    uint32_t at = sched->jobs.items[job].gang;
    sched->version++;
    gang_detach(sched, at);
    distance_cap_requeued(sched, &sched->gangs.items[at]);
    gang_attach(sched, at);
}

void sched_gang_remember(struct sched *sched, uint32_t job,
                         const struct sched_gang_memory *memory)
{
    if (!sub_groups_is_member(sched, job)) {
        return;
    }
    uint32_t at = sched->jobs.items[job].gang;
    struct gang *gang = &sched->gangs.items[at];
    sched->version++;
    gang_detach(sched, at);
    for (uint32_t s = 0;
         s < memory->sub_group_count && s < sub_groups_count(gang); s++) {
        if (sub_group_succeeded(gang, s) < memory->succeeded_counts[s]) {
            sub_group_set_succeeded(gang, s, memory->succeeded_counts[s]);
        }
    }
    if (gang->scaled_ms < memory->scaled_ms) {
        gang->scaled_ms = memory->scaled_ms;
    }
    if (sub_groups_requeued_ms(gang) < memory->requeued_ms) {
        sub_groups_set_requeued(gang, memory->requeued_ms);
    }
    gang_attach(sched, at);
}
