/*
 * What a submission is given that it did not say (armada-api.md 3.4).
 */
#include "api/submit/annotations.h"
#include "api/submit/defaults.h"
#include "field.h"
#include "sample.h"
#include "unit.h"

static const struct job_id some_job = {
    {0x0190a5f2c3d4e5f6, 0x0123456789abcdef}};

static struct pod_view defaulted(K8s__Io__Api__Core__V1__PodSpec *pod,
                                 struct arena *arena)
{
    struct submit_rules *rules = arena_alloc(arena, sizeof(*rules));
    struct refusal refusal;
    struct pod_view view;

    submit_rules_defaults(rules);
    assert_int_equal(pod_view_make(pod, arena, &view, &refusal), 0);
    defaults_pod(&view, rules, arena);
    return view;
}

static void test_job_id_is_filled_in(void **state)
{
    static const struct {
        const char *value, *expected;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"{JobId}", "ID"},
        {"a-{JobId}-b", "a-ID-b"},
        {"{{JobId}}", "JobId"},
        {"{JobId}{JobId}", "IDID"},
        {"{{JobId}} is {JobId}", "JobId is ID"},
        {"{{JobId}", "{ID"},
        {"{jobid}", "{jobid}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        struct str got =
            defaults_fill_job_id(str_of(cases[i].value), STR("ID"), &arena);
        assert_true(str_equal(got, str_of(cases[i].expected)));
    }
}

static void test_step_1_labels_and_annotations(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, NULL);
    struct submit_rules rules;
    char id[ID_TEXT_BYTES_MAX];

    (void)state;
    submit_rules_defaults(&rules);
    sample_label(&arena, item, "job", "{JobId}");
    sample_annotation(&arena, item, "note", "{{JobId}}");
    sample_annotation(&arena, item, "{JobId}", "x");
    defaults_metadata(item, false, some_job, &rules, &arena);
    assert_string_equal(item->labels[0]->value, job_id_format(some_job, id));
    assert_true(str_equal(annotation_find(item, "note"), STR("JobId")));
    /* Keys stay as they are. */
    assert_true(str_equal(annotation_find(item, "{JobId}"), STR("x")));
    assert_int_equal(item->n_annotations, 2);
}

static void test_steps_2_and_3_gangs(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, NULL);
    struct submit_rules rules;

    (void)state;
    submit_rules_defaults(&rules);
    sample_gang(&arena, item, "g", "2");
    defaults_metadata(item, true, some_job, &rules, &arena);
    assert_true(
        str_equal(annotation_find(item, ANNOTATION_FAIL_FAST), STR("true")));
    assert_null(annotation_find(item, ANNOTATION_GANG_UNIFORMITY).p);
    assert_int_equal(item->n_labels, 0);

    item = sample_item(&arena, NULL);
    sample_gang(&arena, item, "g", "2");
    rules.default_gang_uniformity_label = STR("rack");
    rules.adds_gang_id_label = true;
    defaults_metadata(item, true, some_job, &rules, &arena);
    assert_true(str_equal(annotation_find(item, ANNOTATION_GANG_UNIFORMITY),
                          STR("rack")));
    assert_string_equal(item->labels[0]->key, "armadaproject.io/gangId");
    assert_string_equal(item->labels[0]->value, "g");
}

static void test_ar08_step_4_deadline(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    defaulted(pod, &arena);
    assert_true(pod->has_activedeadlineseconds);
    assert_int_equal(pod->activedeadlineseconds, 259200);

    pod = sample_pod(&arena);
    pod->has_activedeadlineseconds = true;
    pod->activedeadlineseconds = 60;
    defaulted(pod, &arena);
    assert_int_equal(pod->activedeadlineseconds, 60);

    pod = sample_pod(&arena);
    sample_resource(&arena, pod->containers[0], "nvidia.com/gpu", "1", "1");
    defaulted(pod, &arena);
    assert_int_equal(pod->activedeadlineseconds, 1209600);

    /* Only main containers count. */
    pod = sample_pod(&arena);
    sample_resource(&arena, sample_container(&arena, pod, "i", true),
                    "nvidia.com/gpu", "1", "1");
    defaulted(pod, &arena);
    assert_int_equal(pod->activedeadlineseconds, 259200);
}

static void test_step_5_priority_class(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    defaulted(pod, &arena);
    assert_string_equal(pod->priorityclassname, "armada-default");
}

static void test_step_6_resources(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    defaulted(pod, &arena);
    assert_string_equal(sample_request(pod, 0, "cpu"), "1");
    assert_string_equal(sample_request(pod, 0, "memory"), "1Gi");
    assert_string_equal(sample_request(pod, 0, "ephemeral-storage"), "8Gi");
    assert_int_equal(pod->containers[0]->resources->n_limits, 3);
}

/* TRAP-10: defaults come after the rules: an init container gets a whole core
 * though it may not ask for one. */
static void test_trap_10_init_container_gets_a_whole_core(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    sample_resource(&arena, sample_container(&arena, pod, "setup", true),
                    "memory", "1Gi", "1Gi");
    defaulted(pod, &arena);
    assert_string_equal(sample_request(pod, 1, "cpu"), "1");
}

static void test_step_7_tolerations(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    sample_toleration(&arena, pod, "armadaproject.io/armada");
    sample_resource(&arena, pod->containers[0], "nvidia.com/gpu", "1", "1");
    defaulted(pod, &arena);
    /* What the user wrote stays, also where it is said again. */
    assert_int_equal(pod->n_tolerations, 4);
    assert_string_equal(pod->tolerations[1]->key, "armadaproject.io/armada");
    assert_string_equal(pod->tolerations[2]->key,
                        "armadaproject.io/pc-armada-default");
    assert_string_equal(pod->tolerations[3]->key, "armadaproject.io/gpu");
    assert_string_equal(pod->tolerations[3]->operator_, "Equal");
    assert_string_equal(pod->tolerations[3]->value, "true");
    assert_string_equal(pod->tolerations[3]->effect, "NoSchedule");
}

static void test_ar07_step_8_grace_period(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    defaulted(pod, &arena);
    assert_int_equal(pod->terminationgraceperiodseconds, 1);
    pod->terminationgraceperiodseconds = 0;
    defaulted(pod, &arena);
    assert_int_equal(pod->terminationgraceperiodseconds, 1);
    pod->terminationgraceperiodseconds = 7;
    defaulted(pod, &arena);
    assert_int_equal(pod->terminationgraceperiodseconds, 7);
}

/* TRAP-15. */
static void test_trap_15_step_9_priority(void **state)
{
    (void)state;
    assert_int_equal(defaults_priority(0), 0);
    assert_int_equal(defaults_priority(-3), 0);
    assert_int_equal(defaults_priority(0.5), 1);
    assert_int_equal(defaults_priority(2.5), 3);
    assert_int_equal(defaults_priority(2.49), 2);
    assert_int_equal(defaults_priority(4294967295.0), UINT32_MAX);
    assert_int_equal(defaults_priority(1e300), UINT32_MAX);
    assert_int_equal(defaults_priority(__builtin_nan("")), 0);
}

static void test_step_10_external_job_uri(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, NULL);

    (void)state;
    assert_int_equal(defaults_external_job_uri(item).byte_count, 0);
    sample_annotation(&arena, item, ANNOTATION_EXTERNAL_JOB_URI, "a://1");
    assert_true(str_equal(defaults_external_job_uri(item), STR("a://1")));
    item->external_job_uri = field("a://2");
    assert_true(str_equal(defaults_external_job_uri(item), STR("a://2")));
}

/* The last of equal keys counts, as in every protobuf map. */
static void test_maps_are_tidied(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);

    (void)state;
    sample_resource(&arena, pod->containers[0], "cpu", "2", "2");
    sample_resource(&arena, pod->containers[0], "a", "1", "1");
    struct pod_view view = defaulted(pod, &arena);
    const struct pod_amounts *requests = &view.containers[0].requests;
    assert_int_equal(requests->count, 3);
    assert_int_equal(pod_amounts_find(requests, STR("cpu"))->milli, 2000);
    assert_int_equal(pod_amounts_find(requests, STR("a"))->milli, 1000);
    assert_null(pod_amounts_find(requests, STR("b")));
    assert_string_equal(sample_request(pod, 0, "cpu"), "2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_job_id_is_filled_in),
        TEST(test_step_1_labels_and_annotations),
        TEST(test_steps_2_and_3_gangs),
        TEST(test_ar08_step_4_deadline),
        TEST(test_step_5_priority_class),
        TEST(test_step_6_resources),
        TEST(test_trap_10_init_container_gets_a_whole_core),
        TEST(test_step_7_tolerations),
        TEST(test_ar07_step_8_grace_period),
        TEST(test_trap_15_step_9_priority),
        TEST(test_step_10_external_job_uri),
        TEST(test_maps_are_tidied),
    };

    return RUN_TESTS(tests);
}
