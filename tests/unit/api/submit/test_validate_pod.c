/*
 * The rules of submission about pods, each with its text (armada-api.md 3.3),
 * and the traps about them (section 9: 9, 10).
 */
#include <stdio.h>

#include "field.h"
#include "sample.h"
#include "texts.h"
#include "unit.h"

static void test_i4_node_affinity(void **state)
{
    static const struct {
        const char *key, *op, *value;
        bool is_good;
    } cases[] = {
        {"kubernetes.io/arch", "In", "amd64", true},
        {"arch", "NotIn", "amd64", true},
        {"arch", "Exists", NULL, true},
        {"arch", "DoesNotExist", NULL, true},
        {"cores", "Gt", "8", true},
        {"cores", "Lt", "8", true},
        {"arch", "In", NULL, false},
        {"arch", "Exists", "x", false},
        {"cores", "Gt", "many", false},
        {"cores", "Gt", " 8", false},
        {"arch", "Like", "x", false},
        {"", "Exists", NULL, false},
        {"-arch", "Exists", NULL, false},
        {"UPPER.io/arch", "Exists", NULL, false},
        {"a/b/c", "Exists", NULL, false},
        {"arch", "In", "not a label", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
        sample_affinity(&arena, pod, cases[i].key, cases[i].op, cases[i].value);
        const char *text = text_of_usual_pod(pod, &arena);
        assert_int_equal(*text == '\0', cases[i].is_good);
        assert_true(*text == '\0' ||
                    strstr(text, "invalid RequiredDuringSchedulingIgnoredDuring"
                                 "Execution node affinity: ") == text);
    }
}

/* All that is wrong is told, with where and what. */
static void test_i4_every_error_of_an_affinity_is_told(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    char evil[] = "no\033label";

    (void)state;
    sample_affinity(&arena, pod, "-arch", "In", evil);
    assert_string_equal(
        text_of_usual_pod(pod, &arena),
        "invalid RequiredDuringSchedulingIgnoredDuringExecution node affinity: "
        "[nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "
        "\"-arch\": not a label key, "
        "nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "
        "\"no\\x1blabel\": not a label value]");
    pod = sample_pod(&arena);
    sample_affinity(&arena, pod, "arch", "Like", NULL);
    assert_string_equal(
        text_of_usual_pod(pod, &arena),
        "invalid RequiredDuringSchedulingIgnoredDuringExecution node affinity: "
        "nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "
        "\"Like\": not a valid selector operator");
}

static void test_i4_no_preferred_affinity(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__NodeAffinity *affinity =
        sample_affinity(&arena, pod, "arch", "Exists", NULL);
    K8s__Io__Api__Core__V1__PreferredSchedulingTerm term =
        K8S__IO__API__CORE__V1__PREFERRED_SCHEDULING_TERM__INIT;
    K8s__Io__Api__Core__V1__PreferredSchedulingTerm *terms[] = {&term};

    (void)state;
    affinity->n_preferredduringschedulingignoredduringexecution = 1;
    affinity->preferredduringschedulingignoredduringexecution = terms;
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "preferredDuringSchedulingIgnoredDuringExecution node "
                        "affinity is not supported by Armada");
    struct submit_rules rules;
    submit_rules_defaults(&rules);
    rules.allows_preferred_nodes = true;
    assert_string_equal(text_of_pod(pod, &rules, &arena), "");
}

/* One container's cpu, and what the default rules say of it. */
static const struct {
    const char *request, *limit, *text;
} cpu_cases[] = {
    {NULL, NULL, "container c has no resources specified"},
    {"1", NULL,
     "container c defines different resources for requests and limits"},
    {NULL, "1",
     "container c defines different resources for requests and limits"},
    {"-1", "1",
     "container c defines negative resource request (-1) for resource cpu"},
    {"1", "-1",
     "container c defines negative resource limit (-1) for resource cpu"},
    {"2", "1", "container c defines cpu with limits smaller than requests"},
    {"1", "1001m",
     "container c defines cpu with limits great than 1.00*requests"},
    {"1000m", "1", ""},
    {"0", "0", ""},
    {"x", "1",
     "container c defines x for resource cpu, which is not a quantity"},
    {"1e30", "1e30",
     "container c defines 1e30 for resource cpu, which is too large"},
};

static void test_i5_to_i10_requests_and_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cpu_cases); i++) {
        auto_arena arena = {0};
        K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
        sample_resource(&arena, sample_container(&arena, pod, "c", false),
                        "cpu", cpu_cases[i].request, cpu_cases[i].limit);
        assert_string_equal(text_of_usual_pod(pod, &arena), cpu_cases[i].text);
    }
}

static void test_i8_names_match(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    sample_resource(&arena, pod->containers[0], "a.io/x", "1", NULL);
    sample_resource(&arena, pod->containers[0], "a.io/y", NULL, "1");
    assert_string_equal(
        text_of_usual_pod(pod, &arena),
        "container main defines a.io/x for requests but not limits");
}

/* TRAP-10: also of extended resources, also in init containers. */
static void test_trap_10_limits_equal_requests(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__Container *init =
        sample_container(&arena, pod, "setup", true);

    (void)state;
    sample_resource(&arena, init, "nvidia.com/gpu", "1", "2");
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "container setup defines nvidia.com/gpu with limits "
                        "great than 1.00*requests");
}

static void test_i10_factor_is_configurable(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    struct submit_rules rules;

    (void)state;
    submit_rules_defaults(&rules);
    rules.factors[rules.factor_count++] =
        (struct resource_factor){STR("a.io/x"), 1.5};
    sample_resource(&arena, pod->containers[0], "a.io/x", "2", "3");
    assert_string_equal(text_of_pod(pod, &rules, &arena), "");
    sample_resource(&arena, pod->containers[0], "a.io/x", "2", "4");
    assert_string_equal(text_of_pod(pod, &rules, &arena),
                        "container main defines a.io/x with limits great "
                        "than 1.50*requests");
}

static void test_i11_minimum(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    sample_resource(&arena, pod->containers[0], "memory", "1023Ki", "1023Ki");
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "container \"main\" memory requests (1023Ki) below "
                        "server minimum (1Mi)");
    sample_resource(&arena, pod->containers[0], "memory", "1Mi", "1Mi");
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
}

static void test_i12_init_containers_ask_fractions(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__Container *init =
        sample_container(&arena, pod, "setup", true);

    (void)state;
    sample_resource(&arena, init, "cpu", "2", "2");
    assert_string_equal(
        text_of_usual_pod(pod, &arena),
        "Init container setup contains invalid cpu value 2.  All init "
        "containers must set requests/limits to fractional cpu e.g. 900m");
    sample_resource(&arena, init, "cpu", "900m", "900m");
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
    sample_resource(&arena, init, "cpu", "0", "0");
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
}

static void test_i13_priority_class(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    pod->priorityclassname = field("vip");
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "priority class vip is not supported");
    pod->priorityclassname = field("armada-preemptible");
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
}

/* I14; AR-07: 0 and absent pass, -1 and 301 do not. */
static void test_i14_ar07_grace_period(void **state)
{
    static const int64_t good[] = {0, 1, 300}, bad[] = {-1, 301};
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    pod->has_terminationgraceperiodseconds = true;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        pod->terminationgraceperiodseconds = good[i];
        assert_string_equal(text_of_usual_pod(pod, &arena), "");
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        char expected[200];
        snprintf(expected, sizeof(expected),
                 "terminationGracePeriodSeconds of %lld must be [1000000000, "
                 "300000000000], or omitted",
                 (long long)bad[i]);
        pod->terminationgraceperiodseconds = bad[i];
        assert_string_equal(text_of_usual_pod(pod, &arena), expected);
    }
}

static void test_i18_restricted_tolerations(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    struct submit_rules rules;

    (void)state;
    submit_rules_defaults(&rules);
    sample_toleration(&arena, pod, "mine");
    assert_string_equal(text_of_pod(pod, &rules, &arena), "");
    rules.restricted_toleration_keys[0] = STR("mine");
    rules.restricted_toleration_key_count = 1;
    assert_string_equal(text_of_pod(pod, &rules, &arena),
                        "toleration mine is not user settable");
}

/* An empty list of containers passes; most of a pod is not looked at. */
static void test_what_is_not_validated(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec pod =
        K8S__IO__API__CORE__V1__POD_SPEC__INIT;

    (void)state;
    assert_string_equal(text_of_usual_pod(&pod, &arena), "");
    pod.hostname = field("No Such Name");
    assert_string_equal(text_of_usual_pod(&pod, &arena), "");
}

static void test_affinity_to_pods_is_refused_unless_it_is_a_wish(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__Affinity affinity =
        K8S__IO__API__CORE__V1__AFFINITY__INIT;
    K8s__Io__Api__Core__V1__PodAntiAffinity apart =
        K8S__IO__API__CORE__V1__POD_ANTI_AFFINITY__INIT;
    K8s__Io__Api__Core__V1__PodAffinityTerm term =
        K8S__IO__API__CORE__V1__POD_AFFINITY_TERM__INIT;
    K8s__Io__Api__Core__V1__PodAffinityTerm *terms[] = {&term};
    K8s__Io__Api__Core__V1__WeightedPodAffinityTerm wish =
        K8S__IO__API__CORE__V1__WEIGHTED_POD_AFFINITY_TERM__INIT;
    K8s__Io__Api__Core__V1__WeightedPodAffinityTerm *wishes[] = {&wish};

    (void)state;
    pod->affinity = &affinity;
    affinity.podantiaffinity = &apart;
    apart.preferredduringschedulingignoredduringexecution = wishes;
    apart.n_preferredduringschedulingignoredduringexecution = 1;
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
    apart.requiredduringschedulingignoredduringexecution = terms;
    apart.n_requiredduringschedulingignoredduringexecution = 1;
    assert_string_equal(
        text_of_usual_pod(pod, &arena),
        "affinity.podAntiAffinity."
        "requiredDuringSchedulingIgnoredDuringExecution is not supported: "
        "Berth does not place pods relative to other pods; use a gang with "
        "gangNodeUniformityLabel to keep pods together");
}

static void test_spread_is_refused_unless_it_is_a_wish(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__TopologySpreadConstraint spread =
        K8S__IO__API__CORE__V1__TOPOLOGY_SPREAD_CONSTRAINT__INIT;
    K8s__Io__Api__Core__V1__TopologySpreadConstraint *spreads[] = {&spread};

    (void)state;
    pod->topologyspreadconstraints = spreads;
    pod->n_topologyspreadconstraints = 1;
    spread.whenunsatisfiable = field("ScheduleAnyway");
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
    spread.whenunsatisfiable = field("DoNotSchedule");
    assert_string_equal(
        text_of_usual_pod(pod, &arena),
        "topologySpreadConstraints with whenUnsatisfiable DoNotSchedule is not "
        "supported: Berth does not spread pods; remove it, or set "
        "ScheduleAnyway");
}

static void test_what_would_bypass_the_scheduler_is_refused(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__PodSchedulingGate gate =
        K8S__IO__API__CORE__V1__POD_SCHEDULING_GATE__INIT;
    K8s__Io__Api__Core__V1__PodSchedulingGate *gates[] = {&gate};
    K8s__Io__Api__Core__V1__PodResourceClaim claim =
        K8S__IO__API__CORE__V1__POD_RESOURCE_CLAIM__INIT;
    K8s__Io__Api__Core__V1__PodResourceClaim *claims[] = {&claim};

    (void)state;
    pod->nodename = field("n1");
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "nodeName is not supported: Berth chooses the node; "
                        "use nodeSelector");
    pod->nodename = NULL;
    pod->preemptionpolicy = field("PreemptLowerPriority");
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
    pod->preemptionpolicy = field("Never");
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
    pod->preemptionpolicy = field("Always");
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "preemptionPolicy Always is not supported: it is "
                        "PreemptLowerPriority or Never");
    pod->preemptionpolicy = NULL;
    pod->schedulinggates = gates;
    pod->n_schedulinggates = 1;
    assert_string_equal(
        text_of_usual_pod(pod, &arena),
        "schedulingGates is not supported: nothing would remove them; use "
        "berth.dev/hold, or submit the job when it may start");
    pod->n_schedulinggates = 0;
    pod->resourceclaims = claims;
    pod->n_resourceclaims = 1;
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "resourceClaims is not supported: request devices as "
                        "resources of a container");
}

/* 27 KB of these took gigabytes where they were expanded. */
static void test_variables_that_double_each_other_are_refused(void **state)
{
    enum { COUNT = 30 };
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__Container *container = pod->containers[0];
    static K8s__Io__Api__Core__V1__EnvVar env[COUNT];
    static char values[COUNT][64], names[COUNT][8];

    (void)state;
    container->env = arena_alloc_array(&arena, COUNT, sizeof(void *));
    for (int i = 0; i < COUNT; i++) {
        k8s__io__api__core__v1__env_var__init(&env[i]);
        snprintf(names[i], sizeof(names[i]), "V%d", i);
        snprintf(values[i], sizeof(values[i]), "$(V%d)$(V%d)$(NONE)", i - 1,
                 i - 1);
        env[i].name = names[i];
        env[i].value = i == 0 ? field("0123456789") : values[i];
        container->env[i] = &env[i];
    }
    container->n_env = 17; /* 10 << 16 bytes in the last, 1.3 MB in all */
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
    container->n_env = COUNT;
    const char *text = text_of_usual_pod(pod, &arena);

    assert_non_null(strstr(text, "expanded, "));
    assert_non_null(strstr(text, "longer than"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_i4_node_affinity),
        TEST(test_i4_every_error_of_an_affinity_is_told),
        TEST(test_i4_no_preferred_affinity),
        TEST(test_i5_to_i10_requests_and_limits),
        TEST(test_i8_names_match),
        TEST(test_trap_10_limits_equal_requests),
        TEST(test_i10_factor_is_configurable),
        TEST(test_i11_minimum),
        TEST(test_i12_init_containers_ask_fractions),
        TEST(test_i13_priority_class),
        TEST(test_i14_ar07_grace_period),
        TEST(test_i18_restricted_tolerations),
        TEST(test_what_is_not_validated),
        TEST(test_affinity_to_pods_is_refused_unless_it_is_a_wish),
        TEST(test_spread_is_refused_unless_it_is_a_wish),
        TEST(test_what_would_bypass_the_scheduler_is_refused),
        TEST(test_variables_that_double_each_other_are_refused),
    };

    return RUN_TESTS(tests);
}
