/*
 * Groups of pods through the leader: they start together, end together, and
 * what dies is replaced (model.md 8, PG-01, PG-08, PG-09).
 */
#include "job/table/job_state.h"
#include "leader_stage.h"
#include "unit.h"

enum { MINUTE_MS = 60000, PODS_MAX = 16 };

/* A group on the stage: 2 auxiliary pods `ps` and workers of 4..`worker_max`,
 * 10 cpu each, so that a node has one. */
struct group {
    struct stage stage;
    struct job_id jobs[PODS_MAX];
    uint32_t count;
};

static void submit_group(struct group *g, uint32_t worker_max)
{
    struct gang_terms terms = {
        .kind = GANG_POD_GROUP,
        .has_exclusive_nodes = true,
        .replace_timeout_ms = 5 * MINUTE_MS,
        .sub_group_count = 2,
        .sub_groups = {{STR("ps"), 2, 2, HOPS_ANY, 0, true},
                       {STR("worker"), 4, worker_max, HOPS_ANY, 0, false}},
    };
    struct stage_job jobs[PODS_MAX];

    g->count = 2 + worker_max;
    for (uint32_t i = 0; i < g->count; i++) {
        jobs[i] = (struct stage_job){
            .gang = "g",
            .gang_cardinality = g->count,
            .gang_minimum = 6,
            .terms = &terms,
            .sub_group = i >= 2,
            .cpu_milli = 10000,
            .is_requeue_preempted = true,
            .is_requeue_lost = true,
            .client_id = i == 0 ? "mine" : NULL,
        };
    }
    stage_do(&g->stage, stage_submit_command(&g->stage, "q", jobs, g->count));
    assert_int_equal(g->stage.answer->result, COMMAND_OK);
    for (uint32_t i = 0; i < g->count; i++) {
        g->jobs[i] = g->stage.answer->submit.items[i].ret_job;
    }
}

/* The runs that the executor has, told with its nodes. */
static void exchange(struct group *g, uint32_t node_count)
{
    struct run_id runs[PODS_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < g->count; i++) {
        struct run_id run = stage_run(&g->stage, g->jobs[i]);
        if (!key128_is_none(run.v)) {
            runs[count++] = run;
        }
    }
    stage_exchange(&g->stage, "east", node_count, runs, count);
    stage_settle(&g->stage);
}

static void group_init(struct group *g, uint32_t node_count,
                       uint32_t worker_max)
{
    g->count = 0;
    stage_init(&g->stage);
    stage_start(&g->stage);
    stage_queue(&g->stage, "q");
    exchange(g, node_count);
    submit_group(g, worker_max);
    stage_settle(&g->stage);
}

static void group_fini(struct group *g)
{
    control_assert_valid(g->stage.control);
    stage_fini(&g->stage);
}

/* Time passes while the executor is heard. */
static void pass(struct group *g, int64_t ms, uint32_t node_count)
{
    for (; ms > 0; ms -= 10000) {
        stage_pass(&g->stage, ms < 10000 ? ms : 10000);
        exchange(g, node_count);
    }
}

static void all_run(struct group *g, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        stage_report(&g->stage, g->jobs[i], EVENT_RUN_RUNNING);
    }
    stage_settle(&g->stage);
}

/* Admissions say when it may start, and are left out. */
static void assert_history(struct group *g, uint32_t index, const char *wanted)
{
    static const char *const words[] = {" admitted", " dismissed"};
    auto_mem char *history = stage_history(&g->stage, g->jobs[index]);
    char *at;

    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        while ((at = strstr(history, words[i]))) {
            const char *rest = at + strlen(words[i]);
            memmove(at, rest, strlen(rest) + 1);
        }
    }
    assert_string_equal(history, wanted);
}

static uint32_t job_count(struct group *g)
{
    struct control_metrics metrics;

    control_metrics(g->stage.control, &metrics);
    return metrics.job_count;
}

/* Five of its pods would fit; none starts before the sixth can. */
static void pg_01_minimums_start_in_one_batch(void **state)
{
    struct group g = {0};

    (void)state;
    stage_init(&g.stage);
    stage_start(&g.stage);
    stage_queue(&g.stage, "q");
    exchange(&g, 6);
    struct job_id other = stage_submit(
        &g.stage, "q", (struct stage_job){.priority_class = "armada-default"});
    stage_settle(&g.stage);
    submit_group(&g, 4);
    stage_settle(&g.stage);
    for (uint32_t i = 0; i < g.count; i++) {
        assert_history(&g, i, "submit");
    }
    stage_report(&g.stage, other, EVENT_RUN_SUCCEEDED);
    stage_settle(&g.stage);
    for (uint32_t i = 0; i < g.count; i++) {
        assert_history(&g, i, "submit leased");
    }
    group_fini(&g);
}

static void pg_09_the_workers_success_ends_the_group(void **state)
{
    struct group g;

    (void)state;
    group_init(&g, 6, 4);
    all_run(&g, 0, 6);
    for (uint32_t i = 2; i < 6; i++) {
        assert_int_equal(job_count(&g), 8 - i);
        stage_report(&g.stage, g.jobs[i], EVENT_RUN_SUCCEEDED);
        stage_settle(&g.stage);
    }
    assert_int_equal(job_count(&g), 0);
    assert_history(&g, 0, "submit leased running run-cancelled cancelled");
    assert_history(&g, 5, "submit leased running run-succeeded succeeded");
    group_fini(&g);
}

/* The same when the leader crashes before it could say so. */
static void pg_09_a_new_leader_ends_it_as_well(void **state)
{
    struct group g;

    (void)state;
    group_init(&g, 6, 4);
    all_run(&g, 0, 6);
    for (uint32_t i = 2; i < 5; i++) {
        stage_report(&g.stage, g.jobs[i], EVENT_RUN_SUCCEEDED);
    }
    assert_int_equal(control_checkpoint(g.stage.control, &g.stage.err), 0);
    stage_report(&g.stage, g.jobs[5], EVENT_RUN_SUCCEEDED);
    stage_crash(&g.stage);
    stage_start(&g.stage);
    stage_settle(&g.stage);
    assert_int_equal(job_count(&g), 0);
    assert_history(&g, 1, "submit leased running run-cancelled cancelled");
    group_fini(&g);
}

static void pg_09_a_failed_worker_ends_the_group(void **state)
{
    struct group g;

    (void)state;
    group_init(&g, 6, 4);
    all_run(&g, 0, 6);
    stage_fail(&g.stage, g.jobs[3]);
    stage_settle(&g.stage);
    assert_int_equal(job_count(&g), 0);
    assert_history(&g, 3, "submit leased running run-errors failed");
    assert_history(&g, 0, "submit leased running run-cancelled cancelled");
    assert_history(&g, 4, "submit leased running run-cancelled cancelled");
    group_fini(&g);
}

static void pg_09_an_auxiliary_pod_that_fails_is_replaced(void **state)
{
    struct group g;

    (void)state;
    group_init(&g, 6, 4);
    all_run(&g, 0, 6);
    stage_fail(&g.stage, g.jobs[1]);
    stage_settle(&g.stage);
    assert_history(&g, 1, "submit leased running run-errors requeued leased");
    assert_int_equal(job_count(&g), 6);
    group_fini(&g);
}

/* One worker dies with its node: there is no slot for another. */
static void lose_one(struct group *g)
{
    group_init(g, 6, 4);
    all_run(g, 0, 6);
    stage_give_back(&g->stage, g->jobs[2], true);
    exchange(g, 5);
    assert_history(g, 2, "submit leased running run-errors requeued");
}

static void pg_08_without_a_slot_all_wait_again(void **state)
{
    struct group g;

    (void)state;
    lose_one(&g);
    pass(&g, 3 * MINUTE_MS, 5);
    stage_crash(&g.stage);
    stage_start(&g.stage);
    exchange(&g, 5);
    pass(&g, 2 * MINUTE_MS - 10000, 5);
    assert_history(&g, 3, "submit leased running");
    pass(&g, 20000, 5);
    assert_history(&g, 2, "submit leased running run-errors requeued");
    for (uint32_t i = 0; i < 6; i++) {
        if (i != 2) {
            assert_history(&g, i,
                           "submit leased running run-preempted run-errors "
                           "requeued");
        }
    }
    exchange(&g, 6);
    pass(&g, 10000, 6);
    assert_int_equal(stage_count(&g.stage, EVENT_LEASED), 12);
    group_fini(&g);
}

static void pg_08_a_slot_in_time_replaces_it(void **state)
{
    struct group g;

    (void)state;
    lose_one(&g);
    pass(&g, 2 * MINUTE_MS, 5);
    pass(&g, 10000, 7);
    assert_history(&g, 2, "submit leased running run-errors requeued leased");
    pass(&g, 6 * MINUTE_MS, 7);
    for (uint32_t i = 0; i < 6; i++) {
        if (i != 2) {
            assert_history(&g, i, "submit leased running");
        }
    }
    group_fini(&g);
}

/* The client id of the first job is that of all of them. */
static void a_group_is_submitted_once(void **state)
{
    struct group g;

    (void)state;
    group_init(&g, 6, 4);
    struct job_id first = g.jobs[0];
    submit_group(&g, 4);
    for (uint32_t i = 0; i < g.count; i++) {
        assert_int_equal(key128_compare(g.jobs[i].v, first.v), 0);
    }
    assert_int_equal(job_count(&g), 6);
    group_fini(&g);
}

static void cancelling_one_pod_cancels_the_group(void **state)
{
    struct group g;
    struct event event = stage_event_make(EVENT_CANCEL);

    (void)state;
    group_init(&g, 6, 6);
    event.job = g.jobs[0];
    stage_event(&g.stage, "q", "set", "anna", &event);
    stage_settle(&g.stage);
    assert_int_equal(job_count(&g), 0);
    group_fini(&g);
}

/* A pod that waits for another place when a user has the group preempted does
 * not start in the record in which the others go. */
static void preempting_one_pod_starts_none_that_waits(void **state)
{
    struct group g;
    struct event event = stage_event_make(EVENT_PREEMPT);

    (void)state;
    group_init(&g, 7, 4);
    all_run(&g, 0, 6);
    event.job = g.jobs[2];
    stage_give_back(&g.stage, g.jobs[0], true);
    stage_post(&g.stage, stage_event_command("q", "set", "anna", &event));
    for (int i = 0; i < 10 && stage_count(&g.stage, EVENT_RUN_PREEMPTED) == 0;
         i++) {
        stage_step(&g.stage);
    }
    assert_history(&g, 0, "submit leased running run-errors requeued");
    assert_history(&g, 3,
                   "submit leased running run-preempted run-errors requeued");
    exchange(&g, 7);
    pass(&g, 10000, 7);
    assert_int_equal(stage_count(&g.stage, EVENT_LEASED), 12);
    group_fini(&g);
}

/* Pods that may not be taken back at any age grow into what is kept for a job,
 * and a leader that knows it from the log alone takes it from them. */
static void um_10_growth_makes_way_after_a_restart(void **state)
{
    const struct gang_terms terms = {
        .sub_group_count = 1,
        .sub_groups = {{STR("pods"), 1, 5, HOPS_ANY, 0, false}},
    };
    struct stage_job endless = {.priority_class = "armada-default"};
    struct stage_job pods[5];
    struct group g = {.count = 8};
    struct job_id *fixed = &g.jobs[5];

    (void)state;
    stage_init(&g.stage);
    stage_start(&g.stage);
    stage_queue(&g.stage, "q");
    stage_queue(&g.stage, "mine");
    stage_queue(&g.stage, "others");
    stage_exchange(&g.stage, "east", 1, NULL, 0);
    for (uint32_t i = 0; i < 2; i++) {
        endless.cpu_milli = i == 0 ? 6000 : 3000;
        fixed[i] = stage_submit(&g.stage, "others", endless);
    }
    stage_settle(&g.stage);
    for (uint32_t i = 0; i < 5; i++) {
        pods[i] = (struct stage_job){
            .priority_class = "armada-default",
            .gang = "u",
            .gang_cardinality = 5,
            .gang_minimum = 1,
            .terms = &terms,
            .is_requeue_preempted = true,
        };
    }
    stage_do(&g.stage, stage_submit_command(&g.stage, "q", pods, 5));
    for (uint32_t i = 0; i < 5; i++) {
        g.jobs[i] = g.stage.answer->submit.items[i].ret_job;
    }
    stage_settle(&g.stage);
    endless.cpu_milli = 8000;
    fixed[2] = stage_submit(&g.stage, "mine", endless);
    stage_settle(&g.stage);
    assert_int_equal(stage_count(&g.stage, EVENT_LEASED), 3);
    stage_report(&g.stage, fixed[1], EVENT_RUN_SUCCEEDED);
    pass(&g, 10000, 1);
    assert_int_equal(stage_count(&g.stage, EVENT_LEASED), 6);

    stage_crash(&g.stage);
    stage_start(&g.stage);
    stage_report(&g.stage, fixed[0], EVENT_RUN_SUCCEEDED);
    pass(&g, 10000, 1);
    assert_history(&g, 7, "submit leased");
    assert_int_equal(stage_count(&g.stage, EVENT_RUN_PREEMPTED), 2);
    assert_true(stage_is_made_again(&g.stage, NULL));
    group_fini(&g);
}

/* Two pods of a group that starts with both, and is below its minimum as soon
 * as it has lost one. */
static void submit_pair(struct group *g)
{
    const struct gang_terms terms = {
        .sub_group_count = 1,
        .sub_groups = {{STR("pods"), 2, 3, HOPS_ANY, 0, false}},
    };
    struct stage_job pods[3];

    g->count = ARRAY_COUNT(pods);
    for (uint32_t i = 0; i < g->count; i++) {
        pods[i] = (struct stage_job){
            .gang = "g",
            .gang_cardinality = g->count,
            .gang_minimum = 2,
            .terms = &terms,
            .cpu_milli = 10000,
            .is_requeue_lost = true,
        };
    }
    stage_do(&g->stage, stage_submit_command(&g->stage, "q", pods, g->count));
    for (uint32_t i = 0; i < g->count; i++) {
        g->jobs[i] = g->stage.answer->submit.items[i].ret_job;
    }
    stage_settle(&g->stage);
}

/* A group is below its minimum while the last run that it has ends: nothing is
 * said of it, and nothing of it starts in that record.  The log alone says
 * so. */
static void what_only_waits_of_a_group_is_not_started_either(void **state)
{
    const struct stage_job other = {.cpu_milli = 10000};
    struct group g;

    (void)state;
    stage_init(&g.stage);
    stage_start(&g.stage);
    stage_queue(&g.stage, "a");
    stage_queue(&g.stage, "q");
    stage_exchange(&g.stage, "east", 2, NULL, 0);
    submit_pair(&g);
    all_run(&g, 0, 2);
    stage_give_back(&g.stage, g.jobs[0], true);
    stage_post(&g.stage, stage_submit_command(&g.stage, "a", &other, 1));
    stage_report(&g.stage, g.jobs[1], EVENT_RUN_SUCCEEDED);
    stage_settle(&g.stage);
    assert_history(&g, 0, "submit leased running run-errors requeued leased");
    assert_true(stage_is_made_again(&g.stage, NULL));
    group_fini(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pg_01_minimums_start_in_one_batch),
        cmocka_unit_test(pg_09_the_workers_success_ends_the_group),
        cmocka_unit_test(pg_09_a_new_leader_ends_it_as_well),
        cmocka_unit_test(pg_09_a_failed_worker_ends_the_group),
        cmocka_unit_test(pg_09_an_auxiliary_pod_that_fails_is_replaced),
        cmocka_unit_test(pg_08_without_a_slot_all_wait_again),
        cmocka_unit_test(pg_08_a_slot_in_time_replaces_it),
        cmocka_unit_test(um_10_growth_makes_way_after_a_restart),
        cmocka_unit_test(what_only_waits_of_a_group_is_not_started_either),
        cmocka_unit_test(a_group_is_submitted_once),
        cmocka_unit_test(cancelling_one_pod_cancels_the_group),
        cmocka_unit_test(preempting_one_pod_starts_none_that_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
