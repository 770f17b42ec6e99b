#include "sched/order/lane_share.h"

/* A flow above what usage would be by less comes from rounding: then they are
 * the same, and ties are ties (FL-10). */
static const double NEAR = 1e-9;

/* While flows that keep work waiting fall, they are looked at so often in a
 * half-life, but not more often than this. */
enum { LOOKS_PER_HALF = 64, LOOK_MS_MIN = 1000 };

void share_start(struct round *round)
{
    struct sched *sched = round->sched;

    round->has_flow = pool_half_time_ms(sched, round->p) > 0;
    if (sched->keeps_usage_ledgers) {
        round->active_weight = limits_whole(sched, round->p);
    }
}

/* What is remembered of the queue, if that is more than it uses. */
static void set_floor(const struct round *round, struct lane *lane,
                      const struct usage_ledger *usage_ledger)
{
    double excess =
        flow_excess(&usage_ledger->flow,
                    pool_half_time_ms(round->sched, round->p), round->now_ms);
    double flow =
        cost_fraction(&round->pool->base, &usage_ledger->all) + excess;

    lane->flow->has_floor = excess > NEAR * flow;
    lane->flow->floor =
        cost_of_fraction(&round->pool->base, flow, lane->factor_micro);
    lane->flow->fraction = flow;
}

void share_begin(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    const struct usage_ledger *usage_ledger =
        usage_ledger_find(sched, lane->queue, round->p);
    struct limits limits;

    if (!sched->keeps_usage_ledgers) {
        return;
    }
    if (round->has_flow) {
        lane->flow = arena_alloc(round->arena, sizeof(*lane->flow));
        if (usage_ledger) {
            set_floor(round, lane, usage_ledger);
        }
    }
    if (limits_get(sched, lane->queue, round->p, round->active_weight,
                   round->now_ms, &limits)) {
        lane->limits = arena_alloc(round->arena, sizeof(*lane->limits));
        *lane->limits = limits;
    }
}

void share_fell(struct round *round, struct lane *lane,
                const struct resource_vec *all,
                const struct resource_vec *infinite)
{
    const struct cost_base *base = &round->pool->base;

    if (!lane->flow) {
        return;
    }
    struct fall fall = {
        .lane = lane,
        .floor = lane->flow->floor,
        .fraction = lane->flow->fraction,
        .has_floor = lane->flow->has_floor,
        .infinite_floor = lane->limits ? lane->limits->infinite_floor : 0,
        .journal_count = round->sched->journal.count,
    };
    struct cost usage = cost_of(base, all, NULL, lane->factor_micro);
    /* What fell last is undone first. */
    ASSERT(round->falls.count == 0 ||
           round->falls.items[round->falls.count - 1].journal_count <=
               fall.journal_count);
    VEC_PUSH(&round->falls, fall);
    if (!fall.has_floor || cost_compare(base, &usage, &fall.floor) > 0) {
        lane->flow->floor = usage;
        lane->flow->fraction = cost_fraction(base, all);
        lane->flow->has_floor = true;
    }
    if (lane->limits) {
        double cost = cost_fraction(base, infinite);
        lane->limits->infinite_floor =
            cost > fall.infinite_floor ? cost : fall.infinite_floor;
    }
}

void share_fall(struct round *round, struct lane *lane)
{
    share_fell(round, lane, &lane->all,
               lane->limits ? &lane->limits->infinite : NULL);
}

void share_rollback(struct round *round, size_t journal_count)
{
    while (round->falls.count) {
        const struct fall *fall = &round->falls.items[round->falls.count - 1];
        if (fall->journal_count <= journal_count) {
            return;
        }
        fall->lane->flow->floor = fall->floor;
        fall->lane->flow->fraction = fall->fraction;
        fall->lane->flow->has_floor = fall->has_floor;
        if (fall->lane->limits) {
            fall->lane->limits->infinite_floor = fall->infinite_floor;
        }
        round->falls.count--;
    }
}

struct share_whole share_leave_out(const struct round *round, struct lane *lane,
                                   const struct resource_vec *others)
{
    const struct cost_base *base = &round->pool->base;
    struct share_whole whole = {.others = *others};
    double before = cost_fraction(base, &lane->all);

    amounts_subtract(&lane->all, others);
    ASSERT(amounts_is_sum(&lane->all)); /* admitted work is in the sums */
    if (lane->flow && lane->flow->has_floor) {
        double left =
            lane->flow->fraction - (before - cost_fraction(base, &lane->all));
        whole.floor = lane->flow->floor;
        whole.fraction = lane->flow->fraction;
        whole.has_floor = true;
        lane->flow->fraction = left > 0 ? left : 0;
        lane->flow->floor =
            cost_of_fraction(base, lane->flow->fraction, lane->factor_micro);
    }
    return whole;
}

void share_put_back(const struct round *round, struct lane *lane,
                    const struct share_whole *whole)
{
    struct lane_flow *flow = lane->flow;

    amounts_add(&lane->all, &whole->others);
    if (flow && whole->has_floor &&
        cost_compare(&round->pool->base, &whole->floor, &flow->floor) > 0) {
        flow->floor = whole->floor;
        flow->fraction = whole->fraction;
    }
}

struct cost share_above_floor(const struct lane *lane, struct cost cost)
{
    const struct lane_flow *flow = lane->flow;
    bool is_above =
        flow->has_floor && flow->floor.approx > cost.approx * (1 + NEAR);

    return is_above ? flow->floor : cost;
}

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
