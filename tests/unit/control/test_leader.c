/* The event sequences of armada-api.md 2.5, as the leader's log has them, and
 * the traps of its section 9 that are the leader's: 5, 6, 7, 14. */
#include <stdio.h>

#include "leader_stage.h"
#include "unit.h"

static void a_job_runs_and_succeeds(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){0});

    (void)state;
    STAGE_HISTORY(s, job, "submit leased");
    stage_report(s, job, EVENT_RUN_ASSIGNED);
    stage_report(s, job, EVENT_RUN_RUNNING);
    stage_report(s, job, EVENT_RUN_SUCCEEDED);
    STAGE_HISTORY(s, job,
                  "submit leased assigned running run-succeeded succeeded");
    /* TRAP-14: at least once, and late. */
    stage_report(s, job, EVENT_RUN_SUCCEEDED);
    stage_report(s, job, EVENT_RUN_RUNNING);
    STAGE_HISTORY(s, job,
                  "submit leased assigned running run-succeeded succeeded");
    stage_end(s);
}

static void a_run_that_fails_fails_the_job(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){0});

    (void)state;
    stage_report(s, job, EVENT_RUN_RUNNING);
    stage_fail(s, job);
    STAGE_HISTORY(s, job, "submit leased running run-errors failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text, "exit 1");
    stage_end(s);
}

static void a_job_that_fits_nowhere_is_rejected(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.cpu_milli = 11000});

    (void)state;
    STAGE_HISTORY(s, job, "submit failed");
    auto_mem char *text = stage_failure(s, job);
    assert_non_null(strstr(text, "Nearest is node n0, which even when empty "
                                 "lacks 1 cpu.\n"));
    stage_end(s);
}

static void a_resource_that_is_not_scheduled_is_named(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.also = "example.com/fpga"});

    (void)state;
    stage_settle(s);
    auto_mem char *why = stage_failure(s, job);
    assert_string_equal(
        why, "The job does not fit on any node. It asks for example.com/fpga, "
             "and jobs are scheduled by nvidia.com/gpu, cpu, memory, "
             "ephemeral-storage alone (scheduling.supportedResourceTypes).\n");
    stage_end(s);
}

static void too_much_of_what_is_of_no_node_is_told(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    s.policy.schema.columns[0].name = STR("licence");
    s.policy.is_floating[0] = true;
    s.policy.has_floating = true;
    stage_start(&s);
    stage_queue(&s, "q");
    stage_exchange(&s, "e", 1, NULL, 0);
    struct job_id job =
        stage_submit(&s, "q", (struct stage_job){.also = "licence"});
    stage_settle(&s);
    auto_mem char *why = stage_failure(&s, job);
    assert_non_null(strstr(why, "It asks for 1 cpu, 1 licence.\nNo pool has "
                                "more than 0 licence "
                                "(scheduling.floatingResources).\n"));
    stage_fini(&s);
}

/* Of one node of 10 cpu: five members of 3 cpu never fit at once. */
static void a_gang_that_fits_nowhere_is_rejected(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job member = {
        .cpu_milli = 3000, .gang = "g", .gang_cardinality = 5};
    struct job_id first = stage_submit(s, "q", member);

    (void)state;
    for (int i = 0; i < 3; i++) {
        stage_submit(s, "q", member);
    }
    STAGE_HISTORY(s, first, "submit"); /* not complete: nobody can tell */
    struct job_id last = stage_submit(s, "q", member);
    STAGE_HISTORY(s, first, "submit failed");
    STAGE_HISTORY(s, last, "submit failed");
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
    stage_end(s);
}

/* Two on one node, which holds one of them. */
static void a_gang_that_is_never_near_enough_is_rejected(void **state)
{
    struct stage *s = stage_begin(3);
    struct gang_terms terms = {
        .sub_group_count = 1,
        .sub_groups = {{STR("worker"), 2, 2, .hops_max = 0}},
    };
    struct stage_job member = {.cpu_milli = 6000,
                               .gang = "g",
                               .gang_cardinality = 2,
                               .gang_minimum = 2,
                               .terms = &terms};
    struct stage_job members[] = {member, member};

    (void)state;
    stage_do(s, stage_submit_command(s, "q", members, 2));
    assert_int_equal(s->answer->result, COMMAND_OK);
    struct job_id first = s->answer->submit.items[0].ret_job;
    stage_settle(s);
    STAGE_HISTORY(s, first, "submit failed");
    auto_mem char *text = stage_failure(s, first);
    assert_string_equal(
        text, "The gang can never start: 2 members of sub-group worker must "
              "fit on one node (topology); the nearest, node n0 of cluster e "
              "of pool default, holds at most 1 when empty.\n");
    stage_end(s);
}

static void what_a_member_lacks_by_itself_is_told_of_its_gang(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job member = {
        .cpu_milli = 3000, .gang = "g", .gang_cardinality = 2};
    struct job_id first = stage_submit(s, "q", member);

    (void)state;
    member.cpu_milli = 12000;
    stage_submit(s, "q", member);
    STAGE_HISTORY(s, first, "submit failed");
    auto_mem char *text = stage_failure(s, first);
    assert_non_null(strstr(text, "The gang can never start: 2 of its members"));
    assert_non_null(strstr(text, "One of them by itself does not fit on any "
                                 "node. It asks for 12 cpu"));
    assert_non_null(strstr(text, "Nearest is node n0, which even when empty "
                                 "lacks 2 cpu.\n"));
    stage_end(s);
}

static void cancelling_by_id(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id running =
        stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    struct job_id queued =
        stage_leased(s, (struct stage_job){.cpu_milli = 10000});

    (void)state;
    stage_cancel(s, queued);
    STAGE_HISTORY(s, queued, "submit admitted cancel cancelled");
    stage_report(s, running, EVENT_RUN_ASSIGNED);
    struct run_id run = stage_run(s, running);
    stage_cancel(s, running);
    STAGE_HISTORY(s, running,
                  "submit leased assigned cancel run-cancelled cancelled");
    /* The executor learns at its next exchange; no pod event follows. */
    stage_report(s, running, EVENT_RUN_RUNNING);
    stage_exchange(s, "e", 1, &run, 1);
    assert_int_equal(s->answer->exchange.response.cancel_count, 1);
    STAGE_HISTORY(s, running,
                  "submit leased assigned cancel run-cancelled cancelled");
    /* TRAP-05: commands are blind. */
    stage_cancel(s, running);
    STAGE_HISTORY(
        s, running,
        "submit leased assigned cancel run-cancelled cancelled cancel");
    stage_end(s);
}

static void cancelling_by_job_set(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id running =
        stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    struct job_id queued =
        stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    struct event event = stage_event_make(EVENT_CANCEL_SET);

    (void)state;
    event.cancel.states = STATE_SET_ALL;
    stage_event(s, "q", "set", "bob", &event);
    STAGE_HISTORY(s, queued, "submit admitted cancel cancelled");
    STAGE_HISTORY(s, running, "submit leased cancel run-cancelled cancelled");
    stage_end(s);
}

static void cancelling_on_an_executor(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    struct event event = stage_event_make(EVENT_SELECTION);
    struct str queue = STR("q");

    (void)state;
    event.selection.action = SELECTION_CANCEL;
    event.selection.executor_id = STR("e");
    event.selection.states = STATE_SET_ALL;
    stage_event(s, "", "", "root", &event); /* TRAP-12: no queue, nothing */
    STAGE_HISTORY(s, job, "submit leased");
    event.selection.queues = &queue;
    event.selection.queue_count = 1;
    stage_event(s, "", "", "root", &event);
    STAGE_HISTORY(s, job, "submit leased run-cancelled cancelled");
    stage_end(s);
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
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){0});

    (void)state;
    preempt(s, job, "bob", "for fun");
    STAGE_HISTORY(s, job,
                  "submit leased preempt run-preempted run-errors failed");
    auto_mem char *text = stage_failure(s, job);
    assert_string_equal(text, "Preempted by bob - for fun");
    /* TRAP-06. */
    struct job_id firm =
        stage_leased(s, (struct stage_job){.priority_class = "armada-default",
                                           .cpu_milli = 10000});
    struct job_id queued =
        stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    preempt(s, firm, "bob", "");
    preempt(s, queued, "bob", "");
    STAGE_HISTORY(s, firm, "submit leased preempt");
    STAGE_HISTORY(s, queued, "submit admitted preempt");
    stage_end(s);
}

static void preempting_a_gang_member(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job member = {.gang = "g", .gang_cardinality = 2};
    struct job_id one = stage_leased(s, member);

    (void)state;
    STAGE_HISTORY(s, one, "submit");
    struct job_id two = stage_leased(s, member);
    STAGE_HISTORY(s, one, "submit leased");
    preempt(s, two, "bob", "");
    STAGE_HISTORY(s, one, "submit leased run-preempted run-errors failed");
    STAGE_HISTORY(s, two,
                  "submit leased preempt run-preempted run-errors failed");
    stage_end(s);
}

static void a_preempted_job_may_return_to_its_queue(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job =
        stage_leased(s, (struct stage_job){.is_requeue_preempted = true});

    (void)state;
    preempt(s, job, "bob", "");
    STAGE_HISTORY(
        s, job,
        "submit leased preempt run-preempted run-errors requeued leased");
    stage_end(s);
}

static void reprioritising(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){.priority = 5});
    struct event event = stage_event_make(EVENT_REPRIORITISE);

    (void)state;
    event.job = job;
    event.reprioritise.priority = 5;
    stage_event(s, "q", "set", "bob", &event);
    STAGE_HISTORY(s, job, "submit leased reprioritise");
    event = stage_event_make(EVENT_REPRIORITISE_SET);
    event.reprioritise.priority = 6;
    stage_event(s, "q", "set", "bob", &event);
    STAGE_HISTORY(s, job, "submit leased reprioritise reprioritised");
    stage_end(s);
}

static void a_fail_fast_job_is_given_back(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job =
        stage_leased(s, (struct stage_job){.is_fail_fast = true});

    (void)state;
    stage_give_back(s, job, false);
    STAGE_HISTORY(s, job, "submit leased run-errors failed");
    stage_end(s);
}

/* AR-04, the leader's half: preempted, then failed, in the scheduler's words;
 * in one batch with the leases that it serves. */
static void a_queue_over_its_share_is_preempted(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id jobs[10];
    int preempted_count = 0;

    (void)state;
    stage_queue(s, "r");
    for (int i = 0; i < 10; i++) {
        jobs[i] = stage_leased(s, (struct stage_job){0});
    }
    for (int i = 0; i < 5; i++) {
        struct job_id job = stage_submit(s, "r", (struct stage_job){0});
        stage_pass(s, 2 * s->policy.balance_period_ms);
        STAGE_HISTORY(s, job, "submit leased");
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
            STAGE_HISTORY(s, jobs[i],
                          "submit leased run-preempted run-errors failed");
        }
    }
    assert_int_equal(preempted_count, 5);
    stage_end(s);
}

/* A plan's wake is answered by the balance round, which does all of it, also
 * when a fast one came before it was due. */
static void a_wake_is_followed_by_a_balance_round(void **state)
{
    struct stage *s = stage_begin(1);
    struct control_metrics before, after;
    int64_t wake_ms = 10000, period_ms = 6000;

    (void)state;
    s->policy.balance_period_ms = period_ms;
    s->policy.rate_global = (struct rate_limit){1000000 / wake_ms, 1};
    stage_crash(s);
    stage_start(s);
    stage_exchange(s, "e", 1, NULL, 0);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, job, "submit leased");
    job = stage_submit(s, "q", (struct stage_job){0});
    stage_pass(s, period_ms + 1000);
    STAGE_HISTORY(s, job, "submit");
    control_metrics(s->control, &before);
    stage_pass(s, wake_ms - period_ms);
    control_metrics(s->control, &after);
    STAGE_HISTORY(s, job, "submit leased");
    assert_true(after.fast_round_count > before.fast_round_count);
    stage_pass(s, period_ms);
    control_metrics(s->control, &after);
    assert_true(after.balance_round_count > before.balance_round_count);
    stage_end(s);
}

/* AR-09, the leader's half. */
static void ar_09_a_gang_starts_with_its_minimum(void **state)
{
    struct stage *s = stage_begin(1);
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
    stage_end(s);
}

static void a_waiting_job_is_explained(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    struct job_id job = stage_leased(s, (struct stage_job){.cpu_milli = 10000});
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
    assert_non_null(strstr(s->answer->report.text.p,
                           "\tRules:\tprofile berth, cost drf, admittedWindow "
                           "1 (1 of a queue), strictOrder off, backfill "
                           "inOrder\n"));
    struct command *queues = command_create(COMMAND_QUERY_QUEUES);
    stage_do(s, queues);
    assert_int_equal(s->answer->queues.share_count, 1);
    assert_int_equal(s->answer->queues.shares[0].leased_count, 1);
    assert_int_equal(s->answer->queues.shares[0].queued_count, 1);
    assert_int_equal(s->answer->queues.shares[0].job_count, 2);
    stage_end(s);
}

/* It is no gang that needs more than a node has. */
static void a_job_behind_others_is_told_that_they_go_first(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id last = {{0}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        last = stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    }
    struct command *why = command_create(COMMAND_EXPLAIN);
    why->explain.job = last;
    stage_do(s, why);
    auto_mem char *text = str_dup(s->answer->explain.text);
    if (!strstr(text, "has 20 cpu more free") ||
        !strstr(text, "free on several, as others go first.\n")) {
        fail_msg("%s", text);
    }
    stage_end(s);
}

static void put_field(struct strbuf *buf, char tag, const char *text)
{
    strbuf_add_char(buf, tag);
    strbuf_add_char(buf, (char)strlen(text));
    strbuf_add_text(buf, text);
}

/* Make queue `q`, which has `amount` of a resource as its quota. */
static enum command_result set_quota(struct stage *s, const char *resource,
                                     const char *amount)
{
    struct event event = stage_event_make(EVENT_QUEUE_SET);
    auto_strbuf encoded = {0}, entry = {0};

    /* api.Queue: 1 name, 2 priority_factor 1.0, 1000 scheduling: 7 quota */
    put_field(&encoded, 0x0a, "q");
    strbuf_add(&encoded, "\x11\0\0\0\0\0\0\xf0\x3f", 9);
    put_field(&entry, 0x0a, resource);
    put_field(&entry, 0x12, amount);
    strbuf_add(&encoded, "\xc2\x3e", 2);
    strbuf_add_char(&encoded, (char)(entry.byte_count + 2));
    put_field(&encoded, 0x3a, strbuf_text(&entry));
    event.queue.record.name = STR("q");
    event.queue.encoded = strbuf_str(&encoded);
    stage_do(s, stage_event_command("", "", "root", &event));
    return s->answer->result;
}

static void a_queue_may_keep_the_quota_of_a_resource_that_is_gone(void **state)
{
    struct stage *s = stage_begin(1);
    struct resource_amount gone = {STR("gone"), 5000};
    struct queue_record record = {.name = STR("q"), .quota = {&gone, 1}};

    (void)state;
    assert_int_equal(set_quota(s, "gone", "5"), COMMAND_INVALID);
    /* As a release that took it left it. */
    assert_int_equal(queue_table_put(s->queues, &record, STR("")), 0);
    assert_int_equal(set_quota(s, "gone", "5"), COMMAND_OK);
    assert_int_equal(set_quota(s, "gone", "6"), COMMAND_INVALID);
    assert_int_equal(set_quota(s, "other", "5"), COMMAND_INVALID);
    assert_int_equal(set_quota(s, "cpu", "5"), COMMAND_OK);
    assert_int_equal(set_quota(s, "gone", "5"), COMMAND_INVALID);
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_runs_and_succeeds),
        TEST(a_run_that_fails_fails_the_job),
        TEST(a_job_that_fits_nowhere_is_rejected),
        TEST(a_resource_that_is_not_scheduled_is_named),
        TEST(too_much_of_what_is_of_no_node_is_told),
        TEST(a_gang_that_fits_nowhere_is_rejected),
        TEST(a_gang_that_is_never_near_enough_is_rejected),
        TEST(what_a_member_lacks_by_itself_is_told_of_its_gang),
        TEST(a_queue_may_keep_the_quota_of_a_resource_that_is_gone),
        TEST(cancelling_by_id),
        TEST(cancelling_by_job_set),
        TEST(cancelling_on_an_executor),
        TEST(preempting_a_job),
        TEST(preempting_a_gang_member),
        TEST(a_preempted_job_may_return_to_its_queue),
        TEST(reprioritising),
        TEST(a_fail_fast_job_is_given_back),
        TEST(a_queue_over_its_share_is_preempted),
        TEST(a_wake_is_followed_by_a_balance_round),
        TEST(ar_09_a_gang_starts_with_its_minimum),
        TEST(a_waiting_job_is_explained),
        TEST(a_job_behind_others_is_told_that_they_go_first),
    };

    return RUN_TESTS(tests);
}
