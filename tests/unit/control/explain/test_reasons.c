/*
 * By which rule of model.md 6.6 a job is preempted stands in the reason of its
 * preemption, with whose share was how far over: rules a to e, each once.
 */
#include "pools_fixture.h"

enum { GANG = 6 };

static void assert_reason(struct stage *s, struct job_id job,
                          const char *expected)
{
    auto_mem char *why = stage_preemption(s, job);

    if (!strstr(why, expected)) {
        fail_msg("no \"%s\" in \"%s\"", expected, why);
    }
}

static struct stage *begin(const char *other)
{
    struct stage *s = stage_begin(1);

    stage_queue(s, other);
    return s;
}

static void rule_a_a_borrower_goes_for_home_work(void **state)
{
    static const char *const labels[] = {"cpu", "gpu"};
    struct stage *s = *state;

    stage_queue(s, "q");
    pools_offer_up_to(s, labels, 2, 10000);
    pools_select(s, "cpu", false);
    pools_select(s, "gpu", false);
    struct job_id borrower = pools_submit(s, "gpu", 11);
    pools_settle(s);
    pools_assert_runs(s, "cpu", 0, 1);
    pools_submit(s, "cpu", 10);
    pools_settle(s);
    pools_assert_runs(s, "cpu", 10, 0);
    assert_reason(s, borrower,
                  "Preempted by scheduler as its place is needed at home - "
                  "preempting job ");
    assert_reason(s, borrower, "; rule a: it is a borrower there");
}

static void rule_b_urgent_work_goes_first(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    stage_crash(s);
    s->policy.classes[policy_class_index(&s->policy, STR("armada-default"))]
        .priority = 2000;
    stage_start(s);
    struct job_id job = stage_leased(s, (struct stage_job){.cpu_milli = 10000});
    (void)stage_submit(s, "q",
                       (struct stage_job){.priority_class = "armada-default"});
    stage_pass(s, 5000);
    assert_reason(s, job, "using urgency preemption - preempting job ");
    assert_reason(s, job, "; rule b: that one is more urgent");
    stage_end(s);
}

static void rule_c_surplus_goes_for_a_minimum(void **state)
{
    const struct gang_terms terms = {
        .sub_group_count = 1,
        .sub_groups = {{STR("pods"), 5, GANG, HOPS_ANY, 0, false}},
    };
    struct stage_job pods[GANG];
    struct job_id ids[GANG];
    struct stage *s = begin("other");
    uint32_t told_count = 0;

    (void)state;
    for (uint32_t i = 0; i < GANG; i++) {
        pods[i] = (struct stage_job){.gang = "g",
                                     .gang_cardinality = GANG,
                                     .gang_minimum = 5,
                                     .terms = &terms,
                                     .cpu_milli = 1600};
    }
    stage_do(s, stage_submit_command(s, "q", pods, GANG));
    for (uint32_t i = 0; i < GANG; i++) {
        ids[i] = s->answer->submit.items[i].ret_job;
    }
    stage_pass(s, 10000);
    (void)stage_submit(s, "other", (struct stage_job){.cpu_milli = 2000});
    stage_pass(s, 5000);
    for (uint32_t i = 0; i < GANG; i++) {
        auto_mem char *why = stage_preemption(s, ids[i]);
        if (why[0]) {
            told_count++;
            assert_reason(s, ids[i],
                          "; rule c: its gang has its minimum without it");
        }
    }
    assert_int_equal(told_count, 1);
    stage_end(s);
}

/* All of a gang goes for what one of its members was in the way of. */
static void rule_d_is_said_to_each_member_of_a_gang(void **state)
{
    struct stage_job jobs[GANG];
    struct job_id ids[GANG];
    struct stage *s = stage_begin_unkept(1);
    uint32_t followed_count = 0;

    (void)state;
    stage_queue(s, "other");
    for (uint32_t i = 0; i < GANG; i++) {
        jobs[i] = (struct stage_job){
            .gang = "g", .gang_cardinality = GANG, .cpu_milli = 1600};
    }
    stage_do(s, stage_submit_command(s, "q", jobs, GANG));
    for (uint32_t i = 0; i < GANG; i++) {
        ids[i] = s->answer->submit.items[i].ret_job;
    }
    stage_settle(s);
    for (int i = 0; i < 3; i++) {
        (void)stage_submit(s, "other", (struct stage_job){.cpu_milli = 2000});
    }
    stage_pass(s, 5000);
    for (uint32_t i = 0; i < GANG; i++) {
        auto_mem char *why = stage_preemption(s, ids[i]);
        followed_count += strstr(why, "as its gang lost a member") != NULL;
        assert_reason(s, ids[i],
                      "; rule d: queue q held 96.00% of pool "
                      "default, its share is ");
    }
    assert_int_equal(followed_count, GANG - 1);
    assert_true(stage_is_made_again(s, NULL));
    stage_end(s);
}

static void rule_e_what_was_let_past_goes_for_whom(void **state)
{
    struct stage_job endless = {.priority_class = "armada-default",
                                .cpu_milli = 6000};
    struct stage *s = begin("mine");

    (void)state;
    struct job_id first = stage_leased(s, endless);
    endless.cpu_milli = 8000;
    struct job_id head = stage_submit(s, "mine", endless);
    stage_settle(s);
    struct job_id passer =
        stage_leased(s, (struct stage_job){.cpu_milli = 4000});
    STAGE_HISTORY(s, passer, "submit leased");
    stage_report(s, first, EVENT_RUN_SUCCEEDED);
    stage_pass(s, 5000);
    assert_false(key128_is_none(stage_run(s, head).v));
    assert_reason(s, passer, "as it was let past the job that it yields to");
    assert_reason(s, passer, "; rule e: it was let past that one");
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rule_a_a_borrower_goes_for_home_work,
                                        pools_setup, pools_teardown),
        TEST(rule_b_urgent_work_goes_first),
        TEST(rule_c_surplus_goes_for_a_minimum),
        TEST(rule_d_is_said_to_each_member_of_a_gang),
        TEST(rule_e_what_was_let_past_goes_for_whom),
    };

    return RUN_TESTS(tests);
}
