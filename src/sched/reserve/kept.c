/* Keeps the last plan's reservations, for explanations. */
#include "sched/fairness/admitted.h"
#include "sched/order/round.h"
#include "sched/reserve/reserve.h"
#include "sched/state/exclusive.h"

void reserve_keep(struct round *round, const struct reservation *reservation)
{
    const struct sched *sched = round->sched;
    struct kept_reservation *kept = &round->memory->kept;

    kept->nodes.count = 0;
    kept->job = NONE;
    if (!reservation) {
        return;
    }
    ASSERT(reservation->node_count > 0);
    kept->job = reservation->job;
    kept->id = sched->jobs.items[reservation->job].id;
    kept->level = reservation->level;
    kept->start_ms = reservation->start_ms;
    for (uint32_t i = 0; i < reservation->node_count; i++) {
        VEC_PUSH(&kept->nodes, reservation->nodes[i]);
    }
}

/* Whether it is still for somebody who waits. */
static bool is_current(const struct sched *sched, uint32_t p,
                       const struct kept_reservation *kept)
{
    return kept->nodes.count && kept->job < sched->jobs.count &&
           sched->jobs.items[kept->job].list != LIST_NONE &&
           key128_compare(sched->jobs.items[kept->job].id.v, kept->id.v) == 0 &&
           admitted_find(sched, p, kept->job);
}

uint32_t reserve_kept_for(const struct sched *sched, uint32_t p,
                          int64_t *ret_start_ms)
{
    const struct kept_reservation *kept = &sched->pools.items[p].memory.kept;

    *ret_start_ms = kept->start_ms;
    return is_current(sched, p, kept) ? kept->job : NONE;
}

bool reserve_keeps_from(const struct sched *sched, uint32_t p, uint32_t job,
                        const struct class *class, uint32_t node,
                        int64_t now_ms, uint32_t *ret_for_job)
{
    const struct kept_reservation *kept = &sched->pools.items[p].memory.kept;

    if (!is_current(sched, p, kept) ||
        (job != NONE &&
         admitted_find(sched, p, job) == admitted_find(sched, p, kept->job))) {
        return false;
    }
    const struct reservation reservation = {
        .level = kept->level,
        .is_priced = reserve_is_priced(sched, p),
        .start_ms = kept->start_ms,
        .nodes = kept->nodes.items,
        .node_count = (uint32_t)kept->nodes.count,
    };
    *ret_for_job = kept->job;
    bool is_whole = job != NONE && exclusive_node_serves(sched, job);
    return reserve_pass_at(&reservation, class, node, now_ms, is_whole) ==
           BACKFILL_NO;
}

void reserve_memory_fini(struct reserve_memory *memory)
{
    VEC_FREE(&memory->kept.nodes);
    reserve_forget(memory);
}

void reserve_fini(struct sched *sched)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        reserve_memory_fini(&sched->pools.items[p].memory);
    }
}
