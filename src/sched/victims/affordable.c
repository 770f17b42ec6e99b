#include "sched/victims/affordable.h"

#include "base/time_add.h"
#include "sched/evict/evicted.h"
#include "sched/evict/losses.h"
#include "sched/victims/searches.h"
#include "sched/victims/victims.h"

enum {
    MILLI = 1000,
    SIZE_BITS = 40,
    FRACTION_BITS = 64, /* of cost_exact_fraction() */
};

/* Numbers that differ by less are of one share. */
static const double SLACK = 1e-9;

static int64_t price_milli(const struct round *round)
{
    return round->sched->policy->pools[round->pool->policy_index]
        .preemption_price_milli;
}

bool affordable_is_priced(const struct round *round)
{
    return price_milli(round) > 0;
}

/* The part of the pool that a pod of a class asks for, at most all of it. */
static uint64_t size_of(const struct round *round, uint32_t class_index)
{
    const struct sched *sched = round->sched;
    struct class *class = class_at(round, class_index);

    if (class->size_stamp != sched->stamp) {
        u128 whole = (u128)1 << SIZE_BITS;
        u128 size = cost_exact_fraction(&round->pool->base, &class->request,
                                        NULL, true) >>
                    (FRACTION_BITS - SIZE_BITS);
        class->size_stamp = sched->stamp;
        class->size = (uint64_t)(size < whole ? size : whole);
    }
    ASSERT(class->size <= (uint64_t)1 << SIZE_BITS); /* a part of the pool */
    return class->size;
}

/* What a job has waited, or had waited and run, times its size. */
static u128 product(const struct round *round, uint32_t class_index,
                    int64_t since_ms)
{
    int64_t length_ms = round->now_ms - since_ms;

    return length_ms > 0 ? (u128)length_ms * size_of(round, class_index) : 0;
}

static u128 cost_of_run(const struct round *round, const struct run *run)
{
    return product(round, class_of_job(round->sched, run->job),
                   losses_since_of_run_ms(round->sched, run));
}

/* All of a gang that runs; once a round, for it only shrinks. */
static u128 cost_of_gang(const struct round *round, uint32_t index)
{
    const struct sched *sched = round->sched;
    struct gang *gang = &round->sched->gangs.items[index];

    if (gang->cost_stamp != sched->stamp) {
        gang->cost_stamp = sched->stamp;
        gang->cost = 0;
        for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
             seq_next(&gang->leased, &at)) {
            uint32_t run = sched->jobs.items[seq_get(&gang->leased, at)].run;
            gang->cost += cost_of_run(round, &sched->runs.items[run]);
        }
    }
    return gang->cost;
}

u128 affordable_cost(struct round *round, const struct victim *victim)
{
    const struct sched *sched = round->sched;
    uint32_t gang = victim->gang != NONE ? victim->gang
                    : victim->is_held    ? victim->group
                                         : NONE;

    return gang != NONE
               ? cost_of_gang(round, gang)
               : cost_of_run(
                     round,
                     &sched->runs.items[sched->jobs.items[victim->job].run]);
}

static uint32_t queue_of(const struct sched *sched, uint32_t job)
{
    return sched->lists.items[sched->jobs.items[job].list].queue;
}

bool affordable_is_charged(const struct search *search,
                           const struct victim *victim)
{
    const struct sched *sched = search->round->sched;
    uint32_t level = class_at(search->round, search->class_index)->level;

    return (victim->is_evicted || victim->is_surplus) && !victim->is_borrowed &&
           !victim->is_revocable &&
           (victim->level >= level ||
            sched->policy->is_urgency_preemption_off) &&
           queue_of(sched, victim->job) != queue_of(sched, search->job);
}

/* Budgets. */

/* The share of a queue, or NULL. */
static const struct share *share_of(struct round *round, uint32_t queue)
{
    struct affordable *a = &round->searches->affordable;
    uint32_t count;
    const struct share *shares = round_shares(round, &count);

    if (!a->share_of_queue) {
        a->share_of_queue =
            arena_alloc_array(round->arena, round->sched->queues.count,
                              sizeof(*a->share_of_queue));
        for (uint32_t i = 0; i < count; i++) {
            a->share_of_queue[shares[i].queue] = i + 1;
        }
    }
    uint32_t at = a->share_of_queue[queue];
    return at ? &shares[at - 1] : NULL;
}

/* Whether a queue would have more than its share with so much beside what it
 * had when the round began. */
static bool is_over_with(struct round *round, uint32_t queue,
                         const struct resource_vec *request)
{
    const struct share *share = share_of(round, queue);

    if (!share) {
        return false;
    }
    struct resource_vec all = share->allocated;
    amounts_add(&all, request);
    double with = cost_of(&round->pool->base, &all, NULL, 1).approx;
    return with > share_kept(round->sched, round->p, share) * (1 + SLACK);
}

/* What a claim of a queue that asks for so much pays. */
static int64_t claim_price(struct round *round, uint32_t queue,
                           const struct resource_vec *request)
{
    int64_t own = price_milli(round);
    int64_t over = round->sched->policy->pools[round->pool->policy_index]
                       .over_share_price_milli;

    ASSERT(own > 0); /* without a price nobody asks */
    return over > own && is_over_with(round, queue, request) ? over : own;
}

static int64_t job_price(struct round *round, uint32_t job)
{
    const struct sched *sched = round->sched;

    return claim_price(round, queue_of(sched, job),
                       &class_at(round, class_of_job(sched, job))->request);
}

static u128 budget_of_job(const struct round *round, uint32_t job,
                          int64_t price)
{
    u128 waited = product(round, class_of_job(round->sched, job),
                          losses_since_ms(round->sched, job));

    ASSERT(price > 0);
    return waited * MILLI / (u128)price;
}

void affordable_begin_gang(struct round *round, const struct gang *gang,
                           uint32_t needed)
{
    struct affordable *a = &round->searches->affordable;
    u128 sum = 0, least = 0;
    uint32_t count = 0;

    if (!affordable_is_priced(round)) {
        return;
    }
    a->price = claim_price(round, round->sched->lists.items[gang->list].queue,
                           &gang->waiting_sum);
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        u128 own = budget_of_job(round, seq_get(&gang->waiting, at), a->price);
        sum += own;
        least = count == 0 || own < least ? own : least;
        count++;
    }
    ASSERT(!a->is_gang && a->price > 0); /* one gang at a time */
    a->is_gang = true;
    a->budget = needed < count ? least * needed : sum;
    a->mark = a->spent_end = round->sched->decisions.count;
    a->spent = 0;
}

void affordable_end_gang(struct round *round)
{
    round->searches->affordable.is_gang = false;
}

void affordable_undo(struct round *round)
{
    struct affordable *a = &round->searches->affordable;

    /* A gang's try is taken back to its beginning at most. */
    ASSERT(!a->is_gang || a->mark <= round->sched->decisions.count);
    if (a->is_gang && a->spent_end > round->sched->decisions.count) {
        a->spent_end = a->mark;
        a->spent = 0;
    }
}

/* What the gang has taken so far. */
static u128 spent(struct round *round)
{
    const struct sched *sched = round->sched;
    struct affordable *a = &round->searches->affordable;

    for (; a->spent_end < sched->decisions.count; a->spent_end++) {
        const struct sched_decision *decision =
            &sched->decisions.items[a->spent_end];
        ASSERT(decision->job < sched->jobs.count);
        if (decision->action == SCHED_PREEMPT &&
            (decision->is_by_share ||
             decision->preemption == SCHED_PREEMPT_YIELD)) {
            uint32_t run = sched->jobs.items[decision->job].run;
            a->spent += cost_of_run(round, &sched->runs.items[run]);
        }
    }
    return a->spent;
}

u128 affordable_left(const struct search *search)
{
    struct round *round = search->round;
    const struct affordable *a = &round->searches->affordable;

    if (!a->is_gang) {
        return budget_of_job(round, search->job, job_price(round, search->job));
    }
    ASSERT(a->mark <= round->sched->decisions.count);
    u128 taken = spent(round);
    return taken < a->budget ? a->budget - taken : 0;
}

/* The least cost of what was evicted in the round. */
static u128 least_of(struct round *round)
{
    struct affordable *a = &round->searches->affordable;

    for (uint32_t i = 0; !a->is_least_known && i < round->units.count; i++) {
        const struct unit *unit = &round->units.items[i];
        const struct unit_run *member =
            &round->units.members[unit->member_first];
        ASSERT(unit->member_count > 0);
        u128 cost = member->gang != NONE
                        ? cost_of_gang(round, member->gang)
                        : product(round, member->class_index, member->since_ms);
        a->least = i == 0 || cost < a->least ? cost : a->least;
    }
    a->is_least_known = true;
    return a->least;
}

bool affordable_is_any(const struct search *search, u128 left)
{
    u128 least = least_of(search->round);

    if (left < least) {
        affordable_note_short(search, left, least);
    }
    return left >= least;
}

/* The size of what is searched for, at least 1. */
static u128 size_of_claim(const struct search *search)
{
    const struct round *round = search->round;
    uint32_t class_index = class_of_job(round->sched, search->job);
    uint32_t gang = round->sched->jobs.items[search->job].gang;
    u128 count =
        gang == NONE ? 1 : round->sched->gangs.items[gang].waiting.count;

    return (u128)size_of(round, class_index) * count + 1;
}

/* A time, which is never where it is too long to be told. */
static int64_t clamp_ms(u128 ms)
{
    return ms < (u128)INT64_MAX ? (int64_t)ms : INT64_MAX;
}

/* What it costs grows, too, so this may be too early, never too late. */
void affordable_note_short(const struct search *search, u128 left, u128 cost)
{
    struct round *round = search->round;
    u128 size = size_of_claim(search);
    ASSERT(cost > left); /* too dear for what is left */
    int64_t price = round->searches->affordable.is_gang
                        ? round->searches->affordable.price
                        : job_price(round, search->job);
    u128 step_ms = (cost - left) * (u128)price / MILLI / size;
    int64_t until_ms =
        time_add_saturating(round->now_ms, clamp_ms(step_ms + 1));

    round->searches->affordable.is_short = true;
    if (until_ms != INT64_MAX) {
        round_wake_by(round, until_ms);
    }
    what_if_note_price(round->what_if, round->sched, search->job,
                       clamp_ms(cost / size), clamp_ms(left / size), until_ms);
}

bool affordable_was_short(struct round *round)
{
    bool was_short = round->searches->affordable.is_short;

    round->searches->affordable.is_short = false;
    return was_short;
}
