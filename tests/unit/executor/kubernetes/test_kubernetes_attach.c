/*
 * kubernetes: what belongs to a pod beside it.
 */
#include <stdio.h>

#include "cluster_fixture.h"
#include "executor/kubernetes/kubernetes.h"
#include "k8s/networking.pb-c.h"
#include "unit.h"
#include "wire/message/message.h"

/* An ingress for port 8080 of a host whose name is to be completed. */
static void add_ingress(struct cluster *f, const char *name)
{
    struct arena *arena = &f->job.arena;
    Armadaevents__KubernetesObject *object = job_object(&f->job, name);
    K8s__Io__Api__Networking__V1__IngressRule *rule = wire_new(
        &k8s__io__api__networking__v1__ingress_rule__descriptor, arena);
    K8s__Io__Api__Networking__V1__HTTPIngressPath *path = wire_new(
        &k8s__io__api__networking__v1__httpingress_path__descriptor, arena);

    path->path = arena_strdup(arena, STR("/"));
    path->backend = wire_new(
        &k8s__io__api__networking__v1__ingress_backend__descriptor, arena);
    path->backend->service = wire_new(
        &k8s__io__api__networking__v1__ingress_service_backend__descriptor,
        arena);
    path->backend->service->port = wire_new(
        &k8s__io__api__networking__v1__service_backend_port__descriptor, arena);
    path->backend->service->port->has_number = true;
    path->backend->service->port->number = 8080;
    rule->host = arena_strdup(arena, STR("main-8080.default."));
    rule->ingressrulevalue = wire_new(
        &k8s__io__api__networking__v1__ingress_rule_value__descriptor, arena);
    rule->ingressrulevalue->http = wire_new(
        &k8s__io__api__networking__v1__httpingress_rule_value__descriptor,
        arena);
    rule->ingressrulevalue->http->n_paths = 1;
    rule->ingressrulevalue->http->paths = arena_alloc(arena, sizeof(path));
    rule->ingressrulevalue->http->paths[0] = path;
    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_INGRESS;
    object->ingress = wire_new(
        &k8s__io__api__networking__v1__ingress_spec__descriptor, arena);
    object->ingress->n_rules = 1;
    object->ingress->rules = arena_alloc(arena, sizeof(rule));
    object->ingress->rules[0] = rule;
}

static void assert_address(struct cluster *f, uint32_t at, int32_t port,
                           const char *text)
{
    struct runtime_status status = cluster_status_of(f);

    assert_true(at < status.address_count);
    assert_int_equal(status.addresses[at].port, port);
    assert_true(str_equal(status.addresses[at].address, str_of(text)));
}

static void services_and_ingresses_are_made_and_told(void **state)
{
    struct cluster *f = *state;
    add_ingress(f, "ingress-0");
    job_service(&f->job, "service-0");

    cluster_run(f);
    (void)cluster_await(f, RUNTIME_FACTS);
    cluster_turns(f, 100);

    assert_int_equal(fake_api_made_other_count(f->api), 2);
    assert_int_equal(cluster_count_kind(f, RUNTIME_FACTS), 1);
    assert_int_equal(cluster_status_of(f).address_count, 2);
    assert_address(f, 0, 80, "10.0.0.9:30001");
    assert_address(f, 1, 8080, "main-8080.default.svc/");
}

static void they_go_with_their_pod(void **state)
{
    struct cluster *f = *state;
    job_service(&f->job, "service-0");
    cluster_run(f);
    (void)cluster_await(f, RUNTIME_FACTS);

    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    cluster_await_phase(f, RECONCILE_FAILED);
    cluster_turns(f, 10);

    assert_int_equal(fake_api_other_count(f->api), 0);
}

static void an_answer_that_was_lost_makes_none_twice(void **state)
{
    struct cluster *f = *state;
    job_service(&f->job, "service-0");
    job_service(&f->job, "service-1");
    fake_api_answer(f->api, "POST", 2, 0, "", "", true);
    fake_api_answer_only(f->api, "/services");
    cluster_begin(f);

    (void)cluster_await(f, RUNTIME_FACTS);

    assert_int_equal(fake_api_made_other_count(f->api), 2);
}

static void what_was_left_to_make_is_made_by_the_next_executor(void **state)
{
    struct cluster *f = *state;
    job_service(&f->job, "service-0");
    job_service(&f->job, "service-1");
    fake_api_answer(f->api, "POST", 1000000, 503, "", "not now", false);
    fake_api_answer_only(f->api, "/services");
    cluster_run(f);
    cluster_turns(f, 10);
    assert_int_equal(fake_api_made_other_count(f->api), 0);

    fake_api_answer_no_more(f->api);
    cluster_reopen_with_retention(f, 0);
    (void)cluster_await(f, RUNTIME_FACTS);

    assert_int_equal(fake_api_made_other_count(f->api), 2);
    assert_int_equal(fake_api_made_count(f->api), 1);
}

static void a_quota_gives_the_lease_back(void **state)
{
    struct cluster *f = *state;
    job_service(&f->job, "service-0");
    fake_api_hold_kubelets(f->api, true);
    fake_api_answer(f->api, "POST", 1, 403, "Forbidden",
                    "services \"s\" is forbidden: exceeded quota: q", false);
    fake_api_answer_only(f->api, "/services");
    cluster_begin(f);
    cluster_turns(f, 10);
    fake_api_hold_kubelets(f->api, false);

    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REJECTED);
    assert_int_equal(fake_api_pod_count(f->api), 0);
}

static void what_is_refused_fails_the_job_and_takes_its_pod_along(void **state)
{
    struct cluster *f = *state;
    job_service(&f->job, "service-0");
    job_service(&f->job, "service-1");
    fake_api_answer(f->api, "POST", 1, 422, "Invalid", "wrong", false);
    fake_api_answer_only(f->api, "/services");
    cluster_begin(f);

    cluster_await_phase(f, RECONCILE_FAILED);
    cluster_turns(f, 10);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REFUSED);
    assert_non_null(strstr(
        arena_strdup(&f->job.arena, cluster_status_of(f).message),
        "Service service-0 was not created: the API server answered 422"));
    assert_int_equal(fake_api_pod_count(f->api), 0);
    assert_int_equal(fake_api_other_count(f->api), 0);
}

static void one_of_another_pod_is_waited_for(void **state)
{
    struct cluster *f = *state;
    job_service(&f->job, "service-0");
    cluster_run(f);
    (void)cluster_await(f, RUNTIME_FACTS);
    cluster_make_job(f, 2);
    job_service(&f->job, "service-0");
    f->seen_count = 0;

    cluster_run(f);
    cluster_turns(f, 1000);
    assert_null(cluster_find(f, RUNTIME_FACTS));
    cluster_make_job(f, 1);
    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    (void)cluster_await(f, RUNTIME_FACTS);

    assert_int_equal(fake_api_made_other_count(f->api), 2);
}

static void names_that_lead_elsewhere_are_not_asked_for(void **state)
{
    struct cluster *f = *state;
    job_service(&f->job, "../../secrets/key");

    cluster_begin(f);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REFUSED);
    assert_int_equal(fake_api_count(f->api, "POST"), 1);
}

static void only_the_executor_writes_the_annotation(void **state)
{
    struct cluster *f = *state;
    job_annotate(&f->job, "berth.dev/objects", "not base64 at all");

    cluster_run(f);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_NONE);
}

/* An ingress that its user has annotated. */
static void add_annotated(struct cluster *f, const char *key)
{
    static const char *const names[] = {"ingress-0", "ingress-1", "ingress-2",
                                        "ingress-3"};
    struct arena *arena = &f->job.arena;
    Armadaevents__ObjectMeta__AnnotationsEntry *entry = wire_new(
        &armadaevents__object_meta__annotations_entry__descriptor, arena);

    add_ingress(f, names[f->job.submit->n_objects]);
    Armadaevents__ObjectMeta *meta =
        f->job.submit->objects[f->job.submit->n_objects - 1]->objectmeta;
    entry->key = arena_strdup(arena, str_of(key));
    entry->value = arena_strdup(arena, STR("other.example"));
    meta->n_annotations = 1;
    meta->annotations = arena_alloc(arena, sizeof(entry));
    meta->annotations[0] = entry;
}

static void allow(struct cluster *f, const struct str *keys, uint32_t count)
{
    f->options.allowed.keys = keys;
    f->options.allowed.count = count;
    cluster_reopen_with_retention(f, 0);
}

static void assert_refused(struct cluster *f, const char *key)
{
    cluster_begin(f);
    const char *text = cluster_await(f, RUNTIME_REFUSED)->text;

    assert_non_null(strstr(text, key));
    assert_non_null(strstr(text, "ingress-0"));
    assert_non_null(strstr(text, "executor.kubernetes.ingressAnnotations"));
    assert_int_equal(fake_api_count(f->api, "POST"), 0);
}

static void annotations_of_users_are_refused(void **state)
{
    struct cluster *f = *state;
    add_annotated(f, "nginx.ingress.kubernetes.io/server-alias");

    assert_refused(f, "nginx.ingress.kubernetes.io/server-alias");
}

static void an_annotation_is_allowed_by_its_whole_name(void **state)
{
    static const struct str keys[] = {{"a.b/c", 5}, {"", 0}, {"a.b/serve", 9}};
    struct cluster *f = *state;
    allow(f, keys, ARRAY_COUNT(keys));
    add_annotated(f, "a.b/server");

    assert_refused(f, "a.b/server");
}

static void annotations_that_are_listed_pass(void **state)
{
    static const struct str keys[] = {{"a.b/c", 5}, {"cert-manager.io/*", 17}};
    struct cluster *f = *state;
    allow(f, keys, ARRAY_COUNT(keys));
    add_annotated(f, "a.b/c");
    add_annotated(f, "cert-manager.io/issuer");
    /* The server's own. */
    add_annotated(f, "armada_jobset_id");
    add_annotated(f, "armada_owner");

    cluster_run(f);
    cluster_turns(f, 100);

    assert_int_equal(fake_api_made_other_count(f->api), 4);
    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_NONE);
}

static void what_is_made_later_is_checked_again(void **state)
{
    static const struct str keys[] = {{"*", 1}};
    struct cluster *f = *state;
    allow(f, keys, ARRAY_COUNT(keys));
    add_annotated(f, "a.b/c");
    fake_api_answer(f->api, "POST", 1000000, 503, "", "not now", false);
    fake_api_answer_only(f->api, "/ingresses");
    cluster_run(f);
    cluster_turns(f, 10);
    fake_api_answer_no_more(f->api);

    allow(f, NULL, 0);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(fake_api_made_other_count(f->api), 0);
    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REFUSED);
}

static void more_than_an_annotation_holds_is_refused(void **state)
{
    struct cluster *f = *state;
    static char name[200 << 10];
    memset(name, 'a', sizeof(name) - 1);
    job_service(&f->job, name);

    cluster_begin(f);

    assert_non_null(
        strstr(cluster_await(f, RUNTIME_REFUSED)->text, "more than 160 KiB"));
}

/* Objects that the job brings. */

static const struct str kinds[] = {{"v1/Secret", 9},
                                   {"v1/PersistentVolumeClaim", 24},
                                   {"example.com/v1/Widget", 21},
                                   {"example.com/v1/Gadget", 21}};

static void allow_kinds(struct cluster *f)
{
    f->options.allowed.kinds = kinds;
    f->options.allowed.kind_count = ARRAY_COUNT(kinds);
    cluster_reopen_with_retention(f, 0);
}

static void add_manifest(struct cluster *f, const char *api_version,
                         const char *kind, const char *name, const char *json)
{
    struct arena *arena = &f->job.arena;
    Armadaevents__KubernetesObject *object = job_object(&f->job, name);

    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST;
    object->manifest = wire_new(&berth__api__manifest__descriptor, arena);
    object->manifest->api_version = arena_strdup(arena, str_of(api_version));
    object->manifest->kind = arena_strdup(arena, str_of(kind));
    object->manifest->json = arena_strdup(arena, str_of(json));
}

static void add_secret(struct cluster *f, const char *name)
{
    add_manifest(f, "v1", "Secret", name, "{\"data\":{\"key\":\"c2VjcmV0\"}}");
}

static const char *message_of(struct cluster *f)
{
    return arena_strdup(&f->job.arena, cluster_status_of(f).message);
}

static void objects_of_any_kind_are_made(void **state)
{
    struct cluster *f = *state;
    allow_kinds(f);
    add_manifest(f, "example.com/v1", "Widget", "w", "{\"spec\":{}}");
    add_manifest(f, "example.com/v1", "Widget", "x", "{\"spec\":{}}");
    add_manifest(f, "v1", "PersistentVolumeClaim", "c", "{\"spec\":{}}");
    add_secret(f, "s");
    uint32_t asked = fake_api_count(f->api, "GET");

    cluster_run(f);
    cluster_turns(f, 100);

    assert_int_equal(fake_api_made_other_count(f->api), 4);
    /* The server said once where widgets are. */
    assert_int_equal(fake_api_count(f->api, "GET"), asked + 1);
    struct runtime_status status = cluster_status_of(f);
    assert_int_equal(status.object_count, 4);
    for (uint32_t i = 0; i < 4; i++) { /* though the secret came first */
        assert_int_equal(status.objects[i].index, i);
        assert_true(str_equal(status.objects[i].uid, STR("uid-of-json")));
    }
    assert_true(str_equal(status.objects[3].kind, STR("Secret")));
    assert_non_null(cluster_find(f, RUNTIME_FACTS));
}

static void a_kind_is_not_made_unless_it_is_listed(void **state)
{
    struct cluster *f = *state;
    add_secret(f, "s");

    cluster_begin(f);
    const char *text = cluster_await(f, RUNTIME_REFUSED)->text;

    assert_non_null(strstr(text, "v1/Secret"));
    assert_non_null(strstr(text, "executor.kubernetes.objectKinds"));
    assert_int_equal(fake_api_count(f->api, "POST"), 0);
}

static void assert_not_made(struct cluster *f, const char *words)
{
    cluster_begin(f);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REFUSED);
    assert_non_null(strstr(message_of(f), words));
    assert_int_equal(fake_api_made_other_count(f->api), 0);
}

static void kinds_without_namespaces_are_refused(void **state)
{
    struct cluster *f = *state;
    allow_kinds(f);
    add_manifest(f, "example.com/v1", "Gadget", "g", "{}");

    assert_not_made(f, "in no namespace");
    struct runtime_status status = cluster_status_of(f);
    assert_int_equal(status.object_count, 1);
    assert_int_equal(status.objects[0].uid.byte_count, 0);
    assert_true(status.objects[0].message.byte_count > 0);
}

static void what_a_claim_may_not_ask_for_is_refused(void **state)
{
    struct cluster *f = *state;
    allow_kinds(f);
    add_manifest(f, "v1", "PersistentVolumeClaim", "c",
                 "{\"spec\":{\"volumeName\":\"of-others\"}}");

    assert_not_made(f, "spec.volumeName");
}

static void nobody_is_told_what_was_said_of_a_secret(void **state)
{
    struct cluster *f = *state;
    allow_kinds(f);
    add_secret(f, "s");
    fake_api_answer(f->api, "POST", 1, 422, "Invalid", "c2VjcmV0 is bad",
                    false);
    fake_api_answer_only(f->api, "/secrets");

    assert_not_made(f, "the API server answered 422");
    assert_null(strstr(message_of(f), "c2VjcmV0"));
}

static void a_lost_answer_makes_no_secret_twice(void **state)
{
    struct cluster *f = *state;
    allow_kinds(f);
    add_secret(f, "s");
    fake_api_answer(f->api, "POST", 2, 0, "", "", true);
    fake_api_answer_only(f->api, "/secrets");

    cluster_run(f);
    cluster_turns(f, 2000);

    assert_int_equal(fake_api_made_other_count(f->api), 1);
    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);
}

/* Its text was in the executor alone; so the job is leased again. */
static void
a_secret_that_the_next_executor_lacks_gives_the_lease_back(void **state)
{
    struct cluster *f = *state;
    allow_kinds(f);
    add_secret(f, "s");
    fake_api_hold_kubelets(f->api, true);
    fake_api_answer(f->api, "POST", 1000000, 503, "", "not now", false);
    fake_api_answer_only(f->api, "/secrets");
    cluster_begin(f);
    (void)cluster_await(f, RUNTIME_CREATED);
    cluster_turns(f, 10);

    cluster_reopen_with_retention(f, 0);
    fake_api_answer_no_more(f->api);
    fake_api_hold_kubelets(f->api, false);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REJECTED);
    assert_non_null(strstr(message_of(f), "was started anew"));
    assert_int_equal(fake_api_made_other_count(f->api), 0);
}

static void a_secret_that_was_made_is_found_by_the_next_executor(void **state)
{
    struct cluster *f = *state;
    allow_kinds(f);
    add_secret(f, "s");
    add_manifest(f, "example.com/v1", "Widget", "w", "{}");
    cluster_run(f);
    cluster_turns(f, 100);
    assert_int_equal(fake_api_made_other_count(f->api), 2);

    cluster_reopen_with_retention(f, 0);
    cluster_turns(f, 1000);

    assert_int_equal(fake_api_made_other_count(f->api), 2);
    assert_int_equal(cluster_count_kind(f, RUNTIME_PHASE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(services_and_ingresses_are_made_and_told),
        CLUSTER_TEST(they_go_with_their_pod),
        CLUSTER_TEST(an_answer_that_was_lost_makes_none_twice),
        CLUSTER_TEST(what_was_left_to_make_is_made_by_the_next_executor),
        CLUSTER_TEST(a_quota_gives_the_lease_back),
        CLUSTER_TEST(what_is_refused_fails_the_job_and_takes_its_pod_along),
        CLUSTER_TEST(one_of_another_pod_is_waited_for),
        CLUSTER_TEST(names_that_lead_elsewhere_are_not_asked_for),
        CLUSTER_TEST(only_the_executor_writes_the_annotation),
        CLUSTER_TEST(annotations_of_users_are_refused),
        CLUSTER_TEST(objects_of_any_kind_are_made),
        CLUSTER_TEST(a_kind_is_not_made_unless_it_is_listed),
        CLUSTER_TEST(kinds_without_namespaces_are_refused),
        CLUSTER_TEST(what_a_claim_may_not_ask_for_is_refused),
        CLUSTER_TEST(nobody_is_told_what_was_said_of_a_secret),
        CLUSTER_TEST(a_lost_answer_makes_no_secret_twice),
        CLUSTER_TEST(
            a_secret_that_the_next_executor_lacks_gives_the_lease_back),
        CLUSTER_TEST(a_secret_that_was_made_is_found_by_the_next_executor),
        CLUSTER_TEST(an_annotation_is_allowed_by_its_whole_name),
        CLUSTER_TEST(annotations_that_are_listed_pass),
        CLUSTER_TEST(what_is_made_later_is_checked_again),
        CLUSTER_TEST(more_than_an_annotation_holds_is_refused),
    };

    return RUN_TESTS(tests);
}
