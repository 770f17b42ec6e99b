/* Failing nodes (model.md 6.10b, AR-12) as the leader has them: outcomes,
 * events, restarts, and what operators see and do. */

#include "leader_stage.h"
#include "unit.h"

enum { MINUTE_MS = 60000, NODES = 10 };

static void end(struct stage *s)
{
    stage_settle(s);
    assert_true(stage_is_made_again(s, NULL));
    stage_end(s);
}

/* A job that takes a whole node. */
static struct job_id submit(struct stage *s, const char *job_set)
{
    struct stage_job job = {.cpu_milli = 10000};
    struct command *command = stage_submit_command(s, "q", &job, 1);

    command->scope.job_set = arena_str(&command->arena, str_of(job_set));
    stage_do(s, command);
    struct job_id id = s->answer->submit.items[0].ret_job;
    stage_settle(s);
    return id;
}

/* Ask for one node, or for all ("") of pool `default`. */
static const struct node_status *ask(struct stage *s, const char *name)
{
    struct command *command = command_create(COMMAND_QUERY_NODES);

    command->nodes.name = str_of(name);
    command->nodes.pool = STR("default");
    command->nodes.count_max = 100;
    stage_do(s, command);
    assert_true(s->answer->nodes.node_count > 0);
    return s->answer->nodes.nodes;
}

static void assert_state(struct stage *s, const char *name, const char *state)
{
    assert_string_equal(ask(s, name)->state, state);
}

/* The executor goes on talking, and still holds `runs`. */
static void pass(struct stage *s, int64_t ms, const struct run_id *runs,
                 uint32_t run_count)
{
    for (; ms > 0; ms -= MINUTE_MS) {
        stage_pass(s, ms < MINUTE_MS ? ms : MINUTE_MS);
        stage_exchange(s, "e", 10, runs, run_count);
    }
    stage_settle(s);
}

/* Three jobs of two job sets fail on n0. */
static void fail_n0(struct stage *s)
{
    stage_fail(s, submit(s, "a"));
    stage_settle(s);
    stage_fail(s, submit(s, "a"));
    stage_settle(s);
    assert_state(s, "n0", "ready");
    stage_fail(s, submit(s, "b"));
    stage_settle(s);
}

static void ar_12_failing_node_gets_no_work_then_one_job(void **state)
{
    struct stage *s = stage_begin(NODES);

    (void)state;
    fail_n0(s);
    assert_int_equal(stage_count(s, EVENT_NODE_HEALTH), 1);
    const struct node_status *n0 = ask(s, "n0");
    assert_string_equal(n0->state, "quarantined");
    assert_true(str_equal(n0->reason, STR("3 of 3 runs failed within 30 min")));
    assert_true(n0->until_ms > s->wall_ms + 9 * MINUTE_MS);
    assert_true(n0->until_ms <= s->wall_ms + 10 * MINUTE_MS);
    struct job_id other = submit(s, "a");
    struct run_id run = stage_run(s, other);
    assert_int_equal(ask(s, "n1")->run_count, 1);
    assert_int_equal(ask(s, "n0")->run_count, 0);
    pass(s, 11 * (int64_t)MINUTE_MS, &run, 1);
    assert_state(s, "n0", "trial");
    for (int i = 0; i < 3; i++) {
        assert_state(s, "n0", "trial");
        struct job_id job = submit(s, "a");
        assert_int_equal(ask(s, "n0")->run_count, 1);
        stage_report(s, job, EVENT_RUN_RUNNING);
        stage_report(s, job, EVENT_RUN_SUCCEEDED);
        stage_settle(s);
    }
    assert_state(s, "n0", "ready");
    assert_int_equal(stage_count(s, EVENT_NODE_HEALTH), 3);
    end(s);
}

static void assert_same_after(struct stage *s, struct strbuf *before)
{
    auto_strbuf after = {0};

    stage_start(s);
    control_encode_state(s->control, &after);
    assert_true(str_equal(strbuf_str(before), strbuf_str(&after)));
    stage_exchange(s, "e", 10, NULL, 0);
    assert_state(s, "n0", "quarantined");
}

static void ar_12_quarantine_survives_restarts(void **state)
{
    struct stage *s = stage_begin(NODES);
    auto_strbuf before = {0}, later = {0};
    struct err err;

    (void)state;
    fail_n0(s);
    control_encode_state(s->control, &before);
    stage_crash(s); /* then the log is read from its beginning */
    assert_same_after(s, &before);
    stage_settle(s);
    assert_int_equal(control_checkpoint(s->control, &err), 0);
    control_encode_state(s->control, &later);
    stage_crash(s);
    assert_same_after(s, &later);
    end(s);
}

/* An operator's word about n0. */
static void tell(struct stage *s, enum node_health health, bool is_pinned)
{
    struct event event = stage_event_make(EVENT_NODE_HEALTH);

    event.health.node_name = STR("n0");
    event.health.health = health;
    event.health.is_pinned = is_pinned;
    event.health.reason = STR("smells of smoke");
    stage_event(s, "", "", "root", &event);
    stage_settle(s);
}

static void ar_12_operator_pins_and_releases(void **state)
{
    struct stage *s = stage_begin(NODES);

    (void)state;
    tell(s, NODE_OUT, true);
    assert_state(s, "n0", "pinned");
    assert_true(str_equal(ask(s, "n0")->reason, STR("smells of smoke")));
    submit(s, "a");
    assert_int_equal(ask(s, "n0")->run_count, 0);
    assert_int_equal(ask(s, "n1")->run_count, 1);
    tell(s, NODE_NORMAL, false);
    assert_state(s, "n0", "ready");
    assert_int_equal(ask(s, "")->capacity.count, 2);
    assert_int_equal(s->answer->nodes.node_count, 10);
    end(s);
}

/* What is not the node's doing is not counted against it. */
static void ar_12_counts_only_what_can_be_the_nodes(void **state)
{
    struct stage *s = stage_begin(NODES);
    struct event event = stage_event_make(EVENT_RUN_ERRORS);

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct job_id job = submit(s, i % 2 ? "a" : "b");
        event.job = job;
        event.run = stage_run(s, job);
        event.error = (struct event_error){
            .kind = ERROR_POD,
            .is_terminal = true,
            .message = STR("somebody deleted it"),
            .category = STR("internal"),
            .subcategory = STR("externally-deleted"),
        };
        stage_event(s, "q", "set", "", &event);
        stage_settle(s);
    }
    assert_int_equal(ask(s, "n0")->ended_count, 0);
    assert_int_equal(ask(s, "n0")->failed_count, 0);
    stage_give_back(s, submit(s, "a"), true); /* it did not start */
    stage_settle(s);
    assert_int_equal(ask(s, "n0")->failed_count, 1);
    end(s);
}

/* Jobs that are each a class of its own and fit nowhere now do not keep the
 * one behind them from its turn; where rounds stopped is in the log. */
static void rounds_go_on_behind_where_they_stopped(void **state)
{
    enum { MISFITS = 4000 };
    struct stage *s = mem_alloc(sizeof(*s));
    auto_mem struct stage_job *misfits =
        mem_alloc_array(MISFITS, sizeof(*misfits));
    struct control_metrics metrics;

    (void)state;
    stage_init(s);
    s->policy.round_work_max = POLICY_WORK_PER_MS; /* some 1500 decisions */
    stage_start(s);
    stage_queue(s, "q");
    stage_exchange(s, "e", 1, NULL, 0);
    stage_submit(s, "q", (struct stage_job){.cpu_milli = 5000});
    for (uint32_t i = 0; i < MISFITS; i++) {
        misfits[i] = (struct stage_job){.cpu_milli = 9000, .class_salt = i + 1};
    }
    stage_do(s, stage_submit_command(s, "q", misfits, MISFITS));
    struct job_id behind = stage_submit(
        s, "q", (struct stage_job){.cpu_milli = 100, .priority = 9});
    stage_settle(s);
    control_metrics(s->control, &metrics);
    assert_true(metrics.spent_round_count > 0);
    auto_mem char *history = stage_history(s, behind);
    assert_string_equal(history, "submit leased");
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ar_12_failing_node_gets_no_work_then_one_job),
        cmocka_unit_test(ar_12_quarantine_survives_restarts),
        cmocka_unit_test(ar_12_operator_pins_and_releases),
        cmocka_unit_test(ar_12_counts_only_what_can_be_the_nodes),
        cmocka_unit_test(rounds_go_on_behind_where_they_stopped),
    };

    return RUN_TESTS(tests);
}
