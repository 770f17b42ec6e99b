/* Gangs that are larger than their queues' shares: for explanations, without
 * effect on plans. */
#include "sched/data/cost.h"
#include "sched/evict/gang_protection.h"
#include "sched/state/borrowed.h"
#include "sched/state/state.h"
#include "sched/state/sub_groups.h"

/* What of a gang goes when one of it does, summed up. */
struct stake {
    const struct sched *sched;
    struct resource_vec sum;
    int64_t lifetime_ms; /* the shortest */
    uint32_t count;
};

static void add_first(struct stake *stake, const struct seq *jobs,
                      uint32_t count_max)
{
    const struct sched *sched = stake->sched;

    for (struct seq_cursor at = {0}; count_max > 0 && !seq_is_end(jobs, at);
         seq_next(jobs, &at), count_max--) {
        const struct job *job = &sched->jobs.items[seq_get(jobs, at)];
        const struct class *class =
            &sched->classes.items[sched->lists.items[job->list].class_index];
        amounts_add(&stake->sum, &class->request);
        stake->count++;
        if (class->lifetime_ms < stake->lifetime_ms) {
            stake->lifetime_ms = class->lifetime_ms;
        }
    }
}

/* What runs of it, but for surplus, which goes by itself; or if nothing does,
 * what must start at once. */
static struct stake stake_of(const struct sched *sched, const struct gang *gang)
{
    struct stake stake = {.sched = sched, .lifetime_ms = LIFETIME_INFINITE};

    if (gang->leased.count == 0) {
        add_first(&stake, &gang->waiting, gang_needed(gang));
    } else if (!gang_has_terms(gang)) {
        add_first(&stake, &gang->leased, UINT32_MAX);
    } else {
        for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
            add_first(&stake, sub_group_leased(gang, i),
                      sub_group_terms(gang, i)->min_count);
        }
    }
    ASSERT(stake.count <= gang->leased.count + gang->waiting.count);
    return stake;
}

/* The share of a queue in a pool, if it is known there. */
static bool find_share(struct sched *sched, uint32_t queue, uint32_t pool,
                       struct share *ret_share)
{
    auto_arena arena = {0};
    uint32_t count;
    const struct share *shares = shares_of(sched, NULL, pool, &arena, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (shares[i].queue == queue) {
            *ret_share = shares[i];
            return true;
        }
    }
    return false;
}

/* Whether it is too large there; then a pool that is nearer to holding it takes
 * the place of the one that was told of; of two alike that of the first name.
 */
static bool is_over_in(struct sched *sched, uint32_t queue, uint32_t pool,
                       const struct stake *stake,
                       struct sched_gang_over_share *ret)
{
    double part = cost_fraction(&sched->pools.items[pool].base, &stake->sum);
    struct share share;

    ASSERT(stake->count > 0);
    if (!find_share(sched, queue, pool, &share)) {
        return false;
    }
    share.actual = part; /* as if it were all that the queue has */
    if (!share_is_over(sched, pool, &share)) {
        return false;
    }
    double kept = share_kept(sched, pool, &share);
    double over = part - kept, least = ret->part - ret->kept;
    struct str name = intern_get(sched->pool_names, pool);
    if (ret->pool.byte_count == 0 || over < least ||
        (over <= least && str_compare(name, ret->pool) < 0)) {
        ret->pool = name;
        ret->part = part;
        ret->kept = kept;
        ret->protected_ms =
            ret->member_count > 1 && gang_protection_is_as_near(kept, part, 0)
                ? gang_protection_ms(sched, pool)
                : 0;
    }
    return true;
}

/* The pool that a gang runs in, or is to, or NONE: any. */
static uint32_t pool_of(const struct sched *sched, const struct gang *gang)
{
    if (gang->leased.count == 0) {
        return sched->lists.items[gang->list].pool;
    }
    uint32_t first = seq_get(&gang->leased, (struct seq_cursor){0});
    const struct run *run = &sched->runs.items[sched->jobs.items[first].run];
    return sched->nodes.items[run->node].pool;
}

bool sched_gang_is_over_share(struct sched *sched, uint32_t job,
                              struct sched_gang_over_share *ret_gang_over_share)
{
    uint32_t g = sched->jobs.items[job].gang;

    if (g == NONE || sched->is_preemption_off || borrowed_has(sched, job)) {
        return false;
    }
    const struct gang *gang = &sched->gangs.items[g];
    struct stake stake = stake_of(sched, gang);
    *ret_gang_over_share = (struct sched_gang_over_share){
        .member_count = stake.count, .lifetime_ms = stake.lifetime_ms};
    if (stake.count == 0 || stake.lifetime_ms == LIFETIME_INFINITE) {
        return false;
    }
    nodes_sync(sched);
    queues_sync(sched);
    uint32_t only = pool_of(sched, gang);
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        if (only == NONE ? pool->policy_index < 0 || pool->node_count == 0
                         : p != only) {
            continue;
        }
        if (!is_over_in(sched, gang->queue, p, &stake, ret_gang_over_share)) {
            return false;
        }
    }
    return ret_gang_over_share->pool.byte_count > 0;
}
