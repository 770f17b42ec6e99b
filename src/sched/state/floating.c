#include "sched/state/floating.h"

void floating_make_room(const struct sched *sched,
                        struct resource_vec *capacity)
{
    for (uint32_t r = 0;
         sched->policy->has_floating && r < RESOURCE_COLUMNS_MAX; r++) {
        if (sched->policy->is_floating[r]) {
            capacity->v[r] = FLOATING_ROOM;
        }
    }
}

void floating_strip(const struct sched *sched, struct resource_vec *v)
{
    for (uint32_t r = 0;
         sched->policy->has_floating && r < RESOURCE_COLUMNS_MAX; r++) {
        if (sched->policy->is_floating[r]) {
            v->v[r] = 0;
        }
    }
}

void floating_set_totals(const struct sched *sched, struct pool *pool)
{
    for (uint32_t r = 0;
         sched->policy->has_floating && r < RESOURCE_COLUMNS_MAX; r++) {
        if (sched->policy->is_floating[r]) {
            pool->total.v[r] =
                pool->policy_index < 0
                    ? 0
                    : sched->policy->pools[pool->policy_index].floating[r];
        }
    }
}

void floating_count(struct sched *sched, uint32_t pool,
                    const struct resource_vec *request, int sign)
{
    if (sched->policy->has_floating && pool != NONE) {
        amounts_add_times(&sched->pools.items[pool].used, request, sign);
    }
}

bool floating_may_fit(const struct sched *sched, uint32_t pool,
                      const struct resource_vec *request)
{
    const struct resource_vec none = {0};

    return floating_short(sched, pool, &none, request) < 0;
}

int floating_short(const struct sched *sched, uint32_t pool,
                   const struct resource_vec *used,
                   const struct resource_vec *request)
{
    const struct resource_vec *total = &sched->pools.items[pool].total;

    for (int r = 0; sched->policy->has_floating && r < RESOURCE_COLUMNS_MAX;
         r++) {
        if (sched->policy->is_floating[r] && request->v[r] > 0 &&
            request->v[r] > total->v[r] - used->v[r]) {
            return r;
        }
    }
    return -1;
}
