/*
 * kube_node, kube_pod: what a cluster says, as a runtime tells it.
 */
#include "executor/kubernetes/kube_node.h"
#include "executor/kubernetes/kube_object.h"
#include "executor/kubernetes/kube_pod.h"
#include "k8s/core.pb-c.h"
#include "unit.h"
#include "wire/json/json.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

/* An object as a server sends it, from what kubectl shows of it. */
static struct str encode(const ProtobufCMessageDescriptor *type,
                         const char *text, struct arena *arena)
{
    auto_json_t *json = json_loads(text, 0, NULL);
    ProtobufCMessage *message = NULL;
    struct err err = {""};

    assert_non_null(json);
    if (wire_json_read(type, json, WIRE_JSON_STRICT, arena, &message, &err) <
        0) {
        fail_msg("%s", err.text);
    }
    return wire_encode_arena(message, arena);
}

static struct node_record node_of(const char *text, struct arena *arena)
{
    const struct kube_node_labels labels = {STR("pool"), STR("type")};
    struct node_record record = {0};
    struct err err = {""};

    if (kube_node_read(
            encode(&k8s__io__api__core__v1__node__descriptor, text, arena),
            &labels, arena, &record, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return record;
}

/* What is kept of an ended pod says the same of its end. */
static void check_shortened(struct str object, const struct runtime_status *all,
                            struct arena *arena)
{
    auto_strbuf kept = strbuf_make(0);
    struct kube_pod pod;
    struct err err;

    assert_int_equal(kube_pod_shorten(object, &kept, &err), 0);
    assert_int_equal(kube_pod_read(strbuf_str(&kept), arena, &pod, &err), 0);
    assert_int_equal(pod.status.cause, all->cause);
    assert_true(str_equal(pod.status.message, all->message));
    assert_true(pod.status.created_ms == all->created_ms);
    assert_true(pod.status.started_ms == all->started_ms);
    assert_true(pod.status.ended_ms == all->ended_ms);
    assert_int_equal(pod.status.ended_count, all->ended_count);
    for (uint32_t i = 0; i < all->ended_count; i++) {
        assert_true(str_equal(pod.status.ended[i].name, all->ended[i].name));
        assert_int_equal(pod.status.ended[i].exit_code,
                         all->ended[i].exit_code);
    }
    assert_false(pod.is_ours);
}

static struct kube_pod pod_of(const char *text, struct arena *arena)
{
    struct kube_pod pod = {.pod.phase = RECONCILE_NEVER};
    struct err err = {""};
    struct str object =
        encode(&k8s__io__api__core__v1__pod__descriptor, text, arena);

    if (kube_pod_read(object, arena, &pod, &err) < 0) {
        fail_msg("%s", err.text);
    }
    check_shortened(object, &pod.status, arena);
    return pod;
}

static void a_node_has_what_is_allocatable(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct node_record node = node_of(
        "{\"metadata\":{\"name\":\"n\",\"labels\":{\"type\":\"gpu\","
        "\"pool\":\"p\",\"a\":\"b\"}},"
        "\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\","
        "\"effect\":\"NoSchedule\"},{\"key\":\"x\",\"effect\":\"Odd\"}]},"
        "\"status\":{\"capacity\":{\"cpu\":\"8\"},\"allocatable\":{\"cpu\":"
        "\"7500m\",\"pods\":\"110\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
        &arena);

    assert_true(str_equal(node.name, STR("n")));
    assert_true(str_equal(node.pool, STR("p")));
    assert_true(str_equal(node.node_type, STR("gpu")));
    assert_int_equal(node.label_count, 3);
    assert_int_equal(node.taint_count, 1);
    assert_int_equal(node.taints[0].effect, TAINT_NO_SCHEDULE);
    assert_int_equal(resource_list_get(&node.total, STR("cpu")), 7500);
    assert_int_equal(resource_list_get(&node.total, STR("pods")), 110000);
    assert_false(node.is_unschedulable);
}

static void a_node_takes_pods_when_it_is_ready_and_not_cordoned(void **state)
{
    (void)state;
    auto_arena arena = {0};

    assert_true(
        node_of("{\"metadata\":{\"name\":\"n\"}}", &arena).is_unschedulable);
    assert_true(node_of("{\"metadata\":{\"name\":\"n\"},\"status\":{"
                        "\"conditions\":[{\"type\":\"Ready\",\"status\":"
                        "\"Unknown\"}]}}",
                        &arena)
                    .is_unschedulable);
    assert_true(node_of("{\"metadata\":{\"name\":\"n\"},\"spec\":{"
                        "\"unschedulable\":true},\"status\":{\"conditions\":[{"
                        "\"type\":\"Ready\",\"status\":\"True\"}]}}",
                        &arena)
                    .is_unschedulable);
}

#define OURS                                                          \
    "\"metadata\":{\"name\":\"armada-x-0\",\"namespace\":\"team\","   \
    "\"uid\":\"u\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\","   \
    "\"labels\":{\"armada_job_id\":\"01f3j0g1md4qx7z5qb148qnh4r\","   \
    "\"armada_job_run_id\":\"123e4567-e89b-42d3-a456-426614174000\"," \
    "\"armada_queue_id\":\"q\"},"                                     \
    "\"annotations\":{\"armada_jobset_id\":\"s\"}}"
#define SPEC                                                         \
    ",\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\"," \
    "\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}"
#define STATUS(text) "{" OURS SPEC ",\"status\":{" text "}}"
#define ENDED(code, reason)                                              \
    "\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{" \
    "\"exitCode\":" #code ",\"reason\":\"" reason                        \
    "\",\"message\":\"m\",\"startedAt\":\"2026-01-01T00:00:01Z\","       \
    "\"finishedAt\":\"2026-01-01T00:00:05Z\"}}}]"

static void a_pod_of_ours_says_whose_it_is(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct kube_pod pod = pod_of(
        STATUS("\"phase\":\"Running\",\"podIP\":\"10.0.0.7\",\"conditions\":[{"
               "\"type\":\"Ready\",\"status\":\"True\"}],"
               "\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"running\":"
               "{\"startedAt\":\"2026-01-01T00:00:01Z\"}}}]"),
        &arena);

    assert_true(pod.is_ours);
    assert_true(str_equal(pod.pod.pod_name, STR("armada-x-0")));
    assert_true(str_equal(pod.pod.namespace_, STR("team")));
    assert_true(str_equal(pod.pod.queue, STR("q")));
    assert_true(str_equal(pod.pod.job_set, STR("s")));
    assert_true(str_equal(pod.pod.node_name, STR("n")));
    assert_true(str_equal(pod.ip, STR("10.0.0.7")));
    assert_true(pod.is_ready);
    assert_int_equal(pod.pod.phase, RECONCILE_RUNNING);
    assert_int_equal(pod.status.started_ms - pod.status.created_ms, 1000);
    assert_int_equal(resource_list_get(&pod.requests, STR("cpu")), 2000);
    assert_false(
        pod_of("{\"metadata\":{\"name\":\"other\"}" SPEC "}", &arena).is_ours);
}

static void a_pod_ends_with_what_its_containers_say(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct kube_pod pod =
        pod_of(STATUS("\"phase\":\"Failed\"," ENDED(3, "Error")), &arena);

    assert_int_equal(pod.pod.phase, RECONCILE_FAILED);
    assert_int_equal(pod.status.cause, RUNTIME_CAUSE_ERROR);
    assert_int_equal(pod.status.ended_count, 1);
    assert_int_equal(pod.status.ended[0].exit_code, 3);
    assert_true(str_equal(pod.status.ended[0].message, STR("m")));
    assert_int_equal(pod.status.ended_ms - pod.status.started_ms, 4000);
    pod = pod_of(STATUS("\"phase\":\"Succeeded\"," ENDED(0, "Completed")),
                 &arena);
    assert_int_equal(pod.pod.phase, RECONCILE_SUCCEEDED);
    assert_int_equal(pod.status.cause, RUNTIME_CAUSE_NONE);
}

static enum runtime_cause cause_of(const char *text)
{
    auto_arena arena = {0};

    return pod_of(text, &arena).status.cause;
}

static void why_a_pod_failed_is_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        enum runtime_cause cause;
    } cases[] = {
        {STATUS("\"phase\":\"Failed\"," ENDED(137, "OOMKilled")),
         RUNTIME_CAUSE_OOM},
        {STATUS("\"phase\":\"Failed\"," ENDED(128, "StartError")),
         RUNTIME_CAUSE_START},
        {STATUS("\"phase\":\"Failed\",\"reason\":\"Evicted\"," ENDED(137,
                                                                     "Error")),
         RUNTIME_CAUSE_EVICTED},
        {STATUS("\"phase\":\"Failed\",\"reason\":\"DeadlineExceeded\""),
         RUNTIME_CAUSE_DEADLINE},
        {STATUS("\"phase\":\"Failed\",\"reason\":\"OutOfcpu\""),
         RUNTIME_CAUSE_REJECTED},
        {STATUS("\"phase\":\"Failed\",\"reason\":\"OutOfpods\""),
         RUNTIME_CAUSE_REJECTED},
        {STATUS("\"phase\":\"Failed\",\"reason\":\"NodeAffinity\"," ENDED(
             1, "Error")),
         RUNTIME_CAUSE_ERROR}, /* it has run */
        {STATUS("\"phase\":\"Failed\",\"conditions\":[{\"type\":"
                "\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
                "\"EvictionByEvictionAPI\"}]," ENDED(143, "Error")),
         RUNTIME_CAUSE_EVICTED},
        {STATUS("\"phase\":\"Failed\",\"conditions\":[{\"type\":"
                "\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
                "\"DeletionByPodGC\"}]"),
         RUNTIME_CAUSE_NODE_LOST},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_int_equal(cause_of(cases[i].pod), cases[i].cause);
    }
    assert_int_equal(
        cause_of("{\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":"
                 "\"2026-01-01T00:00:00Z\"}" SPEC
                 ",\"status\":{\"phase\":\"Failed\"," ENDED(143, "Error") "}}"),
        RUNTIME_CAUSE_STOPPED);
}

static void a_pod_that_waits_for_its_image_says_so(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct kube_pod pod = pod_of(
        STATUS("\"phase\":\"Pending\",\"containerStatuses\":[{\"name\":\"c\","
               "\"state\":{\"waiting\":{\"reason\":\"ImagePullBackOff\"}}}]"),
        &arena);

    assert_int_equal(pod.pod.phase, RECONCILE_PENDING);
    assert_true(pod.has_no_image);
    assert_true(str_equal(pod.waiting, STR("ImagePullBackOff")));
    pod = pod_of(STATUS("\"phase\":\"Pending\",\"containerStatuses\":[{"
                        "\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":"
                        "\"ContainerCreating\"}}}]"),
                 &arena);
    assert_false(pod.has_no_image);
}

static void what_does_not_decode_is_refused(void **state)
{
    (void)state;
    auto_arena arena = {0};
    const struct kube_node_labels labels = {STR(""), STR("")};
    struct node_record node;
    struct kube_pod pod;
    struct err err;

    assert_int_equal(kube_pod_read(STR("\x0a\xff"), &arena, &pod, &err),
                     -ERR_CORRUPT);
    assert_int_equal(kube_pod_read(STR(""), &arena, &pod, &err), -ERR_CORRUPT);
    assert_int_equal(
        kube_node_read(STR("\x0a\xff"), &labels, &arena, &node, &err),
        -ERR_CORRUPT);
    assert_int_equal(kube_node_read(STR(""), &labels, &arena, &node, &err),
                     -ERR_LIMIT);
}

/* A Pod as nobody could write it in JSON. */
static void moments_beyond_all_years_are_none(void **state)
{
    static const uint64_t seconds[] = {INT64_MAX, (uint64_t)INT64_MIN,
                                       (uint64_t)-1, 253402300800};
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(seconds); i++) {
        auto_arena arena = {0};
        auto_strbuf object = strbuf_make(0);
        struct kube_pod pod;
        struct err err;
        size_t meta = field_begin(&object, 1);
        field_put_bytes(&object, 1, STR("p"));
        size_t created = field_begin(&object, 8);
        field_put_u64(&object, 1, seconds[i]);
        field_end(&object, created);
        field_end(&object, meta);
        field_put_bytes(&object, 2, STR("")); /* its spec */

        assert_int_equal(kube_pod_read(strbuf_str(&object), &arena, &pod, &err),
                         0);
        assert_int_equal(pod.status.created_ms, 0);
    }
}

static void of_an_ended_pod_its_spec_and_labels_are_not_kept(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_strbuf kept = strbuf_make(0);
    struct err err;
    struct str object =
        encode(&k8s__io__api__core__v1__pod__descriptor,
               "{" OURS SPEC ",\"status\":{\"phase\":\"Failed\"}}", &arena);

    assert_int_equal(kube_pod_shorten(object, &kept, &err), 0);

    assert_in_range(kept.byte_count, 1, 40);
    assert_int_equal(kube_pod_shorten(STR(""), &kept, &err), -ERR_CORRUPT);
    assert_int_equal(kube_pod_shorten(STR("\x0a\xff"), &kept, &err),
                     -ERR_CORRUPT);
}

static void texts_are_cut_between_characters(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_strbuf text = strbuf_make(0);

    strbuf_add_text(&text, "{" OURS SPEC ",\"status\":{\"phase\":\"Failed\","
                           "\"message\":\"x");
    for (int i = 0; i < KUBE_TEXT_BYTES_MAX; i++) {
        strbuf_add_text(&text, "\xc3\xa4");
    }
    strbuf_add_text(&text, "\"}}");
    struct kube_pod pod = pod_of(strbuf_text(&text), &arena);

    assert_int_equal(pod.status.message.byte_count, KUBE_TEXT_BYTES_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_node_has_what_is_allocatable),
        TEST(a_node_takes_pods_when_it_is_ready_and_not_cordoned),
        TEST(a_pod_of_ours_says_whose_it_is),
        TEST(a_pod_ends_with_what_its_containers_say),
        TEST(why_a_pod_failed_is_told_apart),
        TEST(a_pod_that_waits_for_its_image_says_so),
        TEST(what_does_not_decode_is_refused),
        TEST(moments_beyond_all_years_are_none),
        TEST(of_an_ended_pod_its_spec_and_labels_are_not_kept),
        TEST(texts_are_cut_between_characters),
    };
    return RUN_TESTS(tests);
}
