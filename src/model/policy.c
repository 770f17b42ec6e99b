#include "model/policy.h"

static void add_class(struct policy *policy, struct str name, int32_t priority,
                      bool is_preemptible)
{
    policy->classes[policy->class_count++] = (struct priority_class){
        .name = name,
        .priority = priority,
        .is_preemptible = is_preemptible,
        .default_lifetime_ms = is_preemptible ? 0 : LIFETIME_INFINITE,
        .cfs_weight = POLICY_CFS_WEIGHT,
        .may_borrow = true,
    };
}

/* A level of training jobs: they share a priority, so that weights alone tell
 * them apart; what production runs on is never taken back. */
static void add_level(struct policy *policy, struct str name,
                      uint32_t cfs_weight)
{
    bool is_production = cfs_weight > POLICY_CFS_WEIGHT;

    add_class(policy, name, is_production ? 10000 : 1000, !is_production);
    policy->classes[policy->class_count - 1].cfs_weight = cfs_weight;
    policy->classes[policy->class_count - 1].may_borrow = !is_production;
}

static void add_column(struct policy *policy, struct str name,
                       int64_t unit_milli)
{
    uint32_t column = policy->schema.column_count++;

    policy->schema.columns[column].name = name;
    policy->schema.columns[column].unit_milli = unit_milli;
    policy->is_dominant[column] = true;
}

enum {
    FLOW_HALF_TIME_MS = 20 * 60000,
    STARVED_AFTER_MS = 60 * 60000,
    BACKFILL_CANDIDATES = 1000,
    RESERVATION_DELAY_MS = 24 * 3600 * 1000, /* docs/decisions/0064 */
    PREEMPTION_PRICE_MILLI = 500,
    OVER_SHARE_PRICE_MILLI = 2000, /* docs/decisions/0045 */
    LOSS_LIMIT_MILLI = 1000,       /* docs/decisions/0042 */
};

void pool_policy_apply(struct pool_policy *pool, enum pool_profile profile)
{
    bool is_flow = profile == PROFILE_FLOW;
    bool has_window = profile != PROFILE_ARMADA;

    pool->profile = profile;
    pool->cost = is_flow ? COST_WEIGHTED_SUM : COST_DRF;
    pool->half_time_ms = is_flow ? FLOW_HALF_TIME_MS : 0;
    pool->admitted_window = is_flow ? 32 : has_window;
    pool->admitted_window_per_queue = is_flow ? 4 : has_window;
    pool->is_strict = false; /* docs/decisions/0019 */
    pool->over_share_ppm = is_flow ? FRACTION_ONE_PPM / 5 : POLICY_OFF;
    pool->excess_budget_minutes = is_flow ? 60 : POLICY_OFF;
    pool->has_backfill = has_window;
    pool->starved_after_ms = has_window ? STARVED_AFTER_MS : 0;
    pool->backfill_order = BACKFILL_IN_ORDER;
    pool->backfill_candidates_max = BACKFILL_CANDIDATES;
    pool->gpu_keeping =
        profile == PROFILE_BERTH ? GPUS_KEPT_WAITING : GPUS_KEPT_NEVER;
    pool->reservation_delay_ms =
        profile == PROFILE_BERTH ? RESERVATION_DELAY_MS : 0;
    pool->preemption_price_milli =
        profile == PROFILE_BERTH ? PREEMPTION_PRICE_MILLI : 0;
    pool->over_share_price_milli =
        profile == PROFILE_BERTH ? OVER_SHARE_PRICE_MILLI : 0;
    pool->loss_protection_milli = 0; /* docs/decisions/0017 */
    pool->loss_limit_milli = profile == PROFILE_BERTH ? LOSS_LIMIT_MILLI : 0;
}

void policy_defaults(struct policy *ret_policy)
{
    struct policy *policy = ret_policy;

    *policy = (struct policy){
        /* Armada's 100/s and 50/s could not fill a pool of a million cores
         * in ten minutes (model.md 2.14 and 6.10). */
        .rate_global = {.rate_milli_per_s = 0, .burst = 0},
        .rate_per_queue = {.rate_milli_per_s = 0, .burst = 0},
        .lookback_max = 100000,
        .round_work_max = 5000 * POLICY_WORK_PER_MS,
        .retries_max = 3,
        .has_retry_policies = true,
        .policy_retries_max = 5,
        .round_period_ms = 10000,
        .balance_period_ms = 1000,
        .cooldown_ms = (int64_t)60 * 1000,
        .executor_timeout_ms = 600000,
        .executor_lost_timeout_ms = 3600000,
        .unacknowledged_max = 2500,
        .rules_revision = POLICY_RULES_LATEST,
        .quarantine = {.window_ms = 1800000,
                       .failures_min = 3,
                       .job_sets_min = 2,
                       .failure_rate_ppm = FRACTION_ONE_PPM / 2,
                       .pool_factor_ppm = 4 * (int64_t)FRACTION_ONE_PPM,
                       .probation_ms = 600000,
                       .probation_max_ms = 7200000,
                       .trial_successes = 3,
                       .nodes_max_ppm = FRACTION_ONE_PPM / 10},
        .elastic = {.period_ms = 5000,
                    .freezing_window_ms = 300000,
                    .aging_per_level_ms = 600000,
                    .cpu_per_gpu_milli = 1000},
        .pool_count = 1,
    };
    add_column(policy, STR("nvidia.com/gpu"), 1000);
    add_column(policy, STR("cpu"), 1);
    add_column(policy, STR("memory"), 1000);
    add_column(policy, STR("ephemeral-storage"), 1000);
    policy->pools[0] = (struct pool_policy){
        .name = STR("default"),
        .protected_fraction_ppm = FRACTION_ONE_PPM,
        .load_max_ppm = FRACTION_ONE_PPM,
        .evenness_ppm = FRACTION_ONE_PPM / 5,
    };
    pool_policy_apply(&policy->pools[0], PROFILE_BERTH);
    add_class(policy, STR("armada-default"), 1000, false);
    policy->classes[0].queue_limit_count = 2;
    policy->classes[0].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), FRACTION_ONE_PPM};
    policy->classes[0].queue_limits[1] =
        (struct resource_fraction){STR("memory"), FRACTION_ONE_PPM};
    add_class(policy, STR("armada-preemptible"), 1000, true);
    add_level(policy, STR("experiment"), 10);
    add_level(policy, STR("offline"), 100);
    add_level(policy, STR("normal"), 1000);
    add_level(policy, STR("production"), 10000);
}

const struct pool_policy *policy_pool_of(const struct policy *policy,
                                         struct str name)
{
    const struct pool_policy *pool = &policy->pools[0];

    for (uint32_t i = 0; i < policy->pool_count; i++) {
        if (str_equal(policy->pools[i].name, name)) {
            return &policy->pools[i];
        }
        if (str_equal(policy->pools[i].name, STR("default"))) {
            pool = &policy->pools[i];
        }
    }
    return pool;
}

uint32_t policy_class_index(const struct policy *policy, struct str name)
{
    for (uint32_t i = 0; i < policy->class_count; i++) {
        if (str_equal(policy->classes[i].name, name)) {
            return i;
        }
    }
    return policy->default_class_index;
}
