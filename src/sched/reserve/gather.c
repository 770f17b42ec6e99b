/* What becomes free on a node, and when: the bounds of its runs. */
#include <string.h>

#include "base/time_add.h"
#include "sched/evict/cooldown.h"
#include "sched/order/lanes.h"
#include "sched/reserve/private.h"

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

    return policy->preemption_price_milli || policy->loss_protection_milli ||
           policy->loss_limit_milli;
}

bool reserve_mark_queues(struct reserving *r, bool is_by_share)
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
    if (reserve_opens_whole(r, node)) {
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
