/*
 * Gangs whose id is used again, through the leader: who may not be of one is
 * refused before it starts, by itself, and told why.
 */
#include "leader_stage.h"
#include "unit.h"

enum { MEMBERS_MAX = 4 };

static void submit(struct stage *stage, struct stage_job job, uint32_t count,
                   struct job_id *ret_jobs)
{
    struct stage_job jobs[MEMBERS_MAX];

    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = job;
        jobs[i].gang = "g";
    }
    stage_do(stage, stage_submit_command(stage, "q", jobs, count));
    assert_int_equal(stage->answer->result, COMMAND_OK);
    for (uint32_t i = 0; i < count; i++) {
        ret_jobs[i] = stage->answer->submit.items[i].ret_job;
    }
}

static void assert_refused(struct stage *stage, struct job_id job,
                           const char *why)
{
    STAGE_HISTORY(stage, job, "submit failed");
    auto_mem char *failure = stage_failure(stage, job);
    if (!strstr(failure, why)) {
        fail_msg("\"%s\" does not say \"%s\"", failure, why);
    }
    assert_non_null(strstr(failure, "gang g of queue q"));
    assert_non_null(strstr(failure, "Another gangId makes another gang."));
}

static void whoever_comes_after_the_start_is_refused(void **state)
{
    struct stage *stage = stage_begin(4);
    struct job_id first[2], later[2];

    (void)state;
    submit(stage, (struct stage_job){.gang_cardinality = 2}, 2, first);
    STAGE_HISTORY(stage, first[0], "submit leased");
    submit(stage, (struct stage_job){.gang_cardinality = 2}, 2, later);
    assert_refused(stage, later[0], "which has started: its job ");
    assert_refused(stage, later[1], "which has started: its job ");
    STAGE_HISTORY(stage, first[1], "submit leased");
    /* A leader that begins anew finds the same. */
    stage_crash(stage);
    stage_start(stage);
    STAGE_HISTORY(stage, first[1], "submit leased");
    assert_true(stage_is_made_again(stage, NULL));
    stage_end(stage);
}

static void the_one_too_many_is_refused_and_the_gang_starts(void **state)
{
    struct stage *stage = stage_begin(4);
    struct job_id jobs[3];
    uint32_t refused_count = 0;

    (void)state;
    submit(stage, (struct stage_job){.gang_cardinality = 2}, 3, jobs);
    stage_settle(stage);
    for (uint32_t i = 0; i < 3; i++) {
        auto_mem char *history = stage_history(stage, jobs[i]);
        if (strcmp(history, "submit leased") != 0) {
            refused_count++;
            assert_refused(stage, jobs[i],
                           "has all the members that it may have "
                           "(gangCardinality 2)");
        }
    }
    assert_int_equal(refused_count, 1);
    assert_true(stage_is_made_again(stage, NULL));
    stage_end(stage);
}

static void who_says_something_else_is_refused_with_the_field(void **state)
{
    struct stage *stage = stage_begin(4);
    struct job_id first[2], other;

    (void)state;
    submit(stage, (struct stage_job){.gang_cardinality = 3}, 2, first);
    STAGE_HISTORY(stage, first[0], "submit");
    stage->wall_ms += 1000;
    submit(stage, (struct stage_job){.gang_cardinality = 2}, 1, &other);
    assert_refused(stage, other, "says gangCardinality 3, and this one 2");
    /* The older gang is as it was: it starts with its third member. */
    stage->wall_ms += 1000;
    submit(stage, (struct stage_job){.gang_cardinality = 3}, 1, &other);
    STAGE_HISTORY(stage, other, "submit leased");
    STAGE_HISTORY(stage, first[0], "submit leased");
    assert_true(stage_is_made_again(stage, NULL));
    stage_end(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whoever_comes_after_the_start_is_refused),
        TEST(the_one_too_many_is_refused_and_the_gang_starts),
        TEST(who_says_something_else_is_refused_with_the_field),
    };

    return RUN_TESTS(tests);
}
