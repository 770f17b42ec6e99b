/* What limits and rates allow a job. */
#include "sched/explain/private.h"
#include "sched/fairness/class_limit.h"
#include "sched/fairness/quota.h"
#include "sched/fairness/rates.h"
#include "sched/state/borrowed.h"
#include "sched/state/floating.h"

/* Whether a limit of queue and class refuses it in a pool; the first that does
 * is told.  Where a pool is full, it is that and not a limit as large. */
static bool is_over_limit(const struct question *question, uint32_t p)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    bool may_recall =
        borrowed_gives_way(sched) && !explain_is_borrowed(question);
    struct usage usage = class_limit_usage(sched, NULL, question->queue, p,
                                           question->class->priority_class);

    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        if (usage.limit.v[r] < sched->pools.items[p].total.v[r] &&
            class_limit_refuses(&usage, may_recall, &question->asked, r)) {
            /* What asks for nothing of a resource is not refused for it. */
            ASSERT(question->asked.v[r] > 0);
            answer->resource = (int)r;
            answer->limit = usage.limit.v[r];
            answer->used = class_limit_used(&usage, may_recall, r);
            answer->asked_amount = question->asked.v[r];
            return true;
        }
    }
    return false;
}

bool explain_limit(const struct question *question)
{
    bool is_over = false;

    for (uint32_t p = 0; p < question->sched->pools.count; p++) {
        if (!explain_is_in_pools(question, p)) {
            continue;
        }
        if (!is_over_limit(question, p)) {
            return false;
        }
        is_over = true;
    }
    return is_over;
}

/* Whether the limits on starts refuse it in a pool; what does is told. */
static bool is_rated(const struct question *question, uint32_t p)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    struct start_rules rules = start_rules_of(sched, p);
    struct start_question starts = {
        .queue = question->queue,
        .pool = p,
        .count = question->start_count,
        .request = &question->started,
        .now_ms = question->now_ms,
    };
    struct start_refusal refusal = start_ask(sched, &rules, &starts);

    answer->until_ms = refusal.until_ms;
    switch (refusal.why) {
    case START_MAY:
        return false;
    case START_NOT_ANY:
        answer->wait = SCHED_WAIT_RATE;
        return true;
    case START_NOT_OF_QUEUE:
        answer->wait = SCHED_WAIT_QUEUE_RATE;
        return true;
    case START_NOT_OF_POOL:
        break;
    }
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (refusal.columns >> r & 1) {
            answer->wait = SCHED_WAIT_RESOURCE_RATE;
            answer->resource = (int)r;
            answer->limit = rules.columns[r].size;
            answer->until_ms = start_when(sched, &rules, &starts, r);
        }
    }
    return true;
}

bool explain_floating(const struct question *question)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    bool is_short = false;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        if (!explain_is_in_pools(question, p)) {
            continue;
        }
        int r = floating_short(sched, p, &pool->used, &question->asked);
        if (r < 0) {
            return false;
        }
        is_short = true;
        answer->resource = r;
        answer->limit = pool->total.v[r];
        answer->used = pool->used.v[r];
        answer->asked_amount = question->asked.v[r];
    }
    return is_short;
}

bool explain_quota(const struct question *question)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    int r =
        quota_short_of(sched, question->queue, &question->asked, &answer->used);

    if (r >= 0) {
        answer->wait = SCHED_WAIT_QUOTA;
        answer->resource = r;
        answer->limit = sched->queues.items[question->queue].quota.v[r];
        answer->asked_amount = question->asked.v[r];
    }
    return r >= 0;
}

bool explain_rates(struct question *question)
{
    enum sched_wait wait = question->answer->wait;
    bool is_any = false;

    for (uint32_t p = 0; p < question->sched->pools.count; p++) {
        if (!explain_is_in_pools(question, p)) {
            continue;
        }
        if (!is_rated(question, p)) {
            question->answer->wait = wait;
            question->answer->until_ms = 0;
            question->answer->resource = -1;
            return false;
        }
        is_any = true;
    }
    return is_any;
}
