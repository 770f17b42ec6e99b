#include <string.h>

#include "base/time_add.h"
#include "sched/evict/cooldown.h"
#include "sched/order/lanes.h"
#include "sched/place/exclusive_node.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"

/* Of a run that is asked when it goes, in nodes looked at. */
enum { RUN_WORK = 4 };

/* Release bounds. */

/* Whether what is less urgent makes room for more urgent work. */
static bool has_urgency(const struct sched *sched)
{
    return !sched->policy->is_urgency_preemption_off &&
           !sched->is_preemption_off;
}

/* Whether what goes for fairness has a price, or is protected by what it has
 * lost: nobody can tell when a claim would have paid for it. */
static bool has_price(const struct round *round)
{
    const struct pool_policy *policy =
        &round->sched->policy->pools[round->pool->policy_index];

    return policy->preemption_price_milli || policy->loss_protection_milli;
}

/* Note whether what queues have says that their work would be preempted for the
 * claim: they are over their share, and further than the claim would be.  True
 * where it says so of any. */
static bool mark_queues(struct reserving *r, bool is_by_share)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    const struct lane *lane = r->claim->lane;
    const struct resource_vec *request =
        r->claim->is_gang
            ? &sched->gangs.items[r->claim->item].waiting_sum
            : &class_at(round, class_of_job(sched, r->claim->job))->request;
    struct cost own = lane_new_cost(round, lane, request);
    uint32_t count;
    const struct share *shares = round_shares(round, &count);

    r->may_go = arena_alloc_array(round->arena, sched->queues.count,
                                  sizeof(*r->may_go));
    if (!is_by_share || sched->policy->is_fair_share_preemption_off ||
        sched->is_preemption_off || has_price(round) ||
        cooldown_binds(round, r->claim->job)) {
        return false;
    }
    bool is_any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct queue *queue = &sched->queues.items[shares[i].queue];
        struct cost theirs = cost_of(&round->pool->base, &shares[i].allocated,
                                     NULL, queue->factor_micro);
        r->may_go[shares[i].queue] =
            share_is_over(sched, round->p, &shares[i]) &&
            cost_compare(&round->pool->base, &own, &theirs) < 0;
        is_any = is_any || r->may_go[shares[i].queue];
    }
    return is_any;
}

/* When a job of a class that began at `start_ms` is gone; it may have to go
 * from `evictable_ms` on, or INT64_MAX. */
static int64_t bound_of(struct reserving *r, const struct class *class,
                        int64_t start_ms, int64_t evictable_ms)
{
    int64_t now_ms = r->round->now_ms;
    int64_t bound_ms = time_add_saturating(start_ms, class->deadline_ms);

    if (bound_ms <= now_ms) {
        bound_ms = now_ms + 1; /* overdue */
        r->is_moving = true;
    }
    return evictable_ms < bound_ms ? evictable_ms : bound_ms;
}

bool reserve_goes_at_once(const struct run *run, uint32_t serial)
{
    return run->revocable_for && run->revocable_for == serial &&
           run->yields_at_once;
}

/* From when on a run that began at `start_ms` may have to go for the claim:
 * for its queue has more than its share, or since it promised to. */
static int64_t evictable_of_run(const struct reserving *r,
                                const struct run *run,
                                const struct class *class, int64_t start_ms)
{
    const struct sched *sched = r->round->sched;
    uint32_t queue = sched->accounts.items[run->account].queue;
    int64_t evictable_ms = time_add_saturating(start_ms, class->lifetime_ms);

    if (reserve_goes_at_once(run, r->claim->serial)) {
        return start_ms;
    }
    if (run->level <= r->claim->level && r->may_go[queue]) {
        return evictable_ms;
    }
    if (!run->revocable_for || run->revocable_for != r->claim->serial) {
        return INT64_MAX;
    }
    return evictable_ms > run->yields_from_ms ? evictable_ms
                                              : run->yields_from_ms;
}

static int64_t bound_of_run(struct reserving *r, const struct run *run)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_of_job(sched, run->job));
    bool has_started = run->started_ms != INT64_MAX;
    int64_t start_ms = has_started ? run->started_ms : round->now_ms;

    if (reserve_is_recalled(sched, run) ||
        (run->is_urgency_preemptible && run->level < r->claim->level &&
         has_urgency(sched))) {
        return INT64_MIN;
    }
    int64_t bound_ms =
        bound_of(r, class, start_ms, evictable_of_run(r, run, class, start_ms));
    if (!has_started && bound_ms > round->now_ms && bound_ms < r->moving_ms) {
        r->moving_ms = bound_ms;
    }
    return bound_ms;
}

static void add_release(struct reserving *r, int64_t at_ms,
                        const struct resource_vec *amounts)
{
    if (at_ms != INT64_MAX) {
        VEC_PUSH(&r->releases, (struct release){at_ms, amounts});
    }
}

bool reserve_goes_by_level(const struct reserving *r, uint32_t node)
{
    const struct sched *sched = r->round->sched;

    return sched->nodes.items[node].held_count == 0 && has_urgency(sched);
}

bool reserve_must_ask(const struct sched *sched, uint32_t level, uint32_t node)
{
    const struct resource_vec *own =
        &sched->urgency_preemptible[(size_t)node * sched->level_count + level];
    int64_t any = (int64_t)sched->revocables.count;

    for (uint32_t c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        any |= own->v[c];
    }
    return any;
}

/* Whether a run is in those sums, or has no bound; where nothing is held. */
static bool is_told(const struct reserving *r, const struct run *run)
{
    uint32_t queue = r->round->sched->accounts.items[run->account].queue;
    bool is_revocable =
        run->revocable_for && run->revocable_for == r->claim->serial;

    if (reserve_goes_at_once(run, r->claim->serial) ||
        reserve_is_recalled(r->round->sched, run)) {
        return run->is_urgency_preemptible && run->level < r->claim->level;
    }
    return !run->is_urgency_preemptible || run->level < r->claim->level ||
           (!is_revocable &&
            (run->level > r->claim->level || !r->may_go[queue]));
}

static void gather_levels(struct reserving *r, uint32_t node)
{
    const struct sched *sched = r->round->sched;
    size_t first = (size_t)node * sched->level_count;

    for (uint32_t l = 0; l < r->claim->level; l++) {
        add_release(r, INT64_MIN, &sched->urgency_preemptible[first + l]);
    }
}

/* What becomes free on a node one after the other. */
static void gather(struct reserving *r, uint32_t node)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    bool is_short = reserve_goes_by_level(r, node);
    bool has_more = !is_short || reserve_must_ask(sched, r->claim->level, node);

    if (is_short) {
        gather_levels(r, node);
    }
    for (uint32_t at = has_more ? sched->nodes.items[node].run_first : NONE;
         at != NONE; at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        ASSERT_SLOW(run->node == node);
        if (run->level <= r->claim->level) {
            r->queues |=
                reserve_queue_bit(sched->accounts.items[run->account].queue);
        }
        if (run->state != RUN_PREEMPTED && !(is_short && is_told(r, run))) {
            add_release(
                r, bound_of_run(r, run),
                &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
    for (uint32_t at = r->planned_first ? r->planned_first[node] : NONE;
         at != NONE; at = r->planned_next[at]) {
        const struct journal_entry *entry = &sched->journal.items[at];
        const struct class *class = class_at(round, entry->class_index);
        ASSERT(entry->node == node && entry->count > 0);
        bool may_go = class->level <= r->claim->level && r->may_go[entry->job];
        for (uint32_t i = 0; i < entry->count; i++) {
            add_release(r,
                        bound_of(r, class, round->now_ms,
                                 may_go ? time_add_saturating(
                                              round->now_ms, class->lifetime_ms)
                                        : INT64_MAX),
                        &class->request);
        }
    }
}

/* Whether nobody new has room on a node before all that is there is gone: a
 * gang has it whole, or would have to. */
static bool opens_whole(const struct reserving *r, uint32_t node)
{
    const struct round *round = r->round;

    return exclusive_is_any(round->sched) &&
           exclusive_node_opens_whole(round, r->holder, node);
}

struct resource_vec reserve_room(const struct reserving *r, uint32_t node)
{
    const struct resource_vec none = {0};

    ASSERT_SLOW(amounts_fit(&r->round->sched->free[node],
                            &r->round->sched->nodes.items[node].capacity));
    return opens_whole(r, node) ? none : r->round->sched->free[node];
}

/* What was gathered of a node from `first` on is there when the last of it
 * is, all of the node at once; or never, if some of it has no bound.  Runs on a
 * node that shrank are more than it, so they do not tell what it has. */
static void gather_whole(struct reserving *r, uint32_t node, size_t first)
{
    const struct sched *sched = r->round->sched;
    const struct resource_vec *capacity = &sched->nodes.items[node].capacity;
    struct resource_vec sum = sched->free[node];
    int64_t last_ms = INT64_MIN;

    for (size_t i = first; i < r->releases.count; i++) {
        const struct release *release = &r->releases.items[i];
        amounts_add(&sum, release->amounts);
        last_ms = release->at_ms > last_ms ? release->at_ms : last_ms;
    }
    r->releases.count = first;
    if (memcmp(&sum, capacity, sizeof(sum)) == 0) {
        add_release(r, last_ms, capacity);
    }
}

void reserve_gather(struct reserving *r, uint32_t node)
{
    size_t first = r->releases.count;

    gather(r, node);
    if (opens_whole(r, node)) {
        gather_whole(r, node, first);
    }
}

struct profile reserve_profile(struct reserving *r, uint32_t node)
{
    struct resource_vec now = reserve_room(r, node);

    r->releases.count = 0;
    r->is_moving = false;
    r->moving_ms = INT64_MAX;
    r->queues = 0;
    reserve_gather(r, node);
    return profile_begin(&now, r->releases.items, r->releases.count,
                         r->round->now_ms);
}

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

bool reserve_matches(const struct reserving *r, uint32_t job, uint32_t node)
{
    struct search search = {
        .round = r->round,
        .class_index = class_of_job(r->round->sched, job),
        .job = job,
    };

    /* A gang's members may be of classes that this round has not met. */
    (void)class_round(r->round, search.class_index);
    return place_matches_ever(&search, node);
}

void reserve_add(struct reserving *r, uint32_t node,
                 const struct resource_vec *taken,
                 const struct resource_vec *room)
{
    struct reservation *reservation = r->reservation;
    struct reserved_node *item = &reservation->nodes[reservation->node_count++];

    /* Nodes follow each other, so that one is soon found. */
    ASSERT(item == reservation->nodes || item[-1].node < node);
    /* A reservation is of nodes of its pool, and of nothing below zero. */
    ASSERT(r->round->sched->nodes.items[node].pool == r->round->p);
    ASSERT(amounts_is_sum(taken));
    *item = (struct reserved_node){
        .node = node,
        .taken = *taken,
        .extra = *room,
    };
    amounts_subtract(&item->extra, taken);
    for (int c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        item->extra.v[c] = item->extra.v[c] > 0 ? item->extra.v[c] : 0;
    }
    r->round->sched->nodes.items[node].reserved_stamp = r->round->sched->stamp;
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
    *ret_counts_on_shares = mark_queues(&r, is_by_share);
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
