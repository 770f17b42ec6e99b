/* The keys of a policy, with their limits, defaults and descriptions. */
#include "wire/policy/policy_rules.h"

enum {
    DAY_MS = 86400000,
    COUNT_MAX = 1000000000,
    LOSS_LIMIT_MAX_MILLI = 100 * 1000,
    PRICE_MAX_MILLI = 1000000,
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
            .about = "Amounts are whole multiples of this: requests are "
                     "rounded up, capacities down.",
            .min = 1, .max = INT64_C(1000000000000000)),
};
static const struct settings resource_table = {
    resource_keys, ARRAY_COUNT(resource_keys),
    sizeof(struct policy_resource_form), init_resource};

static void init_pool(void *record)
{
    struct policy_pool_form *pool = record;

    pool->protected_fraction_ppm = FRACTION_ONE_PPM;
    pool->profile = STR("berth");
    pool->half_time_ms = POLICY_UNWRITTEN;
    pool->admitted_window = POLICY_UNWRITTEN;
    pool->admitted_window_per_queue = POLICY_UNWRITTEN;
    pool->over_share_ppm = POLICY_UNWRITTEN;
    pool->excess_budget_minutes = POLICY_UNWRITTEN;
    pool->backfill_candidates_max = POLICY_UNWRITTEN;
    pool->reservation_delay_ms = POLICY_UNWRITTEN;
    pool->starved_after_ms = POLICY_UNWRITTEN;
    pool->preemption_price_milli = POLICY_UNWRITTEN;
    pool->over_share_price_milli = POLICY_UNWRITTEN;
    pool->loss_protection_milli = POLICY_UNWRITTEN;
    pool->loss_limit_milli = POLICY_UNWRITTEN;
    pool->load_max_ppm = FRACTION_ONE_PPM;
    pool->evenness_ppm = FRACTION_ONE_PPM / 5;
}

const char *const policy_profile_words[] = {"berth", "armada", "flow"};
const char *const policy_cost_words[] = {"drf", "weightedSum"};
const char *const policy_switch_words[] = {"off", "on"};
const char *const policy_backfill_words[] = {"inOrder", "shortestFirst",
                                             "shortestAged", "shortestBounded"};
const char *const policy_gpu_words[] = {"never", "waiting", "always"};

const char *policy_profile_word(enum pool_profile profile)
{
    return policy_profile_words[profile];
}

const char *policy_cost_word(enum cost_rule cost)
{
    return policy_cost_words[cost];
}

const char *policy_backfill_word(const struct pool_policy *pool)
{
    return pool->has_backfill ? policy_backfill_words[pool->backfill_order]
                              : policy_switch_words[0];
}

static const struct setting pool_keys[] = {
    SETTING("name", TEXT, policy_pool_form, name, .about = "Name of the pool.",
            .is_required = true),
    SETTING("protectedFractionOfFairShare", PPM, policy_pool_form,
            protected_fraction_ppm,
            .about = "A queue that has more than this times its fair share may "
                     "lose jobs to queues that have less than theirs.",
            .max = 1000 * (int64_t)FRACTION_ONE_PPM),
    SETTING("maximumResourceFractionToSchedule", FRACTIONS, policy_pool_form,
            start_limits,
            .about = "At most this part of the pool may be leased in one "
                     "schedulePeriod; {}: no limit."),
    SETTING("packingWeights", FRACTIONS, policy_pool_form, packing_weights,
            .about = "Weight of each resource's free part in the search for "
                     "the fullest node that fits; {}: by scarcity."),
    SETTING("profile", TEXT, policy_pool_form, profile,
            .choices = "berth armada flow",
            .about = "Source of the defaults of the following keys."),
    SETTING("cost", TEXT, policy_pool_form, cost, .choices = "drf weightedSum",
            .default_from = "profile",
            .about = "How the share of a queue is measured: by its dominant "
                     "resource (drf), or as a weighted sum of all."),
    SETTING("costWeights", FRACTIONS, policy_pool_form, cost_weights,
            .about = "Weight of a unit of each resource (a core, a GB of "
                     "memory or storage) in the weighted sum; {}: dominant "
                     "resources, by scarcity."),
    SETTING("flowHalfTime", DURATION, policy_pool_form, half_time_ms,
            .default_from = "profile",
            .about = "Time after which half of what a queue used no longer "
                     "counts against it; 0s: past use does not count.",
            .max = 365 * (int64_t)DAY_MS),
    SETTING("admittedWindow", INT, policy_pool_form, admitted_window,
            .default_from = "profile",
            .about =
                "How many gangs that wait for room may be admitted at once. "
                "The first has nodes reserved; 0: none are admitted.",
            .max = POLICY_ADMITTED_MAX),
    SETTING("admittedWindowPerQueue", INT, policy_pool_form,
            admitted_window_per_queue, .default_from = "profile",
            .about = "The same for one queue.", .max = POLICY_ADMITTED_MAX),
    SETTING("strictOrder", TEXT, policy_pool_form, strict_order,
            .choices = "off on", .default_from = "profile",
            .about = "Whether a round tries no further gang while the window "
                     "is full of waiting gangs."),
    SETTING("overShareFactor", PPM, policy_pool_form, over_share_ppm,
            .default_from = "profile",
            .about =
                "How far above its fair share a queue may go with work that "
                "cannot be preempted (0.2: 120 % of the share); -1: no limit.",
            .min = -FRACTION_ONE_PPM, .max = 1000 * (int64_t)FRACTION_ONE_PPM),
    SETTING("excessBudgetMinutes", INT, policy_pool_form, excess_budget_minutes,
            .default_from = "profile",
            .about = "Excess budget: how long a queue may hold twice its fair "
                     "share with work of a finite lifetime; -1: no limit.",
            .min = -1, .max = COUNT_MAX),
    SETTING("backfill", TEXT, policy_pool_form, backfill, .choices = "off on",
            .default_from = "profile",
            .about =
                "Whether other work may pass the first admitted gang, which "
                "has nodes reserved, if it does not delay that gang."),
    SETTING("backfillOrder", TEXT, policy_pool_form, backfill_order,
            .choices = "inOrder shortestFirst shortestAged shortestBounded",
            .default_from = "profile",
            .about = "Order in which other work is tried for backfill; "
                     "shortestBounded also orders each queue."),
    SETTING(
        "backfillMaxCandidates", INT, policy_pool_form, backfill_candidates_max,
        .default_from = "profile",
        .about =
            "A round ends after so many candidates that fit but may not pass.",
        .min = 1, .max = COUNT_MAX),
    SETTING("keepsGpus", TEXT, policy_pool_form, gpu_keeping,
            .choices = "never waiting always", .default_from = "profile",
            .about =
                "Whether nodes with GPUs are kept for jobs that ask for GPUs. "
                "waiting: while such a job waits for the node, from jobs that "
                "are no more urgent and that nodes without GPUs could run; "
                "always: from all jobs that ask for none."),
    SETTING(
        "reservationDelay", DURATION, policy_pool_form, reservation_delay_ms,
        .default_from = "profile",
        .about =
            "Nodes are reserved for admitted work once it has waited so long, "
            "or as soon as deadlines tell that it starts within such a time; "
            "0s: at once.",
        .max = 365 * (int64_t)DAY_MS),
    SETTING(
        "starvedAfter", DURATION, policy_pool_form, starved_after_ms,
        .default_from = "profile",
        .about =
            "A gang that was first in its queue for so long is admitted out of "
            "turn. A protected gang (docs/guide/scheduling.md) that ran for so "
            "long may be preempted for queues with too little; 0s: neither.",
        .max = 365 * (int64_t)DAY_MS),
    SETTING(
        "preemptionPrice", MILLI, policy_pool_form, preemption_price_milli,
        .default_from = "profile",
        .about =
            "Price of preemption for fairness: a job or gang may preempt work "
            "when it has waited, by its size, so many times as long as that "
            "work ran and had waited; 0: at once, whatever is lost.",
        .max = PRICE_MAX_MILLI),
    SETTING("overSharePrice", MILLI, policy_pool_form, over_share_price_milli,
            .default_from = "profile",
            .about =
                "The same for a job or gang with which its queue would have "
                "more than its share, where this is more than preemptionPrice "
                "and that is not 0.",
            .max = PRICE_MAX_MILLI),
    SETTING("lossProtection", MILLI, policy_pool_form, loss_protection_milli,
            .default_from = "profile",
            .about =
                "A job that was preempted is not preempted for fairness again "
                "until its run is so many times as long as all that it has "
                "lost; 0: no such protection.",
            .max = PRICE_MAX_MILLI),
    SETTING("lossLimit", MILLI, policy_pool_form, loss_limit_milli,
            .default_from = "profile",
            .about =
                "All run time that preemption for fairness destroys is at most "
                "so many times what is useful, in the whole pool: the sum over "
                "jobs of the longest run of each; at least 1, or 0: no limit.",
            .max = LOSS_LIMIT_MAX_MILLI),
    SETTING("shortJobPenalty", DURATION, policy_pool_form, short_job_penalty_ms,
            .about = "A job that ends sooner still counts in its queue until "
                     "this long after its start; 0s: off.",
            .max = DAY_MS),
    SETTING("topology", TEXTS, policy_pool_form, topology,
            .about =
                "Node labels that define how close nodes are, from the leaf to "
                "the core of the network; at most 8. Pod groups are placed as "
                "close together as there is room; []: anywhere."),
    SETTING("elasticMaxLoad", PPM, policy_pool_form, load_max_ppm,
            .about =
                "Load ceiling: gangs grow until this part of the pool's CPUs, "
                "or all of its GPUs, is requested, and shrink above it.",
            .min = 1, .max = FRACTION_ONE_PPM),
    SETTING("elasticEvenness", PPM, policy_pool_form, evenness_ppm,
            .about = "A gang gives a pod to another gang when it has run for "
                     "so much longer than the mean (0.2: 120 % of it).",
            .max = 1000 * (int64_t)FRACTION_ONE_PPM),
};
static const struct settings pool_table = {pool_keys, ARRAY_COUNT(pool_keys),
                                           sizeof(struct policy_pool_form),
                                           init_pool};

static void init_class(void *record)
{
    struct policy_class_form *form = record;

    form->is_urgency_preemptible = true;
    form->cfs_weight = POLICY_CFS_WEIGHT;
    form->may_borrow = true;
}

static const struct setting class_keys[] = {
    SETTING("name", TEXT, policy_class_form, name,
            .about = "Name of the class, as pods name it.",
            .is_required = true),
    SETTING("priority", INT, policy_class_form, priority,
            .about = "Priority of the class; a larger one is more urgent.",
            .min = INT32_MIN, .max = INT32_MAX),
    SETTING("preemptible", BOOL, policy_class_form, is_preemptible,
            .about = "Whether its jobs may be preempted for fairness."),
    SETTING(
        "urgencyPreemptible", BOOL, policy_class_form, is_urgency_preemptible,
        .about = "Whether its jobs may be preempted for a class with a larger "
                 "priority, even if the class is not preemptible. Armada's "
                 "classes that are not preemptible behave as with false."),
    SETTING("maximumResourceFractionPerQueue", FRACTIONS, policy_class_form,
            queue_limits,
            .about = "One queue's jobs of this class may have at most this "
                     "part of a pool; {}: no limit."),
    SETTING("defaultLifetime", DURATION, policy_class_form, default_lifetime_ms,
            .about = "Lifetime of a preemptible job that states none: for so "
                     "long it may not be preempted for fairness.",
            .max = 365 * (int64_t)DAY_MS),
    SETTING("awayNodeTypes", RECORDS, policy_class_form, away,
            .about = "Node types on which its jobs may run when there is no "
                     "room elsewhere, in order; only for a preemptible class.",
            .table = &policy_away_table,
            .count_offset = offsetof(struct policy_class_form, away_count),
            .count_max = POLICY_AWAY_MAX),
    SETTING("cfsWeight", INT, policy_class_form, cfs_weight,
            .about = "Weight of the class in queues with the ordering cfs: the "
                     "run time of its jobs is divided by it.",
            .min = 1, .max = POLICY_CFS_WEIGHT_MAX),
    SETTING("mayBorrow", BOOL, policy_class_form, may_borrow,
            .about = "Whether its jobs may borrow nodes of other pools, whose "
                     "own jobs may preempt them at any time."),
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
            .about = "The resources that Berth schedules, in the order that "
                     "breaks ties of scarcity.",
            .table = &resource_table,
            .count_offset = offsetof(struct policy_form, resource_count),
            .count_max = RESOURCE_COLUMNS_MAX),
    SETTING("floatingResources", RECORDS, policy_form, floating,
            .about =
                "Resources that are not tied to a node, such as licences. All "
                "jobs of a pool share them, and executors do not see them.",
            .table = &policy_floating_table,
            .count_offset = offsetof(struct policy_form, floating_count),
            .count_max = RESOURCE_COLUMNS_MAX),
    SETTING("dominantResourceFairnessResourcesToConsider", TEXTS, policy_form,
            dominant_resources,
            .about = "The resources that count for a queue's share: its "
                     "largest part of one of them."),
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
            .about =
                "Types of nodes, defined by their taints, for awayNodeTypes.",
            .table = &policy_node_type_table,
            .count_offset = offsetof(struct policy_form, node_type_count),
            .count_max = POLICY_NODE_TYPES_MAX),
    SETTING("defaultPriorityClassName", TEXT, policy_form, default_class,
            .about =
                "The class of a pod whose class is not in priorityClasses."),
    SETTING(
        "maximumSchedulingRate", MILLI, policy_form,
        rate_global.rate_milli_per_s,
        .about =
            "Jobs that may start per second, all queues together; 0: no limit.",
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
            .about = "Jobs of one queue that a round considers; 0: all.",
            .max = COUNT_MAX),
    SETTING("maxSchedulingDuration", DURATION, policy_form, round_ms_max,
            .about = "A round ends after so much work, and the next one "
                     "continues there; 0s: no bound. Work is counted, not "
                     "timed, so that the same state gives the same plan: a "
                     "millisecond is 50,000 nodes considered.",
            .max = DAY_MS),
    SETTING("maxRetries", INT, policy_form, retries_max,
            .about = "How often a job is requeued when executors return it.",
            .max = 1000),
    SETTING("retryPolicies", BOOL, policy_form, has_retry_policies,
            .about = "Whether retry policies of queues are applied."),
    SETTING("maxPolicyRetries", INT, policy_form, policy_retries_max,
            .about = "Largest number of retries of a job, whatever its queue's "
                     "retry policy allows.",
            .max = 1000),
    SETTING("schedulePeriod", DURATION, policy_form, round_period_ms,
            .about = "Period of maximumResourceFractionToSchedule.", .min = 1,
            .max = DAY_MS),
    SETTING("fullRoundPeriod", DURATION, policy_form, balance_period_ms,
            .old_key = "balancePeriod",
            .about = "The shortest time between two full rounds. The next "
                     "one starts after it if something has changed.",
            .min = 1, .max = DAY_MS),
    SETTING(
        "cooldown", DURATION, policy_form, cooldown_ms, .old_key = "truce",
        .about =
            "A job or gang that preempted for fairness, or that was preempted "
            "for an admitted job that it had passed, may not preempt for "
            "fairness until this time is over and the cluster has changed.",
        .max = DAY_MS),
    SETTING("executorTimeout", DURATION, policy_form, executor_timeout_ms,
            .about = "An executor that is silent for so long gets no new jobs.",
            .min = 1000, .max = 30 * (int64_t)DAY_MS),
    SETTING(
        "executorLostTimeout", DURATION, policy_form, executor_lost_timeout_ms,
        .about = "An executor that is silent for so long has lost its jobs.",
        .min = 1000, .max = 30 * (int64_t)DAY_MS),
    SETTING("maxUnacknowledgedJobsPerExecutor", INT, policy_form,
            unacknowledged_max,
            .about = "How many leases of an executor may be unacknowledged.",
            .min = 1, .max = 1000000),
    SETTING("nodeQuarantine", RECORD, policy_form, quarantine, .about = "",
            .table = &policy_quarantine_table),
    SETTING("elastic", RECORD, policy_form, elastic, .about = "",
            .table = &policy_elastic_table),
    SETTING("disableFairSharePreemption", BOOL, policy_form,
            is_fair_share_preemption_off,
            .about = "Whether preemption for fairness is off."),
    SETTING("disableUrgencyPreemption", BOOL, policy_form,
            is_urgency_preemption_off,
            .about = "Whether preemption for a more urgent class is off."),
    SETTING("rulesRevision", INT, policy_form, rules_revision,
            .about = "Revision of the scheduling rules. Logs of former "
                     "releases name an earlier one or none, which is 1; leave "
                     "it as it is.",
            .min = POLICY_RULES_FIRST, .max = POLICY_RULES_LATEST),
};

const struct settings policy_settings = {form_keys, ARRAY_COUNT(form_keys),
                                         sizeof(struct policy_form), init_form};
