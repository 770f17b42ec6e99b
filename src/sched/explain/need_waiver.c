/* Whether a rule that protects running work keeps a job waiting. */
#include "sched/evict/cooldown.h"
#include "sched/explain/need_parts.h"

/* Whether the next round starts the job without a rule, which it met. */
static bool is_cause(struct trials *trials, const struct what_if *what_if)
{
    return trial_may(trials) && trial_starts_if(trials, what_if) &&
           (what_if->met->reserved_job != NONE || what_if->met->gangs.count);
}

/* Whether it does with all rules; the decisions of the trial before are gone
 * then. */
static bool starts_anyway(struct trials *trials)
{
    return !trial_may(trials) || trial_starts(trials, trials->now_ms);
}

static bool find_cooldown(struct trials *trials,
                          struct sched_explanation *explanation)
{
    struct sched *sched = trials->sched;
    int64_t until_ms;

    if (!trial_may(trials) ||
        !cooldown_holds(sched, trials->job, trials->now_ms, &until_ms)) {
        return false;
    }
    const struct what_if what_if = {.cooldown_waived = trials->job};
    bool is = trial_starts_if(trials, &what_if);
    if (is) {
        explanation->wait = SCHED_WAIT_COOLDOWN;
        explanation->until_ms = until_ms == INT64_MAX ? 0 : until_ms;
    }
    return is;
}

static bool is_soon(const struct trials *trials, int64_t start_ms)
{
    return start_ms != SCHED_START_UNKNOWN &&
           start_ms - trials->sched->policy->cooldown_ms < trials->now_ms;
}

/* Whether any promise starts soon, so that it is worth a trial. */
static bool has_promise_soon(const struct trials *trials)
{
    const struct sched *sched = trials->sched;

    for (size_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        if (pool->admitted.count &&
            is_soon(trials, pool->memory.kept.start_ms)) {
            return true;
        }
        for (size_t i = 0; i < pool->admitted.count; i++) {
            if (is_soon(trials, pool->admitted.items[i].start_ms)) {
                return true;
            }
        }
    }
    return false;
}

static bool find_soon(struct trials *trials,
                      struct sched_explanation *explanation)
{
    struct what_if_met met = {.reserved_job = NONE};
    const struct what_if what_if = {
        .cooldown_waived = NONE, .waives_reserved_soon = true, .met = &met};

    if (!has_promise_soon(trials) || !is_cause(trials, &what_if) ||
        starts_anyway(trials)) {
        return false;
    }
    explanation->wait = SCHED_WAIT_RESERVED_SOON;
    explanation->for_job = met.reserved_job;
    explanation->until_ms = met.reserved_ms;
    return true;
}

/* Whether a queue that is over its share has a gang that might be protected. */
static bool has_gang_over_share(struct trials *trials)
{
    struct sched *sched = trials->sched;
    const struct pool *pool = &sched->pools.items[trials->pool];
    auto_arena arena = {0};
    uint32_t count;

    if (pool->policy_index < 0 ||
        !sched->policy->pools[pool->policy_index].starved_after_ms) {
        return false;
    }
    queues_sync(sched);
    const struct share *shares =
        shares_of(sched, NULL, trials->pool, &arena, &count);
    bool *is_over =
        arena_alloc_array(&arena, sched->queues.count + 1, sizeof(*is_over));
    for (uint32_t i = 0; i < count; i++) {
        is_over[shares[i].queue] =
            share_is_over(sched, trials->pool, &shares[i]);
    }
    for (size_t g = 0; g < sched->gangs.count; g++) {
        const struct gang *gang = &sched->gangs.items[g];
        if (gang->is_live && gang->leased.count > 1 && is_over[gang->queue]) {
            return true;
        }
    }
    return false;
}

static struct what_if_gang *find_gang(struct what_if_met *met, uint32_t gang)
{
    for (size_t i = 0; i < met->gangs.count; i++) {
        if (met->gangs.items[i].gang == gang) {
            return &met->gangs.items[i];
        }
    }
    return NULL;
}

/* Whether a decision is to make room for its queue, which is due it: who is
 * first there takes the place of a whole gang, and the next what that leaves.
 */
static bool is_for_queue(const struct trials *trials,
                         const struct sched_decision *decision)
{
    const struct sched *sched = trials->sched;
    uint32_t for_job = decision->for_job;

    return for_job != NONE &&
           sched->lists.items[sched->jobs.items[for_job].list].queue ==
               trial_list(trials)->queue;
}

/* Tell of the protected gangs that the trial preempts: of the first, how many,
 * and until when the last is protected. */
static void tell_protected(const struct trials *trials, struct what_if_met *met,
                           struct sched_explanation *explanation)
{
    const struct sched *sched = trials->sched;

    for (size_t i = 0; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        uint32_t g = sched->jobs.items[decision->job].gang;
        struct what_if_gang *gang = decision->action == SCHED_PREEMPT &&
                                            g != NONE &&
                                            is_for_queue(trials, decision)
                                        ? find_gang(met, g)
                                        : NULL;
        if (!gang || gang->is_told) {
            continue;
        }
        gang->is_told = true;
        if (explanation->protected_count++ == 0) {
            explanation->for_job = decision->job;
            explanation->until_ms = 0;
            explanation->is_protected_young = gang->is_young;
        }
        if (gang->until_ms > explanation->until_ms) {
            explanation->until_ms = gang->until_ms;
        }
    }
    if (explanation->until_ms == INT64_MAX) {
        explanation->until_ms = 0;
    }
}

static void find_protected(struct trials *trials,
                           struct sched_explanation *explanation)
{
    struct what_if_met met = {.reserved_job = NONE};
    const struct what_if what_if = {
        .cooldown_waived = NONE, .waives_gang_protection = true, .met = &met};
    struct sched_explanation told = *explanation;

    if (has_gang_over_share(trials) && is_cause(trials, &what_if)) {
        tell_protected(trials, &met, &told);
        if (told.protected_count && !starts_anyway(trials)) {
            *explanation = told;
            explanation->wait = SCHED_WAIT_GANG_PROTECTION;
        }
    }
    VEC_FREE(&met.gangs);
}

/* Whether others would go for it if it had waited longer. */
static bool find_price(struct trials *trials,
                       struct sched_explanation *explanation)
{
    enum { HOUR_MS = 3600000 };
    int index = trials->sched->pools.items[trials->pool].policy_index;
    struct what_if_met met = {.reserved_job = NONE};
    const struct what_if what_if = {
        .cooldown_waived = NONE, .price_of = trials->job + 1, .met = &met};

    if (index < 0 ||
        !trials->sched->policy->pools[index].preemption_price_milli ||
        !trial_may(trials) || trial_starts_if(trials, &what_if) ||
        met.price_ms == 0) {
        return false;
    }
    explanation->wait = SCHED_WAIT_PRICE;
    explanation->asked = (double)met.price_ms / HOUR_MS;
    explanation->allowed = (double)met.budget_ms / HOUR_MS;
    explanation->until_ms =
        met.price_until_ms == INT64_MAX ? 0 : met.price_until_ms;
    return true;
}

void need_waiver(struct trials *trials, struct sched_explanation *explanation)
{
    bool is_about_room = explanation->wait == SCHED_WAIT_CAPACITY ||
                         explanation->wait == SCHED_WAIT_GANG_CAPACITY ||
                         explanation->wait == SCHED_WAIT_TOPOLOGY ||
                         explanation->wait == SCHED_WAIT_PASSED ||
                         explanation->wait == SCHED_WAIT_ADMITTED ||
                         explanation->wait == SCHED_WAIT_RESERVED;

    if (is_about_room && !find_cooldown(trials, explanation) &&
        !find_soon(trials, explanation) && !find_price(trials, explanation)) {
        find_protected(trials, explanation);
    }
}
