/* What users ask of the leader, as its log has it (armada-api.md 2.5,
 * traps 5, 6 and 12 of its section 9). */
#include "leader_stage.h"
#include "unit.h"

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
        TEST(a_queue_may_keep_the_quota_of_a_resource_that_is_gone),
        TEST(cancelling_by_id),
        TEST(cancelling_by_job_set),
        TEST(cancelling_on_an_executor),
        TEST(preempting_a_job),
        TEST(preempting_a_gang_member),
        TEST(a_preempted_job_may_return_to_its_queue),
        TEST(reprioritising),
    };

    return RUN_TESTS(tests);
}
