#include "sched/state/distance_cap.h"

#include "base/time_add.h"
#include "sched/state/history.h"
#include "sched/state/sub_groups.h"

bool distance_is_capped(const struct gang *gang)
{
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        if (sub_group_terms(gang, i)->hops_max != HOPS_ANY) {
            return true;
        }
    }
    return false;
}

void distance_cap_join(struct sched *sched, const struct gang *gang)
{
    if (!distance_is_capped(gang) || sched->distance_cap_count++ > 0) {
        return;
    }
    for (size_t p = 0; p < sched->pools.count; p++) {
        sched->pools.items[p].is_topology_stale |=
            !sched->pools.items[p].topology;
    }
}

void distance_cap_leave(struct sched *sched, const struct gang *gang)
{
    ASSERT(sched->distance_cap_count > 0 || !distance_is_capped(gang));
    sched->distance_cap_count -= distance_is_capped(gang);
}

/* Whether it matters since when a gang waits. */
static bool has_wait(const struct gang *gang)
{
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        if (sub_group_terms(gang, i)->hops_wait_ms > 0) {
            return true;
        }
    }
    return false;
}

void distance_cap_requeued(struct sched *sched, struct gang *gang)
{
    if (has_wait(gang)) {
        sub_groups_set_requeued(gang, sched->now_ms);
    }
}

int64_t distance_cap_end_ms(const struct sched *sched, const struct gang *gang,
                            uint32_t sub_group)
{
    const struct sub_group *group = sub_group_terms(gang, sub_group);
    int64_t since_ms = sched->jobs.items[gang->position].submitted_ms;

    ASSERT(sub_group < sub_groups_count(gang));
    if (group->hops_max == HOPS_ANY || group->hops_wait_ms == 0) {
        return INT64_MAX;
    }
    if (since_ms < sub_groups_requeued_ms(gang)) {
        since_ms = sub_groups_requeued_ms(gang);
    }
    return time_add_saturating(since_ms, group->hops_wait_ms);
}

/* History. */

void distance_cap_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct history_item *items =
        mem_alloc_array(sched->gangs.count + 1, sizeof(*items));
    uint32_t count = 0;

    for (size_t i = 0; i < sched->gangs.count; i++) {
        const struct gang *gang = &sched->gangs.items[i];
        if (sub_groups_requeued_ms(gang)) {
            uint32_t first = sub_groups_first(sched, gang);
            items[count++] = (struct history_item){
                .id = sched->jobs.items[first].id,
                .time_ms = sub_groups_requeued_ms(gang),
            };
        }
    }
    history_pack_times(buf, items, count);
}

void distance_cap_unpack(struct sched *sched, struct history_reader *reader)
{
    uint32_t count = unpack_count(&reader->pack, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->pack.is_bad; i++) {
        uint32_t job = history_read_job(sched, reader);
        int64_t requeued_ms = unpack_i64(&reader->pack);
        if (job != NONE && sub_groups_is_member(sched, job)) {
            uint32_t gang = sched->jobs.items[job].gang;
            sub_groups_set_requeued(&sched->gangs.items[gang], requeued_ms);
        }
    }
}
