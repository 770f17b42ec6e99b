/* Whether its queue's share keeps a job waiting, as a round would decide it. */
#include "sched/explain/private.h"
#include "sched/fairness/limits.h"
#include "sched/fairness/usage_ledger.h"

/* A charge in millionths of the pool x ms, as minutes of the whole pool. */
static const double CHARGE_PER_MINUTE = 60e9;

static void fill_answer(const struct sched *sched, uint32_t p, int64_t now_ms,
                        const struct limit_question *question,
                        enum limit_answer why, struct sched_explanation *answer)
{
    const struct limits *limits = question->limits;
    const struct cost_base *base = question->base;

    ASSERT(why != LIMIT_NONE && p < sched->pools.count);
    answer->pool = intern_get(sched->pool_names, p);
    if (why == LIMIT_BUDGET) {
        double scale = base->units / CHARGE_PER_MINUTE;
        answer->wait = SCHED_WAIT_BUDGET;
        answer->asked = (double)question->charge * scale;
        answer->allowed = (double)limits->budget_left * scale;
        return;
    }
    double usage =
        cost_of(base, &limits->infinite, &question->infinite, 1).approx;
    double flow = limits->infinite_floor;
    int64_t when_ms =
        limits_when(question, pool_half_time_ms(sched, p), now_ms);
    answer->wait = SCHED_WAIT_OVER_SHARE;
    answer->asked = usage > flow ? usage : flow;
    answer->allowed = limits_over_share(limits);
    answer->until_ms = when_ms == INT64_MAX ? 0 : when_ms;
}

/* Whether the limits of one pool refuse what is asked for. */
static bool is_refused(const struct question *question, uint32_t p)
{
    struct sched *sched = question->sched;
    const struct usage_ledger *usage_ledger =
        usage_ledger_find(sched, question->queue, p);
    const struct resource_vec none = {0};
    struct limits limits;

    if (!limits_get(sched, NULL, question->queue, p, limits_whole(sched, p),
                    question->now_ms, &limits)) {
        return false;
    }
    struct limit_question asked =
        limits_ask(&sched->pools.items[p].base, &limits,
                   usage_ledger ? &usage_ledger->all : &none);
    if (question->record->gang == NONE) {
        (void)limits_add(&asked, question->class);
    } else {
        limits_add_gang(sched, &asked,
                        &sched->gangs.items[question->record->gang]);
    }
    enum limit_answer why = limits_answer(&asked);
    if (why == LIMIT_NONE) {
        return false;
    }
    fill_answer(sched, p, question->now_ms, &asked, why, question->answer);
    return true;
}

bool explain_share(struct question *question)
{
    struct sched *sched = question->sched;
    const struct sched_explanation before = *question->answer;
    bool is_any = false;

    if (explain_is_borrowed(question)) {
        return false; /* these limits are not for borrowers */
    }
    for (uint32_t p = 0; sched->keeps_usage_ledgers && p < sched->pools.count;
         p++) {
        if (!explain_is_in_pools(question, p) ||
            sched->pools.items[p].node_count == 0) {
            continue;
        }
        if (!is_refused(question, p)) {
            *question->answer =
                before; /* what another pool says is no reason */
            return false;
        }
        is_any = true;
    }
    return is_any;
}
