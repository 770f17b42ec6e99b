/* The event sequences of armada-api.md 2.5, as the leader's log has them, and
 * the traps of its section 9 that are the leader's: 5, 6, 7, 13, 14. */
#include <stdio.h>

#include "leader_stage.h"
#include "unit.h"

/* A stage with queue `q` and executor `e` of one node of 10 cpu. */
static struct stage *begin(void)
{
    struct stage *s = mem_alloc(sizeof(*s));

    stage_init(s);
    stage_start(s);
    stage_queue(s, "q");
    stage_exchange(s, "e", 1, NULL, 0);
    return s;
}

static void end(struct stage *s)
{
    stage_settle(s);
    control_assert_valid(s->control);
    stage_fini(s);
    mem_free(s);
}

#define ASSERT_HISTORY(s, job, text)                         \
    do {                                                     \
        stage_settle(s);                                     \
        auto_mem char *history_ = stage_history((s), (job)); \
        assert_string_equal(history_, (text));               \
    } while (0)

static struct job_id leased(struct stage *s, struct stage_job job)
{
    struct job_id id = stage_submit(s, "q", job);

    stage_settle(s);
    return id;
}

static void a_job_runs_and_succeeds(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){0});

    (void)state;
    ASSERT_HISTORY(s, job, "submit leased");
    stage_report(s, job, EVENT_RUN_ASSIGNED);
    stage_report(s, job, EVENT_RUN_RUNNING);
    stage_report(s, job, EVENT_RUN_SUCCEEDED);
    ASSERT_HISTORY(s, job,
                   "submit leased assigned running run-succeeded succeeded");
    /* TRAP-14: at least once, and late. */
    stage_report(s, job, EVENT_RUN_SUCCEEDED);
    stage_report(s, job, EVENT_RUN_RUNNING);
    ASSERT_HISTORY(s, job,
                   "submit leased assigned running run-succeeded succeeded");
    end(s);
}

static void a_run_that_fails_fails_the_job(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){0});

    (void)state;
    stage_report(s, job, EVENT_RUN_RUNNING);
    stage_fail(s, job);
    ASSERT_HISTORY(s, job, "submit leased running run-errors failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text, "exit 1");
    end(s);
}

static void a_job_that_fits_nowhere_is_rejected(void **state)
{
    struct stage *s = begin();
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.cpu_milli = 11000});

    (void)state;
    ASSERT_HISTORY(s, job, "submit failed");
    auto_mem char *text = stage_failure(s, job);
    assert_non_null(strstr(text, "Nearest is node n0, which even when empty "
                                 "lacks 1 cpu.\n"));
    end(s);
}

/* Of one node of 10 cpu: five members of 3 cpu never fit at once. */
static void a_gang_that_fits_nowhere_is_rejected(void **state)
{
    struct stage *s = begin();
    struct stage_job member = {
        .cpu_milli = 3000, .gang = "g", .gang_cardinality = 5};
    struct job_id first = stage_submit(s, "q", member);

    (void)state;
    for (int i = 0; i < 3; i++) {
        stage_submit(s, "q", member);
    }
    ASSERT_HISTORY(s, first, "submit"); /* not complete: nobody can tell */
    struct job_id last = stage_submit(s, "q", member);
    ASSERT_HISTORY(s, first, "submit failed");
    ASSERT_HISTORY(s, last, "submit failed");
    auto_mem char *text = stage_failure(s, first);
    assert_string_equal(
        text, "The gang can never start: 5 of its members must fit at once in "
              "one cluster; the nearest, cluster e of pool default, holds at "
              "most 3 of them when empty.\n");
    member.gang = "h";
    member.gang_minimum = 3;
    struct job_id third = {{0, 0}};
    for (int i = 0; i < 5; i++) {
        third = stage_submit(s, "q", member);
    }
    stage_settle(s);
    auto_mem char *history = stage_history(s, third);
    assert_null(strstr(history, "rejected"));
    assert_int_equal(stage_count(s, EVENT_LEASED), 3);
    end(s);
}

/* A clock that is set back or forward stops nothing: times in the log never
 * run back, and silence is counted by the clock that cannot be set. */
static void clocks_that_jump_stop_nothing(void **state)
{
    static const int64_t jumps_ms[] = {-3600000, 31536000000, -31536000000,
                                       INT64_C(3153600000000)};
    struct stage *s = begin();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(jumps_ms); i++) {
        s->wall_ms += jumps_ms[i];
        struct job_id job = leased(s, (struct stage_job){0});
        ASSERT_HISTORY(s, job, "submit leased");
        stage_report(s, job, EVENT_RUN_RUNNING);
        stage_report(s, job, EVENT_RUN_SUCCEEDED);
        stage_settle(s);
    }
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_STATE), 0);
    end(s);
}

static void cancel(struct stage *s, struct job_id job)
{
    struct event event = stage_event_make(EVENT_CANCEL);

    event.job = job;
    stage_event(s, "q", "set", "bob", &event);
}

static void cancelling_by_id(void **state)
{
    struct stage *s = begin();
    struct job_id running = leased(s, (struct stage_job){.cpu_milli = 10000});
    struct job_id queued = leased(s, (struct stage_job){.cpu_milli = 10000});

    (void)state;
    cancel(s, queued);
    ASSERT_HISTORY(s, queued, "submit admitted cancel cancelled");
    stage_report(s, running, EVENT_RUN_ASSIGNED);
    struct run_id run = stage_run(s, running);
    cancel(s, running);
    ASSERT_HISTORY(s, running,
                   "submit leased assigned cancel run-cancelled cancelled");
    /* The executor learns at its next exchange; no pod event follows. */
    stage_report(s, running, EVENT_RUN_RUNNING);
    stage_exchange(s, "e", 1, &run, 1);
    assert_int_equal(s->answer->exchange.response.cancel_count, 1);
    ASSERT_HISTORY(s, running,
                   "submit leased assigned cancel run-cancelled cancelled");
    /* TRAP-05: commands are blind. */
    cancel(s, running);
    ASSERT_HISTORY(
        s, running,
        "submit leased assigned cancel run-cancelled cancelled cancel");
    end(s);
}

static void cancelling_by_job_set(void **state)
{
    struct stage *s = begin();
    struct job_id running = leased(s, (struct stage_job){.cpu_milli = 10000});
    struct job_id queued = leased(s, (struct stage_job){.cpu_milli = 10000});
    struct event event = stage_event_make(EVENT_CANCEL_SET);

    (void)state;
    event.cancel.states = STATE_SET_ALL;
    stage_event(s, "q", "set", "bob", &event);
    ASSERT_HISTORY(s, queued, "submit admitted cancel cancelled");
    ASSERT_HISTORY(s, running, "submit leased cancel run-cancelled cancelled");
    end(s);
}

static void cancelling_on_an_executor(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){0});
    struct event event = stage_event_make(EVENT_SELECTION);
    struct str queue = STR("q");

    (void)state;
    event.selection.action = SELECTION_CANCEL;
    event.selection.executor_id = STR("e");
    event.selection.states = STATE_SET_ALL;
    stage_event(s, "", "", "root", &event); /* TRAP-12: no queue, nothing */
    ASSERT_HISTORY(s, job, "submit leased");
    event.selection.queues = &queue;
    event.selection.queue_count = 1;
    stage_event(s, "", "", "root", &event);
    ASSERT_HISTORY(s, job, "submit leased run-cancelled cancelled");
    end(s);
}

static void preempt(struct stage *s, struct job_id job, const char *user,
                    const char *reason)
{
    struct event event = stage_event_make(EVENT_PREEMPT);

    event.job = job;
    event.cancel.reason = str_of(reason);
    stage_event(s, "q", "set", user, &event);
}

static void preempting_a_job(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){0});

    (void)state;
    preempt(s, job, "bob", "for fun");
    ASSERT_HISTORY(s, job,
                   "submit leased preempt run-preempted run-errors failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text, "Preempted by bob - for fun");
    /* TRAP-06. */
    struct job_id firm =
        leased(s, (struct stage_job){.priority_class = "armada-default",
                                     .cpu_milli = 10000});
    struct job_id queued = leased(s, (struct stage_job){.cpu_milli = 10000});
    preempt(s, firm, "bob", "");
    preempt(s, queued, "bob", "");
    ASSERT_HISTORY(s, firm, "submit leased preempt");
    ASSERT_HISTORY(s, queued, "submit admitted preempt");
    end(s);
}

static void preempting_a_gang_member(void **state)
{
    struct stage *s = begin();
    struct stage_job member = {.gang = "g", .gang_cardinality = 2};
    struct job_id one = leased(s, member);

    (void)state;
    ASSERT_HISTORY(s, one, "submit");
    struct job_id two = leased(s, member);
    ASSERT_HISTORY(s, one, "submit leased");
    preempt(s, two, "bob", "");
    ASSERT_HISTORY(s, one, "submit leased run-preempted run-errors failed");
    ASSERT_HISTORY(s, two,
                   "submit leased preempt run-preempted run-errors failed");
    end(s);
}

static void a_preempted_job_may_return_to_its_queue(void **state)
{
    struct stage *s = begin();
    struct job_id job =
        leased(s, (struct stage_job){.is_requeue_preempted = true});

    (void)state;
    preempt(s, job, "bob", "");
    ASSERT_HISTORY(
        s, job,
        "submit leased preempt run-preempted run-errors requeued leased");
    end(s);
}

static void reprioritising(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){.priority = 5});
    struct event event = stage_event_make(EVENT_REPRIORITISE);

    (void)state;
    event.job = job;
    event.reprioritise.priority = 5;
    stage_event(s, "q", "set", "bob", &event);
    ASSERT_HISTORY(s, job, "submit leased reprioritise");
    event = stage_event_make(EVENT_REPRIORITISE_SET);
    event.reprioritise.priority = 6;
    stage_event(s, "q", "set", "bob", &event);
    ASSERT_HISTORY(s, job, "submit leased reprioritise reprioritised");
    end(s);
}

/* Traps 7 and 14: no second submit or queued; another node each time. */
static void bk_11_a_returned_lease_is_tried_elsewhere(void **state)
{
    struct stage *s = begin();

    (void)state;
    stage_exchange(s, "e", 5, NULL, 0);
    struct job_id job = leased(s, (struct stage_job){0});
    stage_give_back(s, job, true);
    ASSERT_HISTORY(s, job, "submit leased run-errors requeued leased");
    stage_give_back(s, job, true);
    stage_settle(s);
    stage_give_back(s, job, true);
    stage_settle(s);
    stage_give_back(s, job, true);
    ASSERT_HISTORY(s, job,
                   "submit leased run-errors requeued leased run-errors "
                   "requeued leased run-errors requeued leased run-errors "
                   "failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text,
                        "Maximum number of attempts (4) reached - this job "
                        "will no longer be retried\n\nFinal run error:\nno "
                        "luck");
    end(s);
}

/* An executor may put a pod on an equal node; it counts there from then on. */
static void bk_11_a_pod_counts_where_it_is(void **state)
{
    struct stage *s = begin();

    (void)state;
    stage_exchange(s, "e", 2, NULL, 0);
    struct job_id job = leased(s, (struct stage_job){.cpu_milli = 6000});
    struct run_id run = stage_run(s, job);
    struct event event = stage_event_make(EVENT_RUN_RUNNING);
    event.created_ms = s->wall_ms;
    event.job = job;
    event.run = run;
    event.pod.node_name = STR("n1");
    stage_event(s, "q", "set", "", &event);
    stage_exchange(s, "e", 1, &run, 1); /* n1 is gone, and n0 empty */
    struct job_id next = leased(s, (struct stage_job){.cpu_milli = 10000});
    ASSERT_HISTORY(s, next, "submit leased");
    stage_crash(s);
    stage_start(s);
    end(s);
}

/* Held streams. */
struct listener {
    struct exchange_session session;
    uint32_t lease_count, cancel_count, released_count;
    enum command_result result;
};

static void on_push(struct exchange_session *session,
                    const struct exchange_response *response)
{
    struct listener *listener = session->ctx;

    listener->lease_count += response->lease_count;
    listener->cancel_count += response->cancel_count;
}

static void on_released(struct exchange_session *session,
                        enum command_result result)
{
    struct listener *listener = session->ctx;

    listener->released_count++;
    listener->result = result;
}

static void listen(struct stage *s, struct listener *listener, uint32_t credit)
{
    struct command *command = stage_exchange_command("e", 1, NULL, 0);

    *listener = (struct listener){
        .session = {.push = on_push, .released = on_released}};
    listener->session.ctx = listener;
    command->exchange.request.session = &listener->session;
    command->exchange.request.lease_max = credit;
    stage_do(s, command);
    listener->lease_count += s->answer->exchange.response.lease_count;
}

static void a_job_is_tried_once_on_each_node(void **state)
{
    struct stage *s = begin();

    (void)state;
    stage_exchange(s, "e", 2, NULL, 0);
    struct job_id job = leased(s, (struct stage_job){0});
    stage_give_back(s, job, true);
    ASSERT_HISTORY(s, job, "submit leased run-errors requeued leased");
    stage_give_back(s, job, true);
    ASSERT_HISTORY(s, job,
                   "submit leased run-errors requeued leased run-errors "
                   "requeued failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text,
                        "Job was attempted 2 times, and has been tried once "
                        "on all nodes it can run on - this job will no longer "
                        "be retried\n\nFinal run error:\nno luck");
    end(s);
}

static void a_deleted_executor_comes_back(void **state)
{
    struct stage *s = begin();
    struct listener listener;
    struct event event = stage_event_make(EVENT_EXECUTOR_DELETED);

    (void)state;
    listen(s, &listener, 10);
    struct job_id job = leased(s, (struct stage_job){0});
    event.settings.name = STR("e");
    stage_event(s, "", "", "root", &event);
    assert_int_equal(listener.released_count, 1);
    assert_int_equal(listener.result, COMMAND_NOT_FOUND);
    stage_pass(s, 2 * s->policy.executor_lost_timeout_ms);
    ASSERT_HISTORY(s, job, "submit leased"); /* it never expires */
    listen(s, &listener, 10);
    assert_int_equal(listener.lease_count, 1);
    job = leased(s, (struct stage_job){0});
    ASSERT_HISTORY(s, job, "submit leased");
    end(s);
}

/* While the log takes its time nothing is told and nothing is decided. */
static void a_batch_in_flight_is_waited_for(void **state)
{
    struct stage *s = begin();
    struct stage_job job = {0};

    (void)state;
    stage_settle(s);
    elog_memory_hold(s->storage, true);
    uint32_t before = s->answer_count;
    stage_post(s, stage_submit_command(s, "q", &job, 1));
    for (int i = 0; i < 3; i++) {
        stage_step(s);
        assert_int_equal(s->step_rc, 1);
    }
    stage_post(s, stage_submit_command(s, "q", &job, 1));
    stage_step(s);
    assert_int_equal(s->answer_count, before);
    elog_memory_hold(s->storage, false);
    stage_settle(s);
    assert_int_equal(s->answer_count, before + 2);
    assert_int_equal(stage_count(s, EVENT_LEASED), 2);
    /* Stopped in flight: answered, and nothing is there that was not. */
    elog_memory_hold(s->storage, true);
    stage_post(s, stage_submit_command(s, "q", &job, 1));
    stage_step(s);
    elog_memory_hold(s->storage, false);
    stage_crash(s);
    assert_int_equal(s->answer_count, before + 3);
    stage_start(s);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 2);
    end(s);
}

static void a_fail_fast_job_is_given_back(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){.is_fail_fast = true});

    (void)state;
    stage_give_back(s, job, false);
    ASSERT_HISTORY(s, job, "submit leased run-errors failed");
    end(s);
}

/* 6.10 and LS-07: no new leases from the timeout on; lost runs end once; late
 * reports of the old attempt are ignored. */
static void ls_07_an_executor_falls_silent(void **state)
{
    struct stage *s = begin();
    struct event late = stage_event_make(EVENT_RUN_SUCCEEDED);
    struct job_id fails = leased(s, (struct stage_job){0});
    struct job_id requeues =
        leased(s, (struct stage_job){.is_requeue_lost = true});

    (void)state;
    late.job = requeues;
    late.run = stage_run(s, requeues);
    stage_pass(s, s->policy.executor_timeout_ms - 2000);
    struct job_id before = leased(s, (struct stage_job){0});
    ASSERT_HISTORY(s, before, "submit leased");
    stage_pass(s, 4000);
    struct job_id after = leased(s, (struct stage_job){0});
    ASSERT_HISTORY(s, after, "submit");
    stage_pass(s, s->policy.executor_lost_timeout_ms);
    ASSERT_HISTORY(s, fails, "submit leased run-errors failed");
    ASSERT_HISTORY(s, requeues, "submit leased run-errors requeued");
    stage_event(s, "q", "set", "", &late);
    stage_exchange(s, "e", 1, &late.run, 1);
    assert_int_equal(s->answer->exchange.response.cancel_count, 1);
    ASSERT_HISTORY(s, requeues, "submit leased run-errors requeued leased");
    ASSERT_HISTORY(s, after, "submit leased");
    stage_event(s, "q", "set", "", &late);
    ASSERT_HISTORY(s, requeues, "submit leased run-errors requeued leased");
    end(s);
}

/* design.md 6: an outage of the control plane ends no job. */
static void our_own_absence_is_not_their_silence(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){0});

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
    ASSERT_HISTORY(s, job, "submit leased");
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_STATE), 1); /* stale */
    end(s);
}

/* TRAP-13. */
static void leases_are_sent_until_they_are_reported(void **state)
{
    struct stage *s = begin();
    struct job_id job = leased(s, (struct stage_job){0});
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
    end(s);
}

static void an_unchanged_inventory_is_not_logged(void **state)
{
    struct stage *s = begin();

    (void)state;
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), 1);
    stage_exchange(s, "e", 1, NULL, 0);
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), 1);
    stage_exchange(s, "e", 3, NULL, 0);
    stage_exchange(s, "e", 2, NULL, 0);
    stage_exchange(s, "e", 2, NULL, 0);
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), 3);
    end(s);
}

/* TRAP-11. */
static void a_client_id_names_one_job(void **state)
{
    struct stage *s = begin();
    struct stage_job twice[2] = {{.client_id = "x"}, {.client_id = "x"}};
    struct job_id first = stage_submit(s, "q", twice[0]);

    (void)state;
    struct job_id again = stage_submit(s, "q", twice[0]);
    assert_memory_equal(&first, &again, sizeof(first));
    stage_queue(s, "other");
    again = stage_submit(s, "other", twice[0]);
    assert_memory_not_equal(&first, &again, sizeof(first));
    stage_crash(s);
    stage_start(s);
    again = stage_submit(s, "q", twice[0]);
    assert_memory_equal(&first, &again, sizeof(first));
    /* Two commands of one batch. */
    struct stage_job fresh = {.client_id = "y"};
    stage_post(s, stage_submit_command(s, "q", &fresh, 1));
    stage_do(s, stage_submit_command(s, "q", &fresh, 1));
    stage_settle(s);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 3);
    /* Within one request both are new. */
    twice[0].client_id = twice[1].client_id = "z";
    stage_do(s, stage_submit_command(s, "q", twice, 2));
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 5);
    end(s);
}

/* Nodes that come and go leave nothing behind. */
static void nodes_that_come_and_go_leave_the_state_as_it_was(void **state)
{
    struct stage *s = begin();
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
    end(s);
}

/* What an exchange takes in memory says nothing of what is logged. */
static void a_big_exchange_is_taken(void **state)
{
    struct stage *s = begin();
    struct command *command = stage_exchange_command("big", 3, NULL, 0);

    (void)state;
    (void)!arena_alloc(&command->arena, CONTROL_BATCH_BYTES_MAX / 2 + 1);
    stage_do(s, command);
    assert_int_equal(s->answer->result, COMMAND_OK);
    end(s);
}

/* A table that is full says so, and has room again for each that is
 * deleted. */
static void an_executor_that_is_deleted_makes_room(void **state)
{
    struct stage *s = begin();
    struct event event = stage_event_make(EVENT_EXECUTOR_DELETED);
    struct control_metrics metrics;
    char name[32] = "";

    (void)state;
    control_metrics(s->control, &metrics);
    for (uint32_t i = metrics.executor_count; i < EXECUTORS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "executor-%u", i);
        stage_post(s, stage_exchange_command(name, 0, NULL, 0));
    }
    stage_settle(s);
    stage_do(s, stage_exchange_command("one-more", 0, NULL, 0));
    assert_int_equal(s->answer->result, COMMAND_OVERLOADED);

    event.settings.name = str_of(name);
    stage_event(s, "", "", "root", &event);
    stage_do(s, stage_exchange_command("one-more", 1, NULL, 0));
    assert_int_equal(s->answer->result, COMMAND_OK);
    stage_do(s, stage_exchange_command(name, 0, NULL, 0));
    assert_int_equal(s->answer->result, COMMAND_OVERLOADED);
    control_assert_valid(s->control);
    end(s);
}

/* Nobody is told that a job was taken into a queue that is gone. */
static void
a_submission_right_after_the_queue_was_deleted_is_refused(void **state)
{
    struct stage *s = begin();
    struct stage_job job = {0};
    struct event event = stage_event_make(EVENT_QUEUE_DELETED);

    (void)state;
    event.queue.record.name = STR("q");
    stage_post(s, stage_event_command("", "", "root", &event));
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNKNOWN_QUEUE);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 0);
    end(s);
}

static void an_unknown_queue_is_said(void **state)
{
    struct stage *s = begin();
    struct stage_job job = {0};

    (void)state;
    stage_do(s, stage_submit_command(s, "nope", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNKNOWN_QUEUE);
    assert_true(str_equal(s->answer->result_text,
                          STR("could not find queue \"nope\"")));
    struct event event = stage_event_make(EVENT_QUEUE_DELETED);
    event.queue.record.name = STR("q");
    stage_event(s, "", "", "root", &event);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNKNOWN_QUEUE);
    end(s);
}

static void count_and_destroy(struct command *command, void *ctx)
{
    *(uint32_t *)ctx += 1;
    command_destroy(command);
}

/* What is posted while the log is slow is bounded, and who posts is told. */
static void a_slow_log_fills_the_inbox_and_no_more(void **state)
{
    enum { POSTS_MAX = 200000 };
    struct stage *s = begin();
    struct stage_job job = {0};
    uint32_t posted_count = 0, answered_count = 0;
    int rc = 0;

    (void)state;
    stage_settle(s);
    elog_memory_hold(s->storage, true);
    while (rc == 0 && posted_count < POSTS_MAX) {
        struct command *command = stage_submit_command(s, "q", &job, 1);
        command->done = count_and_destroy;
        command->ctx = &answered_count;
        rc = inbox_post(s->inbox, command);
        if (rc == 0) {
            posted_count++;
            stage_step(s);
        } else {
            command_destroy(command);
        }
    }
    assert_int_equal(rc, -ERR_LIMIT);
    elog_memory_hold(s->storage, false);
    stage_settle(s);
    assert_int_equal(answered_count, posted_count);
    end(s);
}

/* A failed append changes nothing, and service goes on. */
static void a_full_disk_is_said_and_survived(void **state)
{
    struct stage *s = begin();
    struct stage_job job = {.client_id = "x"};

    (void)state;
    stage_settle(s);
    elog_memory_inject(s->storage, 1, ELOG_MEMORY_FULL);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_LOG_FAILED);
    assert_true(str_equal(s->answer->result_text,
                          STR("the log has no space left on its disk")));
    elog_memory_inject(s->storage, 2, ELOG_MEMORY_FULL);
    struct job_id id = stage_submit(s, "q", job);
    ASSERT_HISTORY(s, id, "submit leased");
    elog_memory_inject(s->storage, 2, ELOG_MEMORY_FULL);
    stage_report(s, id, EVENT_RUN_SUCCEEDED);
    ASSERT_HISTORY(s, id, "submit leased run-succeeded succeeded");
    end(s);
}

static void a_deposed_leader_stops(void **state)
{
    struct stage *s = begin();
    struct elog *other = elog_memory_open(s->storage);
    struct stage_job job = {0};
    uint64_t epoch;

    (void)state;
    assert_int_equal(elog_acquire(other, &epoch, &s->err), 0);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->step_rc, -ERR_FENCED);
    assert_int_equal(s->answer->result, COMMAND_LOG_FAILED);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNAVAILABLE);
    elog_close(other);
    stage_fini(s);
    mem_free(s);
}

static void leases_are_pushed_when_they_are_durable(void **state)
{
    struct stage *s = begin();
    struct listener one, two;

    (void)state;
    struct job_id before = leased(s, (struct stage_job){0});
    listen(s, &one, 2);
    assert_int_equal(one.lease_count, 1);
    struct job_id job = leased(s, (struct stage_job){0});
    leased(s, (struct stage_job){0});
    assert_int_equal(one.lease_count, 2); /* the third waits for credit */
    cancel(s, before);
    cancel(s, job);
    stage_settle(s);
    assert_int_equal(one.cancel_count, 2);
    struct command *delta = stage_exchange_command("e", 0, NULL, 0);
    delta->exchange.request.is_full = false;
    delta->exchange.request.session = &one.session;
    stage_do(s, delta);
    assert_int_equal(s->answer->exchange.response.lease_count, 1);
    /* A newer session takes over, and is told all that it does not list. */
    listen(s, &two, 100);
    assert_int_equal(one.released_count, 1);
    assert_int_equal(one.result, COMMAND_INVALID);
    assert_int_equal(two.lease_count, 1);
    struct command *over = command_create(COMMAND_SESSION_END);
    over->session_end.session = &two.session;
    stage_do(s, over);
    assert_int_equal(two.released_count, 1);
    assert_int_equal(two.result, COMMAND_OK);
    leased(s, (struct stage_job){0});
    assert_int_equal(two.lease_count, 1);
    listen(s, &one, 100);
    stage_crash(s);
    assert_int_equal(one.released_count, 1);
    assert_int_equal(one.result, COMMAND_UNAVAILABLE);
    stage_start(s);
    end(s);
}

static uint32_t node_count(struct stage *s)
{
    struct control_metrics metrics;

    control_metrics(s->control, &metrics);
    return metrics.node_count;
}

/* Once each, and not those that it lists as there. */
static void a_delta_names_the_nodes_that_are_gone(void **state)
{
    const struct str gone[] = {STR("n1"), STR("n0"), STR("n1"), STR("never")};
    struct stage *s = begin();

    (void)state;
    stage_exchange(s, "e", 3, NULL, 0);
    int count = stage_count(s, EVENT_EXECUTOR_NODES);
    for (int i = 0; i < 2; i++) {
        struct command *delta = stage_exchange_command("e", 1, NULL, 0);
        delta->exchange.request.is_full = false;
        delta->exchange.request.nodes_gone = gone;
        delta->exchange.request.nodes_gone_count = ARRAY_COUNT(gone);
        stage_do(s, delta);
        assert_int_equal(s->answer->result, COMMAND_OK);
        /* n0 and n2 are left; to say it again is no news. */
        assert_int_equal(node_count(s), 2);
        assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), count + 1);
    }
    stage_crash(s);
    stage_start(s);
    assert_int_equal(node_count(s), 2);
    end(s);
}

static void a_cordoned_executor_gets_no_leases(void **state)
{
    struct stage *s = begin();
    struct event event = stage_event_make(EVENT_EXECUTOR_SETTINGS);

    (void)state;
    event.settings.name = STR("e");
    event.settings.is_cordoned = true;
    event.settings.reason = STR("repairs");
    stage_event(s, "", "", "root", &event);
    struct job_id job = leased(s, (struct stage_job){0});
    ASSERT_HISTORY(s, job, "submit");
    event.settings.is_cordoned = false;
    stage_event(s, "", "", "root", &event);
    ASSERT_HISTORY(s, job, "submit leased");
    end(s);
}

static void a_cordoned_node_gets_no_leases_also_after_a_restart(void **state)
{
    struct stage *s = begin();
    struct event event = stage_event_make(EVENT_EXECUTOR_SETTINGS);

    (void)state;
    event.settings.node_name = STR("n0");
    event.settings.is_cordoned = true;
    stage_event(s, "", "", "root", &event);
    struct job_id job = leased(s, (struct stage_job){0});
    ASSERT_HISTORY(s, job, "submit");
    assert_int_equal(control_checkpoint(s->control, NULL), 0);
    stage_crash(s);
    stage_start(s);
    stage_settle(s);
    ASSERT_HISTORY(s, job, "submit");
    event.settings.is_cordoned = false;
    stage_event(s, "", "", "root", &event);
    ASSERT_HISTORY(s, job, "submit leased");
    end(s);
}

/* AR-04, the leader's half: preempted, then failed, in the scheduler's words;
 * in one batch with the leases that it serves. */
static void a_queue_over_its_share_is_preempted(void **state)
{
    struct stage *s = begin();
    struct job_id jobs[10];
    int preempted_count = 0;

    (void)state;
    stage_queue(s, "r");
    for (int i = 0; i < 10; i++) {
        jobs[i] = leased(s, (struct stage_job){0});
    }
    for (int i = 0; i < 5; i++) {
        struct job_id job = stage_submit(s, "r", (struct stage_job){0});
        stage_pass(s, 2 * s->policy.balance_period_ms);
        ASSERT_HISTORY(s, job, "submit leased");
    }
    for (int i = 0; i < 10; i++) {
        auto_mem char *text = stage_failure(s, jobs[i]);
        if (text[0]) {
            preempted_count++;
            assert_int_equal(strncmp(text,
                                     "Preempted by scheduler using fair share "
                                     "preemption - preempting job ",
                                     66),
                             0);
            /* By which rule, and how far over whose share. */
            assert_non_null(strstr(text, "; rule d: queue q held "));
            assert_non_null(strstr(text, "% of pool default, its share is "));
            ASSERT_HISTORY(s, jobs[i],
                           "submit leased run-preempted run-errors failed");
        }
    }
    assert_int_equal(preempted_count, 5);
    end(s);
}

/* A plan's wake is answered by the balance round, which does all of it, also
 * when a fast one came before it was due. */
static void a_wake_is_followed_by_a_balance_round(void **state)
{
    struct stage *s = begin();
    struct control_metrics before, after;
    int64_t wake_ms = 10000, period_ms = 6000;

    (void)state;
    s->policy.balance_period_ms = period_ms;
    s->policy.rate_global = (struct rate_limit){1000000 / wake_ms, 1};
    stage_crash(s);
    stage_start(s);
    stage_exchange(s, "e", 1, NULL, 0);
    struct job_id job = leased(s, (struct stage_job){0});
    ASSERT_HISTORY(s, job, "submit leased");
    job = stage_submit(s, "q", (struct stage_job){0});
    stage_pass(s, period_ms + 1000);
    ASSERT_HISTORY(s, job, "submit");
    control_metrics(s->control, &before);
    stage_pass(s, wake_ms - period_ms);
    control_metrics(s->control, &after);
    ASSERT_HISTORY(s, job, "submit leased");
    assert_true(after.fast_round_count > before.fast_round_count);
    stage_pass(s, period_ms);
    control_metrics(s->control, &after);
    assert_true(after.balance_round_count > before.balance_round_count);
    end(s);
}

/* AR-09, the leader's half. */
static void ar_09_a_gang_starts_with_its_minimum(void **state)
{
    struct stage *s = begin();
    struct stage_job member = {.gang = "g",
                               .gang_cardinality = 8,
                               .gang_minimum = 5,
                               .cpu_milli = 1500}; /* room for six */

    (void)state;
    for (int i = 0; i < 8; i++) {
        stage_submit(s, "q", member);
    }
    stage_settle(s);
    assert_int_equal(stage_count(s, EVENT_LEASED), 6);
    assert_int_equal(stage_count(s, EVENT_FAILED), 2);
    end(s);
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
    end(s);
}

static void a_waiting_job_is_explained(void **state)
{
    struct stage *s = begin();

    (void)state;
    leased(s, (struct stage_job){.cpu_milli = 10000});
    struct job_id job = leased(s, (struct stage_job){.cpu_milli = 10000});
    struct command *why = command_create(COMMAND_EXPLAIN);
    why->explain.job = job;
    stage_do(s, why);
    assert_int_equal(s->answer->result, COMMAND_OK);
    assert_non_null(strstr(s->answer->explain.text.p, "1 of 1 nodes"));
    assert_non_null(strstr(s->answer->explain.json.p, "\"full\":1"));
    assert_non_null(strstr(s->answer->explain.text.p, "node n0 with 0 cpu"));
    struct command *report = command_create(COMMAND_QUERY_REPORT);
    stage_do(s, report);
    assert_non_null(strstr(s->answer->report.text.p, "Pool default:"));
    struct command *queues = command_create(COMMAND_QUERY_QUEUES);
    stage_do(s, queues);
    assert_int_equal(s->answer->queues.share_count, 1);
    assert_int_equal(s->answer->queues.shares[0].leased_count, 1);
    assert_int_equal(s->answer->queues.shares[0].queued_count, 1);
    end(s);
}

/* The wall clock may jump; the log's time does not run backwards. */
static void time_never_runs_backwards(void **state)
{
    struct stage *s = begin();
    struct control_metrics metrics;

    (void)state;
    s->wall_ms -= 1000000;
    struct job_id job = leased(s, (struct stage_job){0});
    ASSERT_HISTORY(s, job, "submit leased");
    control_metrics(s->control, &metrics);
    assert_int_equal(metrics.leased_count, 1);
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_runs_and_succeeds),
        TEST(a_run_that_fails_fails_the_job),
        TEST(a_job_that_fits_nowhere_is_rejected),
        TEST(a_gang_that_fits_nowhere_is_rejected),
        TEST(clocks_that_jump_stop_nothing),
        TEST(cancelling_by_id),
        TEST(cancelling_by_job_set),
        TEST(cancelling_on_an_executor),
        TEST(preempting_a_job),
        TEST(preempting_a_gang_member),
        TEST(a_preempted_job_may_return_to_its_queue),
        TEST(reprioritising),
        TEST(bk_11_a_returned_lease_is_tried_elsewhere),
        TEST(bk_11_a_pod_counts_where_it_is),
        TEST(a_job_is_tried_once_on_each_node),
        TEST(a_deleted_executor_comes_back),
        TEST(a_batch_in_flight_is_waited_for),
        TEST(a_fail_fast_job_is_given_back),
        TEST(ls_07_an_executor_falls_silent),
        TEST(our_own_absence_is_not_their_silence),
        TEST(leases_are_sent_until_they_are_reported),
        TEST(an_unchanged_inventory_is_not_logged),
        TEST(a_client_id_names_one_job),
        TEST(a_big_exchange_is_taken),
        TEST(an_executor_that_is_deleted_makes_room),
        TEST(nodes_that_come_and_go_leave_the_state_as_it_was),
        TEST(a_submission_right_after_the_queue_was_deleted_is_refused),
        TEST(an_unknown_queue_is_said),
        TEST(a_slow_log_fills_the_inbox_and_no_more),
        TEST(a_full_disk_is_said_and_survived),
        TEST(a_deposed_leader_stops),
        TEST(leases_are_pushed_when_they_are_durable),
        TEST(a_delta_names_the_nodes_that_are_gone),
        TEST(a_cordoned_executor_gets_no_leases),
        TEST(a_cordoned_node_gets_no_leases_also_after_a_restart),
        TEST(a_queue_over_its_share_is_preempted),
        TEST(a_wake_is_followed_by_a_balance_round),
        TEST(ar_09_a_gang_starts_with_its_minimum),
        TEST(unacknowledged_leases_are_limited),
        TEST(a_waiting_job_is_explained),
        TEST(time_never_runs_backwards),
    };
    return RUN_TESTS(tests);
}
