/* Why a round did not start a job, from the notes of the round. */
#include "sched/explain/private.h"
#include "sched/order/refusals.h"

/* The same question of another job. */
static struct question question_of(const struct question *question,
                                   uint32_t job, struct arena *arena)
{
    const struct sched *sched = question->sched;
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];
    struct question other = *question;

    other.job = job;
    other.record = &sched->jobs.items[job];
    other.queue = list->queue;
    other.pool = list->pool;
    other.class_index = list->class_index;
    other.class = &sched->classes.items[list->class_index];
    explain_ask_for(&other, arena);
    return other;
}

/* Whether a rule still refuses the job at which the turn ended. */
static bool is_refused_still(const struct question *question,
                             const struct refusal *refusal)
{
    auto_arena arena = {0};
    struct question first = question_of(question, refusal->job, &arena);

    return refusal->why == REFUSAL_SHARE ? explain_share(&first)
                                         : explain_rates(&first);
}

/* Whether it is refused itself, or is of the gang that is. */
static bool is_own(const struct question *question,
                   const struct refusal *refusal)
{
    const struct sched *sched = question->sched;

    return refusal->job == question->job ||
           (question->record->gang != NONE &&
            sched->jobs.items[refusal->job].gang == question->record->gang);
}

/* Tell why a round ended the turn; false: no longer so. */
static bool tell(const struct question *question, const struct refusal *refusal)
{
    struct sched_explanation *answer = question->answer;

    switch ((enum refusal_why)refusal->why) {
    case REFUSAL_STARTS:
    case REFUSAL_SHARE:
        if (is_own(question, refusal) || !is_refused_still(question, refusal)) {
            return false;
        }
        answer->behind = refusal->job;
        return true;
    case REFUSAL_LOOKBACK:
        answer->wait = SCHED_WAIT_LOOKBACK;
        return true;
    case REFUSAL_ADMITTED:
        answer->wait = SCHED_WAIT_ADMITTED_FIRST;
        answer->for_job = refusal->job;
        return !is_own(question, refusal);
    case REFUSAL_CANDIDATES:
        answer->wait = SCHED_WAIT_CANDIDATES;
        answer->for_job = refusal->job;
        return !is_own(question, refusal);
    case REFUSAL_ROOM:
        answer->wait = question->record->gang == NONE
                           ? SCHED_WAIT_CAPACITY
                           : SCHED_WAIT_GANG_CAPACITY;
        return true;
    case REFUSAL_HELD:
        answer->wait = SCHED_WAIT_PASSED;
        answer->for_job = refusal->job;
        return true;
    }
    return false;
}

bool explain_behind(const struct question *question, bool is_for_share)
{
    const struct sched *sched = question->sched;
    const struct sched_explanation before = *question->answer;
    bool is_any = false;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        if (!explain_is_in_pools(question, p) ||
            sched->pools.items[p].node_count == 0) {
            continue;
        }
        const struct refusal *refusal = refusals_find(sched, p, question->job);
        bool is_meant =
            refusal && (!is_for_share || refusal->why == REFUSAL_SHARE);
        if (!is_meant || !tell(question, refusal)) {
            *question->answer = before;
            return false;
        }
        is_any = true;
    }
    return is_any;
}
