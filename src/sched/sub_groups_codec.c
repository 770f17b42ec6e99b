/* The sub-groups of gangs in a checkpoint; unpacking counts them. */
#include "sched/state/history.h"
#include "sched/state/sub_groups.h"

static void unpack_gang(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    struct job_id id;
    id.v.hi = unpack_u64(pack);
    id.v.lo = unpack_u64(pack);
    uint32_t job = history_job(sched, reader, id);
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
