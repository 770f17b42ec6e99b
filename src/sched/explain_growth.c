/* What keeps a gang that runs from growing by a member that waits. */
#include "sched/explain_private.h"
#include "sched/growth.h"
#include "sched/scale.h"

/* The pool where the gang runs. */
static uint32_t pool_of(const struct sched *sched, const struct gang *gang)
{
    uint32_t first = seq_get(&gang->leased, (struct seq_cursor){0});
    uint32_t run = sched->jobs.items[first].run;

    return sched->nodes.items[sched->runs.items[run].node].pool;
}

/* Whether the pool's load leaves no room for it. */
static bool is_loaded(const struct question *question, uint32_t pool)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    struct growth_load load;

    growth_load_of(sched, pool, &load);
    int r = growth_overload(sched, &load, &question->class->request);
    if (r < 0) {
        return false;
    }
    bool is_cpu = r == sched->cpu_column;
    answer->resource = r;
    answer->asked_amount = question->class->request.v[r];
    answer->used = load.now.v[r];
    answer->limit =
        is_cpu
            ? (int64_t)((i128)load.total.v[r] * load.max_ppm / FRACTION_ONE_PPM)
            : load.total.v[r];
    return true;
}

/* The rule, with its numbers in the answer. */
static enum sched_wait rule_of(struct question *question,
                               const struct gang *gang)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    int64_t frozen_ms = scale_frozen_until(sched, gang);

    if (sched->queues.items[question->queue].is_cordoned) {
        return SCHED_WAIT_QUEUE_CORDONED;
    }
    if (explain_is_foreign(question)) {
        return SCHED_WAIT_AWAY;
    }
    if (!explain_is_in_pools(question, question->pool)) {
        return SCHED_WAIT_NO_NODES; /* its pool is in the policy no more */
    }
    if (frozen_ms > question->now_ms) {
        answer->until_ms = frozen_ms == INT64_MAX ? 0 : frozen_ms;
        return SCHED_WAIT_FROZEN;
    }
    if (explain_quota(question)) {
        return SCHED_WAIT_QUOTA;
    }
    if (explain_floating(question)) {
        return SCHED_WAIT_FLOATING;
    }
    if (explain_limit(question)) {
        return SCHED_WAIT_QUEUE_LIMIT;
    }
    if (answer->nodes_fit == 0) {
        return SCHED_WAIT_CAPACITY; /* then its load is high as well */
    }
    if (is_loaded(question, question->pool)) {
        return SCHED_WAIT_LOAD;
    }
    return explain_rates(question) ? answer->wait : SCHED_WAIT_TURN;
}

void explain_growth(const struct question *question)
{
    const struct sched *sched = question->sched;
    const struct gang *gang = &sched->gangs.items[question->record->gang];
    struct question of_pod = *question;

    /* It grows by one at a time, and where it runs. */
    of_pod.asked = question->class->request;
    of_pod.pool = pool_of(sched, gang);
    question->answer->present = gang->leased.count;
    question->answer->wanted = gang->cardinality;
    question->answer->growth = rule_of(&of_pod, gang);
    question->answer->wait = SCHED_WAIT_GROWTH;
}
