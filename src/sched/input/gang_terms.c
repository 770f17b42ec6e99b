/* Changes of gangs with terms that the caller reports. */
#include "sched/state/distance_cap.h"
#include "sched/state/sub_groups.h"

void sched_gang_succeeded(struct sched *sched, uint32_t job, uint32_t sub_group)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    uint32_t at = sched->jobs.items[job].gang;
    struct sub_groups *subs = at == NONE ? NULL : sched->gangs.items[at].subs;

    if (!subs || sub_group >= subs->terms.sub_group_count) {
        return;
    }
    sched->version++;
    gang_detach(sched, at);
    subs->items[sub_group].succeeded_count++;
    subs->succeeded_count++;
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
         s < memory->sub_group_count && s < gang->subs->terms.sub_group_count;
         s++) {
        uint32_t *count = &gang->subs->items[s].succeeded_count;
        if (*count < memory->succeeded_counts[s]) {
            gang->subs->succeeded_count += memory->succeeded_counts[s] - *count;
            *count = memory->succeeded_counts[s];
        }
    }
    if (gang->scaled_ms < memory->scaled_ms) {
        gang->scaled_ms = memory->scaled_ms;
    }
    if (gang->subs->requeued_ms < memory->requeued_ms) {
        gang->subs->requeued_ms = memory->requeued_ms;
    }
    gang_attach(sched, at);
}
