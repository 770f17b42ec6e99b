#include "sched/apps/apps.h"
#include "sched/evict/cooldown.h"
#include "sched/evict/evictable.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/quota.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/health/health.h"
#include "sched/input/relink.h"
#include "sched/order/sweep_undo.h"
#include "sched/reserve/reserve.h"
#include "sched/state/cfs.h"
#include "sched/state/node_shapes.h"
#include "sched/state/scale.h"
#include "sched/state/topology.h"

static void add_level(struct sched *sched, int32_t priority)
{
    uint32_t at = 0;

    while (at < sched->level_count && sched->level_priority[at] < priority) {
        at++;
    }
    if (at < sched->level_count && sched->level_priority[at] == priority) {
        return;
    }
    ASSERT(sched->level_count < LEVELS_MAX);
    for (uint32_t i = sched->level_count++; i > at; i--) {
        sched->level_priority[i] = sched->level_priority[i - 1];
    }
    sched->level_priority[at] = priority;
}

/* The distinct priorities of the policy's classes, in order. */
static void set_levels(struct sched *sched)
{
    const struct policy *policy = sched->policy;

    sched->level_count = 0;
    for (uint32_t c = 0; c < policy->class_count; c++) {
        add_level(sched, policy->classes[c].priority);
        for (uint32_t i = 0; i < policy->classes[c].away_count; i++) {
            add_level(sched, policy->classes[c].away[i].priority);
        }
    }
    for (uint32_t c = 0; c < policy->class_count; c++) {
        sched->class_level[c] =
            (uint8_t)level_of(sched, policy->classes[c].priority);
    }
}

static void set_pools(struct sched *sched)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        sched->pools.items[p].policy_index = -1;
        sched->pools.items[p].is_stale = true;
        sched->pools.items[p].is_base_stale = true;
        topology_forget(&sched->pools.items[p]);
    }
    for (uint32_t i = 0; i < sched->policy->pool_count; i++) {
        uint32_t pool = pool_get(sched, sched->policy->pools[i].name);
        sched->pools.items[pool].policy_index = (int)i;
    }
}

struct sched *sched_create(const struct policy *policy)
{
    struct sched *sched = mem_alloc(sizeof(*sched));

    ASSERT(policy->class_count > 0);
    sched->policy = policy;
    sched->pool_names = intern_create();
    sched->executor_names = intern_create();
    sched->taint_sets = intern_create();
    (void)intern_add(sched->taint_sets, STR(""));
    node_shapes_init(sched);
    sched->health = health_create();
    sched->version = 1;
    apps_init(sched);
    set_levels(sched);
    set_pools(sched);
    cfs_sync(sched);
    usage_ledgers_sync(sched);
    return sched;
}

void sched_destroy(struct sched *sched)
{
    if (!sched) {
        return;
    }
    admitted_fini(sched);
    cooldown_fini(sched);
    reserve_fini(sched);
    jobs_fini(sched);
    scale_fini(sched);
    apps_fini(sched);
    usage_ledgers_fini(sched);
    queues_fini(sched);
    nodes_fini(sched);
    classes_fini(sched);
    node_shapes_fini(sched);
    health_destroy(sched->health);
    VEC_FREE(&sched->penalties);
    VEC_FREE(&sched->sweeps[ROUND_FAST].jobs);
    VEC_FREE(&sched->sweeps[ROUND_BALANCE].jobs);
    sweep_undo_fini(sched);
    arena_fini(&sched->arena);
    VEC_FREE(&sched->decisions);
    VEC_FREE(&sched->looked);
    VEC_FREE(&sched->journal);
    mem_free(sched);
}

void sched_set_time(struct sched *sched, int64_t now_ms)
{
    if (now_ms > sched->now_ms) {
        sched->now_ms = now_ms;
        apps_advance(sched, now_ms);
        cooldown_advance(sched);
    }
}

void sched_policy_set(struct sched *sched, const struct policy *policy)
{
    ASSERT(policy->class_count > 0);
    sched->version++;
    cooldown_news(sched);
    usage_ledgers_settle(sched);
    sched->is_relinking = true;
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        admitted_uncount_all(sched, p);
    }
    reserve_fini(sched);
    evictable_fini(sched); /* lifetimes change */
    relink_take_off(sched);
    health_rules_change(sched, &policy->quarantine);
    sched->policy = policy;
    set_levels(sched);
    set_pools(sched);
    cfs_sync(sched);
    for (uint32_t i = 0; i < sched->classes.count; i++) {
        if (sched->classes.items[i].is_live) {
            class_resolve(sched, i);
        }
    }
    for (uint32_t i = 0; i < sched->lists.count; i++) {
        struct list *list = &sched->lists.items[i];
        if (list->use_count && list->class_index != NONE) {
            const struct class *class =
                &sched->classes.items[list->class_index];
            list->level = class->level;
            list->account = account_get(sched, list->queue, list->pool,
                                        class->priority_class);
        }
    }
    for (size_t i = 0; i < sched->queues.count; i++) {
        quota_resolve(sched, &sched->queues.items[i]);
    }
    nodes_rebuild(sched);
    relink_put_on(sched);
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        admitted_count_all(sched, p);
    }
    admitted_check_policy(sched);
    sched->is_relinking = false;
    usage_ledgers_sync(sched);
}
