#include "wire/policy_codec.h"

#include "wire/policy_rules.h"

enum {
    DAY_MS = 86400000,
    COUNT_MAX = 1000000000,
};

static void init_resource(void *record)
{
    struct policy_resource_form *resource = record;

    resource->resolution_milli = 1;
}

static const struct setting resource_keys[] = {
    SETTING("name", TEXT, policy_resource_form, name,
            .about = "Name of the resource, as pods request it.",
            .is_required = true),
    SETTING("resolution", QUANTITY, policy_resource_form, resolution_milli,
            .about = "Amounts are counted in whole multiples of this: requests "
                     "rounded up, capacities down.",
            .min = 1, .max = INT64_C(1000000000000000)),
};
static const struct settings resource_table = {
    resource_keys, ARRAY_COUNT(resource_keys),
    sizeof(struct policy_resource_form), init_resource};

/* A number that was not written. */
#define UNWRITTEN INT64_MIN

static void init_pool(void *record)
{
    struct policy_pool_form *pool = record;

    pool->protected_fraction_ppm = FRACTION_ONE_PPM;
    pool->profile = STR("berth");
    pool->half_time_ms = UNWRITTEN;
    pool->admitted_window = UNWRITTEN;
    pool->admitted_window_per_queue = UNWRITTEN;
    pool->over_share_ppm = UNWRITTEN;
    pool->excess_budget_minutes = UNWRITTEN;
    pool->backfill_candidates_max = UNWRITTEN;
    pool->starved_after_ms = UNWRITTEN;
    pool->load_max_ppm = FRACTION_ONE_PPM;
    pool->evenness_ppm = FRACTION_ONE_PPM / 5;
}

/* The words of enum pool_profile and so on, in the order of the enums. */
static const char *const profile_words[] = {"berth", "armada", "flow"};
static const char *const cost_words[] = {"drf", "weightedSum"};
static const char *const switch_words[] = {"off", "on"};
static const char *const backfill_words[] = {"inOrder", "shortestFirst"};

static const struct setting pool_keys[] = {
    SETTING("name", TEXT, policy_pool_form, name, .about = "Name of the pool.",
            .is_required = true),
    SETTING("protectedFractionOfFairShare", PPM, policy_pool_form,
            protected_fraction_ppm,
            .about = "Jobs of a queue above this times its fair share may be "
                     "preempted for queues below theirs.",
            .max = 1000 * (int64_t)FRACTION_ONE_PPM),
    SETTING("maximumResourceFractionToSchedule", FRACTIONS, policy_pool_form,
            start_limits,
            .about = "At most this part of the pool may start in one "
                     "schedulePeriod; {}: no limit."),
    SETTING("packingWeights", FRACTIONS, policy_pool_form, packing_weights,
            .about = "How much a free part of each resource counts when the "
                     "fullest node that fits is looked for; {}: by scarcity."),
    SETTING("profile", TEXT, policy_pool_form, profile,
            .choices = "berth armada flow",
            .about = "Where the defaults of the following keys come from."),
    SETTING("cost", TEXT, policy_pool_form, cost, .choices = "drf weightedSum",
            .default_from = "profile",
            .about = "What a queue's part of the pool is: of its dominant "
                     "resource, or a weighted sum of all."),
    SETTING("costWeights", FRACTIONS, policy_pool_form, cost_weights,
            .about = "What a unit of each resource (a core, a GB of memory or "
                     "storage) counts in the weighted sum; {}: by scarcity, "
                     "those that are dominant."),
    SETTING("flowHalfTime", DURATION, policy_pool_form, half_time_ms,
            .default_from = "profile",
            .about = "How long it takes until half of what a queue used no "
                     "longer counts against it; 0s: at once.",
            .max = 365 * (int64_t)DAY_MS),
    SETTING("admittedWindow", INT, policy_pool_form, admitted_window,
            .default_from = "profile",
            .about = "Gangs that wait for room in order of their turn, the "
                     "first of them with nodes reserved; 0: none.",
            .max = POLICY_ADMITTED_MAX),
    SETTING("admittedWindowPerQueue", INT, policy_pool_form,
            admitted_window_per_queue, .default_from = "profile",
            .about = "The same of one queue.", .max = POLICY_ADMITTED_MAX),
    SETTING("strictOrder", TEXT, policy_pool_form, strict_order,
            .choices = "off on", .default_from = "profile",
            .about = "Whether no further gang is tried while the window is "
                     "full and its gangs wait."),
    SETTING("overShareFactor", PPM, policy_pool_form, over_share_ppm,
            .default_from = "profile",
            .about = "Work that cannot be preempted may take a queue so far "
                     "above its fair share (0.2: 120 % of it); -1: no limit.",
            .min = -FRACTION_ONE_PPM, .max = 1000 * (int64_t)FRACTION_ONE_PPM),
    SETTING("excessBudgetMinutes", INT, policy_pool_form, excess_budget_minutes,
            .default_from = "profile",
            .about = "How long a queue may hold as much again as its fair "
                     "share with work of a finite lifetime; -1: no limit.",
            .min = -1, .max = COUNT_MAX),
    SETTING("backfill", TEXT, policy_pool_form, backfill, .choices = "off on",
            .default_from = "profile",
            .about = "Whether the first gang that waits for room has nodes "
                     "reserved, and others may pass it if they do not delay "
                     "it."),
    SETTING("backfillOrder", TEXT, policy_pool_form, backfill_order,
            .choices = "inOrder shortestFirst", .default_from = "profile",
            .about = "In which order others try to pass it."),
    SETTING("backfillMaxCandidates", INT, policy_pool_form,
            backfill_candidates_max, .default_from = "profile",
            .about = "After so many that would fit but may not pass, a round "
                     "ends.",
            .min = 1, .max = COUNT_MAX),
    SETTING("starvedAfter", DURATION, policy_pool_form, starved_after_ms,
            .default_from = "profile",
            .about = "A gang that has been the first of its queue for so long "
                     "is admitted out of turn; 0s: never.",
            .max = 365 * (int64_t)DAY_MS),
    SETTING("shortJobPenalty", DURATION, policy_pool_form, short_job_penalty_ms,
            .about = "A job that ends sooner counts in its queue until so "
                     "long after its start; 0s: none does.",
            .max = DAY_MS),
    SETTING("topology", TEXTS, policy_pool_form, topology,
            .about = "Node labels that say how near nodes are to each other, "
                     "from the leaf to the core; at most 8. Pod groups are "
                     "kept as near as there is room; []: no matter where."),
    SETTING("elasticMaxLoad", PPM, policy_pool_form, load_max_ppm,
            .about = "Gangs grow until this part of the pool's CPUs is asked "
                     "for, or all of its GPUs, and shrink above it.",
            .min = 1, .max = FRACTION_ONE_PPM),
    SETTING("elasticEvenness", PPM, policy_pool_form, evenness_ppm,
            .about = "A pod moves from one gang to another when the first has "
                     "run so much more than the mean (0.2: 120 % of it).",
            .max = 1000 * (int64_t)FRACTION_ONE_PPM),
};
static const struct settings pool_table = {pool_keys, ARRAY_COUNT(pool_keys),
                                           sizeof(struct policy_pool_form),
                                           init_pool};

static void init_class(void *record)
{
    struct policy_class_form *form = record;

    form->cfs_weight = POLICY_CFS_WEIGHT;
    form->may_borrow = true;
}

static const struct setting class_keys[] = {
    SETTING("name", TEXT, policy_class_form, name,
            .about = "Name of the class, as pods name it.",
            .is_required = true),
    SETTING("priority", INT, policy_class_form, priority,
            .about = "The larger, the more urgent.", .min = INT32_MIN,
            .max = INT32_MAX),
    SETTING("preemptible", BOOL, policy_class_form, is_preemptible,
            .about = "Whether its jobs may be preempted for fairness."),
    SETTING("maximumResourceFractionPerQueue", FRACTIONS, policy_class_form,
            queue_limits,
            .about = "At most this part of a pool for one queue's jobs of this "
                     "class; {}: no limit."),
    SETTING("defaultLifetime", DURATION, policy_class_form, default_lifetime_ms,
            .about = "How long a preemptible job that does not say may not be "
                     "preempted for fairness.",
            .max = 365 * (int64_t)DAY_MS),
    SETTING("awayNodeTypes", RECORDS, policy_class_form, away,
            .about = "Node types that its jobs may go to when there is no "
                     "room elsewhere, in order; only of a preemptible class.",
            .table = &policy_away_table,
            .count_offset = offsetof(struct policy_class_form, away_count),
            .count_max = POLICY_AWAY_MAX),
    SETTING("cfsWeight", INT, policy_class_form, cfs_weight,
            .about = "What the time that its jobs run is divided by in queues "
                     "that are ordered cfs.",
            .min = 1, .max = POLICY_CFS_WEIGHT_MAX),
    SETTING("mayBorrow", BOOL, policy_class_form, may_borrow,
            .about = "Whether its jobs may run on nodes of other pools, where "
                     "any job of those pools may take their place."),
};
static const struct settings class_table = {class_keys, ARRAY_COUNT(class_keys),
                                            sizeof(struct policy_class_form),
                                            init_class};

static void init_form(void *record)
{
    /* Of literals only, so the arena that holds the lists may go. */
    static const struct str dominant[] = {
        {"nvidia.com/gpu", 14},
        {"cpu", 3},
        {"memory", 6},
        {"ephemeral-storage", 17},
    };
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    auto_arena arena = {0};

    policy_defaults(policy);
    policy_to_form(policy, &arena, record);
    ((struct policy_form *)record)->dominant_resources =
        (struct setting_texts){dominant, ARRAY_COUNT(dominant)};
}

#define RATE_MAX INT64_C(1000000000000)

static const struct setting form_keys[] = {
    SETTING("supportedResourceTypes", RECORDS, policy_form, resources,
            .about = "The resources that are scheduled, in the order in which "
                     "scarcity breaks ties.",
            .table = &resource_table,
            .count_offset = offsetof(struct policy_form, resource_count),
            .count_max = RESOURCE_COLUMNS_MAX),
    SETTING("floatingResources", RECORDS, policy_form, floating,
            .about =
                "Resources that are of no node, such as licences: all of a "
                "pool shares them, and pods are sent without them.",
            .table = &policy_floating_table,
            .count_offset = offsetof(struct policy_form, floating_count),
            .count_max = RESOURCE_COLUMNS_MAX),
    SETTING(
        "dominantResourceFairnessResourcesToConsider", TEXTS, policy_form,
        dominant_resources,
        .about =
            "The resources of which the largest part held is a queue's share."),
    SETTING("pools", RECORDS, policy_form, pools,
            .about = "The pools, in the order in which jobs try them.",
            .table = &pool_table,
            .count_offset = offsetof(struct policy_form, pool_count),
            .count_max = POLICY_POOLS_MAX),
    SETTING("priorityClasses", RECORDS, policy_form, classes,
            .about = "The priority classes that pods may name.",
            .table = &class_table,
            .count_offset = offsetof(struct policy_form, class_count),
            .count_max = POLICY_CLASSES_MAX),
    SETTING("wellKnownNodeTypes", RECORDS, policy_form, node_types,
            .about = "Nodes that are told by their taints, for awayNodeTypes.",
            .table = &policy_node_type_table,
            .count_offset = offsetof(struct policy_form, node_type_count),
            .count_max = POLICY_NODE_TYPES_MAX),
    SETTING("defaultPriorityClassName", TEXT, policy_form, default_class,
            .about = "The class of a pod whose class is not known here."),
    SETTING("maximumSchedulingRate", MILLI, policy_form,
            rate_global.rate_milli_per_s,
            .about = "Jobs started a second, all queues together; 0: no limit.",
            .max = RATE_MAX),
    SETTING("maximumSchedulingBurst", INT, policy_form, rate_global.burst,
            .about = "Jobs that may start at once under maximumSchedulingRate.",
            .max = COUNT_MAX),
    SETTING("maximumPerQueueSchedulingRate", MILLI, policy_form,
            rate_per_queue.rate_milli_per_s,
            .about = "The same for each queue by itself; 0: no limit.",
            .max = RATE_MAX),
    SETTING(
        "maximumPerQueueSchedulingBurst", INT, policy_form,
        rate_per_queue.burst,
        .about =
            "Jobs that may start at once under maximumPerQueueSchedulingRate.",
        .max = COUNT_MAX),
    SETTING("maxQueueLookback", INT, policy_form, lookback_max,
            .about = "Jobs of one queue that are looked at in a round; 0: all.",
            .max = COUNT_MAX),
    SETTING("maxSchedulingDuration", DURATION, policy_form, round_ms_max,
            .about = "A round ends after so much work, and the next goes on "
                     "behind it; 0s: no bound. It is counted, not timed, so "
                     "that the same state has the same plan: a millisecond "
                     "is 50,000 nodes looked at.",
            .max = DAY_MS),
    SETTING("maxRetries", INT, policy_form, retries_max,
            .about = "How often a job goes back to its queue when an executor "
                     "returns it.",
            .max = 1000),
    SETTING("schedulePeriod", DURATION, policy_form, round_period_ms,
            .about = "The period of maximumResourceFractionToSchedule.",
            .min = 1, .max = DAY_MS),
    SETTING("balancePeriod", DURATION, policy_form, balance_period_ms,
            .about = "Full rounds are at least this far apart; the next comes "
                     "as soon as that when something has changed.",
            .min = 1, .max = DAY_MS),
    SETTING("executorTimeout", DURATION, policy_form, executor_timeout_ms,
            .about = "An executor silent for so long gets no new jobs.",
            .min = 1000, .max = 30 * (int64_t)DAY_MS),
    SETTING("executorLostTimeout", DURATION, policy_form,
            executor_lost_timeout_ms,
            .about = "An executor silent for so long has lost its jobs.",
            .min = 1000, .max = 30 * (int64_t)DAY_MS),
    SETTING("maxUnacknowledgedJobsPerExecutor", INT, policy_form,
            unacknowledged_max,
            .about =
                "Leases an executor may have that it has not yet reported.",
            .min = 1, .max = 1000000),
    SETTING("nodeQuarantine", RECORD, policy_form, quarantine, .about = "",
            .table = &policy_quarantine_table),
    SETTING("elastic", RECORD, policy_form, elastic, .about = "",
            .table = &policy_elastic_table),
    SETTING("disableFairSharePreemption", BOOL, policy_form,
            is_fair_share_preemption_off,
            .about = "Whether no job is preempted for fairness."),
    SETTING("disableUrgencyPreemption", BOOL, policy_form,
            is_urgency_preemption_off,
            .about = "Whether no job is preempted for one of a higher class."),
};

const struct settings policy_settings = {form_keys, ARRAY_COUNT(form_keys),
                                         sizeof(struct policy_form), init_form};

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

static void knobs_to_form(const struct pool_policy *pool,
                          struct policy_pool_form *form)
{
    form->profile = word_of(profile_words, pool->profile);
    form->cost = word_of(cost_words, pool->cost);
    form->half_time_ms = pool->half_time_ms;
    form->admitted_window = pool->admitted_window;
    form->admitted_window_per_queue = pool->admitted_window_per_queue;
    form->strict_order = word_of(switch_words, pool->is_strict);
    form->over_share_ppm = pool->over_share_ppm == POLICY_OFF
                               ? -FRACTION_ONE_PPM
                               : pool->over_share_ppm;
    form->excess_budget_minutes = pool->excess_budget_minutes;
    form->backfill = word_of(switch_words, pool->has_backfill);
    form->backfill_order = word_of(backfill_words, pool->backfill_order);
    form->backfill_candidates_max = pool->backfill_candidates_max;
    form->starved_after_ms = pool->starved_after_ms;
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
    knobs_to_form(pool, ret_form);
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
    form->round_period_ms = policy->round_period_ms;
    form->balance_period_ms = policy->balance_period_ms;
    form->executor_timeout_ms = policy->executor_timeout_ms;
    form->executor_lost_timeout_ms = policy->executor_lost_timeout_ms;
    form->unacknowledged_max = policy->unacknowledged_max;
    policy_quarantine_to_form(&policy->quarantine, &form->quarantine);
    policy_elastic_to_form(&policy->elastic, &form->elastic);
    form->elastic.score_weights =
        weights_to_form(policy, policy->elastic.score_weights_ppm);
    form->is_fair_share_preemption_off = policy->is_fair_share_preemption_off;
    form->is_urgency_preemption_off = policy->is_urgency_preemption_off;
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
    return written == UNWRITTEN ? other : written;
}

static void knobs_from_form(const struct policy_pool_form *form,
                            struct pool_policy *pool)
{
    pool_policy_apply(pool, (enum pool_profile)WORD_VALUE(
                                profile_words, form->profile, PROFILE_BERTH));
    pool->cost = (enum cost_rule)WORD_VALUE(cost_words, form->cost, pool->cost);
    pool->half_time_ms = number_or(form->half_time_ms, pool->half_time_ms);
    pool->admitted_window =
        (uint32_t)number_or(form->admitted_window, pool->admitted_window);
    pool->admitted_window_per_queue = (uint32_t)number_or(
        form->admitted_window_per_queue, pool->admitted_window_per_queue);
    pool->is_strict =
        WORD_VALUE(switch_words, form->strict_order, pool->is_strict);
    pool->over_share_ppm =
        number_or(form->over_share_ppm, pool->over_share_ppm);
    if (pool->over_share_ppm < 0) {
        pool->over_share_ppm = POLICY_OFF;
    }
    pool->excess_budget_minutes =
        number_or(form->excess_budget_minutes, pool->excess_budget_minutes);
    pool->has_backfill =
        WORD_VALUE(switch_words, form->backfill, pool->has_backfill);
    pool->backfill_order = (enum backfill_order)WORD_VALUE(
        backfill_words, form->backfill_order, pool->backfill_order);
    pool->backfill_candidates_max = (uint32_t)number_or(
        form->backfill_candidates_max, pool->backfill_candidates_max);
    pool->starved_after_ms =
        number_or(form->starved_after_ms, pool->starved_after_ms);
    pool->short_job_penalty_ms = form->short_job_penalty_ms;
    pool->load_max_ppm = form->load_max_ppm;
    pool->evenness_ppm = form->evenness_ppm;
}

void policy_form_complete(struct policy_form *form)
{
    for (uint32_t i = 0; i < form->pool_count; i++) {
        struct pool_policy pool = {0};
        knobs_from_form(&form->pools[i], &pool);
        knobs_to_form(&pool, &form->pools[i]);
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
        to->cfs_weight = (uint32_t)from->cfs_weight;
        to->may_borrow = from->may_borrow;
        to->default_lifetime_ms = from->is_preemptible
                                      ? from->default_lifetime_ms
                                      : LIFETIME_INFINITE;
        if (rc == 0 && !from->is_preemptible && from->default_lifetime_ms) {
            rc = err_set(err, -ERR_INVALID,
                         "priorityClasses[%u].defaultLifetime: only a "
                         "preemptible class has one",
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
    policy->round_period_ms = form->round_period_ms;
    policy->balance_period_ms = form->balance_period_ms;
    policy->executor_timeout_ms = form->executor_timeout_ms;
    policy->executor_lost_timeout_ms = form->executor_lost_timeout_ms;
    policy->unacknowledged_max = (uint32_t)form->unacknowledged_max;
    policy->quarantine = policy_quarantine_from_form(&form->quarantine);
    policy_elastic_from_form(&form->elastic, &policy->elastic);
    policy->is_fair_share_preemption_off = form->is_fair_share_preemption_off;
    policy->is_urgency_preemption_off = form->is_urgency_preemption_off;
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

int policy_read(struct str yaml, const char *file_name, struct arena *arena,
                struct policy *ret_policy, struct err *err)
{
    auto_mem struct policy_form *form = mem_alloc(sizeof(*form));
    struct settings_reader reader = {file_name, arena};

    init_form(form);
    int rc = settings_read(&policy_settings, yaml, &reader, form, err);
    return rc < 0 ? rc : policy_from_form(form, ret_policy, err);
}

void policy_print(const struct policy *policy, struct strbuf *out)
{
    auto_mem struct policy_form *form = mem_alloc(sizeof(*form));
    auto_arena arena = {0};

    policy_to_form(policy, &arena, form);
    settings_print(&policy_settings, form, false, out);
}
