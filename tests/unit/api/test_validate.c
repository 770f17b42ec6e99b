/*
 * The rules of submission, each with its text (armada-api.md 3.2, 3.3), and
 * the traps about them (section 9: 9, 10, 15).
 */
#include <stdio.h>

#include "api/validate.h"
#include "sample.h"
#include "unit.h"
#include "wire/message.h"

/* The texts that the rules give, "" for none. */
static const char *pod_text(K8s__Io__Api__Core__V1__PodSpec *pod,
                            const struct submit_rules *rules,
                            struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct pod_view view;

    if (pod_view_make(pod, arena, &view, refusal) < 0) {
        return refusal->text;
    }
    return validate_pod(&view, rules, refusal) < 0 ? refusal->text : "";
}

static const char *request_text(Berth__Submission__Request *request,
                                struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct submit_rules rules;

    submit_rules_defaults(&rules);
    return validate_request(request, &rules, refusal) < 0 ? refusal->text : "";
}

static const char *shape_text(Berth__Submission__Item *item,
                              struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct submit_rules rules;
    struct str pod_spec;

    submit_rules_defaults(&rules);
    return validate_item_shape(item, &rules, &pod_spec, refusal) < 0
               ? refusal->text
               : "";
}

static const char *rest_text(Berth__Submission__Item *item, struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));

    return validate_item_rest(item, refusal) < 0 ? refusal->text : "";
}

/* With the default rules. */
static const char *default_pod_text(K8s__Io__Api__Core__V1__PodSpec *pod,
                                    struct arena *arena)
{
    struct submit_rules rules;

    submit_rules_defaults(&rules);
    return pod_text(pod, &rules, arena);
}

static void test_r1_r3_r4_request_fields(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Request *request = sample_request_of(&arena, NULL, 0);
    char *id = arena_alloc(&arena, 1025);

    (void)state;
    assert_string_equal(request_text(request, &arena), "");
    memset(id, 'x', 1024);
    request->job_set_id = id;
    assert_string_equal(request_text(request, &arena),
                        "job set id of length 1024 must be less than max "
                        "character length 1024");
    id[1023] = '\0';
    assert_string_equal(request_text(request, &arena), "");
    id[0] = '\0';
    assert_string_equal(request_text(request, &arena),
                        "job set id is a required field");
    request->queue = id;
    assert_string_equal(request_text(request, &arena),
                        "queue is a required field");
}

static const struct gang_case {
    const char *annotations[4][2];
    const char *text;
} gang_cases[] = {
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "2"}}, ""},
    {{{ANNOTATION_GANG_CARDINALITY, "nonsense"}}, ""},
    {{{ANNOTATION_GANG_ID, ""}}, "gang id is empty"},
    {{{ANNOTATION_GANG_ID, "g"}},
     "gang cardinality annotation armadaproject.io/gangCardinality is "
     "missing"},
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "0"}},
     "gang cardinality 0 is non-positive"},
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "-1"}},
     "gang cardinality -1 is non-positive"},
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "2x"}},
     "gang cardinality is not parseable - \"2x\" is no integer"},
    {{{ANNOTATION_GANG_ID, "g"},
      {ANNOTATION_GANG_CARDINALITY, "2"},
      {ANNOTATION_FAIL_FAST, "false"}},
     "gang jobs may not set fail fast flag (annotation - "
     "armadaproject.io/failFast) to anything but true"},
    {{{ANNOTATION_GANG_ID, "g"},
      {ANNOTATION_GANG_CARDINALITY, "2"},
      {ANNOTATION_GANG_MINIMUM, "3"}},
     "gang minimum cardinality 3 is greater than gang cardinality 2"},
    {{{ANNOTATION_GANG_ID, "g"},
      {ANNOTATION_GANG_CARDINALITY, "3"},
      {ANNOTATION_GANG_MINIMUM, "2"},
      {ANNOTATION_FAIL_FAST, "true"}},
     ""},
};

static void test_r2_gang_annotations(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(gang_cases); i++) {
        const struct gang_case *c = &gang_cases[i];
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        for (size_t k = 0; k < 4 && c->annotations[k][0]; k++) {
            sample_annotation(&arena, item, c->annotations[k][0],
                              c->annotations[k][1]);
        }
        const char *text =
            request_text(sample_request_of(&arena, &item, 1), &arena);
        static const char prefix[] = "invalid gang information: ";
        size_t skip = *text ? sizeof(prefix) - 1 : 0;
        assert_memory_equal(text, prefix, skip);
        assert_string_equal(text + skip, c->text);
    }
}

static void test_r2_members_of_a_gang_agree(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    Berth__Submission__Item *items[2];
    Berth__Submission__Request *request = sample_request_of(&arena, items, 2);

    (void)state;
    items[0] = sample_item(&arena, pod);
    items[1] = sample_item(&arena, pod);
    sample_gang(&arena, items[0], "g", "2");
    sample_gang(&arena, items[1], "g", "3");
    assert_string_equal(request_text(request, &arena),
                        "invalid gang information: inconsistent gang "
                        "cardinality in gang g: expected 2 but got 3");
    sample_annotation(&arena, items[1], ANNOTATION_GANG_CARDINALITY, "2");
    assert_string_equal(request_text(request, &arena), "");
    sample_annotation(&arena, items[1], ANNOTATION_GANG_UNIFORMITY, "rack");
    assert_string_equal(request_text(request, &arena),
                        "invalid gang information: inconsistent "
                        "nodeUniformityLabel in gang g: expected  but got "
                        "rack");
    pod->priorityclassname = (char *)(uintptr_t) "armada-preemptible";
    items[1] = sample_item(&arena, pod);
    sample_gang(&arena, items[1], "g", "2");
    assert_string_equal(request_text(request, &arena),
                        "invalid gang information: inconsistent "
                        "PriorityClassName in gang g: expected "
                        "armada-default but got armada-preemptible");
}

/* No class and the default class are the same class. */
static void test_r2_compares_classes_after_defaulting(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    Berth__Submission__Item *items[2];

    (void)state;
    items[0] = sample_item(&arena, pod);
    pod->priorityclassname = (char *)(uintptr_t) "armada-default";
    items[1] = sample_item(&arena, pod);
    sample_gang(&arena, items[0], "g", "2");
    sample_gang(&arena, items[1], "g", "2");
    assert_string_equal(
        request_text(sample_request_of(&arena, items, 2), &arena), "");
}

static void test_i1_i2_shape(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
    ProtobufCBinaryData two[2] = {item->pod_spec[0], item->pod_spec[0]};

    (void)state;
    assert_string_equal(shape_text(item, &arena), "");
    item->pod_specs = two;
    item->n_pod_specs = 1;
    assert_string_equal(shape_text(item, &arena),
                        "PodSpec must be nil if PodSpecs is provided (i.e., "
                        "these are exclusive)");
    item->n_pod_spec = 0;
    assert_string_equal(shape_text(item, &arena), "");
    item->n_pod_specs = 2;
    assert_string_equal(shape_text(item, &arena),
                        "Jobs with multiple pods are not supported");
    item->n_pod_specs = 0;
    assert_string_equal(shape_text(item, &arena),
                        "Job must contain at least one PodSpec");
    item->namespace_ = (char *)(uintptr_t) "";
    assert_string_equal(shape_text(item, &arena),
                        "namespace is a required field");
}

static void test_i3_size_as_it_came(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    char expected[200];

    (void)state;
    pod->hostname = arena_alloc(&arena, 65537);
    memset(pod->hostname, 'x', 65536);
    Berth__Submission__Item *item = sample_item(&arena, pod);
    snprintf(expected, sizeof(expected),
             "Pod spec has a size of %zu bytes which is greater than the "
             "maximum allowed size of 65535",
             item->pod_spec[0].len);
    assert_string_equal(shape_text(item, &arena), expected);
}

/* TRAP-15: ours is below the limit, Go's above it. */
static void test_trap_15_i3_counts_as_go_encodes(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    for (int i = 0; i < 8000; i++) {
        sample_toleration(&arena, pod, NULL);
        pod->tolerations[i]->operator_ = NULL;
        if (i == 4000) {
            assert_string_equal(default_pod_text(pod, &arena), "");
        }
    }
    assert_true(protobuf_c_message_get_packed_size(&pod->base) < 65535);
    assert_non_null(
        strstr(default_pod_text(pod, &arena), "Pod spec has a size of 88"));
}

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
        const char *text = default_pod_text(pod, &arena);
        assert_int_equal(*text == '\0', cases[i].is_good);
        assert_true(*text == '\0' ||
                    strstr(text, "invalid RequiredDuringSchedulingIgnoredDuring"
                                 "Execution node affinity: ") == text);
    }
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
    assert_string_equal(default_pod_text(pod, &arena),
                        "preferredDuringSchedulingIgnoredDuringExecution node "
                        "affinity is not supported by Armada");
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
        assert_string_equal(default_pod_text(pod, &arena), cpu_cases[i].text);
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
        default_pod_text(pod, &arena),
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
    assert_string_equal(default_pod_text(pod, &arena),
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
    assert_string_equal(pod_text(pod, &rules, &arena), "");
    sample_resource(&arena, pod->containers[0], "a.io/x", "2", "4");
    assert_string_equal(pod_text(pod, &rules, &arena),
                        "container main defines a.io/x with limits great "
                        "than 1.50*requests");
}

static void test_i11_minimum(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    sample_resource(&arena, pod->containers[0], "memory", "1023Ki", "1023Ki");
    assert_string_equal(default_pod_text(pod, &arena),
                        "container \"main\" memory requests (1023Ki) below "
                        "server minimum (1Mi)");
    sample_resource(&arena, pod->containers[0], "memory", "1Mi", "1Mi");
    assert_string_equal(default_pod_text(pod, &arena), "");
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
        default_pod_text(pod, &arena),
        "Init container setup contains invalid cpu value 2.  All init "
        "containers must set requests/limits to fractional cpu e.g. 900m");
    sample_resource(&arena, init, "cpu", "900m", "900m");
    assert_string_equal(default_pod_text(pod, &arena), "");
    sample_resource(&arena, init, "cpu", "0", "0");
    assert_string_equal(default_pod_text(pod, &arena), "");
}

static void test_i13_priority_class(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    pod->priorityclassname = (char *)(uintptr_t) "vip";
    assert_string_equal(default_pod_text(pod, &arena),
                        "priority class vip is not supported");
    pod->priorityclassname = (char *)(uintptr_t) "armada-preemptible";
    assert_string_equal(default_pod_text(pod, &arena), "");
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
        assert_string_equal(default_pod_text(pod, &arena), "");
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        char expected[200];
        snprintf(expected, sizeof(expected),
                 "terminationGracePeriodSeconds of %lld must be [1000000000, "
                 "300000000000], or omitted",
                 (long long)bad[i]);
        pod->terminationgraceperiodseconds = bad[i];
        assert_string_equal(default_pod_text(pod, &arena), expected);
    }
}

static void test_i15_ingress_ports(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
    Api__IngressConfig *ingress = sample_ingress(&arena, item, 80);

    (void)state;
    sample_ingress(&arena, item, 81);
    assert_string_equal(rest_text(item, &arena), "");
    sample_ingress(&arena, item, 80);
    assert_string_equal(rest_text(item, &arena),
                        "port 80 has two ingress configurations, specified in "
                        "ingress configs with indexes 0, 2. Each port should "
                        "at maximum have one ingress configuration");
    ingress->n_ports = 0;
    assert_non_null(
        strstr(rest_text(item, &arena), "ingress contains zero ports."));
}

static void test_i16_ports_once(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    K8s__Io__Api__Core__V1__Container *init =
        sample_container(&arena, pod, "setup", true);

    (void)state;
    sample_resource(&arena, init, "cpu", "100m", "100m");
    sample_port(&arena, pod->containers[0], 80);
    sample_port(&arena, init, 81);
    assert_string_equal(default_pod_text(pod, &arena), "");
    sample_port(&arena, init, 80);
    assert_string_equal(default_pod_text(pod, &arena),
                        "container port 80 is exposed multiple times, "
                        "specified in containers \"main\" and \"setup\". "
                        "Should only be exposed once");
}

static void test_i17_client_id(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    item->client_id = arena_alloc(&arena, 102);
    memset(item->client_id, 'c', 100);
    assert_string_equal(rest_text(item, &arena), "");
    item->client_id[100] = 'c';
    assert_string_equal(rest_text(item, &arena),
                        "client id of length 101 is greater than max allowed "
                        "length of  100");
}

static void test_i18_restricted_tolerations(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    struct submit_rules rules;

    (void)state;
    submit_rules_defaults(&rules);
    sample_toleration(&arena, pod, "mine");
    assert_string_equal(pod_text(pod, &rules, &arena), "");
    rules.restricted_toleration_keys[0] = STR("mine");
    rules.restricted_toleration_key_count = 1;
    assert_string_equal(pod_text(pod, &rules, &arena),
                        "toleration mine is not user settable");
}

static void test_i19_price_band(void **state)
{
    static const struct {
        const char *band;
        bool is_good;
    } cases[] = {{"A", true}, {"h", true},   {"I", false},
                 {"", false}, {"AA", false}, {"1", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        char expected[100];
        sample_annotation(&arena, item, ANNOTATION_PRICE_BAND, cases[i].band);
        snprintf(expected, sizeof(expected), "price band %s is not supported",
                 cases[i].band);
        assert_string_equal(rest_text(item, &arena),
                            cases[i].is_good ? "" : expected);
    }
}

static void test_own_annotations(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    sample_annotation(&arena, item, ANNOTATION_ON_PREEMPTION, "requeue");
    assert_string_equal(rest_text(item, &arena), "");
    sample_annotation(&arena, item, ANNOTATION_ON_EXECUTOR_LOST, "retry");
    assert_string_equal(rest_text(item, &arena),
                        "annotation berth.dev/onExecutorLost must be fail or "
                        "requeue, not retry");
}

/* Only our own prefix is ours to refuse. */
static void test_unknown_own_annotations_are_refused(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    sample_annotation(&arena, item, "armadaproject.io/lifetimeSecond", "60");
    sample_annotation(&arena, item, "example.com/any", "thing");
    sample_annotation(&arena, item, "berth.dev/fakeRunMs", "60");
    assert_string_equal(rest_text(item, &arena), "");
    sample_annotation(&arena, item, "berth.dev/lifetimeSecond", "60");
    assert_string_equal(
        rest_text(item, &arena),
        "annotation berth.dev/lifetimeSecond is not known; those of berth.dev "
        "are berth.dev/onPreemption, berth.dev/onExecutorLost, "
        "berth.dev/lifetimeSeconds, berth.dev/nodeReservation, "
        "berth.dev/maxHops, berth.dev/freezingWindowSeconds, "
        "berth.dev/fakeRunMs, berth.dev/fakeExitCode; it says \"60\"");
}

static void test_lifetimes(void **state)
{
    static const struct {
        const char *text;
        int64_t lifetime_ms; /* -2: refused */
    } cases[] = {
        {"0", 0},         {"1.5", 1500},
        {"60", 60000},    {"infinite", LIFETIME_INFINITE},
        {"-1", -2},       {"soon", -2},
        {"31622401", -2}, {"", -2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        assert_int_equal(annotations_lifetime_ms(item), LIFETIME_BY_CLASS);
        sample_annotation(&arena, item, ANNOTATION_LIFETIME, cases[i].text);
        bool is_refused = rest_text(item, &arena)[0] != 0;
        assert_int_equal(is_refused, cases[i].lifetime_ms == -2);
        if (!is_refused) {
            assert_int_equal(annotations_lifetime_ms(item),
                             cases[i].lifetime_ms);
        }
    }
}

/* An empty list of containers passes; nothing else of a pod is looked at. */
static void test_what_is_not_validated(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec pod =
        K8S__IO__API__CORE__V1__POD_SPEC__INIT;

    (void)state;
    assert_string_equal(default_pod_text(&pod, &arena), "");
    pod.nodename = (char *)(uintptr_t) "No Such Node";
    assert_string_equal(default_pod_text(&pod, &arena), "");
}

static void test_reason_of_50_bytes(void **state)
{
    char reason[52] = {0};

    (void)state;
    memset(reason, 'r', 50);
    assert_true(validate_is_reason_short(reason));
    reason[50] = 'r';
    assert_false(validate_is_reason_short(reason));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r1_r3_r4_request_fields),
        TEST(test_r2_gang_annotations),
        TEST(test_r2_members_of_a_gang_agree),
        TEST(test_r2_compares_classes_after_defaulting),
        TEST(test_i1_i2_shape),
        TEST(test_i3_size_as_it_came),
        TEST(test_trap_15_i3_counts_as_go_encodes),
        TEST(test_i4_node_affinity),
        TEST(test_i4_no_preferred_affinity),
        TEST(test_i5_to_i10_requests_and_limits),
        TEST(test_i8_names_match),
        TEST(test_trap_10_limits_equal_requests),
        TEST(test_i10_factor_is_configurable),
        TEST(test_i11_minimum),
        TEST(test_i12_init_containers_ask_fractions),
        TEST(test_i13_priority_class),
        TEST(test_i14_ar07_grace_period),
        TEST(test_i15_ingress_ports),
        TEST(test_i16_ports_once),
        TEST(test_i17_client_id),
        TEST(test_i18_restricted_tolerations),
        TEST(test_i19_price_band),
        TEST(test_own_annotations),
        TEST(test_unknown_own_annotations_are_refused),
        TEST(test_lifetimes),
        TEST(test_what_is_not_validated),
        TEST(test_reason_of_50_bytes),
    };

    return RUN_TESTS(tests);
}
