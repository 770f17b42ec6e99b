/* Why a job waits, in a word, without looking at the nodes. */
#include "sched/explain/private.h"
#include "sched/order/order.h"
#include "sched/order/queue_order.h"
#include "sched/state/sub_groups.h"

static bool take_looks(uint32_t *looks_left, uint32_t count)
{
    if (*looks_left < count) {
        return false;
    }
    *looks_left -= count;
    return true;
}

/* NULL: it is of none. */
static const struct gang *gang_of(const struct question *question)
{
    uint32_t gang = question->record->gang;

    return gang == NONE ? NULL : &question->sched->gangs.items[gang];
}

/* Whether it, or its gang, is the first of its queue; true of applications,
 * whose order is their own. */
static bool is_first(const struct question *question)
{
    const struct sched *sched = question->sched;
    const struct queue *queue = &sched->queues.items[question->queue];
    uint32_t first = queue->apps ? NONE : queue_order_first(sched, queue);

    return first == NONE || first == question->job ||
           (question->record->gang != NONE &&
            sched->jobs.items[first].gang == question->record->gang);
}

static bool has_nodes(const struct question *question)
{
    const struct sched *sched = question->sched;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        if (explain_is_in_pools(question, p) &&
            sched->pools.items[p].node_count > 0) {
            return true;
        }
    }
    return false;
}

/* What its gang and the queue itself say, before any limit; else NOT. */
static enum sched_wait ask_standing(const struct question *question)
{
    const struct sched *sched = question->sched;
    const struct gang *gang = gang_of(question);
    bool is_cordoned = sched->queues.items[question->queue].is_cordoned;
    bool is_there = !gang || gang->position != NONE;
    struct sched_admission admission;

    if (question->is_growth) {
        return SCHED_WAIT_GROWTH;
    }
    if (is_there && !is_cordoned && explain_quota(question)) {
        return SCHED_WAIT_QUOTA;
    }
    if (sched_job_admission(sched, question->job, &admission)) {
        if (is_there && !is_cordoned && explain_limit(question)) {
            return SCHED_WAIT_QUEUE_LIMIT;
        }
        return gang ? SCHED_WAIT_GANG_CAPACITY : SCHED_WAIT_CAPACITY;
    }
    if (!is_there) {
        return SCHED_WAIT_GANG;
    }
    return is_cordoned ? SCHED_WAIT_QUEUE_CORDONED : SCHED_WAIT_NOT;
}

/* What the order of applications, shares and limits say; else NOT. */
static enum sched_wait ask_limits(const struct question *question)
{
    struct sched_explanation *answer = question->answer;

    if (order_explain(question->sched, question->job, question->now_ms,
                      answer) ||
        explain_share(question) || explain_behind(question, true)) {
        return answer->wait;
    }
    if (explain_floating(question)) {
        return SCHED_WAIT_FLOATING;
    }
    return explain_limit(question) ? SCHED_WAIT_QUEUE_LIMIT : SCHED_WAIT_NOT;
}

/* What nodes and the rates of starting say of a queue's first. */
static enum sched_wait ask_nodes(struct question *question,
                                 uint32_t *looks_left)
{
    if (gang_of(question)) {
        return SCHED_WAIT_GANG_CAPACITY;
    }
    if (!take_looks(looks_left, (uint32_t)question->sched->nodes.count) ||
        explain_fitting(question, 1) == 0) {
        return SCHED_WAIT_CAPACITY;
    }
    return explain_rates(question) ? question->answer->wait : SCHED_WAIT_TURN;
}

enum sched_wait sched_wait_of(struct sched *sched, uint32_t job, int64_t now_ms,
                              uint32_t *looks_left)
{
    const struct job *record = &sched->jobs.items[job];
    struct sched_explanation answer;
    auto_arena arena = {0};
    struct question question;

    if (record->run != NONE ||
        (record->gang != NONE &&
         !take_looks(looks_left,
                     sched->gangs.items[record->gang].waiting.count))) {
        return SCHED_WAIT_NOT;
    }
    explain_ask(sched, job, &answer, &arena, &question);
    question.now_ms = now_ms;
    explain_ask_for(&question, &arena);
    enum sched_wait wait = ask_standing(&question);
    if (wait == SCHED_WAIT_NOT) {
        wait = ask_limits(&question);
    }
    if (wait != SCHED_WAIT_NOT) {
        return wait;
    }
    if (!has_nodes(&question)) {
        return SCHED_WAIT_NO_NODES;
    }
    return is_first(&question) ? ask_nodes(&question, looks_left)
                               : SCHED_WAIT_PRIORITY;
}
