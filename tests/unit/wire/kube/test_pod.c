/* Sentences of wire/kube/pod.h. */
#include "unit.h"
#include "wire/json/json.h"
#include "wire/kube/pod.h"
#include "wire/kube/pod_support.h"

static K8s__Io__Api__Core__V1__PodSpec *pod(const char *text,
                                            struct arena *arena)
{
    json_error_t error;
    auto_json_t *json = json_loads(text, 0, &error);
    ProtobufCMessage *message = NULL;
    struct err err = {{0}};

    assert_non_null(json);
    if (wire_json_read(&k8s__io__api__core__v1__pod_spec__descriptor, json,
                       WIRE_JSON_STRICT, arena, &message, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return (K8s__Io__Api__Core__V1__PodSpec *)message;
}

static struct requirement requirement_of(const char *text, struct arena *arena)
{
    struct requirement requirement = {0};
    struct err err = {{0}};

    if (pod_requirement(pod(text, arena), arena, &requirement, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return requirement;
}

static int64_t request_of(const char *text, const char *name)
{
    auto_arena arena = {0};
    struct requirement requirement = requirement_of(text, &arena);

    return resource_list_get(&requirement.requests, str_of(name));
}

#define CPU(amount) "{\"resources\":{\"requests\":{\"cpu\":\"" amount "\"}}}"
#define CPU_ALWAYS(amount)                                                \
    "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":" \
    "\"" amount "\"}}}"

static void test_containers_add_up(void **state)
{
    (void)state;
    assert_int_equal(
        request_of("{\"containers\":[" CPU("1") "," CPU("500m") "]}", "cpu"),
        1500);
}

static void test_the_largest_init_container_counts_if_larger(void **state)
{
    (void)state;
    assert_int_equal(
        request_of("{\"containers\":[" CPU("1") "],"
                                                "\"initContainers\":[" CPU(
                                                    "3") "," CPU("2") "]}",
                   "cpu"),
        3000);
    assert_int_equal(request_of("{\"containers\":[" CPU(
                                    "4") "],"
                                         "\"initContainers\":[" CPU("3") "]}",
                                "cpu"),
                     4000);
}

static void test_a_sidecar_runs_on_beside_what_follows(void **state)
{
    (void)state;
    assert_int_equal(request_of("{\"containers\":[" CPU(
                                    "1") "],"
                                         "\"initContainers\":[" CPU_ALWAYS(
                                             "2") "," CPU("5") "]}",
                                "cpu"),
                     7000);
    assert_int_equal(request_of("{\"containers\":[" CPU(
                                    "1") "],"
                                         "\"initContainers\":[" CPU(
                                             "2") "," CPU_ALWAYS("2") "]}",
                                "cpu"),
                     3000);
}

static void test_overhead_comes_on_top(void **state)
{
    (void)state;
    assert_int_equal(request_of("{\"containers\":[" CPU(
                                    "1") "],"
                                         "\"overhead\":{\"cpu\":\"250m\"}}",
                                "cpu"),
                     1250);
}

#define WITH_POD(level) \
    "{\"containers\":[" CPU("1") "," CPU("2") "],\"resources\":" level "}"

static void test_resources_of_the_pod_stand_for_its_containers(void **state)
{
    (void)state;
    assert_int_equal(
        request_of(WITH_POD("{\"requests\":{\"cpu\":\"5\"}}"), "cpu"), 5000);
    assert_int_equal(
        request_of(WITH_POD("{\"limits\":{\"cpu\":\"5\"}}"), "cpu"), 3000);
    assert_int_equal(
        request_of(WITH_POD("{\"limits\":{\"memory\":\"5\"}}"), "memory"),
        5000);
    assert_int_equal(
        request_of("{\"containers\":[" CPU(
                       "1") "],"
                            "\"resources\":{\"requests\":{\"cpu\":\"2\"}},"
                            "\"overhead\":{\"cpu\":\"250m\"}}",
                   "cpu"),
        2250);
}

static void test_a_limit_alone_is_a_request_and_zero_is_none(void **state)
{
    auto_arena arena = {0};
    struct requirement requirement = requirement_of(
        "{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"2\","
        "\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"1\",\"gpu\":\"0\"}}}]}",
        &arena);

    (void)state;
    assert_int_equal(requirement.requests.count, 2);
    assert_int_equal(resource_list_get(&requirement.requests, STR("cpu")),
                     1000);
    assert_true(resource_list_get(&requirement.requests, STR("memory")) ==
                INT64_C(1073741824000));
}

static void test_placement_is_read(void **state)
{
    auto_arena arena = {0};
    struct requirement requirement = requirement_of(
        "{\"priorityClassName\":\"high\",\"nodeSelector\":{\"b\":\"2\","
        "\"a\":\"1\"},\"tolerations\":[{\"key\":\"k\",\"value\":\"v\","
        "\"effect\":\"NoSchedule\"},{\"operator\":\"Exists\"}],"
        "\"affinity\":{\"nodeAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"z\","
        "\"operator\":\"NotIn\",\"values\":[\"2\",\"1\"]}],"
        "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
        "\"values\":[\"n\"]}]}]}}}}",
        &arena);

    (void)state;
    assert_true(str_equal(requirement.priority_class, STR("high")));
    assert_int_equal(requirement.selector_count, 2);
    assert_true(str_equal(requirement.selector[0].key, STR("a")));
    assert_int_equal(requirement.toleration_count, 2);
    assert_true(requirement.tolerations[0].is_exists);
    assert_int_equal(requirement.tolerations[0].effect, TAINT_ANY);
    assert_int_equal(requirement.tolerations[1].effect, TAINT_NO_SCHEDULE);
    assert_true(requirement.has_affinity);
    assert_int_equal(requirement.term_count, 1);
    assert_int_equal(requirement.terms[0].expression_count, 2);
    assert_int_equal(requirement.terms[0].expressions[0].op, AFFINITY_NOT_IN);
    assert_true(
        str_equal(requirement.terms[0].expressions[0].values[0], STR("1")));
    assert_true(requirement.terms[0].expressions[1].is_field);
}

static void test_equal_needs_pack_to_equal_bytes(void **state)
{
    auto_arena arena = {0};
    auto_strbuf one = {0}, other = {0};

    (void)state;
    struct requirement a = requirement_of(
        "{\"nodeSelector\":{\"b\":\"2\",\"a\":\"1\"},\"hostname\":\"x\","
        "\"containers\":[" CPU("1") "]}",
        &arena);
    struct requirement b =
        requirement_of("{\"containers\":[" CPU("500m") "," CPU(
                           "0.5") "],"
                                  "\"nodeSelector\":{\"a\":\"1\",\"b\":\"2\"}}",
                       &arena);
    requirement_pack(&one, &a);
    requirement_pack(&other, &b);
    assert_true(str_equal(strbuf_str(&one), strbuf_str(&other)));
}

static void assert_refused(const char *text, int code, const char *message)
{
    auto_arena arena = {0};
    struct requirement requirement;
    struct err err = {{0}};

    assert_int_equal(
        pod_requirement(pod(text, &arena), &arena, &requirement, &err), code);
    assert_string_equal(err.text, message);
}

/* Each node is asked all of them. */
#define PREFERRED(weight)                                                      \
    "{\"affinity\":{\"nodeAffinity\":{"                                        \
    "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":" weight \
    ",\"preference\":{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":"   \
    "\"In\",\"values\":[\"b\",\"a\"]}]}}]}}}"

static void test_preferences_are_read(void **state)
{
    auto_arena arena = {0};
    struct requirement requirement = requirement_of(PREFERRED("7"), &arena);

    (void)state;
    assert_false(requirement.has_affinity);
    assert_int_equal(requirement.preference_count, 1);
    assert_int_equal(requirement.preferences[0].weight, 7);
    assert_true(str_equal(
        requirement.preferences[0].term.expressions[0].values[0], STR("a")));
    assert_refused(PREFERRED("101"), -ERR_INVALID,
                   "preferred node affinity: weight 101 is not in 1..100");
}

static void test_preemption_policy_is_read(void **state)
{
    auto_arena arena = {0};

    (void)state;
    assert_true(requirement_of("{\"preemptionPolicy\":\"Never\"}", &arena)
                    .never_preempts);
    assert_false(requirement_of(
                     "{\"preemptionPolicy\":\"PreemptLowerPriority\"}", &arena)
                     .never_preempts);
}

static void test_host_ports_are_read(void **state)
{
    auto_arena arena = {0};
    struct requirement requirement = requirement_of(
        "{\"containers\":[{\"ports\":[{\"hostPort\":90,\"protocol\":\"UDP\","
        "\"hostIP\":\"10.0.0.1\"},{\"containerPort\":7}]},{\"ports\":"
        "[{\"hostPort\":80,\"hostIP\":\"0.0.0.0\"},{\"hostPort\":80,"
        "\"hostIP\":\"10.0.0.1\"}]}],\"initContainers\":[{\"ports\":"
        "[{\"hostPort\":70}]}]}",
        &arena);

    (void)state;
    assert_int_equal(requirement.port_count, 2);
    assert_int_equal(requirement.ports[0].port, 80);
    assert_int_equal(requirement.ports[0].protocol, HOST_TCP);
    assert_int_equal(requirement.ports[0].ip.byte_count, 0);
    assert_int_equal(requirement.ports[1].port, 90);
    assert_int_equal(requirement.ports[1].protocol, HOST_UDP);
    assert_true(str_equal(requirement.ports[1].ip, STR("10.0.0.1")));
    requirement =
        requirement_of("{\"hostNetwork\":true,\"containers\":[{\"ports\":"
                       "[{\"containerPort\":7}]}]}",
                       &arena);
    assert_int_equal(requirement.port_count, 1);
    assert_int_equal(requirement.ports[0].port, 7);
    assert_refused("{\"containers\":[{\"ports\":[{\"hostPort\":70000}]}]}",
                   -ERR_INVALID, "hostPort 70000 is not in 1..65535");
}

static void test_affinity_has_a_bound_over_all_terms(void **state)
{
    auto_strbuf text = {0};

    (void)state;
    strbuf_add_text(&text,
                    "{\"affinity\":{\"nodeAffinity\":{"
                    "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                    "\"nodeSelectorTerms\":[");
    for (int term = 0; term < 9; term++) {
        strbuf_addf(&text, "%s{\"matchExpressions\":[", term ? "," : "");
        for (int i = 0; i < 60; i++) {
            strbuf_addf(&text, "%s{\"key\":\"k%d\",\"operator\":\"Exists\"}",
                        i ? "," : "", i);
        }
        strbuf_add_text(&text, "]}");
    }
    strbuf_add_text(&text, "]}}}}");
    assert_refused(strbuf_text(&text), -ERR_LIMIT,
                   "node affinity: more than 512 expressions in all terms");
}

static void test_what_does_not_read_is_refused(void **state)
{
    (void)state;
    assert_refused("{\"tolerations\":[{\"operator\":\"Like\"}]}", -ERR_INVALID,
                   "toleration: unknown operator Like");
    assert_refused("{\"tolerations\":[{\"effect\":\"Maybe\"}]}", -ERR_INVALID,
                   "toleration: unknown effect Maybe");
    assert_refused("{\"affinity\":{\"nodeAffinity\":{"
                   "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                   "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                   "\"z\",\"operator\":\"In\"}]}]}}}}",
                   -ERR_INVALID, "node affinity: In cannot have 0 values");
    assert_refused("{\"containers\":[" CPU("99999999999999999") "]}",
                   -ERR_LIMIT, "cpu: 99999999999999999 is too large");
    assert_refused(WITH_POD("{\"requests\":{\"cpu\":\"2\"}}"), -ERR_INVALID,
                   "resources of the pod: the request for cpu is less than its "
                   "containers ask for");
    assert_refused(WITH_POD("{\"limits\":{\"cpu\":\"4\"},"
                            "\"requests\":{\"cpu\":\"5\"}}"),
                   -ERR_INVALID,
                   "resources of the pod: the limit for cpu is less than what "
                   "is requested");
    assert_refused(WITH_POD("{\"requests\":{\"gpu\":\"1\"}}"), -ERR_INVALID,
                   "resources of the pod: gpu can only be asked for by a "
                   "container; allowed are cpu, memory and hugepages-*");
}

static void assert_support(const char *text, const char *message)
{
    auto_arena arena = {0};
    struct err err = {""};

    int rc = pod_support_check(pod(text, &arena), &err);

    assert_int_equal(rc, *message ? -ERR_INVALID : 0);
    assert_string_equal(err.text, message);
}

static void test_what_no_pod_is_given_is_refused_by_name(void **state)
{
    (void)state;
    assert_support("{}", "");
    assert_support("{\"preemptionPolicy\":\"Never\"}", "");
    assert_support("{\"preemptionPolicy\":\"Always\"}",
                   "preemptionPolicy Always is not supported: it is "
                   "PreemptLowerPriority or Never");
    assert_support("{\"resourceClaims\":[{\"name\":\"a\"}]}",
                   "resourceClaims is not supported: request devices as "
                   "resources of a container");
    assert_support("{\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":"
                   "\"ScheduleAnyway\"}]}",
                   "");
    assert_support("{\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":"
                   "\"DoNotSchedule\"}]}",
                   "topologySpreadConstraints with whenUnsatisfiable "
                   "DoNotSchedule is not supported: Berth does not spread "
                   "pods; remove it, or set ScheduleAnyway");
    /* What only the pods of jobs may not ask for. */
    assert_support("{\"nodeName\":\"n\",\"schedulingGates\":[{\"name\":"
                   "\"g\"}]}",
                   "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_containers_add_up),
        TEST(test_the_largest_init_container_counts_if_larger),
        TEST(test_a_sidecar_runs_on_beside_what_follows),
        TEST(test_overhead_comes_on_top),
        TEST(test_resources_of_the_pod_stand_for_its_containers),
        TEST(test_a_limit_alone_is_a_request_and_zero_is_none),
        TEST(test_placement_is_read),
        TEST(test_equal_needs_pack_to_equal_bytes),
        TEST(test_preferences_are_read),
        TEST(test_preemption_policy_is_read),
        TEST(test_host_ports_are_read),
        TEST(test_affinity_has_a_bound_over_all_terms),
        TEST(test_what_does_not_read_is_refused),
        TEST(test_what_no_pod_is_given_is_refused_by_name),
    };
    return RUN_TESTS(tests);
}
