/*
 * kubernetes: what goes wrong when pods are made.
 */
#include "cluster_fixture.h"
#include "executor/kubernetes/kubernetes.h"
#include "unit.h"

static void
a_pod_whose_answer_was_lost_is_found_and_not_made_again(void **state)
{
    struct cluster *f = *state;
    fake_api_hold_watches(f->api, true);
    fake_api_answer(f->api, "POST", 1, 0, "", "", true);

    cluster_begin(f);
    (void)cluster_await(f, RUNTIME_CREATED);
    fake_api_hold_watches(f->api, false);
    cluster_await_phase(f, RECONCILE_RUNNING);

    assert_int_equal(fake_api_made_count(f->api), 1);
    assert_int_equal(fake_api_count(f->api, "POST"), 2);
    assert_int_equal(fake_api_count(f->api, "GET") >= 3, 1);
    assert_int_equal(cluster_count_kind(f, RUNTIME_CREATED), 1);
}

static void the_watch_may_tell_of_a_pod_before_the_answer_does(void **state)
{
    struct cluster *f = *state;
    fake_api_answer(f->api, "POST", 1, 0, "", "", true);

    cluster_run(f);
    cluster_turns(f, 100);

    assert_int_equal(fake_api_count(f->api, "POST"), 1);
    assert_int_equal(cluster_count_kind(f, RUNTIME_CREATED), 1);
}

static void who_is_too_busy_is_asked_again(void **state)
{
    struct cluster *f = *state;
    fake_api_answer(f->api, "POST", 3, 429, "TooManyRequests", "wait", false);
    fake_api_answer(f->api, "POST", 1, 500, "InternalError", "etcd", false);

    cluster_run(f);

    assert_int_equal(fake_api_count(f->api, "POST"), 5);
    assert_int_equal(kubernetes_stats(f->runtime).again_count, 4);
}

static void a_lease_goes_back_when_nobody_answers_for_long(void **state)
{
    struct cluster *f = *state;
    int64_t began_ms = f->clock.now_ms;
    fake_api_answer(f->api, "POST", 1000, 503, "ServiceUnavailable", "no etcd",
                    false);

    cluster_begin(f);
    const struct cluster_seen *seen = cluster_await(f, RUNTIME_RETURNED);

    assert_int_equal(seen->change.scope, RUNTIME_SCOPE_CLUSTER);
    assert_non_null(strstr(seen->text, "503: no etcd"));
    assert_true(f->clock.now_ms - began_ms <=
                KUBERNETES_CREATE_MS_MAX + CLUSTER_TURN_MS);
    assert_true(fake_api_count(f->api, "POST") < 30);
    assert_int_equal(kubernetes_stats(f->runtime).own_count, 0);
}

static void what_is_refused_for_good_fails_the_job(void **state)
{
    struct cluster *f = *state;
    static const struct {
        int status;
        const char *reason, *message;
    } all[] = {
        {403, "Forbidden", "pods \"p\" is forbidden: violates PodSecurity"},
        {422, "Invalid", "Pod \"p\" is invalid: spec.containers[0].image"},
        {404, "NotFound", "namespaces \"away\" not found"},
        {400, "BadRequest", "admission webhook \"w\" denied the request: no"},
        {500, "", "admission webhook \"w\" denied the request: never"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        f->seen_count = 0;
        fake_api_answer(f->api, "POST", 1, all[i].status, all[i].reason,
                        all[i].message, false);
        cluster_begin(f);
        const struct cluster_seen *seen = cluster_await(f, RUNTIME_REFUSED);
        assert_int_equal(seen->change.scope, RUNTIME_SCOPE_CLUSTER);
        assert_non_null(strstr(seen->text, all[i].message));
    }
    assert_int_equal(fake_api_made_count(f->api), 0);
}

static void a_job_with_results_to_keep_is_refused_by_name(void **state)
{
    struct cluster *f = *state;

    job_annotate(&f->job, "berth.dev/outputPath", "/results");
    cluster_begin(f);
    const struct cluster_seen *seen = cluster_await(f, RUNTIME_REFUSED);
    assert_non_null(strstr(seen->text, "outputPath is not supported by the "
                                       "runtime kubernetes"));
    assert_int_equal(fake_api_made_count(f->api), 0);
}

static void what_another_cluster_may_grant_goes_back(void **state)
{
    struct cluster *f = *state;
    static const char *const all[] = {
        "pods \"p\" is forbidden: exceeded quota: q, requested: cpu=1",
        "pods is forbidden: User \"u\" cannot create resource \"pods\"",
    };

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        f->seen_count = 0;
        fake_api_answer(f->api, "POST", 1, 403, "Forbidden", all[i], false);
        cluster_begin(f);
        assert_int_equal(cluster_await(f, RUNTIME_RETURNED)->change.scope,
                         RUNTIME_SCOPE_CLUSTER);
    }
}

static void a_run_waits_for_the_pod_of_its_jobs_run_before(void **state)
{
    struct cluster *f = *state;
    cluster_run(f);
    struct run_id first = f->job.run.run;
    f->job.run.run = run_id_make(f->job.run.job, 1);
    f->seen_count = 0;

    cluster_begin(f);
    cluster_turns(f, 100);
    assert_null(cluster_find(f, RUNTIME_CREATED));
    f->runtime->ops->stop(f->runtime, first, 0);
    (void)cluster_await(f, RUNTIME_CREATED);

    assert_int_equal(fake_api_made_count(f->api), 2);
}

static void only_named_namespaces_get_pods(void **state)
{
    struct cluster *f = *state;
    runtime_close(f->runtime);
    f->options.namespaces = &STR("jobs");
    f->options.namespace_count = 1;
    cluster_open_runtime(f);
    f->seen_count = 0;
    (void)cluster_await(f, RUNTIME_LISTED);

    cluster_begin(f);

    assert_non_null(strstr(cluster_await(f, RUNTIME_REFUSED)->text,
                           "namespace default is not among those"));
}

/* They stand in the path of a request. */
static void names_that_lead_elsewhere_are_not_asked_for(void **state)
{
    struct cluster *f = *state;
    static const struct {
        const char *namespace_, *pod_name;
    } all[] = {
        {"kube-system/pods/coredns?x=", "armada-j-0"},
        {"..", "armada-j-0"},
        {"default", "../../kube-system/pods/coredns"},
        {"default", "p?dryRun=All"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        f->seen_count = 0;
        f->job.run.namespace_ = str_of(all[i].namespace_);
        f->job.run.pod_name = str_of(all[i].pod_name);
        cluster_begin(f);
        assert_non_null(
            strstr(cluster_await(f, RUNTIME_REFUSED)->text, "is no name of"));
    }
    assert_int_equal(fake_api_count(f->api, "POST"), 0);
}

static void a_node_that_is_gone_gets_no_pod(void **state)
{
    struct cluster *f = *state;
    f->job.run.node_name = STR("n2");

    cluster_begin(f);

    assert_int_equal(cluster_await(f, RUNTIME_RETURNED)->change.scope,
                     RUNTIME_SCOPE_NODE);
    assert_int_equal(fake_api_count(f->api, "POST"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_pod_whose_answer_was_lost_is_found_and_not_made_again),
        CLUSTER_TEST(the_watch_may_tell_of_a_pod_before_the_answer_does),
        CLUSTER_TEST(who_is_too_busy_is_asked_again),
        CLUSTER_TEST(a_lease_goes_back_when_nobody_answers_for_long),
        CLUSTER_TEST(what_is_refused_for_good_fails_the_job),
        CLUSTER_TEST(a_job_with_results_to_keep_is_refused_by_name),
        CLUSTER_TEST(what_another_cluster_may_grant_goes_back),
        CLUSTER_TEST(a_run_waits_for_the_pod_of_its_jobs_run_before),
        CLUSTER_TEST(only_named_namespaces_get_pods),
        CLUSTER_TEST(names_that_lead_elsewhere_are_not_asked_for),
        CLUSTER_TEST(a_node_that_is_gone_gets_no_pod),
    };

    return RUN_TESTS(tests);
}
