/*
 * kubernetes: nodes, and what others use of them.
 */
#include "cluster_fixture.h"
#include "executor/kubernetes/kubernetes.h"
#include "unit.h"

static void what_others_use_of_a_node_is_told(void **state)
{
    struct cluster *f = *state;

    fake_api_put_pod(f->api, "theirs", "n1", "2500m");
    cluster_turns(f, 3);
    assert_int_equal(
        resource_list_get(&cluster_node(f, "n1")->foreign, STR("cpu")), 2500);
    assert_int_equal(
        resource_list_get(&cluster_node(f, "n1")->foreign, STR("pods")), 1000);
    fake_api_fail_pod(f->api, "theirs", "Evicted", 1);
    cluster_turns(f, 3);

    assert_int_equal(cluster_node(f, "n1")->foreign.count, 0);
}

static void our_own_pods_are_not_others_use(void **state)
{
    struct cluster *f = *state;
    job_limit(&f->job, f->job.pod->containers[0], "cpu", "2");

    cluster_run(f);

    assert_int_equal(cluster_node(f, "n1")->foreign.count, 0);
}

static void what_waits_for_a_node_is_pending(void **state)
{
    struct cluster *f = *state;

    fake_api_put_pod(f->api, "theirs", "", "3");
    cluster_turns(f, 3);
    assert_int_equal(
        resource_list_get(f->runtime->ops->pending(f->runtime), STR("cpu")),
        3000);
    fake_api_remove_pod(f->api, "theirs");
    cluster_turns(f, 3);

    assert_int_equal(f->runtime->ops->pending(f->runtime)->count, 0);
}

static void nodes_come_change_and_go(void **state)
{
    struct cluster *f = *state;

    fake_api_put_node(f->api, "n2", true);
    cluster_turns(f, 3);
    assert_false(cluster_node(f, "n2")->is_unschedulable);
    fake_api_put_node(f->api, "n2", false);
    cluster_turns(f, 3);
    assert_true(cluster_node(f, "n2")->is_unschedulable);
    fake_api_remove_node(f->api, "n2");
    cluster_turns(f, 3);

    assert_null(cluster_node(f, "n2"));
}

static void a_list_anew_drops_what_is_gone(void **state)
{
    struct cluster *f = *state;
    fake_api_put_node(f->api, "n2", true);
    fake_api_put_pod(f->api, "theirs", "n1", "1");
    cluster_turns(f, 3);
    fake_api_hold_watches(f->api, true);
    fake_api_remove_node(f->api, "n2");
    fake_api_remove_pod(f->api, "theirs");

    fake_api_compact(f->api);
    fake_api_hold_watches(f->api, false);
    cluster_turns(f, 200);

    assert_null(cluster_node(f, "n2"));
    assert_int_equal(cluster_node(f, "n1")->foreign.count, 0);
}

static void it_says_when_the_cluster_is_out_of_reach(void **state)
{
    struct cluster *f = *state;
    bool has_said = false;
    assert_string_equal(f->runtime->ops->trouble(f->runtime), "");

    fake_api_answer(f->api, "GET", 4, 403, "Forbidden", "may not list", false);
    fake_api_compact(f->api);
    for (int i = 0; i < 100; i++) {
        cluster_turn(f);
        has_said |= strstr(f->runtime->ops->trouble(f->runtime),
                           "may not list") != NULL;
    }
    assert_true(has_said);
    cluster_turns(f, 6000);

    assert_string_equal(f->runtime->ops->trouble(f->runtime), "");
}

static void an_id_that_is_no_label_is_refused(void **state)
{
    struct cluster *f = *state;
    struct runtime *runtime = NULL;
    struct err err;
    f->options.executor_id = STR("not a label");

    assert_int_equal(kubernetes_open(&f->options, fake_api_port(f->api),
                                     &f->clock.clock, &machine_rng, &runtime,
                                     &err),
                     -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(what_others_use_of_a_node_is_told),
        CLUSTER_TEST(our_own_pods_are_not_others_use),
        CLUSTER_TEST(what_waits_for_a_node_is_pending),
        CLUSTER_TEST(nodes_come_change_and_go),
        CLUSTER_TEST(a_list_anew_drops_what_is_gone),
        CLUSTER_TEST(it_says_when_the_cluster_is_out_of_reach),
        CLUSTER_TEST(an_id_that_is_no_label_is_refused),
    };

    return RUN_TESTS(tests);
}
