/* The floor of a lane's flow: when a round begins, and when usage falls. */
#include "sched/order/lane_share.h"

/* A flow above what usage would be by less comes from rounding: then they are
 * the same, and ties are ties (FL-10). */
static const double NEAR = 1e-9;

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
    if (limits_get(sched, round->what_if, lane->queue, round->p,
                   round->active_weight, round->now_ms, &limits)) {
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
