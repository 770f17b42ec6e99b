/*
 * policy_codec: a policy and its YAML say the same.
 */
#include "unit.h"
#include "wire/policy/policy_codec.h"

static struct policy *read_policy(const char *yaml, struct arena *arena,
                                  struct err *err)
{
    struct policy *policy = arena_alloc(arena, sizeof(*policy));

    int rc = policy_read(str_of(yaml), "p.yaml", arena, policy, err);
    return rc < 0 ? NULL : policy;
}

static void empty_text_is_the_default_policy(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct policy *defaults = arena_alloc(&arena, sizeof(*defaults));
    struct err err = {""};
    auto_strbuf expected = {0}, text = {0};

    policy_defaults(defaults);
    for (uint32_t c = 0; c < defaults->class_count; c++) {
        defaults->classes[c].is_kept_from_urgency =
            !defaults->classes[c].is_preemptible; /* as in old logs */
    }
    defaults->rules_revision = POLICY_RULES_FIRST; /* likewise */
    defaults->has_retry_policies = false;          /* stored without effect */
    defaults->pools[0].reservation_delay_ms = 0;
    defaults->pools[0].preemption_price_milli = 0;
    defaults->pools[0].over_share_price_milli = 0;
    defaults->pools[0].loss_protection_milli = 0;
    defaults->pools[0].loss_limit_milli = 0;
    defaults->pools[0].gpu_keeping = GPUS_KEPT_NEVER;
    policy_print(defaults, &expected);
    struct policy *policy = read_policy("", &arena, &err);

    assert_string_equal(err.text, "");
    assert_non_null(policy);
    policy_print(policy, &text);
    assert_string_equal(strbuf_text(&text), strbuf_text(&expected));
}

static void logs_keep_the_names_of_earlier_releases(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct err err = {""};

    struct policy *policy =
        read_policy("truce: 7s\nbalancePeriod: 3s\n", &arena, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(policy->cooldown_ms, 7000);
    assert_int_equal(policy->balance_period_ms, 3000);

    policy_print(policy, &text);
    assert_non_null(strstr(strbuf_text(&text), "\ntruce: 7s\n"));
    assert_non_null(strstr(strbuf_text(&text), "\nbalancePeriod: 3s\n"));
    assert_null(strstr(strbuf_text(&text), "cooldown"));
}

/* Who writes a file today means the defaults of today. */
static void what_a_person_leaves_out_has_its_default(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct policy *defaults = arena_alloc(&arena, sizeof(*defaults));
    struct policy *policy = arena_alloc(&arena, sizeof(*policy));
    struct err err = {""};
    auto_strbuf expected = {0}, text = {0};

    policy_defaults(defaults);
    policy_print(defaults, &expected);
    assert_int_equal(
        policy_read_written(STR(""), "p.yaml", &arena, policy, &err), 0);
    policy_print(policy, &text);
    assert_string_equal(strbuf_text(&text), strbuf_text(&expected));
}

static void printed_policy_reads_back_to_the_same_text(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    auto_strbuf text = {0}, again = {0};

    struct policy *policy = read_policy(
        "supportedResourceTypes: [{name: cpu, resolution: 1m},\n"
        "  {name: memory, resolution: 1}]\n"
        "dominantResourceFairnessResourcesToConsider: [memory]\n"
        "pools: [{name: a, packingWeights: {memory: 2}},\n"
        "  {name: b, maximumResourceFractionToSchedule: {cpu: 0.25},\n"
        "   topology: [net/leaf, net/core]}]\n"
        "priorityClasses: [{name: low, priority: -1, preemptible: true},\n"
        "  {name: high, priority: 9,\n"
        "   maximumResourceFractionPerQueue: {cpu: 0.5}}]\n"
        "defaultPriorityClassName: high\n"
        "maximumSchedulingRate: 12.5\n",
        &arena, &err);
    assert_string_equal(err.text, "");
    policy_print(policy, &text);
    struct policy *second = read_policy(strbuf_text(&text), &arena, &err);
    policy_print(second, &again);

    assert_string_equal(strbuf_text(&text), strbuf_text(&again));
    assert_int_equal(second->default_class_index, 1);
    assert_int_equal(second->rate_global.rate_milli_per_s, 12500);
    assert_false(second->is_dominant[0]);
    assert_true(second->is_dominant[1]);
    assert_int_equal(second->pools[0].packing_weights_ppm[1], 2000000);
    assert_int_equal(second->pools[1].start_limit_count, 1);
    assert_int_equal(second->pools[0].level_count, 0);
    assert_int_equal(second->pools[1].level_count, 2);
    assert_true(str_equal(second->pools[1].topology[1], STR("net/core")));
    assert_int_equal(second->schema.columns[0].unit_milli, 1);
    assert_int_equal(second->schema.columns[1].unit_milli, 1000);
}

static void what_a_pool_does_not_say_comes_from_its_profile(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    auto_strbuf text = {0}, again = {0};

    struct policy *policy = read_policy(
        "pools: [{name: a, profile: flow, admittedWindow: 3,\n"
        "    overShareFactor: -1, costWeights: {cpu: 1, memory: 0.25}},\n"
        "  {name: b, profile: berth, backfillOrder: shortestFirst,\n"
        "    keepsGpus: always},\n"
        "  {name: c, profile: armada}]\n",
        &arena, &err);
    assert_string_equal(err.text, "");
    const struct pool_policy *pools = policy->pools;
    assert_int_equal(pools[0].cost, COST_WEIGHTED_SUM);
    assert_int_equal(pools[0].half_time_ms, 20 * 60000);
    assert_int_equal(pools[0].admitted_window, 3);
    assert_int_equal(pools[0].admitted_window_per_queue, 4);
    assert_false(pools[0].is_strict);
    assert_int_equal(pools[0].over_share_ppm, POLICY_OFF);
    assert_int_equal(pools[0].excess_budget_minutes, 60);
    assert_int_equal(pools[1].admitted_window, 1);
    assert_int_equal(pools[1].backfill_order, BACKFILL_SHORTEST_FIRST);
    assert_true(pools[1].has_backfill);
    assert_int_equal(pools[0].gpu_keeping, GPUS_KEPT_NEVER);
    assert_int_equal(pools[1].gpu_keeping, GPUS_KEPT_ALWAYS);
    assert_int_equal(pools[2].admitted_window, 0);
    assert_false(pools[2].has_backfill);
    policy_print(policy, &text);
    policy_print(read_policy(strbuf_text(&text), &arena, &err), &again);
    assert_string_equal(strbuf_text(&text), strbuf_text(&again));
}

static void only_preemptible_classes_have_a_default_lifetime(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};

    struct policy *policy =
        read_policy("priorityClasses: [{name: armada-default, priority: 1,\n"
                    "  preemptible: true, defaultLifetime: 30m}]\n",
                    &arena, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(policy->classes[0].default_lifetime_ms, 30 * 60000);
    assert_null(read_policy("priorityClasses: [{name: armada-default,\n"
                            "  priority: 1, defaultLifetime: 30m}]\n",
                            &arena, &err));
    assert_non_null(strstr(err.text, "priorityClasses[0].defaultLifetime"));
}

/* Logs of releases that did not know the key are decided again as they were;
 * where it is said of one class, the others have its default. */
static void urgency_is_as_before_where_no_class_says_it(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    auto_strbuf text = {0};

    struct policy *policy =
        read_policy("priorityClasses: [{name: armada-default, priority: 1},\n"
                    "  {name: b, preemptible: true}]\n",
                    &arena, &err);
    assert_string_equal(err.text, "");
    assert_true(policy->classes[0].is_kept_from_urgency);
    assert_false(policy->classes[1].is_kept_from_urgency);
    policy_print(policy, &text);
    assert_non_null(
        strstr(strbuf_text(&text), "\n    urgencyPreemptible: false\n"));
    assert_non_null(
        strstr(strbuf_text(&text), "\n    urgencyPreemptible: true\n"));
    policy =
        read_policy("priorityClasses: [{name: armada-default, priority: 1},\n"
                    "  {name: b, preemptible: true,\n"
                    "   urgencyPreemptible: false}]\n",
                    &arena, &err);
    assert_string_equal(err.text, "");
    assert_false(policy->classes[0].is_kept_from_urgency);
    assert_true(policy->classes[1].is_kept_from_urgency);
}

/* Likewise of the rules: this release's are in force where it wrote the text,
 * and by default; none that it does not know are taken. */
static void rules_are_the_first_where_none_are_named(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    auto_strbuf text = {0};
    struct policy *policy = read_policy("", &arena, &err);

    assert_int_equal(policy->rules_revision, POLICY_RULES_FIRST);
    policy_print(policy, &text);
    assert_non_null(strstr(strbuf_text(&text), "\nrulesRevision: 1\n"));
    policy = read_policy("rulesRevision: 2\n", &arena, &err);
    assert_int_equal(policy->rules_revision, POLICY_RULES_BY_POOL);
    policy_defaults(policy);
    assert_int_equal(policy->rules_revision, POLICY_RULES_LATEST);
    assert_null(read_policy("rulesRevision: 9\n", &arena, &err));
    assert_non_null(strstr(err.text, "rulesRevision"));
}

/* As it is shipped, urgency may take of every class. */
static void urgency_may_take_of_every_class_by_default(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_mem struct policy_form *form = mem_alloc(sizeof(*form));
    struct policy *policy = arena_alloc(&arena, sizeof(*policy));
    struct settings_reader reader = {"p.yaml", &arena, NULL, NULL};
    struct err err = {""};

    policy_settings.init(form);
    assert_int_equal(
        settings_read(&policy_settings,
                      STR("priorityClasses: [{name: armada-default}]"), &reader,
                      form, &err),
        0);
    assert_int_equal(policy_from_form(form, policy, &err), 0);
    assert_false(policy->classes[0].is_kept_from_urgency);
    policy_defaults(policy);
    for (uint32_t c = 0; c < policy->class_count; c++) {
        assert_false(policy->classes[c].is_kept_from_urgency);
    }
}

static const char gpu_types[] =
    "wellKnownNodeTypes: [{name: gpu, taints: [{key: gpu, value: \"*\"},\n"
    "  {key: paid, value: \"yes\", effect: NoExecute}]}]\n"
    "defaultPriorityClassName: low\n";

static struct policy *read_with_gpus(const char *classes, struct arena *arena,
                                     struct err *err)
{
    auto_strbuf text = {0};

    strbuf_addf(&text, "%spriorityClasses: [%s]\n", gpu_types, classes);
    return read_policy(strbuf_text(&text), arena, err);
}

static void classes_may_go_to_node_types(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    auto_strbuf text = {0}, again = {0};

    struct policy *policy = read_with_gpus(
        "{name: low, priority: 5, preemptible: true, awayNodeTypes:\n"
        "  [{wellKnownNodeTypeName: gpu, priority: -3}]}",
        &arena, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(policy->classes[0].away_count, 1);
    assert_int_equal(policy->classes[0].away[0].priority, -3);
    assert_int_equal(policy->node_types[0].taint_count, 2);
    assert_int_equal(policy->node_types[0].taints[0].effect, TAINT_ANY);
    assert_int_equal(policy->node_types[0].taints[1].effect, TAINT_NO_EXECUTE);
    policy_print(policy, &text);
    policy_print(read_policy(strbuf_text(&text), &arena, &err), &again);
    assert_string_equal(strbuf_text(&text), strbuf_text(&again));
}

static void what_a_class_may_not_do_away_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *classes, *error;
    } cases[] = {
        {"{name: low, preemptible: true, priority: 5, awayNodeTypes:\n"
         "  [{wellKnownNodeTypeName: tpu, priority: 1}]}",
         "priorityClasses[0].awayNodeTypes: \"tpu\" is not one of "
         "wellKnownNodeTypes"},
        {"{name: low, priority: 5, awayNodeTypes:\n"
         "  [{wellKnownNodeTypeName: gpu, priority: 1}]}",
         "priorityClasses[0].awayNodeTypes: allowed only for a preemptible "
         "class"},
        {"{name: low, preemptible: true, priority: 5, awayNodeTypes:\n"
         "  [{wellKnownNodeTypeName: gpu, priority: 5}]}",
         "priorityClasses[0].awayNodeTypes: the priority must be below the "
         "class's, 5"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        struct err err = {""};
        assert_null(read_with_gpus(cases[i].classes, &arena, &err));
        assert_string_equal(err.text, cases[i].error);
    }
}

static void floating_resources_are_columns(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    auto_strbuf text = {0}, again = {0};

    struct policy *policy = read_policy(
        "floatingResources: [{name: licence, pools:\n"
        "  [{name: default, quantity: 3}]}]\n"
        "dominantResourceFairnessResourcesToConsider: [cpu, licence]\n",
        &arena, &err);
    assert_string_equal(err.text, "");
    int column = resource_column(&policy->schema, STR("licence"));
    assert_int_equal(column, 4);
    assert_true(policy->is_floating[column] && policy->is_dominant[column]);
    assert_int_equal(policy->pools[0].floating[column], 3);
    policy_print(policy, &text);
    policy_print(read_policy(strbuf_text(&text), &arena, &err), &again);
    assert_string_equal(strbuf_text(&text), strbuf_text(&again));
    assert_null(
        read_policy("floatingResources: [{name: cpu}]\n", &arena, &err));
    assert_string_equal(err.text, "floatingResources[0].name: \"cpu\" is empty "
                                  "or given twice");
    assert_null(read_policy("floatingResources: [{name: l, pools:\n"
                            "  [{name: x, quantity: 3}]}]\n",
                            &arena, &err));
    assert_string_equal(err.text,
                        "floatingResources[].pools: \"x\" is not one of pools");
    assert_null(read_policy("floatingResources: [{name: l, pools:\n"
                            "  [{name: default, quantity: 8E}]}]\n",
                            &arena, &err));
}

static void quarantine_is_read_and_printed(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};

    struct policy *policy =
        read_policy("nodeQuarantine: {minFailures: 7, probation: 1m,\n"
                    "  maxQuarantined: 0.25}\n",
                    &arena, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(policy->quarantine.failures_min, 7);
    assert_int_equal(policy->quarantine.job_sets_min, 2);
    assert_int_equal(policy->quarantine.probation_ms, 60000);
    assert_int_equal(policy->quarantine.nodes_max_ppm, 250000);
    assert_null(
        read_policy("nodeQuarantine: {minFailureRate: 0}\n", &arena, &err));
    assert_non_null(strstr(err.text, "nodeQuarantine.minFailureRate"));
}

/* Each says which key, and nothing is taken for something else. */
static void growth_is_read_and_printed(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    auto_strbuf text = {0}, again = {0};

    struct policy *policy = read_policy(
        "elastic: {period: 2s, freezingWindow: 1m, agingPerLevel: 1h,\n"
        "  cpuPerGpu: 500m, scoreWeights: {cpu: 2}}\n"
        "pools: [{name: a, elasticMaxLoad: 0.97, elasticEvenness: 0.5}]\n",
        &arena, &err);
    assert_string_equal(err.text, "");
    policy_print(policy, &text);
    policy = read_policy(strbuf_text(&text), &arena, &err);
    policy_print(policy, &again);
    assert_string_equal(strbuf_text(&text), strbuf_text(&again));
    assert_int_equal(policy->elastic.period_ms, 2000);
    assert_int_equal(policy->elastic.freezing_window_ms, 60000);
    assert_int_equal(policy->elastic.aging_per_level_ms, 3600000);
    assert_int_equal(policy->elastic.cpu_per_gpu_milli, 500);
    assert_int_equal(policy->elastic.score_weights_ppm[1], 2000000);
    assert_int_equal(policy->pools[0].load_max_ppm, 970000);
    assert_int_equal(policy->pools[0].evenness_ppm, 500000);
}

/* The levels of model.md 6.2 are there without a word. */
static void levels_of_training_jobs_are_shipped(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    const struct policy *policy = read_policy("", &arena, &err);
    static const struct {
        const char *name;
        int32_t priority;
        uint32_t cfs_weight;
    } levels[] = {{"experiment", 1000, 10},
                  {"offline", 1000, 100},
                  {"normal", 1000, 1000},
                  {"production", 10000, 10000}};

    for (size_t i = 0; i < ARRAY_COUNT(levels); i++) {
        uint32_t c = policy_class_index(policy, str_of(levels[i].name));
        bool is_production = levels[i].priority > 1000;
        assert_int_equal(policy->classes[c].priority, levels[i].priority);
        assert_int_equal(policy->classes[c].cfs_weight, levels[i].cfs_weight);
        assert_int_equal(policy->classes[c].may_borrow, !is_production);
        assert_int_equal(policy->classes[c].default_lifetime_ms,
                         is_production ? LIFETIME_INFINITE : 0);
    }
}

static const struct {
    const char *yaml, *key;
} out_of_range[] = {
    {"pools: [{name: default, overShareFactor: 1001}]", "overShareFactor"},
    {"pools: [{name: default, overShareFactor: x}]", "overShareFactor"},
    {"pools: [{name: default, overShareFactor: -0.5}]",
     "pools[0].overShareFactor: must be from 0 to 1000, or -1 for no "
     "limit"},
    {"pools: [{name: default, admittedWindow: 1025}]", "admittedWindow"},
    {"pools: [{name: default, admittedWindow: -1}]", "admittedWindow"},
    {"pools: [{name: default, excessBudgetMinutes: -2}]",
     "excessBudgetMinutes"},
    {"pools: [{name: default, excessBudgetMinutes: 1e30}]",
     "excessBudgetMinutes"},
    {"pools: [{name: default, flowHalfTime: -1s}]", "flowHalfTime"},
    {"pools: [{name: default, flowHalfTime: 500000h}]", "flowHalfTime"},
    {"pools: [{name: default, backfillMaxCandidates: 0}]",
     "backfillMaxCandidates"},
    {"pools: [{name: default, protectedFractionOfFairShare: -1}]",
     "protectedFractionOfFairShare"},
    {"pools: [{name: default, shortJobPenalty: 25h}]", "shortJobPenalty"},
    {"pools: [{name: default, costWeights: {cpu: -1}}]", "costWeights"},
    {"pools: [{name: default, topology: [a, b, a]}]",
     "pools[0].topology[2]: \"a\" is given twice"},
    {"pools: [{name: default, topology: [a, '']}]", "topology[1]"},
    {"pools: [{name: default, topology: [a, b, c, d, e, f, g, h, i]}]",
     "topology: 9 levels, at most 8 are allowed"},
    {"pools: [{name: default,\n"
     "  maximumResourceFractionToSchedule: {cpu: nan}}]",
     "maximumResourceFractionToSchedule"},
    {"maximumSchedulingRate: -1", "maximumSchedulingRate"},
    {"maximumSchedulingBurst: 1e10", "maximumSchedulingBurst"},
    {"maxSchedulingDuration: -1s", "maxSchedulingDuration"},
    {"schedulePeriod: 0s", "schedulePeriod"},
    {"maxRetries: 1001", "maxRetries"},
    {"nodeQuarantine: {window: 1s}", "window"},
    {"nodeQuarantine: {maxQuarantined: 1.5}", "maxQuarantined"},
    {"nodeQuarantine: {minJobSets: 0}", "minJobSets"},
    {"elastic: {period: 0s}", "period"},
    {"elastic: {agingPerLevel: 0s}", "agingPerLevel"},
    {"elastic: {freezingWindow: -1s}", "freezingWindow"},
    {"elastic: {freezingWindow: 8784h1s}", "freezingWindow"},
    {"elastic: {cpuPerGpu: -1}", "cpuPerGpu"},
    {"elastic: {scoreWeights: {tpu: 1}}", "scoreWeights"},
    {"pools: [{name: default, elasticMaxLoad: 0}]", "elasticMaxLoad"},
    {"pools: [{name: default, elasticMaxLoad: 1.1}]", "elasticMaxLoad"},
    {"pools: [{name: default, elasticEvenness: -1}]", "elasticEvenness"},
    {"priorityClasses: [{name: armada-default, cfsWeight: 0}]", "cfsWeight"},
    {"supportedResourceTypes: [{name: cpu, resolution: 0}]", "resolution"},
    {"priorityClasses: [{name: armada-default, priority: 3000000000}]",
     "priority"},
};

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(out_of_range); i++) {
        auto_arena arena = {0};
        struct err err = {""};
        if (read_policy(out_of_range[i].yaml, &arena, &err)) {
            fail_msg("%s is taken", out_of_range[i].yaml);
        }
        if (!strstr(err.text, out_of_range[i].key)) {
            fail_msg("%s: %s", out_of_range[i].yaml, err.text);
        }
    }
}

static void names_must_name_something(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *error;
    } cases[] = {
        {"defaultPriorityClassName: x\n",
         "defaultPriorityClassName: \"x\" is not one of priorityClasses"},
        {"pools: []\n", "pools: at least one is needed"},
        {"pools: [{name: a}, {name: a}]\n",
         "pools[1].name: \"a\" is given twice"},
        {"dominantResourceFairnessResourcesToConsider: [tpu]\n",
         "dominantResourceFairnessResourcesToConsider: \"tpu\" is not one of "
         "supportedResourceTypes"},
        {"polls: []\n", "p.yaml:1: polls: unknown key; did you mean pools?"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        struct err err = {""};
        assert_null(read_policy(cases[i].yaml, &arena, &err));
        assert_string_equal(err.text, cases[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(empty_text_is_the_default_policy),
        TEST(logs_keep_the_names_of_earlier_releases),
        TEST(what_a_person_leaves_out_has_its_default),
        TEST(printed_policy_reads_back_to_the_same_text),
        TEST(what_a_pool_does_not_say_comes_from_its_profile),
        TEST(only_preemptible_classes_have_a_default_lifetime),
        TEST(urgency_is_as_before_where_no_class_says_it),
        TEST(rules_are_the_first_where_none_are_named),
        TEST(urgency_may_take_of_every_class_by_default),
        TEST(classes_may_go_to_node_types),
        TEST(what_a_class_may_not_do_away_is_said),
        TEST(floating_resources_are_columns),
        TEST(quarantine_is_read_and_printed),
        TEST(growth_is_read_and_printed),
        TEST(levels_of_training_jobs_are_shipped),
        TEST(numbers_out_of_range_are_refused),
        TEST(names_must_name_something),
    };
    return RUN_TESTS(tests);
}
