/* The policy that an instance goes by. */
#include "built.h"

/* That of a resource that nobody asks for. */
enum { SEAT_COLUMN = 3 };

static void make_pool(const struct instance *instance, struct pool_policy *pool)
{
    pool_policy_apply(pool, PROFILE_ARMADA);
    pool->protected_fraction_ppm = instance->protected_percent * 10000;
    pool->cost = instance->is_weighted ? COST_WEIGHTED_SUM : COST_DRF;
    if (instance->load_percent) {
        pool->load_max_ppm = instance->load_percent * 10000;
    }
    pool->half_time_ms = instance->half_ms;
    if (instance->over_share_percent != NO_LIMIT) {
        pool->over_share_ppm = instance->over_share_percent * 10000;
    }
    pool->admitted_window = (uint32_t)instance->window;
    pool->admitted_window_per_queue = (uint32_t)instance->window_per_queue;
    if (instance->keeps_ms) { /* where there is a window, nobody starves */
        pool->starved_after_ms =
            instance->window ? INT64_MAX : instance->keeps_ms;
    }
    pool->is_strict = instance->is_strict;
    pool->has_backfill = instance->has_backfill;
    pool->backfill_order = instance->is_shortest_first ? BACKFILL_SHORTEST_FIRST
                                                       : BACKFILL_IN_ORDER;
    if (instance->budget_minutes != NO_LIMIT) {
        pool->excess_budget_minutes = instance->budget_minutes;
    }
}

static struct rate_limit rate_of(const struct start_limit *limit)
{
    return (struct rate_limit){
        .rate_milli_per_s = limit->refill,
        .burst = limit->size,
    };
}

void built_make_policy(const struct instance *instance, struct policy *policy)
{
    policy_defaults(policy);
    policy->class_count = CLASS_COUNT;
    policy->lookback_max = 0;
    policy->is_fair_share_preemption_off = instance->is_fair_share_off;
    policy->is_urgency_preemption_off = instance->is_urgency_off;
    make_pool(instance, &policy->pools[0]);
    policy->rate_global = rate_of(&instance->starts);
    policy->rate_per_queue = rate_of(&instance->starts_per_queue);
    policy->round_period_ms = 10000;
    policy->truce_ms = instance_truce_ms(instance);
    policy->elastic.aging_per_level_ms = AGING_MS;
    policy->elastic.period_ms = ELASTIC_PERIOD_MS;
    if (instance->start_percent) {
        policy->pools[0].start_limits[0] = (struct resource_fraction){
            STR("cpu"), instance->start_percent * 10000};
        policy->pools[0].start_limit_count = 1;
    }
    policy->schema.columns[SEAT_COLUMN].name = STR("seat");
    policy->schema.columns[SEAT_COLUMN].unit_milli = 1000;
    policy->is_floating[SEAT_COLUMN] = policy->has_floating =
        instance->seats > 0;
    policy->pools[0].floating[SEAT_COLUMN] = instance->seats;
    if (instance->has_topology) {
        policy->pools[0].topology[0] = STR("rack");
        policy->pools[0].topology[1] = STR("row");
        policy->pools[0].level_count = instance->has_rows ? 2 : 1;
    }
    policy->node_types[0] = (struct node_type){
        STR("tainted"), {{STR("t"), STR("*"), TAINT_NO_SCHEDULE}}, 1};
    policy->node_type_count = 1;
    for (int c = 0; c < CLASS_COUNT; c++) {
        policy->classes[c] = (struct priority_class){
            .name = str_of(CLASSES[c].name),
            .priority = CLASSES[c].priority,
            .is_preemptible = CLASSES[c].is_preemptible,
            .is_kept_from_urgency = instance_is_kept(instance, c),
            .cfs_weight = (uint32_t)CLASSES[c].weight,
            .default_lifetime_ms =
                CLASSES[c].is_preemptible ? 0 : LIFETIME_INFINITE,
        };
    }
    if (instance->away_level) {
        policy->classes[AWAY_CLASS].away[0] =
            (struct away_type){0, instance->away_level};
        policy->classes[AWAY_CLASS].away_count = 1;
    }
    if (instance->limit_percent) {
        policy->classes[0].queue_limits[0] = (struct resource_fraction){
            STR("cpu"), instance->limit_percent * 10000};
        policy->classes[0].queue_limit_count = 1;
    }
    if (instance->has_second_pool) {
        policy->pools[1] = policy->pools[0];
        policy->pools[1].name = STR("second");
        policy->pool_count = 2;
    }
}
