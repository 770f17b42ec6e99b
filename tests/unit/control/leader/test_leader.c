/* What becomes of jobs: the event sequences of armada-api.md 2.5, as the
 * leader's log has them, and trap 14 of its section 9. */
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

/* A plan's wake is answered by the full round, which does all of it, also
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
    assert_non_null(strstr(s->answer->explain.text.p,
                           "1 of 1 node does not have enough free"));
    assert_non_null(strstr(s->answer->explain.json.p, "\"full\":1"));
    assert_non_null(
        strstr(s->answer->explain.text.p, "Node n0 comes nearest, with 0 cpu"));
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
static void explain_last_of(uint32_t node_count, int job_count,
                            const char *const parts[2])
{
    struct stage *s = stage_begin(node_count);
    struct job_id last = {{0}};

    for (int i = 0; i < job_count; i++) {
        last = stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    }
    struct command *why = command_create(COMMAND_EXPLAIN);
    why->explain.job = last;
    stage_do(s, why);
    auto_mem char *text = str_dup(s->answer->explain.text);
    if (!strstr(text, parts[0]) || !strstr(text, parts[1])) {
        fail_msg("%s", text);
    }
    stage_end(s);
}

static void a_job_behind_others_is_told_that_they_go_first(void **state)
{
    (void)state;
    explain_last_of(
        2, 4,
        (const char *const[]){
            "(or an equivalent node) had 20 cpu more free",
            "free on several nodes, because other jobs go first.\n"});
    explain_last_of(1, 3,
                    (const char *const[]){
                        "\nOther jobs go first: it and they need 20 cpu more "
                        "than is free on node n0, the only one on which it "
                        "could run; that is more than the node has at all.\n",
                        "Nodes on which it could run"});
    explain_last_of(1, 2,
                    (const char *const[]){
                        "It would start if node n0 had 10 cpu more free; with "
                        "less it would not.\nNodes",
                        ""});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_runs_and_succeeds),
        TEST(a_run_that_fails_fails_the_job),
        TEST(a_fail_fast_job_is_given_back),
        TEST(a_queue_over_its_share_is_preempted),
        TEST(a_wake_is_followed_by_a_balance_round),
        TEST(ar_09_a_gang_starts_with_its_minimum),
        TEST(a_waiting_job_is_explained),
        TEST(a_job_behind_others_is_told_that_they_go_first),
    };

    return RUN_TESTS(tests);
}
