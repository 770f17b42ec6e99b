/* The reasons why a job waits, in their order. */
#include "sched/explain/private.h"
#include "sched/order/order.h"
#include "sched/order/sweep.h"
#include "sched/state/sub_groups.h"

/* NULL: it is of none. */
static const struct gang *gang_of(const struct question *question)
{
    uint32_t gang = question->record->gang;

    return gang == NONE ? NULL : &question->sched->gangs.items[gang];
}

static bool is_cordoned_queue(const struct question *question)
{
    return question->sched->queues.items[question->queue].is_cordoned;
}

/* Whether nothing but what its queue may do keeps the job waiting, as far as
 * nodes and its gang go. */
static bool may_be_limited(const struct question *question)
{
    enum sched_wait wait = question->answer->wait;
    const struct gang *gang = gang_of(question);

    return (wait == SCHED_WAIT_TURN || wait == SCHED_WAIT_CAPACITY) &&
           !is_cordoned_queue(question) && (!gang || gang->position != NONE);
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
        bool is_next = admission.ahead == 0 &&
                       admission.reserved_from_ms > question->now_ms;
        question->answer->reserved_from_ms =
            is_next ? admission.reserved_from_ms : 0;
        return true;
    }
    if (admission.start_ms < question->now_ms) {
        question->answer->broken_ms = admission.start_ms;
    } else {
        question->answer->promised_ms = admission.start_ms;
    }
    return true;
}

/* Whether it is the quota, and nothing before it. */
static bool is_over_quota(struct question *question)
{
    if (!may_be_limited(question) || !explain_quota(question)) {
        return false;
    }
    (void)note_promise(question);
    return true;
}

/* Whether its place among the admitted says it all, or the limit does that
 * keeps it waiting there. */
static bool is_admitted(struct question *question)
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

/* Whether the queue's ordering lets others go first, whatever is free. */
static bool is_kept_back(struct question *question)
{
    return may_be_limited(question) &&
           order_explain(question->sched, question->job, question->now_ms,
                         question->answer);
}

/* Whether its gang runs what it must, and would grow by it. */
static bool is_of_growth(struct question *question)
{
    if (question->is_growth && question->is_brief) {
        question->answer->wait = SCHED_WAIT_GROWTH;
    } else if (question->is_growth) {
        explain_growth(question);
    }
    return question->is_growth;
}

/* Whether members of its gang are missing. */
static bool is_incomplete(struct question *question)
{
    struct sched_explanation *answer = question->answer;
    const struct gang *gang = gang_of(question);

    if (!gang || gang->position != NONE) {
        return false;
    }
    answer->present = gang->waiting.count + gang->leased.count +
                      sub_groups_optional_count(gang);
    answer->wanted = gang->cardinality;
    answer->wait = SCHED_WAIT_GANG;
    return true;
}

bool explain_gang_short(struct question *question, const struct gang *gang)
{
    struct sched_explanation *answer = question->answer;

    if (gang_has_terms(gang)) {
        return explain_sub_groups(question, gang);
    }
    uint32_t needed = gang_needed(gang);
    uint32_t fitting = explain_fitting(question, gang->waiting.count, NULL);
    answer->present = fitting < needed ? fitting : needed;
    answer->wanted = needed;
    return fitting < needed;
}

/* Whether its gang does not fit at once, though it does. */
static bool is_gang_short(struct question *question)
{
    const struct gang *gang = gang_of(question);

    if (question->is_brief || !gang || !explain_gang_short(question, gang) ||
        question->answer->wait != SCHED_WAIT_TURN) {
        return false;
    }
    question->answer->wait = SCHED_WAIT_GANG_CAPACITY;
    return true;
}

static bool is_cordoned(struct question *question)
{
    if (is_cordoned_queue(question)) {
        question->answer->wait = SCHED_WAIT_QUEUE_CORDONED;
    }
    return is_cordoned_queue(question);
}

/* Whether no node could take it: then that is said already. */
static bool has_no_node(struct question *question)
{
    return question->answer->wait != SCHED_WAIT_TURN &&
           question->answer->wait != SCHED_WAIT_CAPACITY;
}

static bool is_behind_share(struct question *question)
{
    return explain_behind(question, true);
}

static bool lacks_floating(struct question *question)
{
    if (!explain_floating(question)) {
        return false;
    }
    question->answer->wait = SCHED_WAIT_FLOATING;
    return true;
}

static bool is_over_limit(struct question *question)
{
    if (!explain_limit(question)) {
        return false;
    }
    question->answer->wait = SCHED_WAIT_QUEUE_LIMIT;
    return true;
}

/* Whether nodes are too full for it; of a list only the first of a queue is
 * looked for on nodes. */
static bool lacks_room(struct question *question)
{
    struct sched_explanation *answer = question->answer;
    enum sched_wait full =
        gang_of(question) ? SCHED_WAIT_GANG_CAPACITY : SCHED_WAIT_CAPACITY;

    if (!question->is_brief) {
        bool is_full = answer->wait == SCHED_WAIT_CAPACITY;
        answer->wait = is_full ? full : answer->wait;
        return is_full;
    }
    if (!explain_is_first(question)) {
        answer->wait = SCHED_WAIT_PRIORITY;
    } else if (!question->has_looked || answer->wait == SCHED_WAIT_CAPACITY) {
        answer->wait = full;
    }
    return answer->wait != SCHED_WAIT_TURN;
}

static bool is_behind(struct question *question)
{
    return explain_behind(question, false);
}

static bool is_cut(struct question *question)
{
    if (!sweep_is_before(question->sched, question->job)) {
        return false;
    }
    question->answer->wait = SCHED_WAIT_ROUND;
    return true;
}

static bool lacks_nearness(struct question *question)
{
    return !question->is_brief && explain_distance(question);
}

/* In the order in which they are told: the first that holds is the answer.
 * Each has set its word, and its numbers, when it holds. */
static bool (*const reasons[])(struct question *question) = {
    lacks_nearness,  is_over_quota,  is_admitted,   is_kept_back, is_of_growth,
    is_incomplete,   is_gang_short,  is_cordoned,   has_no_node,  explain_share,
    is_behind_share, lacks_floating, is_over_limit, lacks_room,   explain_rates,
    is_behind,       is_cut,
};

void explain_reason(struct question *question)
{
    size_t i = 0;

    while (i < ARRAY_COUNT(reasons) && !reasons[i](question)) {
        i++;
    }
}
