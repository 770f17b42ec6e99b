/*
 * Services and ingresses built from an item (armada-api.md 3.5).
 */
#include "api/submit/services.h"
#include "field.h"
#include "sample.h"
#include "unit.h"

static const struct object_owner owner = {"01j", "q", "s", "amy"};

static Armadaevents__KubernetesObject **
make(struct arena *arena, Berth__Submission__Item *item,
     K8s__Io__Api__Core__V1__PodSpec *pod, uint32_t *ret_count)
{
    struct submit_rules *rules = arena_alloc(arena, sizeof(*rules));
    struct refusal refusal;
    struct pod_view view;

    submit_rules_defaults(rules);
    assert_int_equal(pod_view_make(pod, arena, &view, &refusal), 0);
    struct pod_ports *ports = arena_alloc(arena, sizeof(*ports));
    *ports = pod_ports_of(&view, arena);
    return services_make(item, ports, &owner, rules, arena, ret_count);
}

static void test_services_by_type(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    Berth__Submission__Item *item = sample_item(&arena, pod);
    uint32_t count;

    (void)state;
    sample_port(&arena, pod->containers[0], 80);
    sample_service(&arena, item, API__SERVICE_TYPE__NodePort, 80)->name =
        field("custom");
    sample_service(&arena, item, API__SERVICE_TYPE__Headless, 80);
    /* One whose port nobody has is silently not made. */
    sample_service(&arena, item, API__SERVICE_TYPE__Headless, 81);
    Armadaevents__KubernetesObject **objects = make(&arena, item, pod, &count);
    assert_int_equal(count, 2);
    assert_string_equal(objects[0]->objectmeta->name, "armada-01j-0-service-0");
    assert_string_equal(objects[0]->objectmeta->namespace_, "default");
    assert_string_equal(objects[0]->service->type, "NodePort");
    assert_null(objects[0]->service->clusterip);
    assert_string_equal(objects[0]->service->ports[0]->name, "main-80");
    assert_int_equal(objects[0]->service->ports[0]->port, 80);
    assert_string_equal(objects[0]->service->selector[0]->key, "armada_job_id");
    assert_string_equal(objects[0]->service->selector[0]->value, "01j");
    assert_string_equal(objects[1]->objectmeta->name, "armada-01j-0-service-1");
    assert_string_equal(objects[1]->service->type, "ClusterIP");
    assert_string_equal(objects[1]->service->clusterip, "None");
}

static void test_ingress_uses_a_service_or_makes_one(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    Berth__Submission__Item *item = sample_item(&arena, pod);
    uint32_t count;

    (void)state;
    sample_port(&arena, pod->containers[0], 80);
    sample_port(&arena, pod->containers[0], 81);
    sample_service(&arena, item, API__SERVICE_TYPE__NodePort, 80);
    sample_ingress(&arena, item, 80)->tls_enabled = true;
    sample_ingress(&arena, item, 81)->use_clusterip = true;
    Armadaevents__KubernetesObject **objects = make(&arena, item, pod, &count);
    /* service, ingress on it, service of the second ingress, that. */
    assert_int_equal(count, 4);
    const K8s__Io__Api__Networking__V1__IngressSpec *first =
        objects[1]->ingress;
    assert_string_equal(objects[1]->objectmeta->name, "armada-01j-0-ingress-0");
    assert_string_equal(first->rules[0]->host, "main-80-armada-01j-0.default.");
    assert_string_equal(first->tls[0]->hosts[0], first->rules[0]->host);
    assert_string_equal(first->tls[0]->secretname, "default-");
    assert_string_equal(first->rules[0]
                            ->ingressrulevalue->http->paths[0]
                            ->backend->service->name,
                        "armada-01j-0-service-0");
    assert_string_equal(objects[2]->objectmeta->name, "armada-01j-0-service-1");
    assert_string_equal(objects[2]->service->type, "ClusterIP");
    assert_null(objects[2]->service->clusterip);
    assert_string_equal(objects[3]->objectmeta->name, "armada-01j-0-ingress-1");
    assert_int_equal(objects[3]->ingress->n_tls, 0);
}

/* Ports of the host are no candidates; those of init containers are only if
 * they run on. */
static void test_candidate_ports(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    Berth__Submission__Item *item = sample_item(&arena, pod);
    K8s__Io__Api__Core__V1__Container *init =
        sample_container(&arena, pod, "sidecar", true);
    uint32_t count;

    (void)state;
    sample_port(&arena, pod->containers[0], 80);
    pod->containers[0]->ports[0]->has_hostport = true;
    pod->containers[0]->ports[0]->hostport = 8080;
    sample_port(&arena, init, 81);
    sample_service(&arena, item, API__SERVICE_TYPE__NodePort, 80);
    sample_service(&arena, item, API__SERVICE_TYPE__NodePort, 81);
    make(&arena, item, pod, &count);
    assert_int_equal(count, 0);
    init->restartpolicy = field("Always");
    make(&arena, item, pod, &count);
    assert_int_equal(count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_services_by_type),
        TEST(test_ingress_uses_a_service_or_makes_one),
        TEST(test_candidate_ports),
    };

    return RUN_TESTS(tests);
}
