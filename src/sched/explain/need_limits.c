/* How much higher a limit would have to be. */

#include "sched/explain/need_parts.h"
#include "sched/fairness/limits.h"

/* Of a charge, which is in millionths of the pool x ms, a thousandth of the
 * pool x minute. */
static const double CHARGE_PER_MILLI = 60e6;

/* Budgets are told up to so much. */
static const double BUDGET_MILLI_MAX = 1e15;

/* Parts above a share, in millionths, likewise. */
static const double OVER_SHARE_MAX = 1e12;

/* What it takes of a lever, known to lack `more` at the least, or more often
 * where others go first; the least is said in any case, for nothing may be
 * enough, or nothing may be tried. */
static void find_least(const struct lever *lever, struct resource_vec more,
                       struct sched_need *need)
{
    bool is_enough = false;

    need->missing = more;
    for (uint32_t times = 1;
         times <= NEED_TIMES_MAX && !need_is_nothing(&more) && !is_enough &&
         trial_may(lever->trials);
         times *= 2) {
        more = (struct resource_vec){0};
        amounts_add_times(&more, &need->missing, times);
        is_enough = trial_pull(lever, &more);
    }
    if (!is_enough) {
        return;
    }
    need->is_exact = trial_shrink(lever, &more);
    need->missing = more;
    if (need_is_nothing(&more)) {
        *need = (struct sched_need){.node = NONE};
    }
}

/* The same of a number, which is the lever's first column. */
static void find_least_number(const struct lever *lever, int64_t more,
                              struct sched_need *need)
{
    find_least(lever, (struct resource_vec){.v = {more}}, need);
    need->more = need->missing.v[0];
    need->missing = (struct resource_vec){0};
}

void need_limit(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    const struct list *list = trial_list(trials);
    const struct class *class = &sched->classes.items[list->class_index];
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_LIMIT,
        .limit = {list->queue, trials->pool, class->priority_class, {{0}}},
    };
    uint32_t at =
        account_get(sched, list->queue, trials->pool, class->priority_class);
    struct resource_vec more = {0}, asked = trial_asked(trials);

    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        int64_t most = queue_limit_of(sched, list->queue, trials->pool,
                                      class->priority_class, r);
        int64_t wanted =
            asked.v[r] + queue_used_of(sched, &sched->accounts.items[at],
                                       list->is_borrowed, r);
        more.v[r] = asked.v[r] > 0 && wanted > most ? wanted - most : 0;
    }
    need->kind = SCHED_NEED_LIMIT;
    find_least(&lever, more, need);
}

void need_quota(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t queue = trial_list(trials)->queue;
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_QUOTA,
        .queue = &sched->queues.items[queue],
    };
    struct resource_vec asked = trial_asked(trials);

    need->kind = SCHED_NEED_QUOTA;
    find_least(&lever, queue_quota_missing(sched, queue, &asked), need);
}

void need_floating(struct trials *trials, struct sched_need *need)
{
    const struct sched *sched = trials->sched;
    const struct pool *pool = &sched->pools.items[trials->pool];
    struct lever lever = {.trials = trials, .kind = LEVER_FLOATING};
    struct resource_vec more = {0}, asked = trial_asked(trials);

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t left = pool->total.v[r] - pool->used.v[r];
        if (sched->policy->is_floating[r] && asked.v[r] > 0 &&
            asked.v[r] > left) {
            more.v[r] = asked.v[r] - left;
        }
    }
    need->kind = SCHED_NEED_FLOATING;
    need->pool = intern_get(sched->pool_names, trials->pool);
    find_least(&lever, more, need);
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
        !limits_get(sched, queue, pool, limits_whole(sched, pool),
                    trials->now_ms, &limits)) {
        return;
    }
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_BUDGET,
        .queue = &sched->queues.items[queue],
        .base = sched->queues.items[queue].excess_budget_milli,
    };
    if (lever.base < 0) {
        lever.base =
            (int64_t)((double)limits.budget_max *
                      sched->pools.items[pool].base.units / CHARGE_PER_MILLI);
    }
    need->kind = SCHED_NEED_BUDGET;
    need->pool = intern_get(sched->pool_names, pool);
    need->base = lever.base;
    find_least_number(&lever, (int64_t)lack + 2, need);
}

void need_share(struct trials *trials, const struct sched_explanation *why,
                struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t pool = intern_find(sched->pool_names, why->pool);
    uint32_t queue = trial_list(trials)->queue;
    struct limits limits;

    if (pool == INTERN_NONE || why->allowed <= 0 ||
        !limits_get(sched, queue, pool, limits_whole(sched, pool),
                    trials->now_ms, &limits) ||
        limits.over_share_ppm == POLICY_OFF) {
        return;
    }
    double whole_ppm = (double)(limits.over_share_ppm + FRACTION_ONE_PPM);
    double lack = (why->asked / why->allowed - 1) * whole_ppm;
    if (lack < 0 || lack >= OVER_SHARE_MAX) {
        return;
    }
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_SHARE,
        .queue = &sched->queues.items[queue],
        .base = limits.over_share_ppm,
    };
    need->kind = SCHED_NEED_SHARE;
    need->pool = intern_get(sched->pool_names, pool);
    need->base = lever.base;
    find_least_number(&lever, (int64_t)lack + 2, need);
}

void need_apps(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_APPS,
        .queue = &sched->queues.items[trial_list(trials)->queue],
    };

    need->kind = SCHED_NEED_APPS;
    need->base = lever.queue->running_apps_max;
    find_least_number(&lever, 1, need);
}
