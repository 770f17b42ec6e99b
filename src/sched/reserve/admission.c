#include "sched/reserve/admission.h"

#include "sched/fairness/admitted.h"
#include "sched/order/lane_share.h"
#include "sched/reserve/admission_private.h"

const struct resource_vec *admission_request(const struct round *round,
                                             const struct claim *claim)
{
    const struct sched *sched = round->sched;

    return claim->is_gang
               ? &sched->gangs.items[claim->item].waiting_sum
               : &class_at(round, class_of_job(sched, claim->item))->request;
}

struct resource_vec admission_least(const struct round *round,
                                    const struct claim *claim)
{
    return claim->is_gang ? gang_least(round->sched, claim->item)
                          : *admission_request(round, claim);
}

/* Whether `a` is tried before `b`. */
static bool is_before(const struct admission_entry *a,
                      const struct admission_entry *b)
{
    return a->claim.level != b->claim.level ? a->claim.level > b->claim.level
                                            : a->claim.serial < b->claim.serial;
}

void admission_add(struct round *round, struct admission_entry entry)
{
    struct reserve *reserve = &round->reserve;

    /* It is tried as work of its own queue. */
    ASSERT(entry.claim.lane->queue ==
           round->sched->lists
               .items[round->sched->jobs.items[entry.claim.job].list]
               .queue);
    if (!reserve->entries) {
        size_t count = round->pool->admitted.count +
                       (size_t)window_policy(round)->admitted_window *
                           round->sched->level_count;
        reserve->entries =
            arena_alloc_array(round->arena, count, sizeof(*reserve->entries));
    }
    uint32_t at = reserve->count++;
    while (at > 0 && is_before(&entry, &reserve->entries[at - 1])) {
        reserve->entries[at] = reserve->entries[at - 1];
        at--;
    }
    reserve->entries[at] = entry;
}

/* Taking over the list. */

/* An entry of the pool's list, as the round sees it; false: nothing of it waits
 * for a lane of the round. */
static bool entry_of(const struct round *round, const struct admitted *admitted,
                     struct admission_entry *ret_entry)
{
    const struct sched *sched = round->sched;
    uint32_t job = admitted_job(sched, admitted);
    uint32_t lane = round->lane_of_queue[admitted->queue];

    if (job == NONE || lane == NONE) {
        return false;
    }
    ASSERT(admitted->serial > 0);
    *ret_entry = (struct admission_entry){
        .claim = {&round->lanes[lane], job, admitted->item, admitted->serial,
                  admitted_level(sched, admitted), admitted->is_gang},
        .start_ms = admitted->start_ms,
    };
    return true;
}

/* What another pool of the plan has started waits here no longer; the flow
 * does not fall by that. */
static void forget_started(struct round *round, const struct claim *claim,
                           int64_t charge)
{
    share_fall(round, claim->lane);
    amounts_count(&claim->lane->all, admission_request(round, claim), -1);
    share_count_claim(round, claim, -1);
    share_give_back(claim->lane, charge);
}

void admission_begin(struct round *round)
{
    const struct sched *sched = round->sched;
    const struct pool *pool = round->pool;
    struct admission_entry entry;

    round->reserve.owing = NONE;
    if (window_policy(round)->admitted_window == 0) {
        return;
    }
    round->reserve.has_window = true;
    /* All of the list counted before any of it went. */
    for (size_t i = 0; i < pool->admitted.count; i++) {
        if (entry_of(round, &pool->admitted.items[i], &entry)) {
            amounts_add(&entry.claim.lane->all,
                        admission_request(round, &entry.claim));
        }
    }
    for (size_t i = 0; i < pool->admitted.count; i++) {
        const struct admitted *admitted = &pool->admitted.items[i];
        if (!entry_of(round, admitted, &entry)) {
            continue;
        }
        if (sched->job_flags.items[entry.claim.job] & JOB_PLANNED) {
            forget_started(round, &entry.claim, admitted->charge);
        } else {
            admission_add(round, entry);
        }
    }
}
