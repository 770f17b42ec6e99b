/*
 * kubernetes: pods that are forgotten leave the cluster, and when.
 */
#include "cluster_fixture.h"
#include "executor/kubernetes/kubernetes.h"
#include "unit.h"

static void what_is_forgotten_leaves_the_cluster(void **state)
{
    struct cluster *f = *state;
    cluster_run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 7);
    cluster_await_phase(f, RECONCILE_FAILED);
    assert_int_equal(cluster_status_of(f).ended[0].exit_code, 7);
    fake_api_answer(f->api, "DELETE", 1, 429, "TooManyRequests", "no", false);

    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)cluster_await(f, RUNTIME_FORGOTTEN);
    for (int i = 0; i < CLUSTER_TURNS_MAX && fake_api_pod_count(f->api) > 0;
         i++) {
        cluster_turn(f);
    }
    cluster_turns(f, 10);

    assert_int_equal(fake_api_pod_count(f->api), 0);
    assert_int_equal(fake_api_count(f->api, "DELETE"), 2);
    assert_int_equal(kubernetes_stats(f->runtime).own_count, 0);
    assert_null(cluster_find(f, RUNTIME_APPEARED));
}

static void a_forgotten_pod_stays_for_its_logs(void **state)
{
    struct cluster *f = *state;
    cluster_reopen_with_retention(f, 60000);
    cluster_run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 0);
    cluster_await_phase(f, RECONCILE_SUCCEEDED);

    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)cluster_await(f, RUNTIME_FORGOTTEN);
    cluster_turns(f, 59000 / CLUSTER_TURN_MS);
    assert_int_equal(fake_api_pod_count(f->api), 1);
    cluster_turns(f, 2000 / CLUSTER_TURN_MS);

    assert_int_equal(fake_api_pod_count(f->api), 0);
}

static void
a_pod_kept_for_its_logs_makes_way_for_the_jobs_next_run(void **state)
{
    struct cluster *f = *state;
    cluster_reopen_with_retention(f, 3600000);
    cluster_run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 1);
    cluster_await_phase(f, RECONCILE_FAILED);
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    f->job.run.run = run_id_make(f->job.run.job, 1);
    f->seen_count = 0;

    cluster_run(f);

    assert_int_equal(fake_api_made_count(f->api), 2);
    assert_int_equal(fake_api_pod_count(f->api), 1);
}

/* Pods of so many jobs have ended and are kept. */
static void keep_pods(struct cluster *f, int first, int count)
{
    for (int i = 0; i < count; i++) {
        cluster_make_job(f, first + i);
        f->seen_count = 0;
        cluster_run(f);
        fake_api_fail_pod(f->api, f->pod_name, "", 0);
        cluster_await_phase(f, RECONCILE_SUCCEEDED);
        f->runtime->ops->forget(f->runtime, f->job.run.run);
    }
}

static void pods_kept_for_their_logs_have_a_bound(void **state)
{
    struct cluster *f = *state;
    cluster_reopen_with_retention(f, 3600000);

    keep_pods(f, 100, KUBERNETES_RETAINED_MAX + 5);
    cluster_turns(f, 100);

    assert_int_equal(fake_api_pod_count(f->api), KUBERNETES_RETAINED_MAX);
}

static void beyond_that_bound_a_busy_port_is_asked_later(void **state)
{
    struct cluster *f = *state;
    cluster_reopen_with_retention(f, 3600000);
    keep_pods(f, 100, KUBERNETES_RETAINED_MAX);
    cluster_make_job(f, 1);
    f->seen_count = 0;
    cluster_run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 0);
    cluster_await_phase(f, RECONCILE_SUCCEEDED);

    fake_api_refuse(f->api, true);
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    cluster_turns(f, 100);
    assert_int_equal(fake_api_pod_count(f->api), KUBERNETES_RETAINED_MAX + 1);
    fake_api_refuse(f->api, false);
    cluster_turns(f, 200);

    assert_int_equal(fake_api_pod_count(f->api), KUBERNETES_RETAINED_MAX);
}

static void beyond_that_bound_a_refused_removal_waits(void **state)
{
    struct cluster *f = *state;
    cluster_reopen_with_retention(f, 3600000);
    fake_api_answer(f->api, "DELETE", 100000, 403, "Forbidden", "no", false);

    keep_pods(f, 100, KUBERNETES_RETAINED_MAX + 2);
    cluster_turns(f, 1000); /* ten seconds: pauses of 0.2 to 6.4 */

    assert_in_range(fake_api_count(f->api, "DELETE"), 4, 16);
}

static void a_removal_that_failed_waits_behind_no_pod_that_is_kept(void **state)
{
    struct cluster *f = *state;
    cluster_reopen_with_retention(f, 3600000);
    keep_pods(f, 100, 2);
    cluster_make_job(f, 100);
    f->job.run.run = run_id_make(f->job.run.job, 7);
    f->seen_count = 0;
    fake_api_answer(f->api, "DELETE", 1, 503, "", "not now", false);

    cluster_run(f);

    assert_int_equal(fake_api_made_count(f->api), 3);
    assert_int_equal(fake_api_pod_count(f->api), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(what_is_forgotten_leaves_the_cluster),
        CLUSTER_TEST(a_forgotten_pod_stays_for_its_logs),
        CLUSTER_TEST(a_pod_kept_for_its_logs_makes_way_for_the_jobs_next_run),
        CLUSTER_TEST(pods_kept_for_their_logs_have_a_bound),
        CLUSTER_TEST(beyond_that_bound_a_busy_port_is_asked_later),
        CLUSTER_TEST(beyond_that_bound_a_refused_removal_waits),
        CLUSTER_TEST(a_removal_that_failed_waits_behind_no_pod_that_is_kept),
    };

    return RUN_TESTS(tests);
}
