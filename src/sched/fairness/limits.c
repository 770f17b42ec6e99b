#include "sched/fairness/limits.h"

#include "sched/fairness/usage_ledger.h"
#include "sched/state/what_if.h"

/* Weights of one pool's queues sum up to less than 2^96. */
#define WEIGHT_MAX ((u128)1 << 72)

enum { PPM = FRACTION_ONE_PPM };

/* Longer than this (17 years) is not told apart. */
static const int64_t LIFETIME_MS_MAX = (int64_t)1 << 39;
static const int64_t CHARGE_MAX = (int64_t)1 << 61;

/* A minute of the whole pool: 60,000 ms x 10^6 ppm. */
static const int64_t CHARGE_OF_MINUTE = INT64_C(60000000000);

/* A flow that is over its limit by less comes from rounding. */
static const double SLACK = 1e-12;

static u128 weight_of(const struct sched *sched, uint32_t queue)
{
    ASSERT(sched->queues.items[queue].factor_micro > 0);
    return sched->weight_unit / (u128)sched->queues.items[queue].factor_micro;
}

/* A unit in which all weights are whole, and their sum. */
static void sync_weights(struct sched *sched)
{
    u128 unit = 1, sum = 0;

    if (!sched->are_weights_stale) {
        return;
    }
    for (size_t i = 0; i < sched->queues.count; i++) {
        const struct queue *queue = &sched->queues.items[i];
        if (queue->name) {
            unit = exact_common_multiple(unit, queue->factor_micro, WEIGHT_MAX);
        }
    }
    sched->weight_unit = unit;
    for (uint32_t i = 0; i < sched->queues.count; i++) {
        sum += sched->queues.items[i].name ? weight_of(sched, i) : 0;
    }
    sched->weight_sum = sum;
    sched->are_weights_stale = false;
}

static bool is_active(const struct sched *sched, uint32_t index, uint32_t pool)
{
    const struct queue *queue = &sched->queues.items[index];

    for (uint32_t at = queue->account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        bool is_for_here = account->pool == pool || account->pool == NONE;
        if ((account->pool == pool && account->leased_count > 0) ||
            (is_for_here && account->queued_count > 0 && !queue->is_cordoned)) {
            return true;
        }
    }
    return false;
}

u128 limits_whole(struct sched *sched, uint32_t pool)
{
    u128 whole = 0;

    sync_weights(sched);
    for (size_t i = 0; i < sched->active.count; i++) {
        uint32_t queue = sched->active.items[i];
        whole += is_active(sched, queue, pool) ? weight_of(sched, queue) : 0;
    }
    ASSERT(whole <= sched->weight_sum); /* active queues are some of all */
    return whole;
}

/* What a queue may be charged: its own word, or the pool's minutes times the
 * share that it has when all queues are active. */
static int64_t budget_of(const struct sched *sched,
                         const struct what_if *what_if, uint32_t index,
                         uint32_t pool, const struct pool_policy *policy)
{
    const struct queue *queue = &sched->queues.items[index];
    double units = sched->pools.items[pool].base.units;
    int64_t own_milli = what_if_excess_budget_milli(what_if, sched, queue);

    if (own_milli == INT64_MAX ||
        (own_milli < 0 && (!policy || policy->excess_budget_minutes < 0))) {
        return INT64_MAX;
    }
    double budget;
    if (own_milli >= 0) {
        /* 1/1000 x 60,000 ms x 10^6 ppm. */
        budget = units > 0 ? (double)own_milli * 60e6 / units : 0;
    } else {
        u128 share =
            exact_ratio(weight_of(sched, index), sched->weight_sum, true);
        int64_t minutes = policy->excess_budget_minutes;
        uint64_t all = minutes < CHARGE_MAX / CHARGE_OF_MINUTE
                           ? (uint64_t)(minutes * CHARGE_OF_MINUTE)
                           : (uint64_t)CHARGE_MAX;
        budget = exact_to_double(exact_scale(share, all, false));
    }
    ASSERT(budget >= 0); /* what is left of it is compared with charges */
    int64_t whole = budget < (double)CHARGE_MAX ? (int64_t)budget : CHARGE_MAX;
    return whole + (budget > (double)whole && whole < CHARGE_MAX);
}

/* Fill in what the queue's ledger has against the limits. */
static void fill_used(const struct sched *sched, uint32_t p,
                      const struct usage_ledger *ledger, int64_t now_ms,
                      struct limits *limits)
{
    double excess = flow_excess(&ledger->infinite_flow,
                                pool_half_time_ms(sched, p), now_ms);

    limits->infinite = ledger->infinite;
    limits->infinite_flow = ledger->infinite_flow;
    limits->infinite_floor =
        excess > 0
            ? cost_fraction(&sched->pools.items[p].base, &ledger->infinite) +
                  excess
            : 0;
    if (limits->budget_max != INT64_MAX) {
        i128 left = (i128)limits->budget_max - ledger->charged;
        limits->budget_left = left > 0 ? (int64_t)left : 0;
    }
}

bool limits_get(struct sched *sched, const struct what_if *what_if,
                uint32_t index, uint32_t p, u128 whole, int64_t now_ms,
                struct limits *ret_limits)
{
    const struct queue *queue = &sched->queues.items[index];
    struct pool *pool = &sched->pools.items[p];
    const struct pool_policy *policy =
        pool->policy_index < 0 ? NULL
                               : &sched->policy->pools[pool->policy_index];
    int64_t over_ppm = what_if_over_share_ppm(what_if, sched, queue);

    if (!sched->keeps_usage_ledgers) {
        return false;
    }
    sync_weights(sched);
    pool_sync_base(sched, pool);
    if (over_ppm == QUEUE_LIMIT_BY_POOL) {
        over_ppm = policy ? policy->over_share_ppm : POLICY_OFF;
    } else if (over_ppm == INT64_MAX) {
        over_ppm = POLICY_OFF;
    }
    u128 part = weight_of(sched, index);
    *ret_limits = (struct limits){
        .part = part,
        .whole = is_active(sched, index, p) ? whole : whole + part,
        .over_share_ppm = over_ppm,
        .budget_max = budget_of(sched, what_if, index, p, policy),
    };
    ret_limits->budget_left = ret_limits->budget_max;
    const struct usage_ledger *usage_ledger =
        usage_ledger_find(sched, index, p);
    if (usage_ledger) {
        fill_used(sched, p, usage_ledger, now_ms, ret_limits);
    }
    return over_ppm != POLICY_OFF || ret_limits->budget_max != INT64_MAX;
}

struct limit_question limits_ask(const struct cost_base *base,
                                 const struct limits *limits,
                                 const struct resource_vec *all)
{
    return (struct limit_question){
        .base = base,
        .limits = limits,
        .all = *all,
    };
}

/* How long a job of a class may hold what it is given. */
static int64_t held_ms(const struct class *class)
{
    int64_t held = class->lifetime_ms < class->deadline_ms ? class->lifetime_ms
                                                           : class->deadline_ms;

    return held < LIFETIME_MS_MAX ? held : LIFETIME_MS_MAX;
}

/* Lifetime x what of a request lies above the share; both in units of 2^-64,
 * of which 2 make up for their own rounding. */
static int64_t charge_for(const struct limit_question *question,
                          const struct class *class)
{
    const struct limits *limits = question->limits;
    int64_t held = held_ms(class);

    if (held == 0 || limits->budget_max == INT64_MAX || limits->whole == 0) {
        return 0;
    }
    u128 after = cost_exact_fraction(question->base, &question->all,
                                     &class->request, false);
    u128 before =
        cost_exact_fraction(question->base, &question->all, NULL, true);
    u128 share = exact_ratio(limits->part, limits->whole, true);
    u128 from = before > share ? before : share;
    if (after <= from) {
        return 0;
    }
    ASSERT(held > 0); /* a lifetime is never negative */
    u128 charge =
        exact_scale(after - from + 2, (u128)held * (uint64_t)PPM, false);
    return charge < (u128)CHARGE_MAX ? (int64_t)charge : CHARGE_MAX;
}

int64_t limits_add(struct limit_question *question, const struct class *class)
{
    int64_t charge = 0;

    ASSERT(question->charge >= 0 && question->charge <= CHARGE_MAX);
    if (class->lifetime_ms == LIFETIME_INFINITE) {
        amounts_add(&question->infinite, &class->request);
    } else {
        charge = charge_for(question, class);
        question->charge = question->charge < CHARGE_MAX - charge
                               ? question->charge + charge
                               : CHARGE_MAX;
    }
    amounts_add(&question->all, &class->request);
    return charge;
}

void limits_add_gang(const struct sched *sched, struct limit_question *question,
                     const struct gang *gang)
{
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        uint32_t job = seq_get(&gang->waiting, at);
        (void)limits_add(question,
                         &sched->classes.items[class_of_job(sched, job)]);
    }
}

double limits_over_share(const struct limits *limits)
{
    return (1 + (double)limits->over_share_ppm / PPM) *
           exact_to_double(limits->part) / exact_to_double(limits->whole);
}

static bool asks_for_infinite(const struct limit_question *question)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (question->infinite.v[r] != 0) {
            return true;
        }
    }
    return false;
}

/* Whether usage with what is asked for would be within the limit, were there
 * no flow. */
static bool is_usage_within(const struct limit_question *question)
{
    const struct limits *limits = question->limits;
    struct cost cost =
        cost_of(question->base, &limits->infinite, &question->infinite, 1);

    return cost_compare_part(question->base, &cost,
                             limits->part *
                                 (u128)(PPM + limits->over_share_ppm),
                             limits->whole * (uint64_t)PPM) <= 0;
}

/* How much of an excess the flow of infinite work may have. */
static double excess_max(const struct limit_question *question)
{
    return limits_over_share(question->limits) * (1 + SLACK) -
           cost_fraction(question->base, &question->limits->infinite);
}

enum limit_answer limits_answer(const struct limit_question *question)
{
    const struct limits *limits = question->limits;

    if (limits->over_share_ppm != POLICY_OFF && limits->whole > 0 &&
        asks_for_infinite(question) &&
        (!is_usage_within(question) ||
         limits->infinite_floor > limits_over_share(limits) * (1 + SLACK))) {
        return LIMIT_OVER_SHARE;
    }
    /* What costs nothing is never limited, also where more is booked than was
     * asked for: those who made way held what their queue has most of. */
    return question->charge > 0 && question->charge > limits->budget_left
               ? LIMIT_BUDGET
               : LIMIT_NONE;
}

int64_t limits_when(const struct limit_question *question, int64_t half_ms,
                    int64_t now_ms)
{
    if (!is_usage_within(question)) {
        return INT64_MAX;
    }
    return flow_when(&question->limits->infinite_flow, half_ms, now_ms,
                     excess_max(question));
}
