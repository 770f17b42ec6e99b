#include "sched/evict/evict.h"

#include <string.h>

#include "sched/data/merge_sort.h"
#include "sched/evict/evictable.h"
#include "sched/evict/eviction_order.h"
#include "sched/evict/eviction_tail.h"
#include "sched/evict/gang_protection.h"
#include "sched/evict/losses.h"
#include "sched/order/lanes.h"
#include "sched/state/borrowed.h"
#include "sched/state/sub_groups.h"

bool round_is_evictable(const struct round *round, const struct run *run)
{
    return evictable_at_ms(round->sched, run) <= round->now_ms;
}

void round_wake_for(struct round *round, const struct run *run)
{
    int64_t at_ms = evictable_at_ms(round->sched, run);

    if (at_ms > round->now_ms && at_ms < round->wake_ms) {
        round->wake_ms = at_ms;
    }
}

static bool may_evict(struct round *round, const struct run *run)
{
    const struct sched *sched = round->sched;

    if (run->state != RUN_STEADY || borrowed_has(sched, run->job) ||
        sched->accounts.items[run->account].pool != round->p) {
        return false;
    }
    round_wake_for(round, run);
    return round_is_evictable(round, run);
}

void evict_note(struct round *round, const struct run *run)
{
    round->evicted->has_protected |= !run->is_urgency_preemptible;
    if (run->level > round->evicted->level_max) {
        round->evicted->level_max = run->level;
    }
}

static void add_member(struct round *round, struct unit *unit, uint32_t index)
{
    const struct sched *sched = round->sched;
    struct run *run = &sched->runs.items[index];

    ASSERT(run->state == RUN_STEADY); /* nobody is evicted twice */
    round->units.members[round->units.member_count++] = (struct unit_run){
        .run = index,
        .node = run->node,
        .job = run->job,
        .gang = sched->jobs.items[run->job].gang,
        .class_index = class_of_job(sched, run->job),
        .since_ms = losses_since_of_run_ms(sched, run),
        .level = run->level,
        .is_urgency_preemptible = run->is_urgency_preemptible,
    };
    unit->member_count++;
    run->state = RUN_EVICTED;
}

static void unit_add_run(struct round *round, struct unit *unit, uint32_t index)
{
    struct sched *sched = round->sched;
    const struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];

    add_member(round, unit, index);
    unit->level = run->level < unit->level ? run->level : unit->level;
    unit->leased_ms =
        run->leased_ms > unit->leased_ms ? run->leased_ms : unit->leased_ms;
    unit->last = run->job;
    unit->priority = job->priority;
    unit->submitted_ms = job->submitted_ms;
    round->evicted->count++;
    evict_note(round, run);
}

static struct resource_vec *request_of(const struct round *round, uint32_t job)
{
    return &class_at(round, class_of_job(round->sched, job))->request;
}

/* All members of a gang that run; of one with terms those of its minimums:
 * what is above them goes one by one (see group_victims.h). */
static void unit_add_gang(struct round *round, struct unit *unit,
                          const struct gang *gang)
{
    struct resource_vec *sum = arena_alloc(round->arena, sizeof(*sum));

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t job = seq_get(&gang->leased, at);
        if (!sub_group_is_base(round->sched, job)) {
            continue;
        }
        unit_add_run(round, unit, round->sched->jobs.items[job].run);
        amounts_add(sum, request_of(round, job));
    }
    unit->sum = sum;
    unit->is_group = gang_has_terms(gang);
}

/* Whether all of a gang that runs may be evicted.  What it has above its
 * minimums has no lifetime (model.md 2.11), so that growing gains it none; but
 * what it has lost protects it. */
static bool is_gang_evictable(struct round *round, const struct gang *gang)
{
    const struct sched *sched = round->sched;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t job = seq_get(&gang->leased, at);
        const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
        bool is_minded = sub_group_is_base(sched, job);
        if (is_minded ? !may_evict(round, run)
                      : losses_protect_until_ms(sched, run) > round->now_ms) {
            return false;
        }
    }
    return true;
}

static void evict_run(struct round *round, const struct share *share,
                      uint32_t index)
{
    struct sched *sched = round->sched;
    const struct run *run = &sched->runs.items[index];
    uint32_t g = sched->jobs.items[run->job].gang;
    struct unit *unit = &round->units.items[round->units.count];

    if (!may_evict(round, run) || !sub_group_is_base(sched, run->job) ||
        (g != NONE &&
         (gang_protection_holds(round, share, &sched->gangs.items[g]) ||
          !is_gang_evictable(round, &sched->gangs.items[g])))) {
        return;
    }
    *unit = (struct unit){
        .lane = round->lane_of_queue[share->queue],
        .member_first = round->units.member_count,
        .level = UINT8_MAX,
        .leased_ms = INT64_MIN,
        .sum = request_of(round, run->job),
    };
    if (g == NONE) {
        unit_add_run(round, unit, index);
    } else {
        unit_add_gang(round, unit, &sched->gangs.items[g]);
    }
    ASSERT(unit->member_count > 0);
    round->units.count++;
}

static struct evictable_key key_of(const struct unit *unit)
{
    return (struct evictable_key){
        .leased_ms = unit->leased_ms,
        .submitted_ms = unit->submitted_ms,
        .priority = unit->priority,
        .job = unit->last,
        .level = unit->level,
    };
}

static bool unit_less(const struct round *round, const struct unit *a,
                      const struct unit *b)
{
    struct evictable_key first = key_of(a), second = key_of(b);

    return evictable_goes_before(round->sched, &first, &second);
}

static void sort_units(struct round *round, uint32_t first, uint32_t count)
{
    struct unit *items = round->units.items + first;
    struct unit *spare = arena_alloc_array(round->arena, count, sizeof(*spare));

#define UNIT_LESS(b, a) unit_less(round, b, a)
    struct unit *sorted = MERGE_SORT(items, spare, count, UNIT_LESS);
#undef UNIT_LESS
    if (sorted != items) {
        memcpy(items, sorted, count * sizeof(*items));
    }
}

/* The units from `first` on are a lane's, in order: take them from their
 * places. */
static void settle_lane(struct round *round, struct lane *lane, uint32_t first)
{
    ASSERT(first <= round->units.count);
    lane->unit_first = lane->unit_next = first;
    lane->unit_end = round->units.count;
    for (uint32_t i = first; i < round->units.count; i++) {
        amounts_subtract(&lane->placed, round->units.items[i].sum);
    }
    /* A queue has no less than nothing beside what is evicted of it. */
    ASSERT_SLOW(amounts_is_sum(&lane->placed));
}

static void evict_lane(struct round *round, const struct share *share)
{
    const struct sched *sched = round->sched;
    struct lane *lane = &round->lanes[round->lane_of_queue[share->queue]];
    uint32_t first = round->units.count;

    for (uint32_t at = sched->queues.items[lane->queue].account_first;
         at != NONE; at = sched->accounts.items[at].next) {
        if (sched->accounts.items[at].pool != round->p) {
            continue;
        }
        for (uint32_t run = sched->accounts.items[at].run_first; run != NONE;
             run = sched->runs.items[run].account_next) {
            evict_run(round, share, run);
        }
    }
    sort_units(round, first, round->units.count - first);
    settle_lane(round, lane, first);
}

/* Evict only the tails of what is over its share (eviction_tail.h); false: the
 * round cannot tell them. */
static bool evict_tails(struct round *round, const struct share *shares,
                        uint32_t share_count)
{
    struct sched *sched = round->sched;
    struct tail tail;
    uint32_t *firsts = arena_alloc_array(round->arena, (size_t)share_count + 1,
                                         sizeof(*firsts));

    if (!tail_begin(round, &tail)) {
        return false;
    }
    for (uint32_t i = 0; i < share_count; i++) {
        firsts[i] = tail.count;
        if (share_is_over(sched, round->p, &shares[i]) &&
            !tail_add_lane(round, round->lane_of_queue[shares[i].queue],
                           &tail)) {
            return false;
        }
    }
    firsts[share_count] = tail.count;
    round->units.items = tail.units;
    round->evicted->kept_count = round->units.ordinal_first = tail.kept_count;
    round->evicted->count = tail.kept_count + tail.count;
    round->units.members = arena_alloc_array(
        round->arena, (size_t)tail.count + 1, sizeof(*round->units.members));
    for (uint32_t i = 0; i < tail.count; i++) {
        struct unit *unit = &round->units.items[i];
        uint32_t index = sched->jobs.items[unit->last].run;
        unit->member_first = round->units.member_count;
        add_member(round, unit, index);
    }
    for (uint32_t i = 0; i < share_count; i++) {
        if (firsts[i] < firsts[i + 1]) {
            round->units.count = firsts[i + 1];
            settle_lane(round,
                        &round->lanes[round->lane_of_queue[shares[i].queue]],
                        firsts[i]);
        }
    }
    return true;
}

static void evict_all(struct round *round, const struct share *shares,
                      uint32_t share_count, uint32_t run_count)
{
    round->units.items =
        arena_alloc_array(round->arena, run_count, sizeof(*round->units.items));
    round->units.members = arena_alloc_array(round->arena, run_count,
                                             sizeof(*round->units.members));
    for (uint32_t i = 0; i < share_count; i++) {
        if (share_is_over(round->sched, round->p, &shares[i])) {
            evict_lane(round, &shares[i]);
        }
    }
    /* Each run is of one unit, and there is room for all. */
    ASSERT(round->units.count <= round->units.member_count &&
           round->units.member_count <= run_count);
}

void evict_begin(struct round *round)
{
    round->evicted = arena_alloc(round->arena, sizeof(*round->evicted));
}

void evict_over_share(struct round *round, const struct share *shares,
                      uint32_t share_count)
{
    uint32_t run_count = 0;

    for (uint32_t i = 0; i < share_count; i++) {
        run_count += share_is_over(round->sched, round->p, &shares[i])
                         ? shares[i].leased_count
                         : 0;
    }
    if (run_count == 0) {
        return;
    }
    if (!evict_tails(round, shares, share_count)) {
        evict_all(round, shares, share_count, run_count);
    }
    ASSERT(round->evicted->count ==
           round->evicted->kept_count + round->units.member_count);
    round->counters->evicted +=
        round->evicted->kept_count + round->units.member_count;
    evict_order(round);
}

uint32_t evict_turn(const struct round *round, uint32_t level,
                    const struct cost *cost)
{
    uint32_t low = 0, high = round->evicted->turns ? round->units.count : 0;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        uint32_t other =
            round->units.items[round->evicted->turn_units[middle]].level;
        bool is_later = other != level
                            ? other < level
                            : cost_compare(&round->pool->base, cost,
                                           &round->evicted->turns[middle]) < 0;
        if (is_later) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return round->evicted->turns ? round->units.ordinal_first + low : 0;
}

void gang_protection_return(struct round *round)
{
    ASSERT(round->evicted->kept_count <= round->evicted->count);
    round->evicted->count -= round->evicted->kept_count;
    round->evicted->kept_count = 0;
}

void evict_return(struct round *round, uint32_t index)
{
    const struct unit *unit = &round->units.items[index];

    for (uint32_t m = 0; m < unit->member_count; m++) {
        uint32_t node = round->units.members[unit->member_first + m].node;
        struct run *run =
            &round->sched->runs
                 .items[round->units.members[unit->member_first + m].run];
        if (run->state != RUN_EVICTED) {
            continue; /* one of a gang with terms that went alone */
        }
        ASSERT(round->evicted->count > 0);
        /* A look at it would wait for memory that is only written. */
        ASSERT_SLOW(round->evicted->runs[run->evicted_run].is_out);
        run->state = RUN_RETURNED;
        round->evicted->runs[run->evicted_run].is_out = false;
        round->evicted->count--;
        watch_return(round, node);
    }
    if (unit->is_group) {
        /* Whether its surplus may go depends on whether its minimums may. */
        uint32_t run = round->units.members[unit->member_first].run;
        uint32_t job = round->sched->runs.items[run].job;
        watch_gang(round, round->sched->jobs.items[job].gang);
    }
}

void evict_return_all(struct round *round)
{
    for (uint32_t i = 0; i < round->lane_count; i++) {
        struct lane *lane = &round->lanes[i];
        for (; lane->unit_next < lane->unit_end; lane->unit_next++) {
            const struct unit *unit = &round->units.items[lane->unit_next];
            if (evict_state(round, unit) == RUN_EVICTED) {
                evict_return(round, lane->unit_next);
                amounts_add(&lane->placed, unit->sum);
            }
        }
        lane_refresh_evicted(round, lane);
    }
}

void evict_return_gang(struct round *round, const struct gang *gang)
{
    struct sched *sched = round->sched;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t job = seq_get(&gang->leased, at);
        const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
        if (run->state == RUN_EVICTED) {
            uint32_t index = round->evicted->runs[run->evicted_run].unit;
            const struct unit *unit = &round->units.items[index];
            amounts_add(&round->lanes[unit->lane].placed, unit->sum);
            evict_return(round, index);
        }
    }
}

void evict_forget(struct round *round)
{
    for (uint32_t i = 0; i < round->units.count; i++) {
        const struct unit *unit = &round->units.items[i];
        for (uint32_t m = 0; m < unit->member_count; m++) {
            struct run *run =
                &round->sched->runs
                     .items[round->units.members[unit->member_first + m].run];
            run->evicted_run = NONE;
            if (run->state != RUN_PREEMPTED) {
                run->state = RUN_STEADY;
            }
        }
    }
}
