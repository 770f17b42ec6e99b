#include "sched/explain/private.h"
#include "sched/gang/locality_fit.h"
#include "sched/order/order.h"
#include "sched/order/queue_order.h"
#include "sched/order/sweep.h"
#include "sched/state/distance_cap.h"
#include "sched/state/sub_groups.h"
#include "sched/state/topology.h"

/* Whether a sub-group of its gang has too little room near enough in a pool:
 * though there is room further away, or though nodes were empty. */
static bool is_too_far(struct question *question, uint32_t pool,
                       const struct gang *gang, uint32_t sub_group)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    uint32_t wanted = gang->subs->items[sub_group].asked.count;
    int64_t end_ms = distance_cap_end_ms(sched, gang, sub_group);
    struct locality_fit fit;

    if (wanted == 0 || question->now_ms >= end_ms ||
        gang->subs->terms.sub_groups[sub_group].hops_max == HOPS_ANY) {
        return false;
    }
    locality_fit_of(sched, pool, gang, sub_group, &fit);
    if (fit.free_count >= wanted ||
        (fit.open_count < wanted && fit.empty_count >= wanted)) {
        return false;
    }
    uint32_t levels =
        topology_level_max(topology_of(sched, pool),
                           gang->subs->terms.sub_groups[sub_group].hops_max);
    answer->present = (uint32_t)fit.free_count;
    answer->wanted = wanted;
    answer->empty =
        fit.empty_count < wanted ? (uint32_t)fit.empty_count : wanted;
    answer->domain = fit.domain;
    answer->sub_group = gang->subs->terms.sub_groups[sub_group].name;
    question->lacking = sub_group;
    answer->hops = 2 * levels;
    answer->pool = intern_get(sched->pool_names, pool);
    answer->until_ms = end_ms == INT64_MAX ? 0 : end_ms;
    return true;
}

/* Whether that is so in all pools where it could be; the last one is told. */
static bool lacks_nearness(struct question *question)
{
    const struct sched *sched = question->sched;
    bool is_far = false;

    if (question->record->gang == NONE) {
        return false;
    }
    const struct gang *gang = &sched->gangs.items[question->record->gang];
    if (gang->position == NONE || !distance_is_capped(gang)) {
        return false;
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        bool is_here = false;
        if (!explain_is_in_pools(question, p) || !topology_of(sched, p)) {
            continue;
        }
        for (uint32_t i = 0; i < gang->subs->terms.sub_group_count && !is_here;
             i++) {
            is_here = is_too_far(question, p, gang, i);
        }
        if (!is_here) {
            return false;
        }
        is_far = true;
    }
    return is_far;
}

/* Whether less of a gang fits at once than must; how far it does. */
static bool fits_short(struct question *question, const struct gang *gang)
{
    struct sched_explanation *answer = question->answer;

    if (gang_has_terms(gang)) {
        return explain_sub_groups(question, gang);
    }
    uint32_t needed = gang_needed(gang);
    uint32_t fitting = explain_fitting(question, gang->waiting.count);
    answer->present = fitting < needed ? fitting : needed;
    answer->wanted = needed;
    return fitting < needed;
}

/* The gang's part of an answer: is it there, and how far does it fit? */
static bool gang_waits(struct question *question)
{
    struct sched_explanation *answer = question->answer;
    const struct gang *gang =
        &question->sched->gangs.items[question->record->gang];

    if (sub_groups_are_met(gang)) {
        answer->present = gang->leased.count;
        answer->wanted = gang->cardinality;
        explain_growth(question);
        return true;
    }
    if (gang->position == NONE) {
        answer->present =
            gang->waiting.count + gang->leased.count + sub_groups_spare(gang);
        answer->wanted = gang->cardinality;
        answer->wait = SCHED_WAIT_GANG;
        return true;
    }
    bool is_short = fits_short(question, gang);
    if (answer->wait == SCHED_WAIT_TURN && is_short) {
        answer->wait = SCHED_WAIT_GANG_CAPACITY;
        return true;
    }
    return false;
}

/* Whether the queue's ordering lets others go first, whatever is free. */
static bool is_kept_back(const struct question *question)
{
    const struct sched *sched = question->sched;
    enum sched_wait wait = question->answer->wait;
    uint32_t gang = question->record->gang;

    return (wait == SCHED_WAIT_TURN || wait == SCHED_WAIT_CAPACITY) &&
           !sched->queues.items[question->queue].is_cordoned &&
           (gang == NONE || sched->gangs.items[gang].position != NONE) &&
           order_explain(sched, question->job, question->now_ms,
                         question->answer);
}

/* When it is to start at the latest, where that was promised, or was to; false:
 * it is not admitted. */
static bool note_promise(const struct question *question)
{
    struct sched_admission admission;

    if (!sched_job_admission(question->sched, question->job, &admission)) {
        return false;
    }
    if (admission.start_ms == SCHED_START_UNKNOWN) {
        return true;
    }
    if (admission.start_ms < question->now_ms) {
        question->answer->broken_ms = admission.start_ms;
    } else {
        question->answer->promised_ms = admission.start_ms;
    }
    return true;
}

/* Whether nothing but what its queue may do keeps the job waiting, as far as
 * nodes and its gang go. */
static bool may_be_limited(const struct question *question)
{
    const struct sched *sched = question->sched;
    enum sched_wait wait = question->answer->wait;
    uint32_t gang = question->record->gang;

    return (wait == SCHED_WAIT_TURN || wait == SCHED_WAIT_CAPACITY) &&
           !sched->queues.items[question->queue].is_cordoned &&
           (gang == NONE || sched->gangs.items[gang].position != NONE);
}

/* Whether its place among the admitted says it all, or the limit does that
 * keeps it waiting there. */
static bool is_admitted(const struct question *question)
{
    struct sched_explanation *answer = question->answer;

    if (!note_promise(question)) {
        return false;
    }
    answer->until_ms = answer->promised_ms;
    if (may_be_limited(question) && explain_limit(question)) {
        answer->wait = SCHED_WAIT_QUEUE_LIMIT;
    } else {
        answer->wait =
            answer->promised_ms ? SCHED_WAIT_RESERVED : SCHED_WAIT_ADMITTED;
    }
    return true;
}

/* Whether it is the quota, and nothing before it. */
static bool is_over_quota(const struct question *question)
{
    if (!may_be_limited(question) || !explain_quota(question)) {
        return false;
    }
    (void)note_promise(question);
    return true;
}

static void answer_waiting(struct question *question)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;

    explain_nodes(question);
    answer->ahead = queue_order_ahead(sched, question->job);
    if (lacks_nearness(question)) {
        answer->wait = SCHED_WAIT_TOPOLOGY;
        return;
    }
    if (is_over_quota(question)) {
        return;
    }
    if (is_admitted(question) || is_kept_back(question) ||
        (question->record->gang != NONE && gang_waits(question))) {
        return;
    }
    if (sched->queues.items[question->queue].is_cordoned) {
        answer->wait = SCHED_WAIT_QUEUE_CORDONED;
    } else if (answer->wait != SCHED_WAIT_TURN &&
               answer->wait != SCHED_WAIT_CAPACITY) {
        return;
    } else if (explain_share(question) || explain_behind(question, true)) {
        return;
    } else if (explain_floating(question)) {
        answer->wait = SCHED_WAIT_FLOATING;
    } else if (explain_limit(question)) {
        answer->wait = SCHED_WAIT_QUEUE_LIMIT;
    } else if (answer->wait == SCHED_WAIT_CAPACITY) {
        if (question->record->gang != NONE) {
            answer->wait = SCHED_WAIT_GANG_CAPACITY;
        }
    } else if (explain_rates(question)) {
        return;
    } else if (explain_behind(question, false)) {
        return;
    } else if (sweep_is_before(sched, question->job)) {
        answer->wait = SCHED_WAIT_ROUND;
    }
}

void sched_explain(struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *ret_explanation)
{
    auto_arena arena = {0};
    struct question question;

    explain_ask(sched, job, ret_explanation, &arena, &question);
    question.now_ms = now_ms;
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
    (void)fits_short(question, gang);
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
        .near = question->near,
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
        const struct seq *lacking = &gang->subs->items[asked.sub_group].asked;
        explain_near_of(question, seq_get(lacking, (struct seq_cursor){0}),
                        &asked.near);
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

    explain_ask(sched, job, ret_explanation, &arena, &question);
    question.now_ms = now_ms;
    *ret_need = (struct sched_need){.node = NONE};
    if (question.record->run == NONE) {
        explain_ask_for(&question, &arena);
        answer_waiting(&question);
        ask_need(&question, ret_need);
    }
}
