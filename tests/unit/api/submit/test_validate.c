/*
 * The rules of submission about requests and items, each with its text
 * (armada-api.md 3.2, 3.3), and the trap about their size (section 9: 15).
 */
#include <stdio.h>

#include "api/submit/validate.h"
#include "field.h"
#include "sample.h"
#include "texts.h"
#include "unit.h"
#include "wire/kube/kube_name.h"

static void test_r1_r3_r4_request_fields(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Request *request = sample_request_of(&arena, NULL, 0);
    char *id = arena_alloc(&arena, 1025);

    (void)state;
    assert_string_equal(text_of_request(request, &arena), "");
    memset(id, 'x', 1024);
    request->job_set_id = id;
    assert_string_equal(text_of_request(request, &arena),
                        "job set id of length 1024 must be less than max "
                        "character length 1024");
    id[1023] = '\0';
    assert_string_equal(text_of_request(request, &arena), "");
    id[0] = '\0';
    assert_string_equal(text_of_request(request, &arena),
                        "job set id is a required field");
    request->queue = id;
    assert_string_equal(text_of_request(request, &arena),
                        "queue is a required field");
}

static void test_i1_i2_shape(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
    ProtobufCBinaryData two[2] = {item->pod_spec[0], item->pod_spec[0]};

    (void)state;
    assert_string_equal(text_of_shape(item, &arena), "");
    item->pod_specs = two;
    item->n_pod_specs = 1;
    assert_string_equal(text_of_shape(item, &arena),
                        "PodSpec must be nil if PodSpecs is provided (i.e., "
                        "these are exclusive)");
    item->n_pod_spec = 0;
    assert_string_equal(text_of_shape(item, &arena), "");
    item->n_pod_specs = 2;
    assert_string_equal(text_of_shape(item, &arena),
                        "Jobs with multiple pods are not supported");
    item->n_pod_specs = 0;
    assert_string_equal(text_of_shape(item, &arena),
                        "Job must contain at least one PodSpec");
    item->namespace_ = field("");
    assert_string_equal(text_of_shape(item, &arena),
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
    assert_string_equal(text_of_shape(item, &arena), expected);
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
            assert_string_equal(text_of_usual_pod(pod, &arena), "");
        }
    }
    assert_true(protobuf_c_message_get_packed_size(&pod->base) < 65535);
    assert_non_null(
        strstr(text_of_usual_pod(pod, &arena), "Pod spec has a size of 88"));
}

static void test_i15_ingress_ports(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
    Api__IngressConfig *ingress = sample_ingress(&arena, item, 80);

    (void)state;
    sample_ingress(&arena, item, 81);
    assert_string_equal(text_of_rest(item, &arena), "");
    sample_ingress(&arena, item, 80);
    assert_string_equal(text_of_rest(item, &arena),
                        "port 80 has two ingress configurations, specified in "
                        "ingress configs with indexes 0, 2. Each port should "
                        "at maximum have one ingress configuration");
    ingress->n_ports = 0;
    assert_non_null(
        strstr(text_of_rest(item, &arena), "ingress contains zero ports."));
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
    assert_string_equal(text_of_usual_pod(pod, &arena), "");
    sample_port(&arena, init, 80);
    assert_string_equal(text_of_usual_pod(pod, &arena),
                        "container port 80 is exposed multiple times, "
                        "specified in containers \"main\" and \"setup\". "
                        "Should only be exposed once");
}

/* A text of so many bytes. */
static char *text_of(struct arena *arena, size_t byte_count)
{
    char *text = arena_alloc(arena, byte_count + 1);

    memset(text, 'x', byte_count);
    text[byte_count] = '\0';
    return text;
}

static void a_namespace_that_leads_elsewhere_is_refused(void **state)
{
    static const char *const all[] = {"kube-system/pods/p/log?x=", "..", "a.b",
                                      "A", "-a"};
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        item->namespace_ = field(all[i]);
        assert_non_null(strstr(text_of_rest(item, &arena),
                               "is no name of one: use small letters"));
    }
}

/* Texts have their limits, each by itself and all together. */
static void texts_of_an_item_are_bounded(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    item->namespace_ = text_of(&arena, KUBE_LABEL_BYTES_MAX);
    assert_string_equal(text_of_rest(item, &arena), "");
    item->namespace_ = text_of(&arena, KUBE_LABEL_BYTES_MAX + 1);
    assert_string_equal(text_of_rest(item, &arena),
                        "namespace has 64 bytes, more than the 63 allowed");
    item->namespace_ = field("default");
    item->external_job_uri = text_of(&arena, ITEM_URI_BYTES_MAX + 1);
    assert_string_equal(text_of_rest(item, &arena),
                        "external job uri has 2049 bytes, more than the 2048 "
                        "allowed");
    item->external_job_uri = field("");
    sample_label(&arena, item, "k", text_of(&arena, ITEM_LABEL_BYTES_MAX));
    sample_label(&arena, item, text_of(&arena, ITEM_KEY_BYTES_MAX), "v");
    assert_string_equal(text_of_rest(item, &arena), "");
    sample_label(&arena, item, text_of(&arena, ITEM_KEY_BYTES_MAX + 1), "v");
    assert_string_equal(text_of_rest(item, &arena),
                        "key of a label has 318 bytes, more than the 317 "
                        "allowed");
    while (item->n_labels <= ITEM_LABELS_MAX) {
        sample_label(&arena, item, "k", "v");
    }
    assert_string_equal(text_of_rest(item, &arena),
                        "257 labels, more than the 256 allowed");
}

static void annotations_of_an_item_are_bounded(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    sample_annotation(&arena, item, "k",
                      text_of(&arena, ITEM_ANNOTATION_BYTES_MAX - 1));
    assert_string_equal(text_of_rest(item, &arena), "");
    sample_annotation(&arena, item, "k", "");
    assert_string_equal(text_of_rest(item, &arena),
                        "annotations have 262145 bytes, more than the 262144 "
                        "allowed");
    while (item->n_annotations <= ITEM_ANNOTATIONS_MAX) {
        sample_annotation(&arena, item, "k", "v");
    }
    assert_string_equal(text_of_rest(item, &arena),
                        "257 annotations, more than the 256 allowed");
}

static void ingresses_and_services_are_bounded(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
    Api__IngressConfig ingress = API__INGRESS_CONFIG__INIT;
    Api__ServiceConfig service = API__SERVICE_CONFIG__INIT;
    Api__IngressConfig *ingresses[] = {&ingress};
    Api__ServiceConfig *services[] = {&service};
    Api__IngressConfig__AnnotationsEntry entry =
        API__INGRESS_CONFIG__ANNOTATIONS_ENTRY__INIT;
    Api__IngressConfig__AnnotationsEntry *entries[] = {&entry};
    uint32_t port = 80;

    (void)state;
    ingress.ports = service.ports = &port;
    ingress.n_ports = service.n_ports = 1;
    item->ingress = ingresses;
    item->n_ingress = 1;
    ingress.annotations = entries;
    ingress.n_annotations = 1;
    entry.value = text_of(&arena, ITEM_ANNOTATION_BYTES_MAX + 1);
    assert_string_equal(text_of_rest(item, &arena),
                        "annotations of ingresses have 262145 bytes, more than "
                        "the 262144 allowed");
    entry.value = text_of(&arena, 0);
    ingress.cert_name = text_of(&arena, ITEM_NAME_BYTES_MAX + 1);
    assert_string_equal(text_of_rest(item, &arena),
                        "cert_name of an ingress has 254 bytes, more than the "
                        "253 allowed");
    item->n_ingress = 0;
    item->services = services;
    item->n_services = 1;
    service.name = text_of(&arena, ITEM_NAME_BYTES_MAX + 1);
    assert_string_equal(text_of_rest(item, &arena),
                        "name of a service has 254 bytes, more than the 253 "
                        "allowed");
}

static void test_i17_client_id(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    item->client_id = arena_alloc(&arena, 102);
    memset(item->client_id, 'c', 100);
    assert_string_equal(text_of_rest(item, &arena), "");
    item->client_id[100] = 'c';
    assert_string_equal(text_of_rest(item, &arena),
                        "client id of length 101 is greater than max allowed "
                        "length of  100");
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
        TEST(test_i1_i2_shape),
        TEST(test_i3_size_as_it_came),
        TEST(test_trap_15_i3_counts_as_go_encodes),
        TEST(test_i15_ingress_ports),
        TEST(test_i16_ports_once),
        TEST(a_namespace_that_leads_elsewhere_is_refused),
        TEST(texts_of_an_item_are_bounded),
        TEST(annotations_of_an_item_are_bounded),
        TEST(ingresses_and_services_are_bounded),
        TEST(test_i17_client_id),
        TEST(test_reason_of_50_bytes),
    };

    return RUN_TESTS(tests);
}
