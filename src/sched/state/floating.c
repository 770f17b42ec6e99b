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

/* How much a pool has too little of a column, of which so much is used; 0: it
 * has enough. */
static int64_t missing_of(const struct sched *sched, uint32_t pool,
                          const struct resource_vec *used,
                          const struct resource_vec *request, int column)
{
    int64_t left = sched->pools.items[pool].total.v[column] - used->v[column];
    int64_t asked = request->v[column];

    return sched->policy->is_floating[column] && asked > 0 && asked > left
               ? asked - left
               : 0;
}

int floating_short(const struct sched *sched, uint32_t pool,
                   const struct resource_vec *used,
                   const struct resource_vec *request)
{
    for (int r = 0; sched->policy->has_floating && r < RESOURCE_COLUMNS_MAX;
         r++) {
        if (missing_of(sched, pool, used, request, r) > 0) {
            return r;
        }
    }
    return -1;
}

struct resource_vec floating_missing(const struct sched *sched, uint32_t pool,
                                     const struct resource_vec *used,
                                     const struct resource_vec *request)
{
    struct resource_vec missing = {0};

    for (int r = 0; sched->policy->has_floating && r < RESOURCE_COLUMNS_MAX;
         r++) {
        missing.v[r] = missing_of(sched, pool, used, request, r);
    }
    ASSERT(amounts_is_sum(&missing)); /* what lacks is never negative */
    return missing;
}
