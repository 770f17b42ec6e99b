#include "wire/policy/policy_codec.h"

#include "wire/policy/policy_rules.h"

enum { MILLI = 1000 };

/* The first of `count` names, `stride` apart, that equals `name`, or -1. */
static int find_name(const void *names, size_t stride, uint32_t count,
                     struct str name)
{
    for (uint32_t i = 0; i < count; i++) {
        const void *at = (const char *)names + i * stride;
        if (str_equal(*(const struct str *)at, name)) {
            return (int)i;
        }
    }
    return -1;
}

static int check_names(const char *key, const void *names, size_t stride,
                       uint32_t count, struct err *err)
{
    if (count == 0) {
        return err_set(err, -ERR_INVALID, "%s: at least one is needed", key);
    }
    for (uint32_t i = 0; i < count; i++) {
        const void *at = (const char *)names + i * stride;
        struct str name = *(const struct str *)at;
        if (name.byte_count == 0) {
            return err_set(err, -ERR_INVALID, "%s[%u].name: empty", key, i);
        }
        if (find_name(names, stride, i, name) >= 0) {
            return err_set(err, -ERR_INVALID,
                           "%s[%u].name: \"%.*s\" is given twice", key, i,
                           STR_ARG(name));
        }
    }
    return 0;
}

static int unknown_resource(const char *key, struct str name, struct err *err)
{
    return err_set(err, -ERR_INVALID,
                   "%s: \"%.*s\" is not one of supportedResourceTypes", key,
                   STR_ARG(name));
}

static int check_fractions(const struct policy *policy, const char *key,
                           const struct setting_fractions *fractions,
                           struct err *err)
{
    for (uint32_t i = 0; i < fractions->count; i++) {
        struct str name = fractions->items[i].resource;
        if (resource_column(&policy->schema, name) < 0) {
            return unknown_resource(key, name, err);
        }
    }
    return 0;
}

static int resources_from_form(const struct policy_form *form,
                               struct policy *policy, struct err *err)
{
    int rc = check_names("supportedResourceTypes", &form->resources[0].name,
                         sizeof(form->resources[0]), form->resource_count, err);
    if (rc < 0) {
        return rc;
    }
    for (uint32_t r = 0; r < form->resource_count; r++) {
        policy->schema.columns[r].name = form->resources[r].name;
        policy->schema.columns[r].unit_milli =
            form->resources[r].resolution_milli;
    }
    policy->schema.column_count = form->resource_count;
    rc = policy_floating_columns(form, policy, err);
    if (rc < 0) {
        return rc;
    }
    for (uint32_t i = 0; i < form->dominant_resources.count; i++) {
        struct str name = form->dominant_resources.items[i];
        int column = resource_column(&policy->schema, name);
        if (column < 0) {
            return unknown_resource(
                "dominantResourceFairnessResourcesToConsider", name, err);
        }
        policy->is_dominant[column] = true;
    }
    if (form->dominant_resources.count == 0) {
        return err_set(err, -ERR_INVALID,
                       "dominantResourceFairnessResourcesToConsider: at least "
                       "one is needed");
    }
    return 0;
}

static void weights_from_form(const struct policy *policy,
                              const struct setting_fractions *form,
                              int64_t *weights_ppm)
{
    for (uint32_t i = 0; i < form->count; i++) {
        int column = resource_column(&policy->schema, form->items[i].resource);
        weights_ppm[column] = form->items[i].fraction_ppm;
    }
}

/* The place of a word that the table of keys has let through; `unwritten` for
 * none. */
static unsigned word_value(const char *const *words, unsigned count,
                           struct str word, unsigned unwritten)
{
    for (unsigned i = 0; i < count; i++) {
        if (str_equal(word, str_of(words[i]))) {
            return i;
        }
    }
    return unwritten;
}

#define WORD_VALUE(words, word, unwritten) \
    word_value(words, ARRAY_COUNT(words), word, unwritten)

static int64_t number_or(int64_t written, int64_t other)
{
    return written == POLICY_UNWRITTEN ? other : written;
}

static void knobs_from_form(const struct policy_pool_form *form,
                            struct pool_policy *pool)
{
    pool_policy_apply(pool, (enum pool_profile)WORD_VALUE(policy_profile_words,
                                                          form->profile,
                                                          PROFILE_BERTH));
    pool->cost =
        (enum cost_rule)WORD_VALUE(policy_cost_words, form->cost, pool->cost);
    pool->half_time_ms = number_or(form->half_time_ms, pool->half_time_ms);
    pool->admitted_window =
        (uint32_t)number_or(form->admitted_window, pool->admitted_window);
    pool->admitted_window_per_queue = (uint32_t)number_or(
        form->admitted_window_per_queue, pool->admitted_window_per_queue);
    pool->is_strict =
        WORD_VALUE(policy_switch_words, form->strict_order, pool->is_strict);
    pool->over_share_ppm =
        number_or(form->over_share_ppm, pool->over_share_ppm);
    if (pool->over_share_ppm == -FRACTION_ONE_PPM) {
        pool->over_share_ppm = POLICY_OFF; /* others are refused later */
    }
    pool->excess_budget_minutes =
        number_or(form->excess_budget_minutes, pool->excess_budget_minutes);
    pool->has_backfill =
        WORD_VALUE(policy_switch_words, form->backfill, pool->has_backfill);
    pool->backfill_order = (enum backfill_order)WORD_VALUE(
        policy_backfill_words, form->backfill_order, pool->backfill_order);
    pool->backfill_candidates_max = (uint32_t)number_or(
        form->backfill_candidates_max, pool->backfill_candidates_max);
    pool->gpu_keeping = (enum gpu_keeping)WORD_VALUE(
        policy_gpu_words, form->gpu_keeping, pool->gpu_keeping);
    pool->reservation_delay_ms =
        number_or(form->reservation_delay_ms, pool->reservation_delay_ms);
    pool->starved_after_ms =
        number_or(form->starved_after_ms, pool->starved_after_ms);
    pool->preemption_price_milli =
        number_or(form->preemption_price_milli, pool->preemption_price_milli);
    pool->over_share_price_milli =
        number_or(form->over_share_price_milli, pool->over_share_price_milli);
    pool->loss_protection_milli =
        number_or(form->loss_protection_milli, pool->loss_protection_milli);
    pool->loss_limit_milli =
        number_or(form->loss_limit_milli, pool->loss_limit_milli);
    pool->short_job_penalty_ms = form->short_job_penalty_ms;
    pool->load_max_ppm = form->load_max_ppm;
    pool->evenness_ppm = form->evenness_ppm;
}

void policy_form_complete(struct policy_form *form)
{
    for (uint32_t i = 0; i < form->pool_count; i++) {
        struct pool_policy pool = {0};
        knobs_from_form(&form->pools[i], &pool);
        policy_knobs_to_form(&pool, &form->pools[i]);
    }
}

static int pool_from_form(const struct policy_pool_form *form,
                          struct policy *policy, struct err *err)
{
    struct pool_policy *pool = &policy->pools[policy->pool_count++];

    int rc =
        check_fractions(policy, "pools[].maximumResourceFractionToSchedule",
                        &form->start_limits, err);
    if (rc == 0) {
        rc = check_fractions(policy, "pools[].packingWeights",
                             &form->packing_weights, err);
    }
    if (rc == 0) {
        rc = check_fractions(policy, "pools[].costWeights", &form->cost_weights,
                             err);
    }
    if (rc == 0 && form->over_share_ppm != POLICY_UNWRITTEN &&
        form->over_share_ppm != -FRACTION_ONE_PPM && form->over_share_ppm < 0) {
        rc = err_set(err, -ERR_INVALID,
                     "pools[%u].overShareFactor: must be from 0 to 1000, or -1 "
                     "for no limit",
                     policy->pool_count - 1);
    }
    if (rc == 0 && form->loss_limit_milli > 0 &&
        form->loss_limit_milli < 1000) {
        rc = err_set(err, -ERR_INVALID,
                     "pools[%u].lossLimit: must be from 1 to 100, or 0 for no "
                     "limit",
                     policy->pool_count - 1);
    }
    if (rc < 0) {
        return rc;
    }
    pool->name = form->name;
    pool->protected_fraction_ppm = form->protected_fraction_ppm;
    pool->start_limit_count = form->start_limits.count;
    memcpy(pool->start_limits, form->start_limits.items,
           sizeof(pool->start_limits));
    weights_from_form(policy, &form->packing_weights,
                      pool->packing_weights_ppm);
    weights_from_form(policy, &form->cost_weights, pool->cost_weights_ppm);
    knobs_from_form(form, pool);
    return policy_topology_from_form(form, policy->pool_count - 1, pool, err);
}

static int pools_from_form(const struct policy_form *form,
                           struct policy *policy, struct err *err)
{
    int rc = check_names("pools", &form->pools[0].name, sizeof(form->pools[0]),
                         form->pool_count, err);
    for (uint32_t i = 0; rc == 0 && i < form->pool_count; i++) {
        rc = pool_from_form(&form->pools[i], policy, err);
    }
    return rc;
}

static int classes_from_form(const struct policy_form *form,
                             struct policy *policy, struct err *err)
{
    int rc = check_names("priorityClasses", &form->classes[0].name,
                         sizeof(form->classes[0]), form->class_count, err);
    for (uint32_t i = 0; rc == 0 && i < form->class_count; i++) {
        const struct policy_class_form *from = &form->classes[i];
        struct priority_class *to = &policy->classes[policy->class_count++];
        rc = check_fractions(
            policy, "priorityClasses[].maximumResourceFractionPerQueue",
            &from->queue_limits, err);
        to->name = from->name;
        to->priority = (int32_t)from->priority;
        to->is_preemptible = from->is_preemptible;
        to->is_kept_from_urgency = !from->is_urgency_preemptible;
        to->cfs_weight = (uint32_t)from->cfs_weight;
        to->may_borrow = from->may_borrow;
        to->default_lifetime_ms = from->is_preemptible
                                      ? from->default_lifetime_ms
                                      : LIFETIME_INFINITE;
        if (rc == 0 && !from->is_preemptible && from->default_lifetime_ms) {
            rc = err_set(err, -ERR_INVALID,
                         "priorityClasses[%u].defaultLifetime: allowed only "
                         "for a preemptible class",
                         i);
        }
        to->queue_limit_count = from->queue_limits.count;
        memcpy(to->queue_limits, from->queue_limits.items,
               sizeof(to->queue_limits));
    }
    if (rc < 0) {
        return rc;
    }
    int found = find_name(&form->classes[0].name, sizeof(form->classes[0]),
                          form->class_count, form->default_class);
    if (found < 0) {
        return err_set(
            err, -ERR_INVALID,
            "defaultPriorityClassName: \"%.*s\" is not one of priorityClasses",
            STR_ARG(form->default_class));
    }
    policy->default_class_index = (uint32_t)found;
    return 0;
}

static void limits_from_form(const struct policy_form *form,
                             struct policy *policy)
{
    policy->rate_global = (struct rate_limit){
        form->rate_global.rate_milli_per_s, form->rate_global.burst};
    policy->rate_per_queue = (struct rate_limit){
        form->rate_per_queue.rate_milli_per_s, form->rate_per_queue.burst};
    policy->lookback_max = (uint32_t)form->lookback_max;
    policy->round_work_max = form->round_ms_max * POLICY_WORK_PER_MS;
    policy->retries_max = (uint32_t)form->retries_max;
    policy->has_retry_policies = form->has_retry_policies;
    policy->policy_retries_max = (uint32_t)form->policy_retries_max;
    policy->round_period_ms = form->round_period_ms;
    policy->balance_period_ms = form->balance_period_ms;
    policy->cooldown_ms = form->cooldown_ms;
    policy->executor_timeout_ms = form->executor_timeout_ms;
    policy->executor_lost_timeout_ms = form->executor_lost_timeout_ms;
    policy->unacknowledged_max = (uint32_t)form->unacknowledged_max;
    policy->quarantine = policy_quarantine_from_form(&form->quarantine);
    policy_elastic_from_form(&form->elastic, &policy->elastic);
    policy->is_fair_share_preemption_off = form->is_fair_share_preemption_off;
    policy->is_urgency_preemption_off = form->is_urgency_preemption_off;
    policy->rules_revision = (uint32_t)form->rules_revision;
}

int policy_from_form(const struct policy_form *form, struct policy *ret_policy,
                     struct err *err)
{
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));

    int rc = resources_from_form(form, policy, err);
    if (rc == 0) {
        rc = pools_from_form(form, policy, err);
    }
    if (rc == 0) {
        rc = classes_from_form(form, policy, err);
    }
    if (rc == 0) {
        rc = policy_types_from_form(form, policy, err);
    }
    if (rc == 0) {
        rc = policy_floating_from_form(form, policy, err);
    }
    if (rc == 0) {
        rc = check_fractions(policy, "elastic.scoreWeights",
                             &form->elastic.score_weights, err);
    }
    if (rc < 0) {
        return rc;
    }
    weights_from_form(policy, &form->elastic.score_weights,
                      policy->elastic.score_weights_ppm);
    limits_from_form(form, policy);
    *ret_policy = *policy;
    return 0;
}

static bool has_key(struct str yaml, const char *key)
{
    return yaml.p && yaml.byte_count > 0 &&
           memmem(yaml.p, yaml.byte_count, key, strlen(key)) != NULL;
}

/* Numbers of a pool that are 0 where a release did not know the key. */
static const struct {
    const char *key;
    size_t at; /* in struct policy_pool_form: an int64_t */
} later_numbers[] = {
    {"preemptionPrice:",
     offsetof(struct policy_pool_form, preemption_price_milli)},
    {"preemptionPrice:",
     offsetof(struct policy_pool_form, loss_protection_milli)},
    {"lossLimit:", offsetof(struct policy_pool_form, loss_limit_milli)},
    {"overSharePrice:",
     offsetof(struct policy_pool_form, over_share_price_milli)},
    {"reservationDelay:",
     offsetof(struct policy_pool_form, reservation_delay_ms)},
};

/* What a pool means that was logged without some keys. */
static void mean_pools(struct str yaml, struct policy_form *form)
{
    const int64_t none = 0;

    for (size_t n = 0; n < ARRAY_COUNT(later_numbers); n++) {
        bool is_known = has_key(yaml, later_numbers[n].key);
        for (uint32_t i = 0; !is_known && i < form->pool_count; i++) {
            memcpy((char *)&form->pools[i] + later_numbers[n].at, &none,
                   sizeof(none));
        }
    }
    bool is_known = has_key(yaml, "keepsGpus:");
    for (uint32_t i = 0; !is_known && i < form->pool_count; i++) {
        form->pools[i].gpu_keeping = str_of(policy_gpu_words[GPUS_KEPT_NEVER]);
    }
}

/* policy_print() writes every key; what releases logged that did not know one
 * must be decided again as it was: they took nothing by urgency of classes that
 * are not preemptible, preempted for fairness at once, had the first rules, and
 * stored retry policies without applying them. */
static void mean_what_it_meant(struct str yaml, struct policy_form *form)
{
    if (!has_key(yaml, "urgencyPreemptible:")) {
        for (uint32_t i = 0; i < form->class_count; i++) {
            form->classes[i].is_urgency_preemptible =
                form->classes[i].is_preemptible;
        }
    }
    mean_pools(yaml, form);
    if (!has_key(yaml, "rulesRevision:")) {
        form->rules_revision = POLICY_RULES_FIRST;
    }
    if (!has_key(yaml, "retryPolicies:")) {
        form->has_retry_policies = false;
    }
}

static int read_form(struct str yaml, const char *file_name,
                     struct arena *arena, struct policy_form *form,
                     struct err *err)
{
    struct settings_reader reader = {file_name, arena, NULL, NULL};

    policy_settings.init(form);
    return settings_read(&policy_settings, yaml, &reader, form, err);
}

int policy_read(struct str yaml, const char *file_name, struct arena *arena,
                struct policy *ret_policy, struct err *err)
{
    auto_mem struct policy_form *form = mem_alloc(sizeof(*form));

    int rc = read_form(yaml, file_name, arena, form, err);
    mean_what_it_meant(yaml, form);
    return rc < 0 ? rc : policy_from_form(form, ret_policy, err);
}

int policy_read_written(struct str yaml, const char *file_name,
                        struct arena *arena, struct policy *ret_policy,
                        struct err *err)
{
    auto_mem struct policy_form *form = mem_alloc(sizeof(*form));

    int rc = read_form(yaml, file_name, arena, form, err);
    return rc < 0 ? rc : policy_from_form(form, ret_policy, err);
}

void policy_print(const struct policy *policy, struct strbuf *out)
{
    auto_mem struct policy_form *form = mem_alloc(sizeof(*form));
    auto_arena arena = {0};

    policy_to_form(policy, &arena, form);
    settings_print(&policy_settings, form, SETTINGS_LOGGED, out);
}
