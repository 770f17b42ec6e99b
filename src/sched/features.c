/* The parts of the state; see feature_table.h. */
#include "sched/apps/apps.h"
#include "sched/evict/cooldown.h"
#include "sched/evict/evictable.h"
#include "sched/evict/loss_limit.h"
#include "sched/evict/losses.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/penalty.h"
#include "sched/fairness/quota.h"
#include "sched/fairness/rates.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/feature_table.h"
#include "sched/health/health.h"
#include "sched/input/relink.h"
#include "sched/order/refusals.h"
#include "sched/order/sweep.h"
#include "sched/order/sweep_undo.h"
#include "sched/reserve/reserve.h"
#include "sched/state/cfs.h"
#include "sched/state/distance_cap.h"
#include "sched/state/extras.h"
#include "sched/state/node_shapes.h"
#include "sched/state/scale.h"
#include "sched/state/sub_groups.h"
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

static void follow_policy(struct sched *sched)
{
    set_levels(sched);
    set_pools(sched);
    cfs_sync(sched);
}

static void follow_classes(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->classes.count; i++) {
        if (sched->classes.items[i].is_live) {
            class_resolve(sched, i);
        }
    }
}

static void follow_queues(struct sched *sched)
{
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
}

static void init_names(struct sched *sched)
{
    sched->pool_names = intern_create();
    sched->executor_names = intern_create();
    sched->taint_sets = intern_create();
    (void)intern_add(sched->taint_sets, STR(""));
}

static void free_penalties(struct sched *sched)
{
    VEC_FREE(&sched->penalties);
}

static void free_sweeps(struct sched *sched)
{
    VEC_FREE(&sched->sweeps[ROUND_FAST].jobs);
    VEC_FREE(&sched->sweeps[ROUND_BALANCE].jobs);
    sweep_undo_fini(sched);
}

static void free_plan(struct sched *sched)
{
    arena_fini(&sched->arena);
    VEC_FREE(&sched->decisions);
    VEC_FREE(&sched->looked);
    VEC_FREE(&sched->journal);
}

/* That a queue goes is news, whichever it is. */
static void tell_of_queue(struct sched *sched, uint32_t queue)
{
    (void)queue;
    cooldown_news(sched);
}

static const struct feature FEATURES[] = {
    {.name = "plans", .fini = free_plan},
    {.name = "nodes", .init = init_names, .fini = nodes_fini},
    {.name = "shapes", .init = node_shapes_init, .fini = node_shapes_fini},
    {.name = "policy", .init = follow_policy, .follow = follow_policy},
    {.name = "extras", .init = extras_init, .fini = extras_fini},
    {.name = "classes", .fini = classes_fini, .follow = follow_classes},
    {.name = "queues",
     .fini = queues_fini,
     .follow = follow_queues,
     .forget_queue = queues_forget,
     .is_right = queues_are_right},
    {.name = "capacities",
     .follow = nodes_rebuild,
     .is_right = nodes_are_right},
    {.name = "jobs",
     .fini = jobs_fini,
     .let_go = relink_take_off,
     .follow = relink_put_on,
     .is_right = accounts_are_right},
    {.name = "run counts", .is_right = run_counts_are_right},
    {.name = "rates", .version = 1, .pack = rates_pack, .unpack = rates_unpack},
    {.name = "sub-groups",
     .version = 1,
     .pack = sub_groups_pack,
     .unpack = sub_groups_unpack,
     .is_right = gangs_are_right},
    /* After what its gangs ask for.  1: none at once; 2: none from a time on.
     */
    {.name = "admitted",
     .fini = admitted_fini,
     .let_go = admitted_let_go,
     .follow = admitted_follow,
     .version = 3,
     .pack = admitted_pack,
     .unpack = admitted_unpack},
    {.name = "applications",
     .init = apps_init,
     .fini = apps_fini,
     .forget_queue = apps_forget,
     .version = 1,
     .pack = apps_pack,
     .unpack = apps_unpack,
     .is_right = apps_are_right},
    {.name = "health",
     .init = health_init,
     .fini = health_fini,
     .follow = health_follow,
     .version = 1,
     .pack = health_pack,
     .unpack = health_unpack},
    {.name = "penalties",
     .fini = free_penalties,
     .forget_queue = penalty_drop_queue,
     .version = 1,
     .pack = penalty_pack,
     .unpack = penalty_unpack},
    {.name = "standings",
     .init = usage_ledgers_sync,
     .fini = usage_ledgers_fini,
     .forget_queue = usage_ledgers_remove,
     .let_go = usage_ledgers_settle,
     .follow = usage_ledgers_sync,
     .version = 1,
     .pack = usage_ledgers_pack,
     .unpack = usage_ledgers_unpack,
     .is_right = usage_ledgers_are_right},
    {.name = "hops",
     .version = 1,
     .pack = distance_cap_pack,
     .unpack = distance_cap_unpack},
    {.name = "scaled",
     .fini = scale_fini,
     .version = 1,
     .pack = scale_pack,
     .unpack = scale_unpack},
    {.name = "truces",
     .fini = cooldown_fini,
     .let_go = cooldown_news,
     .forget_queue = tell_of_queue,
     .version = 1,
     .pack = cooldown_pack,
     .unpack = cooldown_unpack,
     .is_right = cooldowns_are_right},
    {.name = "losses",
     .fini = losses_fini,
     .version = 1,
     .pack = losses_pack,
     .unpack = losses_unpack,
     .is_right = losses_are_right},
    {.name = "useful",
     .fini = loss_limit_fini,
     .version = 1,
     .pack = loss_limit_pack,
     .unpack = loss_limit_unpack},
    {.name = "sweeps",
     .fini = free_sweeps,
     .version = 1,
     .pack = sweep_pack,
     .unpack = sweep_unpack},
    {.name = "refusals", .fini = refusals_fini, .let_go = refusals_fini},
    {.name = "reservations",
     .fini = reserve_fini,
     .let_go = reserve_fini,
     .is_right = reserve_is_right},
    /* Goes with the lifetimes. */
    {.name = "evictable",
     .fini = evictable_fini,
     .let_go = evictable_fini,
     .forget_queue = evictable_forget_queue,
     .is_right = evictable_is_right},
};

const struct feature *feature_at(size_t index)
{
    return index < ARRAY_COUNT(FEATURES) ? &FEATURES[index] : NULL;
}

size_t feature_count(void)
{
    return ARRAY_COUNT(FEATURES);
}
