#include "sched/reserve/reserve.h"

#include <string.h>

#include "sched/order/lanes.h"
#include "sched/place/exclusive_node.h"
#include "sched/reserve/private.h"

/* What it costs to ask when a run ends, in nodes looked at. */
enum { RUN_WORK = 4 };

/* Release bounds. */

/* Chain what this round placed, by node, and note what it changed. */
static void chain_planned(struct reserving *r)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    size_t count = sched->journal.count;

    if (count == 0) {
        return;
    }
    r->planned_first = arena_alloc_array(round->arena, sched->nodes.count,
                                         sizeof(*r->planned_first));
    r->is_touched = arena_alloc_array(round->arena, sched->nodes.count,
                                      sizeof(*r->is_touched));
    r->planned_next =
        arena_alloc_array(round->arena, count, sizeof(*r->planned_next));
    memset(r->planned_first, 0xff,
           sched->nodes.count * sizeof(*r->planned_first));
    for (size_t i = 0; i < count; i++) {
        const struct journal_entry *entry = &sched->journal.items[i];
        r->is_touched[entry->node] |=
            entry->count ? TOUCH_PLACED : TOUCH_PREEMPTED;
        if (entry->count) {
            r->planned_next[i] = r->planned_first[entry->node];
            r->planned_first[entry->node] = (uint32_t)i;
        }
    }
}

/* Whether a node would hold the claim's job when it is empty. */
static bool holds_empty(const struct reserving *r, uint32_t node)
{
    const struct round *round = r->round;
    const struct node *record = &round->sched->nodes.items[node];
    uint32_t class_index = class_of_job(round->sched, r->claim->job);

    return record->pool == round->p &&
           amounts_fit(&class_at(round, class_index)->request,
                       &record->capacity) &&
           reserve_matches(r, r->claim->job, node);
}

/* 1 + the claim's gang, if it has its nodes whole. */
static uint32_t holder_of(const struct round *round, const struct claim *claim)
{
    return claim->is_gang && exclusive_node_is_for(
                                 &round->sched->gangs.items[claim->item])
               ? claim->item + 1
               : 0;
}

bool reserve_is_possible(struct round *round, const struct claim *claim)
{
    struct reserving r = {
        .round = round,
        .claim = claim,
        .holder = holder_of(round, claim),
    };
    struct reservation scratch;
    bool is_possible;

    for (uint32_t i = 0; !claim->is_gang && i < round->sched->nodes.count;
         i++) {
        round->counters->nodes_examined++;
        if (holds_empty(&r, i)) {
            return true;
        }
    }
    if (!claim->is_gang) {
        return false;
    }
    return reserve_gang_is_plain(&r, &is_possible)
               ? is_possible
               : reserve_make(round, claim, &scratch);
}

/* Whether any node would hold the claim's job at all: soon found out where one
 * does, and where none does there is no need to learn when each will have
 * room.  Not asked where looking at labels counts as work, which would be
 * counted in another order. */
static bool is_held_anywhere(const struct reserving *r)
{
    struct round *round = r->round;
    uint32_t class_index = class_of_job(round->sched, r->claim->job);
    bool is_any = class_round(round, class_index)->match_work > 0;

    for (uint32_t i = 0; !is_any && i < round->sched->nodes.count; i++) {
        is_any = holds_empty(r, i);
    }
    return is_any;
}

/* What a reservation costs counts as work of the plan.  What is remembered of
 * nodes is history, and must not: so it is a look at each node, as in most
 * rounds.  One that was not to be had may be followed by many others in the
 * same plan, each with other nodes to learn of: for it all runs count too. */
static void count_work(struct round *round, bool is_made)
{
    const struct sched *sched = round->sched;

    round->counters->nodes_examined += sched->nodes.count;
    if (!is_made) {
        round->counters->nodes_examined += SLOTS_LIVE(&sched->runs) * RUN_WORK;
    }
}

/* Reserve, counting on lifetimes of what is over its share, or not; whether any
 * was counted on. */
static bool reserve_with(struct round *round, const struct claim *claim,
                         bool is_by_share, struct reservation *ret_reservation,
                         bool *ret_counts_on_shares)
{
    struct reserving r = {
        .round = round,
        .claim = claim,
        .reservation = ret_reservation,
        .holder = holder_of(round, claim),
    };

    *ret_reservation = (struct reservation){
        .job = claim->job,
        .is_priced = reserve_is_priced(round->sched, round->p),
        .serial = claim->serial,
        .level = claim->level,
        .start_ms = SCHED_START_UNKNOWN,
    };
    *ret_counts_on_shares = reserve_mark_queues(&r, is_by_share);
    chain_planned(&r);
    bool is_made = claim->is_gang ? reserve_for_gang(&r)
                                  : is_held_anywhere(&r) && reserve_for_job(&r);
    VEC_FREE(&r.releases);
    /* A reservation has nodes, and does not begin in the past. */
    ASSERT(!is_made || (ret_reservation->node_count > 0 &&
                        ret_reservation->start_ms >= round->now_ms));
    count_work(round, is_made);
    return is_made;
}

bool reserve_make(struct round *round, const struct claim *claim,
                  struct reservation *ret_reservation)
{
    bool counts_on_shares;
    bool is_made =
        reserve_with(round, claim, true, ret_reservation, &counts_on_shares);

    /* It has no room now, though all might go that is over its share: too
     * little of it was, or what was lies elsewhere.  A promise that rests on
     * that would not be kept. */
    if (is_made && counts_on_shares &&
        ret_reservation->start_ms <= round->now_ms) {
        is_made = reserve_with(round, claim, false, ret_reservation,
                               &counts_on_shares);
    }
    return is_made;
}
