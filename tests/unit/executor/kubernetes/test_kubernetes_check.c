/*
 * kubernetes: pods that do not get on.
 */
#include "cluster_fixture.h"
#include "executor/kubernetes/kubernetes.h"
#include "executor/port/node_set.h"
#include "unit.h"

enum { TURNS_PER_S = 1000 / CLUSTER_TURN_MS };

/* A pod that waits for this reason. */
static void wait_so(struct cluster *f, const char *reason, const char *message)
{
    fake_api_hold_kubelets(f->api, true);
    cluster_begin(f);
    (void)cluster_await(f, RUNTIME_CREATED);
    fake_api_set_waiting(f->api, f->pod_name, reason, message);
    fake_api_hold_kubelets(f->api, false);
    cluster_turns(f, 2);
}

/* Its end is told after so many seconds, and not before; once. */
static void ends_after(struct cluster *f, int seconds, enum runtime_cause cause,
                       const char *text)
{
    cluster_turns(f, (seconds > 2 ? seconds - 2 : 0) * TURNS_PER_S);
    if (seconds > 0) {
        assert_int_equal(fake_api_count(f->api, "DELETE"), 0);
    }
    cluster_turns(f, 4 * TURNS_PER_S);
    assert_int_equal(cluster_phase_of(f), RECONCILE_FAILED);
    assert_int_equal(cluster_count_kind(f, RUNTIME_PHASE), 1);
    assert_int_equal(cluster_status_of(f).cause, cause);
    assert_non_null(strstr(
        arena_strdup(&f->job.arena, cluster_status_of(f).message), text));
    assert_int_equal(cluster_status_of(f).ended_count, 0);
    assert_int_equal(fake_api_pod_count(f->api), 0);
}

static void an_image_of_an_invalid_name_fails_at_once(void **state)
{
    struct cluster *f = *state;

    wait_so(f, "InvalidImageName", "couldn't parse image name \"a b\"");

    ends_after(f, 0, RUNTIME_CAUSE_IMAGE, "couldn't parse image name");
}

static void an_image_that_cannot_be_unpacked_fails_soon(void **state)
{
    struct cluster *f = *state;

    wait_so(f, "ErrImagePull", "failed to pull: failed to extract layer x");

    ends_after(f, 90, RUNTIME_CAUSE_IMAGE, "failed to extract layer");
}

static void an_image_that_is_not_had_gives_the_lease_back(void **state)
{
    struct cluster *f = *state;
    wait_so(f, "ErrImagePull", "no such host");
    cluster_turns(f, 60 * TURNS_PER_S);
    fake_api_set_waiting(f->api, f->pod_name, "ImagePullBackOff", "Back-off");

    ends_after(f, 840, RUNTIME_CAUSE_REJECTED, "ImagePullBackOff: Back-off");
}

static void a_pod_that_does_not_start_gives_the_lease_back(void **state)
{
    struct cluster *f = *state;

    wait_so(f, "ContainerCreating", "");

    ends_after(f, 300, RUNTIME_CAUSE_REJECTED, "did not start for 5 minutes");
}

static void a_pod_that_no_kubelet_touches_gives_the_lease_back(void **state)
{
    struct cluster *f = *state;
    fake_api_hold_kubelets(f->api, true);
    cluster_begin(f);
    (void)cluster_await(f, RUNTIME_CREATED);

    cluster_turns(f, 302 * TURNS_PER_S);
    fake_api_hold_kubelets(f->api, false);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REJECTED);
}

static void who_waits_for_something_else_is_given_its_time(void **state)
{
    struct cluster *f = *state;
    wait_so(f, "ContainerCreating", "");
    cluster_turns(f, 200 * TURNS_PER_S);
    fake_api_set_waiting(f->api, f->pod_name, "ErrImagePull", "");

    cluster_turns(f, 400 * TURNS_PER_S);

    assert_int_equal(cluster_count_kind(f, RUNTIME_PHASE), 0);
}

static void a_pod_that_runs_has_no_limit(void **state)
{
    struct cluster *f = *state;
    job_annotate(&f->job, "berth.dev/fakeRunMs", "100000000");
    cluster_run(f);

    cluster_turns(f, 1000 * TURNS_PER_S);

    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);
    assert_int_equal(fake_api_count(f->api, "DELETE"), 0);
}

static void a_deletion_that_fails_is_asked_again(void **state)
{
    struct cluster *f = *state;
    fake_api_answer(f->api, "DELETE", 3, 500, "InternalError", "no", false);
    wait_so(f, "InvalidImageName", "");

    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_IMAGE);
    assert_int_equal(fake_api_count(f->api, "DELETE"), 4);
}

static void a_pod_that_runs_while_it_is_given_up_never_ran(void **state)
{
    struct cluster *f = *state;
    fake_api_answer(f->api, "DELETE", 1, 503, "", "not now", false);
    wait_so(f, "InvalidImageName", "");
    fake_api_start_pod(f->api, f->pod_name);

    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_count_kind(f, RUNTIME_PHASE), 1);
}

static void a_pod_that_does_not_end_keeps_its_room(void **state)
{
    struct cluster *f = *state;
    job_limit(&f->job, f->job.pod->containers[0], "cpu", "2");
    cluster_run(f);
    fake_api_hold_kubelets(f->api, true);
    f->runtime->ops->stop(f->runtime, f->job.run.run, 1000);

    cluster_turns(f, 28 * TURNS_PER_S);
    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);
    assert_int_equal(cluster_node(f, "n1")->foreign.count, 0);
    cluster_turns(f, 6 * TURNS_PER_S);

    assert_int_equal(cluster_phase_of(f), RECONCILE_FAILED);
    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_STUCK);
    assert_int_equal(
        resource_list_get(&cluster_node(f, "n1")->foreign, STR("cpu")), 2000);
    fake_api_hold_kubelets(f->api, false);
    cluster_turns(f, 10);
    assert_int_equal(cluster_node(f, "n1")->foreign.count, 0);
    assert_int_equal(cluster_count_kind(f, RUNTIME_PHASE), 2);
}

static void patience_begins_anew_with_the_executor(void **state)
{
    struct cluster *f = *state;
    wait_so(f, "ContainerCreating", "");
    cluster_turns(f, 200 * TURNS_PER_S);

    cluster_reopen_with_retention(f, 0);
    cluster_turns(f, 200 * TURNS_PER_S);
    assert_int_equal(fake_api_count(f->api, "DELETE"), 0);
    cluster_turns(f, 104 * TURNS_PER_S);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REJECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(an_image_of_an_invalid_name_fails_at_once),
        CLUSTER_TEST(an_image_that_cannot_be_unpacked_fails_soon),
        CLUSTER_TEST(an_image_that_is_not_had_gives_the_lease_back),
        CLUSTER_TEST(a_pod_that_does_not_start_gives_the_lease_back),
        CLUSTER_TEST(a_pod_that_no_kubelet_touches_gives_the_lease_back),
        CLUSTER_TEST(who_waits_for_something_else_is_given_its_time),
        CLUSTER_TEST(a_pod_that_runs_has_no_limit),
        CLUSTER_TEST(a_deletion_that_fails_is_asked_again),
        CLUSTER_TEST(a_pod_that_runs_while_it_is_given_up_never_ran),
        CLUSTER_TEST(a_pod_that_does_not_end_keeps_its_room),
        CLUSTER_TEST(patience_begins_anew_with_the_executor),
    };

    return RUN_TESTS(tests);
}
