/* Why a job waits, in a word, with a look at the nodes for few. */
#include "sched/explain/private.h"
#include "sched/order/queue_order.h"

static bool take_looks(uint32_t *looks_left, uint32_t count)
{
    if (*looks_left < count) {
        return false;
    }
    *looks_left -= count;
    return true;
}

bool explain_is_first(const struct question *question)
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

/* What lists say: whether nodes are reserved for it is told beside. */
static enum sched_wait word_of(const struct question *question)
{
    enum sched_wait wait = question->answer->wait;

    if (wait != SCHED_WAIT_ADMITTED && wait != SCHED_WAIT_RESERVED) {
        return wait;
    }
    return question->record->gang == NONE ? SCHED_WAIT_CAPACITY
                                          : SCHED_WAIT_GANG_CAPACITY;
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
    explain_ask(sched, job, now_ms, &answer, &arena, &question);
    explain_ask_for(&question, &arena);
    question.is_brief = true;
    answer.wait = has_nodes(&question) ? SCHED_WAIT_TURN : SCHED_WAIT_NO_NODES;
    question.has_looked = answer.wait == SCHED_WAIT_TURN &&
                          record->gang == NONE && explain_is_first(&question) &&
                          take_looks(looks_left, (uint32_t)sched->nodes.count);
    if (question.has_looked) {
        explain_nodes(&question);
    }
    explain_reason(&question);
    return word_of(&question);
}
