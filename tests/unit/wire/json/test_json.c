/* Sentences of wire/json/json.h, wire/text/rfc3339.h and wire/text/base64.h. */
#include <stdlib.h>

#include "armada/executorapi.pb-c.h"
#include "armada/job.pb-c.h"
#include "armada/queue.pb-c.h"
#include "armada/retry.pb-c.h"
#include "armada/submit.pb-c.h"
#include "unit.h"
#include "wire/json/json.h"
#include "wire/message/message.h"
#include "wire/text/base64.h"
#include "wire/text/rfc3339.h"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_DECODE_ANY, &error);

    if (!json) {
        print_error("%s at %d\n", error.text, error.position);
    }
    assert_non_null(json);
    return json;
}

static void *read_as(const ProtobufCMessageDescriptor *type, const char *text,
                     struct arena *arena)
{
    auto_json_t *json = parse(text);
    ProtobufCMessage *message = NULL;
    struct err err = {{0}};

    if (wire_json_read(type, json, WIRE_JSON_STRICT, arena, &message, &err) <
        0) {
        fail_msg("%s", err.text);
    }
    return message;
}

static void assert_refused(const ProtobufCMessageDescriptor *type,
                           const char *text, const char *message)
{
    auto_arena arena = {0};
    auto_json_t *json = parse(text);
    ProtobufCMessage *ignored;
    struct err err = {{0}};

    assert_int_equal(
        wire_json_read(type, json, WIRE_JSON_STRICT, &arena, &ignored, &err),
        -ERR_INVALID);
    assert_string_equal(err.text, message);
}

/* Text to message to bytes to message to JSON: the same as the text. */
static void assert_survives(const ProtobufCMessageDescriptor *type,
                            const char *text)
{
    auto_arena arena = {0};
    auto_json_t *wanted = parse(text);
    ProtobufCMessage *copy = NULL;
    struct err err = {{0}};

    struct str bytes = wire_encode_arena(read_as(type, text, &arena), &arena);
    assert_int_equal(
        wire_decode(type, bytes, &wire_request_limits, &arena, &copy, &err), 0);
    auto_json_t *written = wire_json_write(copy, 0);
    if (!json_equal(written, wanted)) {
        char *dump = json_dumps(written, JSON_INDENT(1));
        print_error("%s\n", dump);
        free(dump);
        fail();
    }
}

#define POD &k8s__io__api__core__v1__pod_spec__descriptor
#define ITEM &api__job_submit_request_item__descriptor

static void test_a_rich_pod_survives(void **state)
{
    (void)state;
    assert_survives(
        POD,
        "{\"containers\":[{\"name\":\"main\",\"image\":\"busybox\","
        "\"command\":[\"sh\",\"-c\"],\"args\":[\"true\"],"
        "\"ports\":[{\"name\":\"http\",\"containerPort\":80,"
        "\"protocol\":\"TCP\"}],"
        "\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\","
        "\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}},"
        "{\"name\":\"C\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\","
        "\"key\":\"k\",\"optional\":false}}}],"
        "\"envFrom\":[{\"configMapRef\":{\"name\":\"cm\"}}],"
        "\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"},"
        "\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"}},"
        "\"livenessProbe\":{\"httpGet\":{\"path\":\"/\",\"port\":\"http\"},"
        "\"periodSeconds\":5},"
        "\"readinessProbe\":{\"tcpSocket\":{\"port\":8080}},"
        "\"lifecycle\":{\"preStop\":{\"exec\":{\"command\":[\"x\"]}}},"
        "\"securityContext\":{\"runAsUser\":0,\"privileged\":false},"
        "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]}],"
        "\"ephemeralContainers\":[{\"name\":\"e\",\"image\":\"i\","
        "\"livenessProbe\":{\"exec\":{\"command\":[\"y\"]}},"
        "\"targetContainerName\":\"main\"}],"
        "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"sizeLimit\":\"1Gi\"}},"
        "{\"name\":\"w\",\"emptyDir\":{}},"
        "{\"name\":\"c\",\"configMap\":{\"name\":\"cm\",\"items\":[{\"key\":"
        "\"k\",\"path\":\"p\",\"mode\":0}]}},"
        "{\"name\":\"s\",\"secret\":{\"secretName\":\"x\"}},"
        "{\"name\":\"p\",\"projected\":{\"sources\":[{\"secret\":{\"name\":"
        "\"z\"}},{\"configMap\":{\"name\":\"y\",\"optional\":true}}]}}],"
        "\"nodeSelector\":{\"a\":\"b\"},"
        "\"affinity\":{\"nodeAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"k\","
        "\"operator\":\"In\",\"values\":[\"v\"]}]}]}}},"
        "\"tolerations\":[{\"key\":\"t\",\"operator\":\"Exists\","
        "\"tolerationSeconds\":0}],"
        "\"overhead\":{\"cpu\":\"1\"},"
        "\"terminationGracePeriodSeconds\":0,"
        "\"restartPolicy\":\"Never\",\"priorityClassName\":\"armada-"
        "default\"}");
}

static void test_objects_around_a_pod_survive(void **state)
{
    (void)state;
    assert_survives(&k8s__io__api__core__v1__pod__descriptor,
                    "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\"},"
                    "\"creationTimestamp\":\"2026-01-02T03:04:05Z\","
                    "\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":"
                    "{\"f:spec\":{}}}]},\"spec\":{\"hostname\":\"h\"}}");
    assert_survives(&k8s__io__api__core__v1__secret__descriptor,
                    "{\"data\":{\"k\":\"AAEC/w==\"},\"type\":\"Opaque\"}");
    assert_survives(&k8s__io__api__networking__v1__ingress_spec__descriptor,
                    "{\"rules\":[{\"host\":\"h\",\"http\":{\"paths\":[{"
                    "\"path\":\"/\",\"pathType\":\"Prefix\",\"backend\":{"
                    "\"service\":{\"name\":\"s\",\"port\":{\"number\":80}}}"
                    "}]}}]}");
    assert_survives(&k8s__io__api__core__v1__event__descriptor,
                    "{\"eventTime\":\"2026-01-02T03:04:05.678901Z\"}");
}

static void test_a_job_file_item_survives(void **state)
{
    (void)state;
    assert_survives(
        ITEM, "{\"namespace\":\"ns\",\"priority\":1.5,\"clientId\":\"c1\","
              "\"labels\":{\"a\":\"b\"},\"annotations\":{"
              "\"armadaproject.io/gangId\":\"g\"},"
              "\"externalJobUri\":\"scheme://x\","
              "\"ingress\":[{\"ports\":[80],\"tlsEnabled\":true,"
              "\"useClusterIP\":true}],"
              "\"services\":[{\"type\":\"Headless\",\"ports\":[80]}],"
              "\"podSpec\":{\"restartPolicy\":\"Never\"}}");
    assert_survives(
        &api__queue__descriptor,
        "{\"name\":\"q\",\"priorityFactor\":1,\"permissions\":[{\"subjects\":["
        "{\"kind\":\"Group\",\"name\":\"g\"}],\"verbs\":[\"submit\"]}],"
        "\"cordoned\":true,\"resourceLimitsByPriorityClassName\":{\"high\":{"
        "\"maximumResourceFraction\":{\"cpu\":0.25}}}}");
}

static void
test_retry_actions_are_written_short_and_read_either_way(void **state)
{
    auto_arena arena = {0};

    (void)state;
    assert_survives(&api__retry_policy__descriptor,
                    "{\"name\":\"p\",\"defaultAction\":\"Fail\",\"rules\":[{"
                    "\"action\":\"Retry\",\"onCategory\":\"x\"}]}");
    Api__RetryPolicy *policy =
        read_as(&api__retry_policy__descriptor,
                "{\"defaultAction\":\"RETRY_ACTION_RETRY\"}", &arena);
    assert_int_equal(policy->default_action,
                     API__RETRY_ACTION__RETRY_ACTION_RETRY);
}

static void
test_enums_read_by_name_and_number_and_names_either_way(void **state)
{
    auto_arena arena = {0};

    (void)state;
    Api__JobSubmitRequestItem *item =
        read_as(ITEM,
                "{\"client_id\":\"c\",\"services\":[{\"type\":1},"
                "{\"type\":\"Headless\"},{\"type\":\"NodePort\"}]}",
                &arena);
    assert_string_equal(item->client_id, "c");
    assert_int_equal(item->services[0]->type, API__SERVICE_TYPE__Headless);
    assert_int_equal(item->services[1]->type, API__SERVICE_TYPE__Headless);
    assert_int_equal(item->services[2]->type, API__SERVICE_TYPE__NodePort);
}

static void test_times_read_as_text_and_in_parts(void **state)
{
    auto_arena arena = {0};

    (void)state;
    assert_survives(&api__job_run_details__descriptor,
                    "{\"runId\":\"r\",\"state\":\"RUN_STATE_RUNNING\","
                    "\"leasedTs\":\"2026-01-02T03:04:05.678Z\","
                    "\"ingressAddresses\":{\"80\":\"a:1\"}}");
    Api__JobRunDetails *run =
        read_as(&api__job_run_details__descriptor,
                "{\"leasedTs\":{\"seconds\":7,\"nanos\":8},\"pendingTs\":null}",
                &arena);
    assert_int_equal(run->leased_ts->seconds, 7);
    assert_int_equal(run->leased_ts->nanos, 8);
    assert_null(run->pending_ts);
    auto_json_t *parts = wire_json_write(
        &run->base, WIRE_JSON_TIME_PARTS | WIRE_JSON_ENUM_NUMBERS);
    auto_json_t *wanted = parse("{\"leasedTs\":{\"seconds\":7,\"nanos\":8}}");
    assert_true(json_equal(parts, wanted));
}

static void test_zero_values_of_a_map_are_written(void **state)
{
    (void)state;
    assert_survives(&api__job_status_response__descriptor,
                    "{\"jobStates\":{\"id\":\"QUEUED\"}}");
}

static void test_what_clients_always_send_is_left_out_when_zero(void **state)
{
    auto_arena arena = {0};

    (void)state;
    K8s__Io__Api__Core__V1__PodSpec *pod =
        read_as(POD,
                "{\"hostNetwork\":false,\"restartPolicy\":\"\","
                "\"activeDeadlineSeconds\":0}",
                &arena);
    auto_json_t *written = wire_json_write(&pod->base, 0);
    auto_json_t *wanted = parse("{\"activeDeadlineSeconds\":0}");
    assert_true(json_equal(written, wanted));
}

static void test_an_inlined_message_is_made_only_when_needed(void **state)
{
    auto_arena arena = {0};

    (void)state;
    K8s__Io__Api__Core__V1__PodSpec *pod =
        read_as(POD,
                "{\"containers\":[{\"livenessProbe\":"
                "{\"periodSeconds\":1}}]}",
                &arena);
    assert_null(pod->containers[0]->livenessprobe->handler);
}

static void test_amounts_read_as_text_and_as_numbers(void **state)
{
    auto_arena arena = {0};

    (void)state;
    K8s__Io__Api__Core__V1__ResourceRequirements *resources = read_as(
        &k8s__io__api__core__v1__resource_requirements__descriptor,
        "{\"requests\":{\"cpu\":0.5,\"gpu\":2,\"memory\":\"1Gi\"}}", &arena);
    assert_string_equal(resources->requests[0]->value->string, "0.5");
    assert_string_equal(resources->requests[1]->value->string, "2");
    assert_string_equal(resources->requests[2]->value->string, "1Gi");
}

static void test_an_error_names_the_path(void **state)
{
    (void)state;
    assert_refused(ITEM,
                   "{\"podSpecs\":[{\"containers\":[{\"resources\":{"
                   "\"limits\":{\"cpu\":\"lots\"}}}]}]}",
                   "podSpecs[0].containers[0].resources.limits.cpu: "
                   "must be an amount of at most 19 digits, such as 500m or "
                   "1Gi, not \"lots\"");
    assert_refused(ITEM, "{\"clientID\":\"x\"}", "clientID: unknown key");
    assert_refused(ITEM, "{\"priority\":\"1\"}",
                   "priority: must be a number, not \"1\"");
    assert_refused(ITEM, "{\"services\":[{\"type\":\"Cluster\"}]}",
                   "services[0].type: is not one of the known names");
    assert_refused(ITEM, "{\"services\":[{\"ports\":[-1]}]}",
                   "services[0].ports[0]: must be a whole number from 0 to "
                   "4294967295, not -1");
    assert_refused(ITEM, "{\"services\":[{\"ports\":[1e20]}]}",
                   "services[0].ports[0]: must be a whole number from 0 to "
                   "4294967295, not 1e+20");
    assert_refused(ITEM, "{\"services\":[{\"ports\":[1.5]}]}",
                   "services[0].ports[0]: must be a whole number from 0 to "
                   "4294967295, not 1.5");
    assert_refused(ITEM, "{\"services\":[{\"ports\":[\"two\"]}]}",
                   "services[0].ports[0]: must be a whole number from 0 to "
                   "4294967295, not \"two\"");
    assert_refused(ITEM, "{\"labels\":{\"a\":1}}",
                   "labels.a: must be a text: write it in quotes");
    assert_refused(ITEM, "{\"labels\":{\"a\":[]}}", "labels.a: must be a text");
    assert_refused(ITEM, "[]", "must be an object");
    assert_refused(POD, "{\"hostNetwork\":\"yes\"}",
                   "hostNetwork: must be true or false");
    assert_refused(&api__job_run_details__descriptor,
                   "{\"leasedTs\":\"yesterday\"}",
                   "leasedTs: is not a time (RFC 3339)");
    assert_refused(&executorapi__lease_stream_message__descriptor,
                   "{\"end\":{},\"heartbeat\":{}}",
                   "heartbeat: only one of these can be given");
    assert_refused(&k8s__io__api__core__v1__secret__descriptor,
                   "{\"data\":{\"k\":\"*\"}}", "data.k: must be base64");
}

static void test_unknown_keys_are_passed_over_unless_strict(void **state)
{
    auto_arena arena = {0};
    auto_json_t *json = parse("{\"kind\":\"Queue\",\"name\":\"q\"}");
    ProtobufCMessage *message;

    (void)state;
    assert_int_equal(wire_json_read(&api__queue__descriptor, json, 0, &arena,
                                    &message, NULL),
                     0);
    assert_string_equal(((Api__Queue *)message)->name, "q");
}

static void test_large_integers_are_exact(void **state)
{
    (void)state;
    assert_survives(&executorapi__heartbeat__descriptor,
                    "{\"requestCount\":9007199254740993}");
    assert_survives(&executorapi__heartbeat__descriptor,
                    "{\"requestCount\":\"18446744073709551615\"}");
}

static void test_moments_read_and_write(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
        int32_t nanos;
    } good[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"2000-02-29T23:59:59.5Z", 951868799, 500000000},
        {"2026-01-02T03:04:05+01:30", 1767317645, 0},
        {"1969-12-31T23:59:59-00:00", -1, 0},
        {"0001-01-01T00:00:00Z", -62135596800, 0},
        {"9999-12-31T23:59:59.999999999Z", 253402300799, 999999999},
    };
    static const char *const bad[] = {
        "",
        "2026-01-02",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T00:00:00",
        "2026-01-02T00:00:00.Z",
        "2026-01-02T00:00:00Zx",
        "0000-01-01T00:00:00Z",
    };
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];
    int64_t seconds;
    int32_t nanos;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        assert_int_equal(
            wire_rfc3339_parse(str_of(good[i].text), &seconds, &nanos), 0);
        assert_true(seconds == good[i].seconds);
        assert_int_equal(nanos, good[i].nanos);
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(wire_rfc3339_parse(str_of(bad[i]), &seconds, &nanos),
                         -ERR_INVALID);
    }
    assert_string_equal(wire_rfc3339_format(951868799, 5000000, 3, text),
                        "2000-02-29T23:59:59.005Z");
    assert_string_equal(wire_rfc3339_format(INT64_MAX, 0, 0, text),
                        "9999-12-31T23:59:59Z");
    for (int64_t day = -800000; day < 800000; day += 97) {
        wire_rfc3339_format(day * 86400 + 1, 0, 0, text);
        if (day * 86400 > -62135596800) {
            assert_int_equal(wire_rfc3339_parse(str_of(text), &seconds, &nanos),
                             0);
            assert_true(seconds == day * 86400 + 1);
        }
    }
}

static void test_base64_reads_both_alphabets_and_no_padding(void **state)
{
    auto_strbuf buf = {0}, text = {0};

    (void)state;
    assert_int_equal(wire_base64_decode(STR("-_8"), &buf), 0);
    assert_int_equal(wire_base64_decode(STR("+/8="), &buf), 0);
    assert_true(str_equal(strbuf_str(&buf), STR("\xfb\xff\xfb\xff")));
    assert_int_equal(wire_base64_decode(STR("A"), &buf), -ERR_INVALID);
    assert_int_equal(wire_base64_decode(STR("AA=A"), &buf), -ERR_INVALID);
    assert_int_equal(wire_base64_decode(STR("===="), &buf), -ERR_INVALID);
    assert_int_equal(wire_base64_decode(STR(""), &buf), 0);
    wire_base64_encode(STR("any carnal pleas"), &text);
    assert_string_equal(strbuf_text(&text), "YW55IGNhcm5hbCBwbGVhcw==");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_rich_pod_survives),
        TEST(test_objects_around_a_pod_survive),
        TEST(test_a_job_file_item_survives),
        TEST(test_retry_actions_are_written_short_and_read_either_way),
        TEST(test_enums_read_by_name_and_number_and_names_either_way),
        TEST(test_times_read_as_text_and_in_parts),
        TEST(test_zero_values_of_a_map_are_written),
        TEST(test_what_clients_always_send_is_left_out_when_zero),
        TEST(test_an_inlined_message_is_made_only_when_needed),
        TEST(test_amounts_read_as_text_and_as_numbers),
        TEST(test_an_error_names_the_path),
        TEST(test_unknown_keys_are_passed_over_unless_strict),
        TEST(test_large_integers_are_exact),
        TEST(test_moments_read_and_write),
        TEST(test_base64_reads_both_alphabets_and_no_padding),
    };
    return RUN_TESTS(tests);
}
