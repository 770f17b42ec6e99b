#include "sched/fairness/usage_ledger_hold.h"

#include "sched/data/cost.h"

/* A usage ledger as it was. */
struct held {
    uint32_t usage_ledger;
    double all, infinite; /* fractions of the pool */
};

struct flow_hold {
    uint32_t depth;
    VEC(struct cost_base) bases; /* by pool, as it was */
    VEC(struct held) items;
};

static bool has_flows(const struct sched *sched)
{
    for (uint32_t p = 0; sched->keeps_usage_ledgers && p < sched->pools.count;
         p++) {
        if (pool_half_time_ms(sched, p) > 0) {
            return true;
        }
    }
    return false;
}

void sched_flows_hold(struct sched *sched)
{
    struct flow_hold *hold = sched->flow_hold;

    if (!hold) {
        hold = sched->flow_hold = mem_alloc(sizeof(*hold));
    }
    if (hold->depth++ > 0 || !has_flows(sched)) {
        return;
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        pool_sync_base(sched, pool);
        VEC_PUSH(&hold->bases, pool->base);
    }
}

bool usage_ledger_hold(struct sched *sched, struct usage_ledger *usage_ledger)
{
    struct flow_hold *hold = sched->flow_hold;

    if (!hold || hold->depth == 0) {
        return false;
    }
    if (usage_ledger->held == 0) {
        struct held held = {
            .usage_ledger =
                (uint32_t)(usage_ledger - sched->usage_ledgers.items),
        };
        if (usage_ledger->pool < hold->bases.count) {
            const struct cost_base *base =
                &hold->bases.items[usage_ledger->pool];
            held.all = cost_fraction(base, &usage_ledger->all);
            held.infinite = cost_fraction(base, &usage_ledger->infinite);
        }
        VEC_PUSH(&hold->items, held);
        usage_ledger->held = (uint32_t)hold->items.count;
    }
    return true;
}

static void keep(struct sched *sched, struct usage_ledger *usage_ledger,
                 const struct held *held)
{
    struct pool *pool = &sched->pools.items[usage_ledger->pool];
    int64_t half_ms = pool_half_time_ms(sched, usage_ledger->pool);

    usage_ledger->held = 0;
    if (half_ms <= 0) {
        return;
    }
    pool_sync_base(sched, pool);
    flow_change(&usage_ledger->flow, half_ms, sched->now_ms, held->all,
                cost_fraction(&pool->base, &usage_ledger->all));
    flow_change(&usage_ledger->infinite_flow, half_ms, sched->now_ms,
                held->infinite,
                cost_fraction(&pool->base, &usage_ledger->infinite));
}

void sched_flows_keep(struct sched *sched)
{
    struct flow_hold *hold = sched->flow_hold;

    if (!hold || hold->depth == 0 || --hold->depth > 0) {
        return; /* it was made meanwhile, or there is more to come */
    }
    for (size_t i = 0; i < hold->items.count; i++) {
        struct usage_ledger *usage_ledger =
            hold->items.items[i].usage_ledger < sched->usage_ledgers.count
                ? &sched->usage_ledgers.items[hold->items.items[i].usage_ledger]
                : NULL;
        if (usage_ledger && usage_ledger->held == i + 1) {
            keep(sched, usage_ledger, &hold->items.items[i]);
        }
    }
    hold->items.count = 0;
    hold->bases.count = 0;
}

void usage_ledger_hold_fini(struct sched *sched)
{
    if (sched->flow_hold) {
        VEC_FREE(&sched->flow_hold->bases);
        VEC_FREE(&sched->flow_hold->items);
        mem_free(sched->flow_hold);
    }
}
