/* Executors as the leader has them: what they hold, are sent and are given,
 * and what becomes of their runs when they fall silent; armada-api.md 2.5,
 * traps 6 and 7 of its section 9. */
#include "leader_stage.h"
#include "unit.h"

/* Traps 7 and 14: no second submit or queued; another node each time. */
static void bk_11_a_returned_lease_is_tried_elsewhere(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    stage_exchange(s, "e", 5, NULL, 0);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    stage_give_back(s, job, true);
    STAGE_HISTORY(s, job, "submit leased run-errors requeued leased");
    stage_give_back(s, job, true);
    stage_settle(s);
    stage_give_back(s, job, true);
    stage_settle(s);
    stage_give_back(s, job, true);
    STAGE_HISTORY(s, job,
                  "submit leased run-errors requeued leased run-errors "
                  "requeued leased run-errors requeued leased run-errors "
                  "failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text,
                        "Maximum number of attempts (4) reached - this job "
                        "will no longer be retried\n\nFinal run error:\nno "
                        "luck");
    stage_end(s);
}

/* An executor may put a pod on an equal node; it counts there from then on. */
static void bk_11_a_pod_counts_where_it_is(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    stage_exchange(s, "e", 2, NULL, 0);
    struct job_id job = stage_leased(s, (struct stage_job){.cpu_milli = 6000});
    struct run_id run = stage_run(s, job);
    struct event event = stage_event_make(EVENT_RUN_RUNNING);
    event.created_ms = s->wall_ms;
    event.job = job;
    event.run = run;
    event.pod.node_name = STR("n1");
    stage_event(s, "q", "set", "", &event);
    stage_exchange(s, "e", 1, &run, 1); /* n1 is gone, and n0 empty */
    struct job_id next =
        stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    STAGE_HISTORY(s, next, "submit leased");
    stage_crash(s);
    stage_start(s);
    stage_end(s);
}

static void a_job_is_tried_once_on_each_node(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    stage_exchange(s, "e", 2, NULL, 0);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    stage_give_back(s, job, true);
    STAGE_HISTORY(s, job, "submit leased run-errors requeued leased");
    stage_give_back(s, job, true);
    STAGE_HISTORY(s, job,
                  "submit leased run-errors requeued leased run-errors "
                  "requeued failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text,
                        "Job was attempted 2 times, and has been tried once "
                        "on all nodes it can run on - this job will no longer "
                        "be retried\n\nFinal run error:\nno luck");
    stage_end(s);
}

/* 6.10 and LS-07: no new leases from the timeout on; lost runs end once; late
 * reports of the old attempt are ignored. */
static void ls_07_an_executor_falls_silent(void **state)
{
    struct stage *s = stage_begin(1);
    struct event late = stage_event_make(EVENT_RUN_SUCCEEDED);
    struct job_id fails = stage_leased(s, (struct stage_job){0});
    struct job_id requeues =
        stage_leased(s, (struct stage_job){.is_requeue_lost = true});

    (void)state;
    late.job = requeues;
    late.run = stage_run(s, requeues);
    stage_pass(s, s->policy.executor_timeout_ms - 2000);
    struct job_id before = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, before, "submit leased");
    stage_pass(s, 4000);
    struct job_id after = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, after, "submit");
    stage_pass(s, s->policy.executor_lost_timeout_ms);
    STAGE_HISTORY(s, fails, "submit leased run-errors failed");
    STAGE_HISTORY(s, requeues, "submit leased run-errors requeued");
    stage_event(s, "q", "set", "", &late);
    stage_exchange(s, "e", 1, &late.run, 1);
    assert_int_equal(s->answer->exchange.response.cancel_count, 1);
    STAGE_HISTORY(s, requeues, "submit leased run-errors requeued leased");
    STAGE_HISTORY(s, after, "submit leased");
    stage_event(s, "q", "set", "", &late);
    STAGE_HISTORY(s, requeues, "submit leased run-errors requeued leased");
    stage_end(s);
}

/* design.md 6: an outage of the control plane ends no job. */
static void our_own_absence_is_not_their_silence(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){0});

    (void)state;
    stage_pass(s, s->policy.executor_lost_timeout_ms - 10000);
    stage_crash(s);
    s->mono_ns += (uint64_t)1 << 50;
    s->wall_ms += (int64_t)1 << 30;
    stage_start(s);
    stage_pass(s, 20000);
    /* Nor is a leader that was stopped and goes on. */
    s->mono_ns += (uint64_t)1 << 50;
    stage_settle(s);
    STAGE_HISTORY(s, job, "submit leased");
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_STATE), 1); /* stale */
    stage_end(s);
}

/* TRAP-13. */
/* A reporter that is bound to executors says nothing of the runs of others,
 * neither by reports nor by leaving them out. */
static void an_executor_reports_on_its_own_runs(void **state)
{
    static const struct str own[] = {{"e", 1}}, others[] = {{"f", 1}};
    struct stage *s = stage_begin(1);
    struct event running = stage_event_make(EVENT_RUN_RUNNING);
    struct job_id job = stage_leased(s, (struct stage_job){0});

    (void)state;
    running.job = job;
    running.run = stage_run(s, job);
    struct command *foreign = stage_event_command("q", "set", "", &running);
    foreign->events.executors = others;
    foreign->events.executor_count = 1;
    stage_do(s, foreign);
    assert_int_equal(s->answer->result, COMMAND_OK);
    STAGE_HISTORY(s, job, "submit leased");
    struct command *mine = stage_event_command("q", "set", "", &running);
    mine->events.executors = own;
    mine->events.executor_count = 1;
    stage_do(s, mine);
    STAGE_HISTORY(s, job, "submit leased running");
    stage_end(s);
}

static void leases_are_sent_until_they_are_reported(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    struct run_id runs[2] = {stage_run(s, job), {{1, 2}}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        stage_exchange(s, "e", 1, NULL, 0);
        assert_int_equal(s->answer->exchange.response.lease_count, 1);
        struct exchange_lease *lease = s->answer->exchange.response.leases;
        assert_true(str_equal(lease->node_name, STR("n0")));
        assert_true(str_equal(lease->job_set, STR("set")));
        assert_true(lease->is_preemptible);
    }
    stage_exchange(s, "e", 1, runs, 2);
    assert_int_equal(s->answer->exchange.response.lease_count, 0);
    assert_int_equal(s->answer->exchange.response.cancel_count, 1);
    assert_memory_equal(s->answer->exchange.response.cancels, &runs[1],
                        sizeof(runs[1]));
    struct command *none = stage_exchange_command("e", 1, NULL, 0);
    none->exchange.request.lease_max = 0;
    stage_do(s, none);
    assert_int_equal(s->answer->exchange.response.lease_count, 0);
    stage_end(s);
}

/* It is leased again as one that had a pod, which must not start twice. */
static void a_lease_says_whether_its_run_was_reported(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){0});

    (void)state;
    stage_exchange(s, "e", 1, NULL, 0);
    assert_int_equal(s->answer->exchange.response.lease_count, 1);
    assert_false(s->answer->exchange.response.leases->was_reported);
    stage_report(s, job, EVENT_RUN_ASSIGNED);
    stage_exchange(s, "e", 1, NULL, 0);
    assert_true(s->answer->exchange.response.leases->was_reported);
    stage_report(s, job, EVENT_RUN_RUNNING);
    stage_exchange(s, "e", 1, NULL, 0);
    assert_int_equal(s->answer->exchange.response.lease_count, 1);
    assert_true(s->answer->exchange.response.leases->was_reported);
    stage_end(s);
}

static void an_unchanged_inventory_is_not_logged(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), 1);
    stage_exchange(s, "e", 1, NULL, 0);
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), 1);
    stage_exchange(s, "e", 3, NULL, 0);
    stage_exchange(s, "e", 2, NULL, 0);
    stage_exchange(s, "e", 2, NULL, 0);
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), 3);
    stage_end(s);
}

/* Nodes that come and go leave nothing behind. */
static void nodes_that_come_and_go_leave_the_state_as_it_was(void **state)
{
    struct stage *s = stage_begin(1);
    auto_strbuf before = {0};
    auto_strbuf after = {0};

    (void)state;
    stage_exchange(s, "east", 7, NULL, 0);
    stage_settle(s);
    control_encode_state(s->control, &before);
    stage_exchange(s, "east", 2, NULL, 0);
    stage_settle(s);
    stage_exchange(s, "east", 7, NULL, 0);
    stage_settle(s);
    control_assert_valid(s->control);
    control_encode_state(s->control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, after.byte_count);
    stage_end(s);
}

static void a_cordoned_executor_gets_no_leases(void **state)
{
    struct stage *s = stage_begin(1);
    struct event event = stage_event_make(EVENT_EXECUTOR_SETTINGS);

    (void)state;
    event.settings.name = STR("e");
    event.settings.is_cordoned = true;
    event.settings.reason = STR("repairs");
    stage_event(s, "", "", "root", &event);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, job, "submit");
    event.settings.is_cordoned = false;
    stage_event(s, "", "", "root", &event);
    STAGE_HISTORY(s, job, "submit leased");
    stage_end(s);
}

static void a_cordoned_node_gets_no_leases_also_after_a_restart(void **state)
{
    struct stage *s = stage_begin(1);
    struct event event = stage_event_make(EVENT_EXECUTOR_SETTINGS);

    (void)state;
    event.settings.node_name = STR("n0");
    event.settings.is_cordoned = true;
    stage_event(s, "", "", "root", &event);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, job, "submit");
    assert_int_equal(control_checkpoint(s->control, NULL), 0);
    stage_crash(s);
    stage_start(s);
    stage_settle(s);
    STAGE_HISTORY(s, job, "submit");
    event.settings.is_cordoned = false;
    stage_event(s, "", "", "root", &event);
    STAGE_HISTORY(s, job, "submit leased");
    stage_end(s);
}

/* armada-api.md 6.2: leased and not yet reported, per executor. */
static void unacknowledged_leases_are_limited(void **state)
{
    struct stage *s = mem_alloc(sizeof(*s));
    struct job_id jobs[6];

    (void)state;
    stage_init(s);
    s->policy.unacknowledged_max = 4;
    stage_start(s);
    stage_queue(s, "q");
    stage_exchange(s, "e", 1, NULL, 0);
    for (int i = 0; i < 6; i++) {
        jobs[i] = stage_submit(s, "q", (struct stage_job){0});
    }
    stage_settle(s);
    assert_int_equal(stage_count(s, EVENT_LEASED), 4);
    stage_report(s, jobs[0], EVENT_RUN_ASSIGNED);
    stage_report(s, jobs[1], EVENT_RUN_ASSIGNED);
    stage_settle(s);
    assert_int_equal(stage_count(s, EVENT_LEASED), 6);
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bk_11_a_returned_lease_is_tried_elsewhere),
        TEST(bk_11_a_pod_counts_where_it_is),
        TEST(a_job_is_tried_once_on_each_node),
        TEST(ls_07_an_executor_falls_silent),
        TEST(our_own_absence_is_not_their_silence),
        TEST(an_executor_reports_on_its_own_runs),
        TEST(leases_are_sent_until_they_are_reported),
        TEST(a_lease_says_whether_its_run_was_reported),
        TEST(an_unchanged_inventory_is_not_logged),
        TEST(nodes_that_come_and_go_leave_the_state_as_it_was),
        TEST(a_cordoned_executor_gets_no_leases),
        TEST(a_cordoned_node_gets_no_leases_also_after_a_restart),
        TEST(unacknowledged_leases_are_limited),
    };

    return RUN_TESTS(tests);
}
