/* How much higher a limit would have to be. */

#include "sched/explain/need_parts.h"
#include "sched/fairness/class_limit.h"
#include "sched/fairness/limits.h"
#include "sched/fairness/quota.h"
#include "sched/state/borrowed.h"
#include "sched/state/floating.h"

/* Of a charge, which is in millionths of the pool x ms, a thousandth of the
 * pool x minute. */
static const double CHARGE_PER_MILLI = 60e6;

/* Budgets are told up to so much. */
static const double BUDGET_MILLI_MAX = 1e15;

/* Parts above a share, in millionths, likewise. */
static const double OVER_SHARE_MAX = 1e12;

/* What it takes of something of which `more` lacks at the least, or more often
 * where others go first; the least is said in any case, for nothing may be
 * enough, or nothing may be tried. */
static void find_least(struct trials *trials, struct what_if_more more,
                       struct sched_need *need)
{
    bool is_enough = false;

    ASSERT(amounts_is_sum(&more.amount)); /* what lacks is never negative */
    need->missing = more.amount;
    for (uint32_t times = 1;
         times <= NEED_TIMES_MAX && !need_is_nothing(&more.amount) &&
         !is_enough && trial_may(trials);
         times *= 2) {
        more.amount = (struct resource_vec){0};
        amounts_add_times(&more.amount, &need->missing, times);
        is_enough = trial_starts_with(trials, &more);
    }
    if (!is_enough) {
        return;
    }
    need->is_exact = trial_shrink(trials, &more);
    need->missing = more.amount;
    if (need_is_nothing(&more.amount)) {
        *need = (struct sched_need){.node = NONE};
    }
}

/* The same of a number, which is the first column. */
static void find_least_number(struct trials *trials, struct what_if_more more,
                              int64_t number, struct sched_need *need)
{
    more.amount = (struct resource_vec){.v = {number}};
    find_least(trials, more, need);
    need->more = need->missing.v[0];
    need->missing = (struct resource_vec){0};
}

void need_limit(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    const struct list *list = trial_list(trials);
    const struct class *class = &sched->classes.items[list->class_index];
    struct what_if_more more = {
        .kind = WHAT_IF_LIMIT,
        .queue = list->queue,
        .pool = trials->pool,
        .priority_class = class->priority_class,
    };
    struct resource_vec asked = trial_asked(trials);
    struct usage usage = class_limit_usage(sched, NULL, list->queue,
                                           trials->pool, class->priority_class);
    bool may_recall = borrowed_gives_way(sched) && !list->is_borrowed;

    more.amount = class_limit_missing(&usage, may_recall, &asked);
    need->kind = SCHED_NEED_LIMIT;
    find_least(trials, more, need);
}

void need_quota(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t queue = trial_list(trials)->queue;
    struct resource_vec asked = trial_asked(trials);
    struct what_if_more more = {
        .kind = WHAT_IF_QUOTA,
        .queue = queue,
        .amount = quota_missing(sched, queue, &asked),
    };

    need->kind = SCHED_NEED_QUOTA;
    find_least(trials, more, need);
}

void need_floating(struct trials *trials, struct sched_need *need)
{
    const struct sched *sched = trials->sched;
    const struct pool *pool = &sched->pools.items[trials->pool];
    struct what_if_more more = {.kind = WHAT_IF_FLOATING, .pool = trials->pool};
    struct resource_vec asked = trial_asked(trials);

    more.amount = floating_missing(sched, trials->pool, &pool->used, &asked);
    need->kind = SCHED_NEED_FLOATING;
    need->pool = intern_get(sched->pool_names, trials->pool);
    find_least(trials, more, need);
}

void need_budget(struct trials *trials, const struct sched_explanation *why,
                 struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t pool = intern_find(sched->pool_names, why->pool);
    uint32_t queue = trial_list(trials)->queue;
    double lack = (why->asked - why->allowed) * 1000;
    struct limits limits;

    if (pool == INTERN_NONE || lack >= BUDGET_MILLI_MAX ||
        !limits_get(sched, NULL, queue, pool, limits_whole(sched, pool),
                    trials->now_ms, &limits)) {
        return;
    }
    struct what_if_more more = {
        .kind = WHAT_IF_BUDGET,
        .queue = queue,
        .base = sched->queues.items[queue].excess_budget_milli,
    };
    if (more.base < 0) {
        more.base =
            (int64_t)((double)limits.budget_max *
                      sched->pools.items[pool].base.units / CHARGE_PER_MILLI);
    }
    need->kind = SCHED_NEED_BUDGET;
    need->pool = intern_get(sched->pool_names, pool);
    need->base = more.base;
    find_least_number(trials, more, (int64_t)lack + 2, need);
}

void need_share(struct trials *trials, const struct sched_explanation *why,
                struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t pool = intern_find(sched->pool_names, why->pool);
    uint32_t queue = trial_list(trials)->queue;
    struct limits limits;

    if (pool == INTERN_NONE || why->allowed <= 0 ||
        !limits_get(sched, NULL, queue, pool, limits_whole(sched, pool),
                    trials->now_ms, &limits) ||
        limits.over_share_ppm == POLICY_OFF) {
        return;
    }
    double whole_ppm = (double)(limits.over_share_ppm + FRACTION_ONE_PPM);
    double lack = (why->asked / why->allowed - 1) * whole_ppm;
    if (lack < 0 || lack >= OVER_SHARE_MAX) {
        return;
    }
    struct what_if_more more = {
        .kind = WHAT_IF_SHARE,
        .queue = queue,
        .base = limits.over_share_ppm,
    };
    need->kind = SCHED_NEED_SHARE;
    need->pool = intern_get(sched->pool_names, pool);
    need->base = more.base;
    find_least_number(trials, more, (int64_t)lack + 2, need);
}

void need_apps(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t queue = trial_list(trials)->queue;
    struct what_if_more more = {.kind = WHAT_IF_APPS, .queue = queue};

    need->kind = SCHED_NEED_APPS;
    need->base = sched->queues.items[queue].running_apps_max;
    find_least_number(trials, more, 1, need);
}
