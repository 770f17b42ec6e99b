/* The sub-groups of gangs in a checkpoint; unpacking counts them. */
#include "sched/state/history.h"
#include "sched/state/sub_groups.h"

void sub_groups_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct history_item *items =
        mem_alloc_array(sched->gangs.count + 1, sizeof(*items));
    uint32_t count = 0;

    for (size_t i = 0; i < sched->gangs.count; i++) {
        const struct sub_groups *subs = sched->gangs.items[i].subs;
        if (subs && subs->succeeded_count) {
            uint32_t first = sub_groups_first(sched, subs);
            items[count++] = (struct history_item){
                .id = sched->jobs.items[first].id, .of = subs};
        }
    }
    if (count == 0) {
        return;
    }
    history_sort(items, count);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct sub_groups *subs = items[i].of;
        history_pack_id(buf, items[i].id);
        pack_u64(buf, subs->terms.sub_group_count);
        for (uint32_t s = 0; s < subs->terms.sub_group_count; s++) {
            pack_u64(buf, subs->items[s].succeeded_count);
        }
    }
}

static void unpack_gang(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    uint32_t job = history_read_job(sched, reader);
    uint32_t at = job == NONE ? NONE : sched->jobs.items[job].gang;
    struct sub_groups *subs = at == NONE ? NULL : sched->gangs.items[at].subs;
    uint32_t count = unpack_count(pack, SUB_GROUPS_MAX);

    if (subs) {
        gang_detach(sched, at);
    }
    for (uint32_t s = 0; s < count && !pack->is_bad; s++) {
        uint32_t succeeded = unpack_count(pack, GANG_CARDINALITY_MAX);
        if (subs && s < subs->terms.sub_group_count) {
            subs->succeeded_count += succeeded - subs->items[s].succeeded_count;
            subs->items[s].succeeded_count = succeeded;
        }
    }
    if (subs) {
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
