/*
 * Silent executors: three missed beats make one stale in the listing, and
 * explain says that a lease waits for it.
 */
#include "leader_stage.h"
#include "unit.h"

enum { BEAT_MS = 5000 };

static bool says(struct str text, const char *part)
{
    auto_mem char *copy = str_dup(text);

    return strstr(copy, part) != NULL;
}

static void check_state(struct stage *s, const char *state, int64_t silent_ms)
{
    stage_do(s, command_create(COMMAND_QUERY_EXECUTORS));
    const struct executor_status *row = &s->answer->executors.rows[0];
    assert_string_equal(row->state, state);
    assert_int_equal(row->silent_ms, silent_ms);
}

static void three_missed_beats_make_an_executor_stale(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    stage_exchange(s, "e", 1, NULL, 0);
    stage_pass(s, 3 * BEAT_MS - 1);
    check_state(s, "live", 3 * BEAT_MS - 1);
    stage_pass(s, 1);
    check_state(s, "stale", 3 * BEAT_MS);
    stage_exchange(s, "e", 1, NULL, 0);
    check_state(s, "live", 0);
    stage_end(s);
}

/* Who comes every minute is not missed after fifteen seconds. */
static void beats_are_as_long_as_the_executor_makes_them(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    stage_exchange(s, "e", 1, NULL, 0);
    stage_pass(s, 60000);
    stage_exchange(s, "e", 1, NULL, 0);
    stage_pass(s, 179999);
    check_state(s, "live", 179999);
    stage_pass(s, 1);
    check_state(s, "stale", 180000);
    stage_end(s);
}

static void explain_says_that_a_lease_waits_for_a_silent_executor(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job = stage_leased(s, (struct stage_job){.cpu_milli = 1000});

    (void)state;
    stage_exchange(s, "e", 1, NULL, 0);
    assert_false(says(stage_explain(s, job)->explain.text, "last reported"));
    assert_false(says(stage_explain(s, job)->explain.json, "executorSilentMs"));
    stage_pass(s, 42000);
    assert_true(says(stage_explain(s, job)->explain.text,
                     "The lease waits for executor e, which last reported 42 "
                     "s ago. If it is silent for 3600 s "
                     "(executorLostTimeout), the run is lost.\n"));
    assert_true(says(stage_explain(s, job)->explain.json,
                     ",\"executorSilentMs\":42000"));
    stage_end(s);
}

struct told {
    int count;
    enum executor_state states[4];
};

static void tell(void *ctx, struct str executor_id, enum executor_state state)
{
    struct told *told = ctx;

    assert_true(str_equal(executor_id, STR("e")));
    assert_true(told->count < 4);
    told->states[told->count++] = state;
}

static void who_listens_hears_of_each_change(void **state)
{
    struct told told = {0};
    struct stage stage = {0};

    (void)state;
    stage_init(&stage);
    stage.hooks =
        (struct control_hooks){.ctx = &told, .executor_changed = tell};
    stage_start(&stage);
    stage_exchange(&stage, "e", 1, NULL, 0);
    stage_pass(&stage, stage.policy.executor_timeout_ms);
    stage_settle(&stage);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.states[0], EXECUTOR_STALE);
    stage_pass(&stage, stage.policy.executor_lost_timeout_ms);
    stage_settle(&stage);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.states[1], EXECUTOR_LOST);
    stage_exchange(&stage, "e", 1, NULL, 0);
    stage_settle(&stage);
    assert_int_equal(told.count, 3);
    assert_int_equal(told.states[2], EXECUTOR_LIVE);
    stage_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(three_missed_beats_make_an_executor_stale),
        TEST(beats_are_as_long_as_the_executor_makes_them),
        TEST(explain_says_that_a_lease_waits_for_a_silent_executor),
        TEST(who_listens_hears_of_each_change),
    };

    return RUN_TESTS(tests);
}
