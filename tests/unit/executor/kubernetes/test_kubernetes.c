/*
 * kubernetes: pods that end, go, and are found again.
 */
#include "cluster_fixture.h"
#include "executor/kubernetes/kubernetes_private.h"
#include "unit.h"

static void a_pod_deleted_by_hand_fails_and_says_so(void **state)
{
    struct cluster *f = *state;
    cluster_run(f);

    fake_api_remove_pod(f->api, f->pod_name);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_STOPPED);
    assert_true(
        str_equal(cluster_status_of(f).message, STR("the pod was deleted")));
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)cluster_await(f, RUNTIME_FORGOTTEN);
    assert_int_equal(fake_api_count(f->api, "DELETE"), 0);
}

/* Its containers end with 143, which says less. */
static void a_pod_that_its_kubelet_ends_was_deleted(void **state)
{
    struct cluster *f = *state;
    cluster_run(f);

    fake_api_delete_pod(f->api, f->pod_name);
    cluster_await_phase(f, RECONCILE_FAILED);
    cluster_turns(f, 10);

    assert_int_equal(fake_api_pod_count(f->api), 0);
    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_STOPPED);
    assert_true(
        str_equal(cluster_status_of(f).message, STR("the pod was deleted")));
    assert_int_equal(cluster_status_of(f).ended[0].exit_code, 143);
}

static void a_pod_that_its_node_rejects_never_ran(void **state)
{
    struct cluster *f = *state;
    fake_api_hold_kubelets(f->api, true);
    cluster_begin(f);
    (void)cluster_await(f, RUNTIME_CREATED);

    fake_api_fail_pod(f->api, f->pod_name, "OutOfcpu", 1);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_REJECTED);
}

static void a_pod_that_went_while_nobody_looked_is_lost(void **state)
{
    struct cluster *f = *state;
    cluster_run(f);
    fake_api_hold_watches(f->api, true);
    fake_api_remove_pod(f->api, f->pod_name);
    cluster_turns(f, 10);
    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);

    fake_api_compact(f->api);
    fake_api_hold_watches(f->api, false);
    cluster_await_phase(f, RECONCILE_LOST);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_LOST);
    assert_int_equal(cluster_count_kind(f, RUNTIME_PHASE), 2);
}

static void a_pod_goes_with_its_node(void **state)
{
    struct cluster *f = *state;
    cluster_run(f);

    fake_api_remove_node(f->api, "n1");
    cluster_turns(f, 10);
    fake_api_remove_pod(f->api, f->pod_name);
    cluster_await_phase(f, RECONCILE_LOST);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_NODE_LOST);
}

static void a_list_anew_loses_no_pod_that_is_being_made(void **state)
{
    struct cluster *f = *state;

    fake_api_compact(f->api);
    cluster_begin(f);
    (void)cluster_await(f, RUNTIME_CREATED);
    fake_api_compact(f->api);
    cluster_await_phase(f, RECONCILE_RUNNING);
    cluster_turns(f, 1000);

    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);
}

static void a_pod_made_during_a_list_in_pages_is_not_lost(void **state)
{
    struct cluster *f = *state;
    fake_api_put_pod(f->api, "theirs-1", "n1", "1");
    fake_api_put_pod(f->api, "theirs-2", "n1", "1");
    fake_api_put_pod(f->api, "theirs-3", "n1", "1");
    cluster_turns(f, 10);
    fake_api_set_page(f->api, 1);
    fake_api_compact(f->api);
    for (uint32_t was = fake_api_count(f->api, "GET");
         fake_api_count(f->api, "GET") == was;) {
        cluster_turn(f); /* until the first page was asked for */
    }

    cluster_run(f);
    cluster_turns(f, 1000);

    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);
    assert_int_equal(
        resource_list_get(&cluster_node(f, "n1")->foreign, STR("cpu")), 3000);
}

static void a_list_that_is_older_than_a_pod_does_not_lose_it(void **state)
{
    struct cluster *f = *state;
    fake_api_hold_lists(f->api, true);
    fake_api_hold_watches(f->api, true);
    fake_api_compact(f->api);
    fake_api_hold_watches(f->api, false);
    cluster_turns(f,
                  100); /* it is listed again, and the answer takes its time */

    cluster_begin(f);
    (void)cluster_await(f, RUNTIME_CREATED);
    fake_api_hold_lists(f->api, false);
    cluster_await_phase(f, RECONCILE_RUNNING);
    cluster_turns(f, 100);

    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);
}

static void a_stop_that_fails_may_be_asked_again(void **state)
{
    struct cluster *f = *state;
    cluster_run(f);
    fake_api_answer(f->api, "DELETE", 1, 500, "InternalError", "no", false);

    f->runtime->ops->stop(f->runtime, f->job.run.run, -1);
    cluster_turns(f, 100);
    assert_int_equal(cluster_phase_of(f), RECONCILE_RUNNING);
    f->runtime->ops->stop(f->runtime, f->job.run.run, -1);
    cluster_await_phase(f, RECONCILE_FAILED);

    assert_int_equal(cluster_status_of(f).cause, RUNTIME_CAUSE_STOPPED);
}

static void count_pod(void *ctx, const struct runtime_pod *pod)
{
    (void)pod;
    ++*(uint32_t *)ctx;
}

static void pods_of_another_executor_are_not_ours(void **state)
{
    struct cluster *f = *state;
    uint32_t own_count = 0;
    cluster_run(f);
    runtime_close(f->runtime);
    f->options.executor_id = STR("two");
    f->seen_count = 0;
    cluster_open_runtime(f);
    (void)cluster_await(f, RUNTIME_LISTED);

    f->runtime->ops->list(f->runtime, count_pod, &own_count);

    assert_int_equal(own_count, 0);
}

/* Where the job's logs are read; NULL: nowhere. */
static const char *place_of(struct cluster *f)
{
    struct kube_log_place place;

    return kubernetes_place(kubernetes_of(f->runtime), f->job.run.job,
                            &f->job.arena, &place)
               ? arena_strdup(&f->job.arena, place.pod_name)
               : NULL;
}

static void a_pod_with_our_labels_hides_none_of_ours(void **state)
{
    struct cluster *f = *state;
    char run_text[ID_TEXT_BYTES_MAX];
    static const char *const copies[] = {"copy-1", "copy-2"};
    cluster_run(f);

    for (uint32_t i = 0; i < ARRAY_COUNT(copies); i++) {
        fake_api_copy_pod(
            f->api, f->pod_name, copies[i],
            run_id_format(run_id_make(f->job.run.job, 7 + i), run_text));
    }
    cluster_turns(f, 10);
    assert_int_equal(cluster_count_kind(f, RUNTIME_APPEARED), 2);
    assert_string_equal(place_of(f), f->pod_name);
    for (uint32_t i = 0; i < ARRAY_COUNT(copies); i++) {
        fake_api_remove_pod(f->api, copies[i]);
        cluster_turns(f, 10);
        f->runtime->ops->forget(f->runtime, run_id_make(f->job.run.job, 7 + i));
        cluster_turns(f, 10);
        assert_string_equal(place_of(f), f->pod_name);
    }
}

static void the_pod_of_ours_is_found_when_its_copy_is_gone(void **state)
{
    struct cluster *f = *state;
    char run_text[ID_TEXT_BYTES_MAX];
    cluster_run(f);
    fake_api_copy_pod(f->api, f->pod_name, "copy",
                      run_id_format(run_id_make(f->job.run.job, 7), run_text));
    cluster_reopen_with_retention(f, 0); /* now nobody knows which is whose */

    fake_api_remove_pod(f->api, "copy");
    cluster_turns(f, 10);
    f->runtime->ops->forget(f->runtime, run_id_make(f->job.run.job, 7));
    cluster_turns(f, 10);

    assert_string_equal(place_of(f), f->pod_name);
}

/* Of that name there may be the pod of somebody else. */
static void a_pod_that_is_being_made_has_no_logs(void **state)
{
    struct cluster *f = *state;

    cluster_begin(f);
    assert_null(place_of(f));
    (void)cluster_await(f, RUNTIME_CREATED);

    assert_non_null(place_of(f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_pod_that_is_being_made_has_no_logs),
        CLUSTER_TEST(a_pod_with_our_labels_hides_none_of_ours),
        CLUSTER_TEST(the_pod_of_ours_is_found_when_its_copy_is_gone),
        CLUSTER_TEST(a_pod_deleted_by_hand_fails_and_says_so),
        CLUSTER_TEST(a_pod_that_its_kubelet_ends_was_deleted),
        CLUSTER_TEST(a_pod_that_its_node_rejects_never_ran),
        CLUSTER_TEST(a_pod_that_went_while_nobody_looked_is_lost),
        CLUSTER_TEST(a_pod_goes_with_its_node),
        CLUSTER_TEST(a_list_anew_loses_no_pod_that_is_being_made),
        CLUSTER_TEST(a_pod_made_during_a_list_in_pages_is_not_lost),
        CLUSTER_TEST(a_list_that_is_older_than_a_pod_does_not_lose_it),
        CLUSTER_TEST(a_stop_that_fails_may_be_asked_again),
        CLUSTER_TEST(pods_of_another_executor_are_not_ours),
    };

    return RUN_TESTS(tests);
}
