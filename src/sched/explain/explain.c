#include "sched/explain/private.h"
#include "sched/order/queue_order.h"
#include "sched/state/sub_groups.h"

static void answer_waiting(struct question *question)
{
    explain_nodes(question);
    question->answer->ahead = queue_order_ahead(question->sched, question->job);
    question->answer->shorter =
        queue_order_shorter(question->sched, question->job);
    explain_reason(question);
}

void sched_explain(struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *ret_explanation)
{
    auto_arena arena = {0};
    struct question question;

    explain_ask(sched, job, now_ms, ret_explanation, &arena, &question);
    if (question.record->run == NONE) {
        explain_ask_for(&question, &arena);
        answer_waiting(&question);
    }
}

/* What a gang lacks at once, where the answer does not say so: it is about the
 * reservation, say. */
static void ask_gang(struct question *question,
                     struct sched_explanation *ret_lack)
{
    const struct sched *sched = question->sched;
    const struct gang *gang = &sched->gangs.items[question->record->gang];
    struct sched_explanation *answer = question->answer;

    *ret_lack = *answer;
    if (gang->position == NONE || answer->wanted || question->is_growth) {
        return;
    }
    question->answer = ret_lack;
    (void)explain_gang_short(question, gang);
    question->answer = answer;
}

/* Ask what it needs, once it is known why it waits. */
static void ask_need(struct question *question, struct sched_need *ret_need)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer, lack = *answer;
    struct need_question asked = {
        .job = question->job,
        .pool = 0,
        .now_ms = question->now_ms,
        .closest = question->closest,
    };

    while (asked.pool < sched->pools.count &&
           !explain_is_in_pools(question, asked.pool)) {
        asked.pool++;
    }
    if (asked.pool == sched->pools.count) {
        return;
    }
    if (question->record->gang != NONE) {
        ask_gang(question, &lack);
    }
    asked.sub_group = question->lacking;
    if (asked.sub_group != NONE) {
        const struct gang *gang = &sched->gangs.items[question->record->gang];
        const struct seq *lacking = sub_group_required(gang, asked.sub_group);
        explain_closest_of(question, seq_get(lacking, (struct seq_cursor){0}),
                           &asked.closest);
    }
    asked.present = lack.present;
    asked.wanted = lack.wanted;
    need_find(sched, &asked, answer, ret_need);
}

void sched_explain_need(struct sched *sched, uint32_t job, int64_t now_ms,
                        struct sched_explanation *ret_explanation,
                        struct sched_need *ret_need)
{
    auto_arena arena = {0};
    struct question question;

    explain_ask(sched, job, now_ms, ret_explanation, &arena, &question);
    *ret_need = (struct sched_need){.node = NONE};
    if (question.record->run == NONE) {
        explain_ask_for(&question, &arena);
        answer_waiting(&question);
        ask_need(&question, ret_need);
    }
}
