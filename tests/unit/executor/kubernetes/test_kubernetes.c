/*
 * kubernetes: what goes wrong between a runtime and its cluster.
 */
#include <stdio.h>

#include "executor/kubernetes/kubernetes_private.h"
#include "executor/port/node_set.h"
#include "kube/fake/fake_api.h"
#include "server.h"
#include "support.h"
#include "unit.h"

enum { CHANGES_MAX = 64, TURN_MS = 10, TURNS_MAX = 60000 };

struct seen {
    struct runtime_change change; /* its text in `text` */
    char text[ERR_TEXT_BYTES_MAX];
};

struct fixture {
    struct test_clock clock;
    struct fake_api *api;
    struct kubernetes_options options;
    struct runtime *runtime;
    struct job job;
    char pod_name[ID_TEXT_BYTES_MAX + 16];
    struct seen seen[CHANGES_MAX];
    uint32_t seen_count;
};

static struct fixture fixture;

static void open_runtime(struct fixture *f)
{
    struct err err;

    assert_int_equal(kubernetes_open(&f->options, fake_api_port(f->api),
                                     &f->clock.clock, &machine_rng, &f->runtime,
                                     &err),
                     0);
}

/* One look around, and some time passes. */
static void turn(struct fixture *f)
{
    struct runtime_change change;

    while (f->runtime->ops->poll(f->runtime, &change, 1) == 1) {
        struct seen *seen = &f->seen[f->seen_count++];
        assert_true(f->seen_count <= CHANGES_MAX);
        seen->change = change;
        (void)snprintf(seen->text, sizeof(seen->text), "%.*s",
                       STR_ARG(change.text));
        seen->change.pod = NULL;
    }
    f->clock.now_ms += TURN_MS;
}

static uint32_t count_kind(const struct fixture *f,
                           enum runtime_change_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < f->seen_count; i++) {
        count += f->seen[i].change.kind == kind;
    }
    return count;
}

static const struct seen *find(const struct fixture *f,
                               enum runtime_change_kind kind)
{
    for (uint32_t i = 0; i < f->seen_count; i++) {
        if (f->seen[i].change.kind == kind) {
            return &f->seen[i];
        }
    }
    return NULL;
}

static const struct seen *await(struct fixture *f,
                                enum runtime_change_kind kind)
{
    for (int i = 0; i < TURNS_MAX && !find(f, kind); i++) {
        turn(f);
    }
    assert_non_null(find(f, kind));
    return find(f, kind);
}

static enum reconcile_phase phase_of(const struct fixture *f)
{
    enum reconcile_phase phase = RECONCILE_NEVER;

    for (uint32_t i = 0; i < f->seen_count; i++) {
        if (f->seen[i].change.kind == RUNTIME_PHASE) {
            phase = f->seen[i].change.phase;
        }
    }
    return phase;
}

static void await_phase(struct fixture *f, enum reconcile_phase phase)
{
    for (int i = 0; i < TURNS_MAX && phase_of(f) != phase; i++) {
        turn(f);
    }
    assert_int_equal(phase_of(f), phase);
}

/* Let so many turns pass in which nothing shall happen. */
static void turns(struct fixture *f, int count)
{
    for (int i = 0; i < count; i++) {
        turn(f);
    }
}

static void make_job(struct fixture *f, int number)
{
    char id[ID_TEXT_BYTES_MAX];

    job_free(&f->job);
    job_make(&f->job, number, (const char *const[]){"program", NULL});
    (void)snprintf(f->pod_name, sizeof(f->pod_name), "armada-%s-0",
                   job_id_format(f->job.run.job, id));
    f->job.run.pod_name = str_of(f->pod_name);
    f->job.run.node_name = STR("n1");
    job_annotate(&f->job, "berth.dev/fakeRunMs", "100000");
}

static int set_up(void **state)
{
    struct fixture *f = *state = &fixture;

    *f = (struct fixture){.seen_count = 0};
    test_clock_init(&f->clock);
    f->api = fake_api_create(&f->clock.clock);
    fake_api_put_node(f->api, "n1", true);
    kubernetes_options_default(&f->options);
    f->options.executor_id = STR("one");
    f->options.retention_ms = 0;
    open_runtime(f);
    make_job(f, 1);
    (void)await(f, RUNTIME_LISTED);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    runtime_close(f->runtime);
    fake_api_destroy(f->api);
    job_free(&f->job);
    return 0;
}

static void begin(struct fixture *f)
{
    f->runtime->ops->create(f->runtime, &f->job.run);
}

static void run(struct fixture *f)
{
    begin(f);
    await_phase(f, RECONCILE_RUNNING);
}

static struct runtime_status status_of(struct fixture *f)
{
    struct runtime_status status;

    assert_true(f->runtime->ops->status(f->runtime, f->job.run.run,
                                        &f->job.arena, &status));
    return status;
}

static const struct node_record *node(struct fixture *f, const char *name)
{
    return node_set_find(f->runtime->ops->nodes(f->runtime), str_of(name));
}

static void reopen_with_retention(struct fixture *f, int64_t retention_ms)
{
    runtime_close(f->runtime);
    f->options.retention_ms = retention_ms;
    open_runtime(f);
    f->seen_count = 0;
    (void)await(f, RUNTIME_LISTED);
}

/* Creations. */

static void
a_pod_whose_answer_was_lost_is_found_and_not_made_again(void **state)
{
    struct fixture *f = *state;
    fake_api_hold_watches(f->api, true);
    fake_api_answer(f->api, "POST", 1, 0, "", "", true);

    begin(f);
    (void)await(f, RUNTIME_CREATED);
    fake_api_hold_watches(f->api, false);
    await_phase(f, RECONCILE_RUNNING);

    assert_int_equal(fake_api_made_count(f->api), 1);
    assert_int_equal(fake_api_count(f->api, "POST"), 2);
    assert_int_equal(fake_api_count(f->api, "GET") >= 3, 1);
    assert_int_equal(count_kind(f, RUNTIME_CREATED), 1);
}

static void the_watch_may_tell_of_a_pod_before_the_answer_does(void **state)
{
    struct fixture *f = *state;
    fake_api_answer(f->api, "POST", 1, 0, "", "", true);

    run(f);
    turns(f, 100);

    assert_int_equal(fake_api_count(f->api, "POST"), 1);
    assert_int_equal(count_kind(f, RUNTIME_CREATED), 1);
}

static void who_is_too_busy_is_asked_again(void **state)
{
    struct fixture *f = *state;
    fake_api_answer(f->api, "POST", 3, 429, "TooManyRequests", "wait", false);
    fake_api_answer(f->api, "POST", 1, 500, "InternalError", "etcd", false);

    run(f);

    assert_int_equal(fake_api_count(f->api, "POST"), 5);
    assert_int_equal(kubernetes_stats(f->runtime).again_count, 4);
}

static void a_lease_goes_back_when_nobody_answers_for_long(void **state)
{
    struct fixture *f = *state;
    int64_t began_ms = f->clock.now_ms;
    fake_api_answer(f->api, "POST", 1000, 503, "ServiceUnavailable", "no etcd",
                    false);

    begin(f);
    const struct seen *seen = await(f, RUNTIME_RETURNED);

    assert_int_equal(seen->change.scope, RUNTIME_SCOPE_CLUSTER);
    assert_non_null(strstr(seen->text, "503: no etcd"));
    assert_true(f->clock.now_ms - began_ms <=
                KUBERNETES_CREATE_MS_MAX + TURN_MS);
    assert_true(fake_api_count(f->api, "POST") < 30);
    assert_int_equal(kubernetes_stats(f->runtime).own_count, 0);
}

static void what_is_refused_for_good_fails_the_job(void **state)
{
    struct fixture *f = *state;
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
        begin(f);
        const struct seen *seen = await(f, RUNTIME_REFUSED);
        assert_int_equal(seen->change.scope, RUNTIME_SCOPE_CLUSTER);
        assert_non_null(strstr(seen->text, all[i].message));
    }
    assert_int_equal(fake_api_made_count(f->api), 0);
}

static void what_another_cluster_may_grant_goes_back(void **state)
{
    struct fixture *f = *state;
    static const char *const all[] = {
        "pods \"p\" is forbidden: exceeded quota: q, requested: cpu=1",
        "pods is forbidden: User \"u\" cannot create resource \"pods\"",
    };

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        f->seen_count = 0;
        fake_api_answer(f->api, "POST", 1, 403, "Forbidden", all[i], false);
        begin(f);
        assert_int_equal(await(f, RUNTIME_RETURNED)->change.scope,
                         RUNTIME_SCOPE_CLUSTER);
    }
}

static void a_run_waits_for_the_pod_of_its_jobs_run_before(void **state)
{
    struct fixture *f = *state;
    run(f);
    struct run_id first = f->job.run.run;
    f->job.run.run = run_id_make(f->job.run.job, 1);
    f->seen_count = 0;

    begin(f);
    turns(f, 100);
    assert_null(find(f, RUNTIME_CREATED));
    f->runtime->ops->stop(f->runtime, first, 0);
    (void)await(f, RUNTIME_CREATED);

    assert_int_equal(fake_api_made_count(f->api), 2);
}

static void only_named_namespaces_get_pods(void **state)
{
    struct fixture *f = *state;
    runtime_close(f->runtime);
    f->options.namespaces = &STR("jobs");
    f->options.namespace_count = 1;
    open_runtime(f);
    f->seen_count = 0;
    (void)await(f, RUNTIME_LISTED);

    begin(f);

    assert_non_null(strstr(await(f, RUNTIME_REFUSED)->text,
                           "namespace default is not among those"));
}

/* They stand in the path of a request. */
static void names_that_lead_elsewhere_are_not_asked_for(void **state)
{
    struct fixture *f = *state;
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
        begin(f);
        assert_non_null(
            strstr(await(f, RUNTIME_REFUSED)->text, "is no name of"));
    }
    assert_int_equal(fake_api_count(f->api, "POST"), 0);
}

/* Where the job's logs are read; NULL: nowhere. */
static const char *place_of(struct fixture *f)
{
    struct kube_log_place place;

    return kubernetes_place(kubernetes_of(f->runtime), f->job.run.job,
                            &f->job.arena, &place)
               ? arena_strdup(&f->job.arena, place.pod_name)
               : NULL;
}

static void a_pod_with_our_labels_hides_none_of_ours(void **state)
{
    struct fixture *f = *state;
    char run_text[ID_TEXT_BYTES_MAX];
    static const char *const copies[] = {"copy-1", "copy-2"};
    run(f);

    for (uint32_t i = 0; i < ARRAY_COUNT(copies); i++) {
        fake_api_copy_pod(
            f->api, f->pod_name, copies[i],
            run_id_format(run_id_make(f->job.run.job, 7 + i), run_text));
    }
    turns(f, 10);
    assert_int_equal(count_kind(f, RUNTIME_APPEARED), 2);
    assert_string_equal(place_of(f), f->pod_name);
    for (uint32_t i = 0; i < ARRAY_COUNT(copies); i++) {
        fake_api_remove_pod(f->api, copies[i]);
        turns(f, 10);
        f->runtime->ops->forget(f->runtime, run_id_make(f->job.run.job, 7 + i));
        turns(f, 10);
        assert_string_equal(place_of(f), f->pod_name);
    }
}

static void the_pod_of_ours_is_found_when_its_copy_is_gone(void **state)
{
    struct fixture *f = *state;
    char run_text[ID_TEXT_BYTES_MAX];
    run(f);
    fake_api_copy_pod(f->api, f->pod_name, "copy",
                      run_id_format(run_id_make(f->job.run.job, 7), run_text));
    reopen_with_retention(f, 0); /* now nobody knows which is whose */

    fake_api_remove_pod(f->api, "copy");
    turns(f, 10);
    f->runtime->ops->forget(f->runtime, run_id_make(f->job.run.job, 7));
    turns(f, 10);

    assert_string_equal(place_of(f), f->pod_name);
}

/* Of that name there may be the pod of somebody else. */
static void a_pod_that_is_being_made_has_no_logs(void **state)
{
    struct fixture *f = *state;

    begin(f);
    assert_null(place_of(f));
    (void)await(f, RUNTIME_CREATED);

    assert_non_null(place_of(f));
}

static void a_node_that_is_gone_gets_no_pod(void **state)
{
    struct fixture *f = *state;
    f->job.run.node_name = STR("n2");

    begin(f);

    assert_int_equal(await(f, RUNTIME_RETURNED)->change.scope,
                     RUNTIME_SCOPE_NODE);
    assert_int_equal(fake_api_count(f->api, "POST"), 0);
}

/* Pods. */

static void a_pod_deleted_by_hand_fails_and_says_so(void **state)
{
    struct fixture *f = *state;
    run(f);

    fake_api_remove_pod(f->api, f->pod_name);
    await_phase(f, RECONCILE_FAILED);

    assert_int_equal(status_of(f).cause, RUNTIME_CAUSE_STOPPED);
    assert_true(str_equal(status_of(f).message, STR("the pod was deleted")));
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)await(f, RUNTIME_FORGOTTEN);
    assert_int_equal(fake_api_count(f->api, "DELETE"), 0);
}

static void a_pod_that_its_node_rejects_never_ran(void **state)
{
    struct fixture *f = *state;
    fake_api_hold_kubelets(f->api, true);
    begin(f);
    (void)await(f, RUNTIME_CREATED);

    fake_api_fail_pod(f->api, f->pod_name, "OutOfcpu", 1);
    await_phase(f, RECONCILE_FAILED);

    assert_int_equal(status_of(f).cause, RUNTIME_CAUSE_REJECTED);
}

static void a_pod_that_went_while_nobody_looked_is_lost(void **state)
{
    struct fixture *f = *state;
    run(f);
    fake_api_hold_watches(f->api, true);
    fake_api_remove_pod(f->api, f->pod_name);
    turns(f, 10);
    assert_int_equal(phase_of(f), RECONCILE_RUNNING);

    fake_api_compact(f->api);
    fake_api_hold_watches(f->api, false);
    await_phase(f, RECONCILE_LOST);

    assert_int_equal(status_of(f).cause, RUNTIME_CAUSE_LOST);
    assert_int_equal(count_kind(f, RUNTIME_PHASE), 2);
}

static void a_pod_goes_with_its_node(void **state)
{
    struct fixture *f = *state;
    run(f);

    fake_api_remove_node(f->api, "n1");
    turns(f, 10);
    fake_api_remove_pod(f->api, f->pod_name);
    await_phase(f, RECONCILE_LOST);

    assert_int_equal(status_of(f).cause, RUNTIME_CAUSE_NODE_LOST);
}

static void a_list_anew_loses_no_pod_that_is_being_made(void **state)
{
    struct fixture *f = *state;

    fake_api_compact(f->api);
    begin(f);
    (void)await(f, RUNTIME_CREATED);
    fake_api_compact(f->api);
    await_phase(f, RECONCILE_RUNNING);
    turns(f, 1000);

    assert_int_equal(phase_of(f), RECONCILE_RUNNING);
}

static void a_pod_made_during_a_list_in_pages_is_not_lost(void **state)
{
    struct fixture *f = *state;
    fake_api_put_pod(f->api, "theirs-1", "n1", "1");
    fake_api_put_pod(f->api, "theirs-2", "n1", "1");
    fake_api_put_pod(f->api, "theirs-3", "n1", "1");
    turns(f, 10);
    fake_api_set_page(f->api, 1);
    fake_api_compact(f->api);
    for (uint32_t was = fake_api_count(f->api, "GET");
         fake_api_count(f->api, "GET") == was;) {
        turn(f); /* until the first page was asked for */
    }

    run(f);
    turns(f, 1000);

    assert_int_equal(phase_of(f), RECONCILE_RUNNING);
    assert_int_equal(resource_list_get(&node(f, "n1")->foreign, STR("cpu")),
                     3000);
}

static void a_list_that_is_older_than_a_pod_does_not_lose_it(void **state)
{
    struct fixture *f = *state;
    fake_api_hold_lists(f->api, true);
    fake_api_hold_watches(f->api, true);
    fake_api_compact(f->api);
    fake_api_hold_watches(f->api, false);
    turns(f, 100); /* it is listed again, and the answer takes its time */

    begin(f);
    (void)await(f, RUNTIME_CREATED);
    fake_api_hold_lists(f->api, false);
    await_phase(f, RECONCILE_RUNNING);
    turns(f, 100);

    assert_int_equal(phase_of(f), RECONCILE_RUNNING);
}

static void a_stop_that_fails_may_be_asked_again(void **state)
{
    struct fixture *f = *state;
    run(f);
    fake_api_answer(f->api, "DELETE", 1, 500, "InternalError", "no", false);

    f->runtime->ops->stop(f->runtime, f->job.run.run, -1);
    turns(f, 100);
    assert_int_equal(phase_of(f), RECONCILE_RUNNING);
    f->runtime->ops->stop(f->runtime, f->job.run.run, -1);
    await_phase(f, RECONCILE_FAILED);

    assert_int_equal(status_of(f).cause, RUNTIME_CAUSE_STOPPED);
}

static void what_is_forgotten_leaves_the_cluster(void **state)
{
    struct fixture *f = *state;
    run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 7);
    await_phase(f, RECONCILE_FAILED);
    assert_int_equal(status_of(f).ended[0].exit_code, 7);
    fake_api_answer(f->api, "DELETE", 1, 429, "TooManyRequests", "no", false);

    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)await(f, RUNTIME_FORGOTTEN);
    for (int i = 0; i < TURNS_MAX && fake_api_pod_count(f->api) > 0; i++) {
        turn(f);
    }
    turns(f, 10);

    assert_int_equal(fake_api_pod_count(f->api), 0);
    assert_int_equal(fake_api_count(f->api, "DELETE"), 2);
    assert_int_equal(kubernetes_stats(f->runtime).own_count, 0);
    assert_null(find(f, RUNTIME_APPEARED));
}

static void a_forgotten_pod_stays_for_its_logs(void **state)
{
    struct fixture *f = *state;
    reopen_with_retention(f, 60000);
    run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 0);
    await_phase(f, RECONCILE_SUCCEEDED);

    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)await(f, RUNTIME_FORGOTTEN);
    turns(f, 59000 / TURN_MS);
    assert_int_equal(fake_api_pod_count(f->api), 1);
    turns(f, 2000 / TURN_MS);

    assert_int_equal(fake_api_pod_count(f->api), 0);
}

static void
a_pod_kept_for_its_logs_makes_way_for_the_jobs_next_run(void **state)
{
    struct fixture *f = *state;
    reopen_with_retention(f, 3600000);
    run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 1);
    await_phase(f, RECONCILE_FAILED);
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    f->job.run.run = run_id_make(f->job.run.job, 1);
    f->seen_count = 0;

    run(f);

    assert_int_equal(fake_api_made_count(f->api), 2);
    assert_int_equal(fake_api_pod_count(f->api), 1);
}

/* Pods of so many jobs have ended and are kept. */
static void keep_pods(struct fixture *f, int first, int count)
{
    for (int i = 0; i < count; i++) {
        make_job(f, first + i);
        f->seen_count = 0;
        run(f);
        fake_api_fail_pod(f->api, f->pod_name, "", 0);
        await_phase(f, RECONCILE_SUCCEEDED);
        f->runtime->ops->forget(f->runtime, f->job.run.run);
    }
}

static void pods_kept_for_their_logs_have_a_bound(void **state)
{
    struct fixture *f = *state;
    reopen_with_retention(f, 3600000);

    keep_pods(f, 100, KUBERNETES_RETAINED_MAX + 5);
    turns(f, 100);

    assert_int_equal(fake_api_pod_count(f->api), KUBERNETES_RETAINED_MAX);
}

static void beyond_that_bound_a_busy_port_is_asked_later(void **state)
{
    struct fixture *f = *state;
    reopen_with_retention(f, 3600000);
    keep_pods(f, 100, KUBERNETES_RETAINED_MAX);
    make_job(f, 1);
    f->seen_count = 0;
    run(f);
    fake_api_fail_pod(f->api, f->pod_name, "", 0);
    await_phase(f, RECONCILE_SUCCEEDED);

    fake_api_refuse(f->api, true);
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    turns(f, 100);
    assert_int_equal(fake_api_pod_count(f->api), KUBERNETES_RETAINED_MAX + 1);
    fake_api_refuse(f->api, false);
    turns(f, 200);

    assert_int_equal(fake_api_pod_count(f->api), KUBERNETES_RETAINED_MAX);
}

static void beyond_that_bound_a_refused_removal_waits(void **state)
{
    struct fixture *f = *state;
    reopen_with_retention(f, 3600000);
    fake_api_answer(f->api, "DELETE", 100000, 403, "Forbidden", "no", false);

    keep_pods(f, 100, KUBERNETES_RETAINED_MAX + 2);
    turns(f, 1000); /* ten seconds: pauses of 0.2 to 6.4 */

    assert_in_range(fake_api_count(f->api, "DELETE"), 4, 16);
}

static void a_removal_that_failed_waits_behind_no_pod_that_is_kept(void **state)
{
    struct fixture *f = *state;
    reopen_with_retention(f, 3600000);
    keep_pods(f, 100, 2);
    make_job(f, 100);
    f->job.run.run = run_id_make(f->job.run.job, 7);
    f->seen_count = 0;
    fake_api_answer(f->api, "DELETE", 1, 503, "", "not now", false);

    run(f);

    assert_int_equal(fake_api_made_count(f->api), 3);
    assert_int_equal(fake_api_pod_count(f->api), 2);
}

static void count_pod(void *ctx, const struct runtime_pod *pod)
{
    (void)pod;
    ++*(uint32_t *)ctx;
}

static void pods_of_another_executor_are_not_ours(void **state)
{
    struct fixture *f = *state;
    uint32_t own_count = 0;
    run(f);
    runtime_close(f->runtime);
    f->options.executor_id = STR("two");
    f->seen_count = 0;
    open_runtime(f);
    (void)await(f, RUNTIME_LISTED);

    f->runtime->ops->list(f->runtime, count_pod, &own_count);

    assert_int_equal(own_count, 0);
}

/* Nodes. */

static void what_others_use_of_a_node_is_told(void **state)
{
    struct fixture *f = *state;

    fake_api_put_pod(f->api, "theirs", "n1", "2500m");
    turns(f, 3);
    assert_int_equal(resource_list_get(&node(f, "n1")->foreign, STR("cpu")),
                     2500);
    assert_int_equal(resource_list_get(&node(f, "n1")->foreign, STR("pods")),
                     1000);
    fake_api_fail_pod(f->api, "theirs", "Evicted", 1);
    turns(f, 3);

    assert_int_equal(node(f, "n1")->foreign.count, 0);
}

static void our_own_pods_are_not_others_use(void **state)
{
    struct fixture *f = *state;
    job_limit(&f->job, f->job.pod->containers[0], "cpu", "2");

    run(f);

    assert_int_equal(node(f, "n1")->foreign.count, 0);
}

static void what_waits_for_a_node_is_pending(void **state)
{
    struct fixture *f = *state;

    fake_api_put_pod(f->api, "theirs", "", "3");
    turns(f, 3);
    assert_int_equal(
        resource_list_get(f->runtime->ops->pending(f->runtime), STR("cpu")),
        3000);
    fake_api_remove_pod(f->api, "theirs");
    turns(f, 3);

    assert_int_equal(f->runtime->ops->pending(f->runtime)->count, 0);
}

static void nodes_come_change_and_go(void **state)
{
    struct fixture *f = *state;

    fake_api_put_node(f->api, "n2", true);
    turns(f, 3);
    assert_false(node(f, "n2")->is_unschedulable);
    fake_api_put_node(f->api, "n2", false);
    turns(f, 3);
    assert_true(node(f, "n2")->is_unschedulable);
    fake_api_remove_node(f->api, "n2");
    turns(f, 3);

    assert_null(node(f, "n2"));
}

static void a_list_anew_drops_what_is_gone(void **state)
{
    struct fixture *f = *state;
    fake_api_put_node(f->api, "n2", true);
    fake_api_put_pod(f->api, "theirs", "n1", "1");
    turns(f, 3);
    fake_api_hold_watches(f->api, true);
    fake_api_remove_node(f->api, "n2");
    fake_api_remove_pod(f->api, "theirs");

    fake_api_compact(f->api);
    fake_api_hold_watches(f->api, false);
    turns(f, 200);

    assert_null(node(f, "n2"));
    assert_int_equal(node(f, "n1")->foreign.count, 0);
}

static void it_says_when_the_cluster_is_out_of_reach(void **state)
{
    struct fixture *f = *state;
    bool has_said = false;
    assert_string_equal(f->runtime->ops->trouble(f->runtime), "");

    fake_api_answer(f->api, "GET", 4, 403, "Forbidden", "may not list", false);
    fake_api_compact(f->api);
    for (int i = 0; i < 100; i++) {
        turn(f);
        has_said |= strstr(f->runtime->ops->trouble(f->runtime),
                           "may not list") != NULL;
    }
    assert_true(has_said);
    turns(f, 6000);

    assert_string_equal(f->runtime->ops->trouble(f->runtime), "");
}

static void an_id_that_is_no_label_is_refused(void **state)
{
    struct fixture *f = *state;
    struct runtime *runtime = NULL;
    struct err err;
    f->options.executor_id = STR("not a label");

    assert_int_equal(kubernetes_open(&f->options, fake_api_port(f->api),
                                     &f->clock.clock, &machine_rng, &runtime,
                                     &err),
                     -ERR_INVALID);
}

#define CLUSTER_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_pod_whose_answer_was_lost_is_found_and_not_made_again),
        CLUSTER_TEST(the_watch_may_tell_of_a_pod_before_the_answer_does),
        CLUSTER_TEST(who_is_too_busy_is_asked_again),
        CLUSTER_TEST(a_lease_goes_back_when_nobody_answers_for_long),
        CLUSTER_TEST(what_is_refused_for_good_fails_the_job),
        CLUSTER_TEST(what_another_cluster_may_grant_goes_back),
        CLUSTER_TEST(a_run_waits_for_the_pod_of_its_jobs_run_before),
        CLUSTER_TEST(only_named_namespaces_get_pods),
        CLUSTER_TEST(names_that_lead_elsewhere_are_not_asked_for),
        CLUSTER_TEST(a_pod_that_is_being_made_has_no_logs),
        CLUSTER_TEST(a_pod_with_our_labels_hides_none_of_ours),
        CLUSTER_TEST(the_pod_of_ours_is_found_when_its_copy_is_gone),
        CLUSTER_TEST(a_node_that_is_gone_gets_no_pod),
        CLUSTER_TEST(a_pod_deleted_by_hand_fails_and_says_so),
        CLUSTER_TEST(a_pod_that_its_node_rejects_never_ran),
        CLUSTER_TEST(a_pod_that_went_while_nobody_looked_is_lost),
        CLUSTER_TEST(a_pod_goes_with_its_node),
        CLUSTER_TEST(a_list_anew_loses_no_pod_that_is_being_made),
        CLUSTER_TEST(a_pod_made_during_a_list_in_pages_is_not_lost),
        CLUSTER_TEST(a_list_that_is_older_than_a_pod_does_not_lose_it),
        CLUSTER_TEST(a_stop_that_fails_may_be_asked_again),
        CLUSTER_TEST(what_is_forgotten_leaves_the_cluster),
        CLUSTER_TEST(a_forgotten_pod_stays_for_its_logs),
        CLUSTER_TEST(a_pod_kept_for_its_logs_makes_way_for_the_jobs_next_run),
        CLUSTER_TEST(pods_kept_for_their_logs_have_a_bound),
        CLUSTER_TEST(beyond_that_bound_a_busy_port_is_asked_later),
        CLUSTER_TEST(beyond_that_bound_a_refused_removal_waits),
        CLUSTER_TEST(a_removal_that_failed_waits_behind_no_pod_that_is_kept),
        CLUSTER_TEST(pods_of_another_executor_are_not_ours),
        CLUSTER_TEST(what_others_use_of_a_node_is_told),
        CLUSTER_TEST(our_own_pods_are_not_others_use),
        CLUSTER_TEST(what_waits_for_a_node_is_pending),
        CLUSTER_TEST(nodes_come_change_and_go),
        CLUSTER_TEST(a_list_anew_drops_what_is_gone),
        CLUSTER_TEST(it_says_when_the_cluster_is_out_of_reach),
        CLUSTER_TEST(an_id_that_is_no_label_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
