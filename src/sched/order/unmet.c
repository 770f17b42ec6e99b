#include "sched/order/unmet.h"

#include "sched/apps/apps.h"

/* Whether the queue's later stages come first in this pool; in one that
 * reserves nothing, they have their turn and no more. */
static bool reserves(const struct round *round, const struct lane *lane)
{
    const struct pool_policy *policy =
        &round->sched->policy->pools[round->pool->policy_index];

    return round->reserve.has_window && policy->has_backfill &&
           round->sched->queues.items[lane->queue].ordering ==
               QUEUE_BY_STATEAWARE;
}

static bool is_accepted(const struct round *round, uint32_t list)
{
    return order_state(round, round->sched->lists.items[list].app) ==
           SCHED_APP_ACCEPTED;
}

static struct order_hold *hold_of(const struct round *round, struct lane *lane)
{
    if (!lane->hold) {
        lane->hold = arena_alloc(round->arena, sizeof(*lane->hold));
    }
    return lane->hold;
}

/* Remember which of the two is first in the queue's order. */
static void keep_first(const struct round *round, struct unmet *first,
                       const struct unmet *other)
{
    ASSERT(!first->claim.lane || first->claim.lane == other->claim.lane);
    if (!first->claim.lane ||
        lane_head_less(round, &other->head, &first->head)) {
        *first = *other;
    }
}

/* What was to start may go on by now, by another of its jobs. */
static void note_starts(const struct round *round, struct order_hold *hold)
{
    struct unmet *chosen = &hold->chosen;

    if (chosen->claim.lane &&
        !is_accepted(round, claim_list(round->sched, &chosen->claim))) {
        keep_first(round, &hold->going, chosen);
        chosen->claim.lane = NULL;
    }
}

void order_unmet(const struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);
    const struct list *list = &sched->lists.items[head->list];
    bool is_gang = list->class_index == NONE;

    if (!reserves(round, lane)) {
        return;
    }
    uint32_t job =
        is_gang ? sched->gangs.items[head->item].position : head->item;
    struct unmet unmet = {
        .claim = {lane, job, head->item, 0, list->level, is_gang},
        .head = *head,
    };
    ASSERT(list->queue == lane->queue);
    struct order_hold *hold = hold_of(round, lane);
    note_starts(round, hold);
    keep_first(round,
               is_accepted(round, head->list) ? &hold->chosen : &hold->going,
               &unmet);
}

/* Whether an entry stands before what is in `list`, in the queue's order. */
static bool is_before(const struct round *round, const struct claim *claim,
                      uint32_t list)
{
    const struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[claim->lane->queue];
    uint32_t level = sched->lists.items[list].level;

    if (!queue->is_class_priority_ignored && claim->level != level) {
        return claim->level > level;
    }
    return app_less(sched, sched->lists.items[claim_list(sched, claim)].app,
                    sched->lists.items[list].app);
}

/* The queue's first that was admitted, of an application that goes on and
 * stands before `list`. */
static const struct claim *first_admitted(const struct round *round,
                                          const struct lane *lane,
                                          uint32_t list)
{
    const struct reserve *reserve = &round->reserve;

    for (uint32_t i = 0; i < reserve->count; i++) {
        const struct admission_entry *entry = &reserve->entries[i];
        if (!entry->is_done && entry->claim.lane == lane &&
            !is_accepted(round, claim_list(round->sched, &entry->claim)) &&
            is_before(round, &entry->claim, list)) {
            return &entry->claim;
        }
    }
    return NULL;
}

/* Whether the pool's reservation is that of the queue's later stages. */
static bool is_held_by_pool(const struct round *round, const struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct reservation *hold = round->reserve.hold;

    if (!hold) {
        return false;
    }
    uint32_t list = sched->jobs.items[hold->job].list;
    return sched->lists.items[list].queue == lane->queue &&
           !is_accepted(round, list);
}

void order_note_held(struct round *round, const struct lane *lane)
{
    const struct sched *sched = round->sched;
    struct app_queue *apps = sched->queues.items[lane->queue].apps;
    uint32_t job = round->reserve.own->job;

    if (round_is_what_if(round)) {
        return;
    }
    ASSERT(job < sched->jobs.count &&
           sched->lists.items[sched->jobs.items[job].list].queue ==
               lane->queue);
    apps->held_app = sched->lists.items[lane_first(lane)->list].app;
    apps->held_for = job;
    apps->held_for_id = sched->jobs.items[job].id;
}

const struct claim *order_older(const struct round *round, struct lane *lane,
                                uint32_t list)
{
    if (!reserves(round, lane) || !is_accepted(round, list) ||
        is_held_by_pool(round, lane)) {
        return NULL;
    }
    const struct claim *claim = first_admitted(round, lane, list);
    struct order_hold *hold = lane->hold;
    if (hold) {
        note_starts(round, hold);
    }
    bool is_unmet = hold && hold->going.claim.lane &&
                    is_before(round, &hold->going.claim, list);
    if (!claim && !is_unmet) {
        return NULL;
    }
    hold = hold_of(round, lane);
    return claim ? claim : &hold->going.claim;
}
