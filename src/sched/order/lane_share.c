#include "sched/order/lane_share.h"

/* While flows that keep work waiting fall, they are looked at so often in a
 * half-life, but not more often than this. */
enum { LOOKS_PER_HALF = 64, LOOK_MS_MIN = 1000 };

void share_note(const struct round *round, struct lane *lane)
{
    struct cost usage =
        cost_of(&round->pool->base, &lane->all, NULL, lane->factor_micro);

    lane->flow->now = share_above_floor(lane, usage);
}

int share_compare_flows(const struct round *round, const struct lane *a,
                        const struct lane *b)
{
    return cost_compare(&round->pool->base, &a->flow->now, &b->flow->now);
}

/* Ask for the lane's first new work: a job, or all of a gang that waits. */
static struct limit_question question_of(const struct round *round,
                                         const struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);
    uint32_t class_index = sched->lists.items[head->list].class_index;
    struct limit_question question =
        limits_ask(&round->pool->base, lane->limits, &lane->all);

    if (class_index != NONE) {
        limits_add(&question, class_at(round, class_index));
        return question;
    }
    limits_add_gang(sched, &question, &sched->gangs.items[head->item]);
    return question;
}

bool share_allows(struct round *round, struct lane *lane)
{
    if (round->is_lending) {
        return true; /* it may be taken back at any time */
    }
    struct limit_question question = question_of(round, lane);
    enum limit_answer answer = limits_answer(&question);

    if (answer == LIMIT_OVER_SHARE) {
        round_wake_by(round,
                      limits_when(&question,
                                  pool_half_time_ms(round->sched, round->p),
                                  round->now_ms));
    }
    return answer == LIMIT_NONE;
}

/* An even part of what all of a gang was charged. */
static int64_t part_of(int64_t charge, uint32_t count, uint32_t index)
{
    i128 upper = (i128)charge * (index + 1) / count;
    i128 lower = (i128)charge * index / count;

    ASSERT(index < count); /* all parts together are the charge */
    return (int64_t)(upper - lower);
}

int64_t share_take(struct round *round, struct lane *lane,
                   const struct class *class, uint32_t index)
{
    const struct reserve *reserve = &round->reserve;

    if (!lane->limits || round->is_lending) {
        return 0;
    }
    if (reserve->asking) {
        return part_of(reserve->asking_charge, reserve->asking_count, index);
    }
    if (class->lifetime_ms == LIFETIME_INFINITE) {
        return 0;
    }
    struct limit_question question =
        limits_ask(&round->pool->base, lane->limits, &lane->all);
    int64_t charge = limits_add(&question, class);

    ASSERT(charge >= 0);
    share_give_back(lane, -charge);
    return charge;
}

int64_t share_admit(struct round *round, struct lane *lane)
{
    if (!lane->limits) {
        return 0;
    }
    struct limit_question question = question_of(round, lane);

    share_give_back(lane, -question.charge);
    return question.charge;
}

void share_count_claim(struct round *round, const struct claim *claim, int sign)
{
    const struct sched *sched = round->sched;

    if (!claim->lane->limits) {
        return;
    }
    if (!claim->is_gang) {
        share_count(claim->lane,
                    class_at(round, class_of_job(sched, claim->item)), sign);
        return;
    }
    const struct seq *waiting = &sched->gangs.items[claim->item].waiting;
    for (struct seq_cursor at = {0}; !seq_is_end(waiting, at);
         seq_next(waiting, &at)) {
        uint32_t job = seq_get(waiting, at);
        share_count(claim->lane, class_at(round, class_of_job(sched, job)),
                    sign);
    }
}

void share_give_back(struct lane *lane, int64_t charge)
{
    if (lane->limits && lane->limits->budget_max != INT64_MAX) {
        lane->limits->budget_left += charge;
    }
}

void share_count(struct lane *lane, const struct class *class, int64_t count)
{
    if (class->lifetime_ms == LIFETIME_INFINITE) {
        amounts_add_times(&lane->limits->infinite, &class->request, count);
    }
}

void share_end(struct round *round)
{
    int64_t half_ms = pool_half_time_ms(round->sched, round->p);
    int64_t pause_ms = half_ms / LOOKS_PER_HALF;
    bool is_waiting = false;

    if (!round->has_flow || round->kind != ROUND_BALANCE ||
        round->units.count == 0) {
        return;
    }
    for (uint32_t i = 0; i < round->lane_count; i++) {
        const struct queue *queue =
            &round->sched->queues.items[round->lanes[i].queue];
        is_waiting |=
            round->lanes[i].flow->has_floor && queue->waiting_count > 0;
    }
    if (is_waiting) {
        round_wake_by(round,
                      round->now_ms +
                          (pause_ms > LOOK_MS_MIN ? pause_ms : LOOK_MS_MIN));
    }
}

void penalty_charge(struct round *round)
{
    const struct sched *sched = round->sched;

    for (size_t i = 0; i < sched->penalties.count; i++) {
        const struct penalty *penalty = &sched->penalties.items[i];
        uint32_t lane = round->lane_of_queue[penalty->queue];
        if (penalty->pool == round->p && lane != NONE &&
            penalty->until_ms > round->now_ms) {
            amounts_add(&round->lanes[lane].penalty, &penalty->sum);
            round->lanes[lane].has_penalty = true;
        }
    }
}
