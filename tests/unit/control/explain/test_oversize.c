/*
 * A gang that is larger than its queue's share is told so: while it waits,
 * while it runs, and when it is preempted for that.
 */
#include "leader_stage.h"
#include "unit.h"

enum { GANG = 6 };

/* A gang of 6 of the 10 nodes' cores in queue `q`, which another queue of the
 * same weight competes with. */
struct crowd {
    struct stage *stage;
    struct job_id gang[GANG];
};

static void submit(struct crowd *crowd, struct stage_job like)
{
    struct stage_job jobs[GANG];

    stage_queue(crowd->stage, "other");
    for (uint32_t i = 0; i < GANG; i++) {
        jobs[i] = like;
        jobs[i].gang = "g";
        jobs[i].gang_cardinality = GANG;
        jobs[i].cpu_milli = 10000;
    }
    stage_do(crowd->stage, stage_submit_command(crowd->stage, "q", jobs, GANG));
    for (uint32_t i = 0; i < GANG; i++) {
        crowd->gang[i] = crowd->stage->answer->submit.items[i].ret_job;
    }
}

static void begin(struct crowd *crowd, struct stage_job like)
{
    crowd->stage = stage_begin_unkept(10);
    submit(crowd, like);
}

static void crowd_out(struct crowd *crowd)
{
    for (uint32_t i = 0; i < 10; i++) {
        (void)stage_submit(crowd->stage, "other",
                           (struct stage_job){.cpu_milli = 10000});
    }
}

static const struct command *explain(struct crowd *crowd)
{
    return stage_explain(crowd->stage, crowd->gang[0]);
}

static bool says(struct str text, const char *part)
{
    auto_mem char *copy = str_dup(text);

    return strstr(copy, part) != NULL;
}

static void it_is_told_and_preempted_with_the_reason(void **state)
{
    struct crowd crowd;

    (void)state;
    begin(&crowd, (struct stage_job){0});
    struct stage *stage = crowd.stage;
    stage_settle(stage);
    assert_false(says(explain(&crowd)->explain.text, "lifetime"));
    assert_false(explain(&crowd)->explain.waits_again); /* it runs */
    /* Others want their half. */
    crowd_out(&crowd);
    const struct command *answer = explain(&crowd);
    assert_true(says(answer->explain.text,
                     "Its gang of 6 has 60% of pool default, but its queue "
                     "may keep only 50% while other queues want their shares. "
                     "The whole gang may be preempted for them at any time. A "
                     "lifetime (annotation berth.dev/lifetimeSeconds) protects "
                     "it for that long.\n"));
    assert_true(says(answer->explain.json,
                     "\"oversize\":{\"pool\":\"default\",\"part\":0.6,"
                     "\"kept\":0.5"));
    stage_pass(stage, 5000);
    uint32_t told_count = 0;
    for (uint32_t i = 0; i < GANG; i++) {
        auto_mem char *why = stage_preemption(stage, crowd.gang[i]);
        assert_string_not_equal(why, "");
        told_count += strstr(why, "its gang alone has 60.00%: a lifetime "
                                  "(berth.dev/lifetimeSeconds) would keep "
                                  "it") != NULL;
    }
    assert_true(told_count > 0);
    assert_true(stage_is_made_again(stage, NULL));
    stage_end(stage);
}

static void it_is_told_while_it_waits_again(void **state)
{
    struct crowd crowd;

    (void)state;
    begin(&crowd, (struct stage_job){.is_requeue_preempted = true});
    stage_settle(crowd.stage);
    crowd_out(&crowd);
    stage_pass(crowd.stage, 5000);
    assert_true(explain(&crowd)->explain.waits_again);
    assert_true(says(explain(&crowd)->explain.text,
                     "Once it starts, its gang of 6 has 60% of pool default, "
                     "but its queue may keep only 50% while other queues want "
                     "their shares. The whole gang may then be preempted for "
                     "them at any time."));
    stage_end(crowd.stage);
}

/* Where gangs are protected, what is said is when that ends. */
static void it_is_told_for_how_long_it_is_kept(void **state)
{
    struct crowd crowd = {.stage = stage_begin(10)};

    (void)state;
    submit(&crowd, (struct stage_job){0});
    stage_settle(crowd.stage);
    crowd_out(&crowd);
    stage_pass(crowd.stage, 5000);
    const struct command *answer = explain(&crowd);
    assert_true(says(answer->explain.text,
                     "The whole gang may be preempted for them 3600 s after "
                     "its start if one of them has less than half of what it "
                     "is due, or sooner if its queue runs other work as well. "
                     "A longer lifetime (annotation"));
    assert_true(says(answer->explain.json, "\"keptMs\":3600000}"));
    for (uint32_t i = 0; i < GANG; i++) {
        auto_mem char *why = stage_preemption(crowd.stage, crowd.gang[i]);
        assert_string_equal(why, "");
    }
    stage_end(crowd.stage);
}

static void what_is_not_preempted_is_not_told(void **state)
{
    struct crowd crowd;

    (void)state;
    begin(&crowd, (struct stage_job){.priority_class = "armada-default"});
    stage_settle(crowd.stage);
    crowd_out(&crowd);
    assert_false(says(explain(&crowd)->explain.text, "lifetime"));
    stage_end(crowd.stage);
}

/* Who waits for its places, where it is kept, is told of it. */
static void who_waits_for_one_that_is_kept_is_told(void **state)
{
    struct crowd crowd;
    struct job_id job = {0};

    (void)state;
    crowd.stage = stage_begin(10);
    submit(&crowd, (struct stage_job){0});
    stage_settle(crowd.stage);
    for (uint32_t i = 0; i < 5; i++) {
        job = stage_submit(crowd.stage, "other",
                           (struct stage_job){.cpu_milli = 10000});
    }
    stage_pass(crowd.stage, 5000);
    struct str text = stage_explain(crowd.stage, job)->explain.text;
    assert_true(says(text, "It is that of job "));
    assert_true(
        says(text, " of gang g of queue q.\nIt is protected while every queue "
                   "has at least half of what it is due and wants.\n"));
    assert_true(
        says(crowd.stage->answer->explain.json, "\"reason\":\"keptGang\""));
    assert_true(says(crowd.stage->answer->explain.json,
                     "\"keptGang\":\"g\",\"keptGangs\":1"));
    stage_end(crowd.stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_told_and_preempted_with_the_reason),
        TEST(it_is_told_while_it_waits_again),
        TEST(it_is_told_for_how_long_it_is_kept),
        TEST(what_is_not_preempted_is_not_told),
        TEST(who_waits_for_one_that_is_kept_is_told),
    };

    return RUN_TESTS(tests);
}
