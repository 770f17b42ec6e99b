/* The sub-groups of gangs in a checkpoint; unpacking counts them. */
#include "sched/state/history.h"
#include "sched/state/sub_groups.h"

void sub_groups_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct history_item *items =
        mem_alloc_array(sched->gangs.count + 1, sizeof(*items));
    uint32_t count = 0;

    for (size_t i = 0; i < sched->gangs.count; i++) {
        const struct gang *gang = &sched->gangs.items[i];
        if (sub_groups_succeeded(gang)) {
            uint32_t first = sub_groups_first(sched, gang);
            items[count++] = (struct history_item){
                .id = sched->jobs.items[first].id, .of = gang};
        }
    }
    if (count == 0) {
        return;
    }
    history_sort(items, count);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct gang *gang = items[i].of;
        pack_key128(buf, items[i].id.v);
        pack_u64(buf, sub_groups_count(gang));
        for (uint32_t s = 0; s < sub_groups_count(gang); s++) {
            pack_u64(buf, sub_group_succeeded(gang, s));
        }
    }
}

static void unpack_gang(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    uint32_t job = history_read_job(sched, reader);
    uint32_t at = job == NONE ? NONE : sched->jobs.items[job].gang;
    struct gang *gang = job != NONE && sub_groups_is_member(sched, job)
                            ? &sched->gangs.items[at]
                            : NULL;
    uint32_t count = unpack_count(pack, SUB_GROUPS_MAX);

    if (gang) {
        gang_detach(sched, at);
    }
    for (uint32_t s = 0; s < count && !pack->is_bad; s++) {
        uint32_t succeeded = unpack_count(pack, GANG_CARDINALITY_MAX);
        if (gang && s < sub_groups_count(gang)) {
            sub_group_set_succeeded(gang, s, succeeded);
        }
    }
    if (gang) {
        gang_attach(sched, at);
    }
}

void sub_groups_unpack(struct sched *sched, struct history_reader *reader)
{
    uint32_t count = unpack_count(&reader->pack, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->pack.is_bad; i++) {
        unpack_gang(sched, reader);
    }
}
