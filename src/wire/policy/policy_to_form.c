/* Turns a policy into the form that is printed and logged. */
#include "wire/policy/policy_rules.h"

static struct setting_fractions fractions_of(const struct resource_fraction *f,
                                             uint32_t count)
{
    struct setting_fractions fractions = {.count = count};

    ASSERT(count <= POLICY_FRACTIONS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        fractions.items[i] = f[i];
    }
    return fractions;
}

static struct str word_of(const char *const *words, unsigned value)
{
    return str_of(words[value]);
}

static struct setting_fractions weights_to_form(const struct policy *policy,
                                                const int64_t *weights_ppm)
{
    struct setting_fractions form = {.count = 0};

    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        if (weights_ppm[r] != 0) {
            form.items[form.count++] = (struct resource_fraction){
                policy->schema.columns[r].name, weights_ppm[r]};
        }
    }
    return form;
}

void policy_knobs_to_form(const struct pool_policy *pool,
                          struct policy_pool_form *form)
{
    form->profile = word_of(policy_profile_words, pool->profile);
    form->cost = word_of(policy_cost_words, pool->cost);
    form->half_time_ms = pool->half_time_ms;
    form->admitted_window = pool->admitted_window;
    form->admitted_window_per_queue = pool->admitted_window_per_queue;
    form->strict_order = word_of(policy_switch_words, pool->is_strict);
    form->over_share_ppm = pool->over_share_ppm == POLICY_OFF
                               ? -FRACTION_ONE_PPM
                               : pool->over_share_ppm;
    form->excess_budget_minutes = pool->excess_budget_minutes;
    form->backfill = word_of(policy_switch_words, pool->has_backfill);
    form->backfill_order = word_of(policy_backfill_words, pool->backfill_order);
    form->backfill_candidates_max = pool->backfill_candidates_max;
    form->gpu_keeping = word_of(policy_gpu_words, pool->gpu_keeping);
    form->reservation_delay_ms = pool->reservation_delay_ms;
    form->starved_after_ms = pool->starved_after_ms;
    form->preemption_price_milli = pool->preemption_price_milli;
    form->over_share_price_milli = pool->over_share_price_milli;
    form->loss_protection_milli = pool->loss_protection_milli;
    form->loss_limit_milli = pool->loss_limit_milli;
    form->short_job_penalty_ms = pool->short_job_penalty_ms;
    form->load_max_ppm = pool->load_max_ppm;
    form->evenness_ppm = pool->evenness_ppm;
}

static void pool_to_form(const struct policy *policy,
                         const struct pool_policy *pool,
                         struct policy_pool_form *ret_form)
{
    *ret_form = (struct policy_pool_form){
        .name = pool->name,
        .protected_fraction_ppm = pool->protected_fraction_ppm,
        .start_limits =
            fractions_of(pool->start_limits, pool->start_limit_count),
        .packing_weights = weights_to_form(policy, pool->packing_weights_ppm),
        .cost_weights = weights_to_form(policy, pool->cost_weights_ppm),
        .topology = {pool->topology, pool->level_count},
    };
    policy_knobs_to_form(pool, ret_form);
}

static void resources_to_form(const struct policy *policy, struct arena *arena,
                              struct policy_form *form)
{
    uint32_t count = policy->schema.column_count;
    struct str *dominant = arena_alloc_array(arena, count, sizeof(*dominant));
    uint32_t dominant_count = 0;

    for (uint32_t r = 0; r < count; r++) {
        if (!policy->is_floating[r]) {
            form->resources[form->resource_count++] =
                (struct policy_resource_form){
                    policy->schema.columns[r].name,
                    policy->schema.columns[r].unit_milli};
        }
        if (policy->is_dominant[r]) {
            dominant[dominant_count++] = policy->schema.columns[r].name;
        }
    }
    policy_floating_to_form(policy, form);
    form->dominant_resources = (struct setting_texts){dominant, dominant_count};
}

static void limits_to_form(const struct policy *policy,
                           struct policy_form *form)
{
    form->rate_global = (struct policy_rate_form){
        policy->rate_global.rate_milli_per_s, policy->rate_global.burst};
    form->rate_per_queue = (struct policy_rate_form){
        policy->rate_per_queue.rate_milli_per_s, policy->rate_per_queue.burst};
    form->lookback_max = policy->lookback_max;
    form->round_ms_max = policy->round_work_max / POLICY_WORK_PER_MS;
    form->retries_max = policy->retries_max;
    form->has_retry_policies = policy->has_retry_policies;
    form->policy_retries_max = policy->policy_retries_max;
    form->round_period_ms = policy->round_period_ms;
    form->balance_period_ms = policy->balance_period_ms;
    form->cooldown_ms = policy->cooldown_ms;
    form->executor_timeout_ms = policy->executor_timeout_ms;
    form->executor_lost_timeout_ms = policy->executor_lost_timeout_ms;
    form->unacknowledged_max = policy->unacknowledged_max;
    policy_quarantine_to_form(&policy->quarantine, &form->quarantine);
    policy_elastic_to_form(&policy->elastic, &form->elastic);
    form->elastic.score_weights =
        weights_to_form(policy, policy->elastic.score_weights_ppm);
    form->is_fair_share_preemption_off = policy->is_fair_share_preemption_off;
    form->is_urgency_preemption_off = policy->is_urgency_preemption_off;
    form->rules_revision = policy->rules_revision;
}

void policy_to_form(const struct policy *policy, struct arena *arena,
                    struct policy_form *ret_form)
{
    *ret_form = (struct policy_form){
        .pool_count = policy->pool_count,
        .class_count = policy->class_count,
        .default_class = policy->classes[policy->default_class_index].name,
    };
    resources_to_form(policy, arena, ret_form);
    for (uint32_t i = 0; i < policy->pool_count; i++) {
        pool_to_form(policy, &policy->pools[i], &ret_form->pools[i]);
    }
    for (uint32_t i = 0; i < policy->class_count; i++) {
        const struct priority_class *from = &policy->classes[i];
        ret_form->classes[i] = (struct policy_class_form){
            .name = from->name,
            .priority = from->priority,
            .is_preemptible = from->is_preemptible,
            .is_urgency_preemptible = !from->is_kept_from_urgency,
            .queue_limits =
                fractions_of(from->queue_limits, from->queue_limit_count),
            .default_lifetime_ms =
                from->is_preemptible ? from->default_lifetime_ms : 0,
            .cfs_weight = from->cfs_weight,
            .may_borrow = from->may_borrow,
        };
    }
    policy_types_to_form(policy, ret_form);
    limits_to_form(policy, ret_form);
}
