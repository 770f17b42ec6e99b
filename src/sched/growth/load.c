/* The load of a pool: what pods request there, and the ceiling. */
#include "sched/growth/growth.h"

static struct resource_vec foreign_of(const struct sched *sched,
                                      const struct node *node)
{
    struct resource_vec foreign = {0};

    if (node->record->foreign.count) {
        (void)!resource_request(&sched->policy->schema, &node->record->foreign,
                                &foreign);
    }
    return foreign;
}

/* What pods that are not ours have on the pool's nodes: kept from one round
 * to the next, for it changes only with nodes. */
static const struct resource_vec *foreign_sum(struct sched *sched, uint32_t p)
{
    struct pool *pool = &sched->pools.items[p];

    if (pool->is_foreign_known) {
        return &pool->foreign;
    }
    pool->foreign = (struct resource_vec){0};
    pool->is_foreign_known = true;
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (node->pool == p && node_is_in_total(node)) {
            struct resource_vec foreign = foreign_of(sched, node);
            amounts_add(&pool->foreign, &foreign);
        }
    }
    return &pool->foreign;
}

void growth_load_of(struct sched *sched, uint32_t p,
                    struct growth_load *ret_load)
{
    const struct pool *pool = &sched->pools.items[p];
    const struct resource_vec *foreign = foreign_sum(sched, p);
    const struct pool_policy *policy =
        &sched->policy->pools[pool->policy_index];

    ret_load->total = pool->total;
    amounts_add(&ret_load->total, foreign);
    ret_load->now = *foreign;
    amounts_add(&ret_load->now, &pool->foreign_pending);
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        ASSERT_SLOW(amounts_fit(&sched->free[i], &node->capacity));
        if (node->pool == p && node_is_in_total(node)) {
            amounts_add(&ret_load->now, &node->capacity);
            amounts_subtract(&ret_load->now, &sched->free[i]);
        }
    }
    ASSERT(amounts_is_sum(&ret_load->total));
    ret_load->max_ppm =
        policy->load_max_ppm ? policy->load_max_ppm : FRACTION_ONE_PPM;
}

void growth_measure(struct growth *growth)
{
    const struct round *round = growth->round;
    struct growth_load load;

    growth_load_of(round->sched, round->p, &load);
    growth->load = load.now;
    growth->total = load.total;
    growth->load_max_ppm = load.max_ppm;
}

int growth_overload(const struct sched *sched, const struct growth_load *load,
                    const struct resource_vec *request)
{
    int cpu = sched->cpu_column;

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t with = load->now.v[r] + request->v[r];
        bool is_gpu = sched->gpu_columns >> r & 1;
        if (request->v[r] > 0 && is_gpu && with > load->total.v[r]) {
            return r;
        }
        if (request->v[r] > 0 && r == cpu &&
            (i128)with * FRACTION_ONE_PPM >
                (i128)load->total.v[r] * load->max_ppm) {
            return r;
        }
    }
    return -1;
}

bool growth_is_above(const struct growth *growth,
                     const struct resource_vec *load,
                     const struct resource_vec *request)
{
    const struct sched *sched = growth->round->sched;
    int cpu = sched->cpu_column;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if ((sched->gpu_columns >> r & 1) && request->v[r] > 0 &&
            load->v[r] > growth->total.v[r]) {
            return true;
        }
    }
    return cpu >= 0 && request->v[cpu] > 0 &&
           (i128)load->v[cpu] * FRACTION_ONE_PPM >
               (i128)growth->total.v[cpu] * growth->load_max_ppm;
}
