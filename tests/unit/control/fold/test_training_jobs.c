/*
 * TrainingJobs through the leader: objects of the log with phases, made and
 * deleted with their pods, scaled in time, and of another class when asked
 * (model.md 8, TJ-04, TJ-13, TJ-18, TJ-21).
 */

#include "leader_stage.h"
#include "unit.h"

enum { PODS_MAX = 16, NS_PER_MS = 1000000, TICK_MS = 10 };

/* A TrainingJob on the stage: a pserver and trainers of 10 cpu each, so that
 * a node has one. */
struct training {
    struct job_id jobs[PODS_MAX];
    uint32_t count;
};

static struct command *submission(struct stage *stage, const char *name,
                                  uint32_t min, uint32_t max,
                                  struct gang_terms *terms)
{
    struct stage_job jobs[PODS_MAX];

    *terms = (struct gang_terms){
        .kind = GANG_TRAINING_TOLERANT,
        .replace_timeout_ms = 300000,
        .sub_group_count = 2,
        .sub_groups = {{STR("pserver"), 1, 1, HOPS_ANY, 0, true},
                       {STR("trainer"), min, max, HOPS_ANY, 0, false}},
    };
    for (uint32_t i = 0; i <= max; i++) {
        jobs[i] = (struct stage_job){
            .priority_class = "normal",
            .gang = name,
            .gang_cardinality = max + 1,
            .gang_minimum = min + 1,
            .terms = terms,
            .sub_group = i > 0,
            .cpu_milli = 10000,
            .is_requeue_preempted = true,
            .is_requeue_lost = true,
        };
    }
    return stage_training_command(stage, "q", name, jobs, terms);
}

static struct training submit(struct stage *stage, const char *name,
                              uint32_t min, uint32_t max)
{
    struct training training = {.count = max + 1};
    struct gang_terms terms;

    stage_do(stage, submission(stage, name, min, max, &terms));
    assert_int_equal(stage->answer->result, COMMAND_OK);
    for (uint32_t i = 0; i < training.count; i++) {
        training.jobs[i] = stage->answer->submit.items[i].ret_job;
    }
    return training;
}

static enum command_result reclass(struct stage *stage, const char *name,
                                   const char *priority_class)
{
    struct command *command =
        stage_training_about(COMMAND_TRAINING_UPDATE, "q", name);

    command->training.priority_class =
        arena_str(&command->arena, str_of(priority_class));
    stage_do(stage, command);
    return stage->answer->result;
}

/* The row of one; it must be there. */
static const struct training_row *look(struct stage *stage, const char *name)
{
    stage_do(stage, stage_training_about(COMMAND_QUERY_TRAINING, "q", name));
    assert_int_equal(stage->answer->training.row_count, 1);
    return &stage->answer->training.rows[0];
}

static void assert_phase(struct stage *stage, const char *name,
                         const char *phase)
{
    assert_string_equal(look(stage, name)->phase, phase);
}

/* The executor tells its nodes, and that it has all runs that are leased. */
static void exchange(struct stage *stage, const struct training *training,
                     uint32_t node_count)
{
    struct run_id runs[PODS_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < training->count; i++) {
        struct run_id run = stage_run(stage, training->jobs[i]);
        if (!key128_is_none(run.v)) {
            runs[count++] = run;
        }
    }
    stage_exchange(stage, "east", node_count, runs, count);
    stage_settle(stage);
}

static bool ends_in(struct stage *stage, struct job_id job, const char *end)
{
    auto_mem char *history = stage_history(stage, job);
    size_t length = strlen(history);

    return length >= strlen(end) &&
           strcmp(history + length - strlen(end), end) == 0;
}

/* What is leased begins to run. */
static uint32_t run_all(struct stage *stage, const struct training *training)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < training->count; i++) {
        if (ends_in(stage, training->jobs[i], "leased")) {
            stage_report(stage, training->jobs[i], EVENT_RUN_RUNNING);
        }
    }
    for (uint32_t i = 0; i < training->count; i++) {
        count += ends_in(stage, training->jobs[i], "running");
    }
    return count;
}

static void start(struct stage *stage, uint32_t node_count)
{
    stage_init(stage);
    stage_start(stage);
    stage_do(stage, stage_ordered_queue_command("q", "cfs"));
    exchange(stage, &(struct training){0}, node_count);
}

static void finish(struct stage *stage)
{
    control_assert_valid(stage->control);
    stage_fini(stage);
}

/* Drop the leader and read the log again, from a checkpoint if there is one:
 * the state is the same. */
static void restart(struct stage *stage)
{
    auto_strbuf before = {0}, after = {0};

    control_encode_state(stage->control, &before);
    stage_crash(stage);
    stage_start(stage);
    control_encode_state(stage->control, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
}

static void tj_04_phases_are_kept_over_a_restart(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, 3);
    struct training a = submit(&stage, "a", 2, 2);
    assert_phase(&stage, "a", "");
    stage_settle(&stage);
    assert_phase(&stage, "a", "creating");
    restart(&stage);
    assert_phase(&stage, "a", "creating");
    exchange(&stage, &a, 3);
    assert_int_equal(run_all(&stage, &a), 3);
    assert_phase(&stage, "a", "running");
    stage.checkpoint_events = 1;
    restart(&stage);
    restart(&stage);
    assert_phase(&stage, "a", "running");
    stage_report(&stage, a.jobs[1], EVENT_RUN_SUCCEEDED);
    stage_report(&stage, a.jobs[2], EVENT_RUN_SUCCEEDED);
    stage_settle(&stage);
    assert_phase(&stage, "a", "succeeded");
    assert_true(ends_in(&stage, a.jobs[0], "cancelled"));
    restart(&stage);
    restart(&stage);
    assert_phase(&stage, "a", "succeeded");
    /* It is remembered for three days. */
    for (int hour = 0; hour <= 72; hour++) {
        stage.wall_ms += 3600 * 1000;
        stage_queue(&stage, "other");
    }
    stage_do(&stage, stage_training_about(COMMAND_QUERY_TRAINING, "q", "a"));
    assert_int_equal(stage.answer->training.row_count, 0);
    finish(&stage);
}

static void a_name_is_taken_until_it_is_deleted(void **state)
{
    struct gang_terms terms;
    struct stage stage;

    (void)state;
    start(&stage, 3);
    /* Two in one breath: the second sees the first. */
    stage_post(&stage, submission(&stage, "a", 2, 2, &terms));
    stage_do(&stage, submission(&stage, "a", 1, 1, &terms));
    assert_int_equal(stage.answer->result, COMMAND_EXISTS);
    assert_int_equal(look(&stage, "a")->parts[1].min_count, 2);
    stage_settle(&stage);
    stage_do(&stage, stage_training_about(COMMAND_TRAINING_DELETE, "q", "b"));
    assert_int_equal(stage.answer->result, COMMAND_NOT_FOUND);
    stage_do(&stage, stage_training_about(COMMAND_TRAINING_DELETE, "q", "a"));
    assert_int_equal(stage.answer->result, COMMAND_OK);
    stage_settle(&stage);
    assert_int_equal(stage_count(&stage, EVENT_CANCELLED), 3);
    restart(&stage);
    (void)submit(&stage, "a", 1, 1);
    stage_settle(&stage);
    assert_phase(&stage, "a", "creating");
    finish(&stage);
}

/* Let time pass, one tick after the other; how many full rounds there
 * were, and when the first was. */
static uint32_t rounds_in(struct stage *stage, int64_t ms, int64_t *ret_first)
{
    struct control_metrics metrics;
    uint64_t before;

    control_metrics(stage->control, &metrics);
    before = metrics.balance_round_count;
    *ret_first = -1;
    for (int64_t at = TICK_MS; at <= ms; at += TICK_MS) {
        stage->mono_ns += TICK_MS * (uint64_t)NS_PER_MS;
        stage->wall_ms += TICK_MS;
        stage_step(stage);
        control_metrics(stage->control, &metrics);
        if (*ret_first < 0 && metrics.balance_round_count > before) {
            *ret_first = at;
        }
    }
    return (uint32_t)(metrics.balance_round_count - before);
}

/* One that could grow, but for want of room. */
static void tj_13_steps_come_every_five_seconds_and_after_events(void **state)
{
    struct stage stage;
    int64_t first;

    (void)state;
    start(&stage, 2);
    struct training a = submit(&stage, "a", 1, 3);
    stage_settle(&stage);
    exchange(&stage, &a, 2);
    assert_int_equal(run_all(&stage, &a), 2);
    /* Wait for a step, then count from it. */
    (void)rounds_in(&stage, 6000, &first);
    while (rounds_in(&stage, TICK_MS, &first) == 0) {
    }
    assert_int_equal(rounds_in(&stage, 4900, &first), 0);
    assert_int_equal(rounds_in(&stage, 5100, &first), 2);
    assert_in_range(first, TICK_MS, 200);
    /* An event 1.2 s after a step. */
    assert_int_equal(rounds_in(&stage, 1200, &first), 0);
    assert_int_equal(reclass(&stage, "a", "offline"), COMMAND_OK);
    assert_true(rounds_in(&stage, 1000, &first) >= 1);
    /* Fifty of them in a second, after a calm one. */
    (void)rounds_in(&stage, 2000, &first);
    uint32_t count = 0;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(reclass(&stage, "a", i % 2 ? "offline" : "experiment"),
                         COMMAND_OK);
        count += rounds_in(&stage, TICK_MS, &first);
    }
    assert_in_range(count, 0, 1);
    finish(&stage);
}

static uint32_t count_running(struct stage *stage,
                              const struct training *training)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < training->count; i++) {
        count += ends_in(stage, training->jobs[i], "running");
    }
    return count;
}

/* Trainers that do not run have been scaled down, once each. */
static void assert_scaled_down(struct stage *stage,
                               const struct training *training)
{
    for (uint32_t i = 1; i < training->count; i++) {
        auto_mem char *reason = stage_preemption(stage, training->jobs[i]);
        assert_int_equal(ends_in(stage, training->jobs[i], "running"),
                         strstr(reason, "ScaledDown, as its gang ") == NULL);
        assert_int_equal(ends_in(stage, training->jobs[i], "running"),
                         strstr(reason,
                                "; this is no failure: it waits, and "
                                "runs again when its gang grows") == NULL);
    }
    assert_int_equal(stage_count(stage, EVENT_RUN_PREEMPTED), 2);
    assert_int_equal(stage_count(stage, EVENT_FAILED), 0);
    assert_int_equal(count_running(stage, training), 4);
    /* Neither running nor failed: two wait again. */
    const struct training_row *row = look(stage, "a");
    assert_int_equal(row->parts[1].waiting_count, 2);
    assert_int_equal(row->parts[1].failed_count, 0);
    assert_string_equal(row->phase, "running");
}

static struct training start_six(struct stage *stage)
{
    int64_t first;

    start(stage, 7);
    struct training a = submit(stage, "a", 2, 6);
    stage_settle(stage);
    exchange(stage, &a, 7);
    (void)rounds_in(stage, 6000, &first);
    assert_int_equal(run_all(stage, &a), 7);
    return a;
}

/* Another job makes them go, and comes to its end; nothing of that is a
 * failure, and they come back. */
static void tj_18_scaling_down_for_others_is_no_failure(void **state)
{
    struct stage stage;
    int64_t first;

    (void)state;
    struct training a = start_six(&stage);
    struct training b = submit(&stage, "b", 1, 1);
    (void)rounds_in(&stage, 6000, &first);
    assert_scaled_down(&stage, &a);
    assert_phase(&stage, "b", "creating");
    assert_int_equal(run_all(&stage, &b), 2);
    stage_report(&stage, b.jobs[1], EVENT_RUN_SUCCEEDED);
    (void)rounds_in(&stage, 6000, &first);
    assert_phase(&stage, "b", "succeeded");
    assert_phase(&stage, "a", "scaling");
    (void)run_all(&stage, &a);
    assert_int_equal(count_running(&stage, &a), 6);
    assert_phase(&stage, "a", "running");
    restart(&stage);
    finish(&stage);
}

/* Five of seven nodes may be asked for: six trainers become four.  It
 * succeeds with those. */
static void tj_18_scaling_down_for_the_load_is_no_failure(void **state)
{
    struct stage stage;
    int64_t first;

    (void)state;
    struct training a = start_six(&stage);
    stage_crash(&stage);
    stage.policy.pools[0].load_max_ppm = 750000;
    stage_start(&stage);
    exchange(&stage, &a, 7);
    (void)rounds_in(&stage, 6000, &first);
    assert_scaled_down(&stage, &a);
    for (uint32_t i = 1; i < a.count; i++) {
        if (ends_in(&stage, a.jobs[i], "running")) {
            stage_report(&stage, a.jobs[i], EVENT_RUN_SUCCEEDED);
        }
    }
    (void)rounds_in(&stage, 2000, &first);
    assert_phase(&stage, "a", "succeeded");
    finish(&stage);
}

static void tj_21_a_change_of_class_takes_effect_at_once(void **state)
{
    struct stage stage;
    int64_t first;

    (void)state;
    start(&stage, 2);
    struct training busy = submit(&stage, "busy", 1, 1);
    stage_settle(&stage);
    exchange(&stage, &busy, 2);
    assert_int_equal(run_all(&stage, &busy), 2);
    struct training a = submit(&stage, "a", 1, 1);
    (void)rounds_in(&stage, 100, &first);
    struct training b = submit(&stage, "b", 1, 1);
    assert_int_equal(reclass(&stage, "b", "production"), COMMAND_OK);
    assert_int_equal(reclass(&stage, "busy", "production"), COMMAND_OK);
    assert_int_equal(stage_count(&stage, EVENT_RECLASSIFIED), 4);
    restart(&stage);
    (void)rounds_in(&stage, 2000, &first);
    /* What runs keeps its node, and its place is for the one set higher. */
    assert_phase(&stage, "busy", "running");
    stage_report(&stage, busy.jobs[1], EVENT_RUN_SUCCEEDED);
    (void)rounds_in(&stage, 3000, &first);
    assert_phase(&stage, "b", "creating");
    assert_phase(&stage, "a", "");
    (void)a;
    (void)b;
    assert_int_equal(reclass(&stage, "busy", "normal"), COMMAND_INVALID);
    assert_int_equal(reclass(&stage, "none", "normal"), COMMAND_NOT_FOUND);
    finish(&stage);
}

static void tj_21_a_checkpoint_knows_the_new_class_of_a_run(void **state)
{
    struct stage stage;
    int64_t first;

    (void)state;
    start(&stage, 0);
    struct training busy = submit(&stage, "busy", 1, 1);
    assert_int_equal(reclass(&stage, "busy", "production"), COMMAND_OK);
    exchange(&stage, &(struct training){0}, 2);
    stage_settle(&stage);
    exchange(&stage, &busy, 2);
    assert_int_equal(run_all(&stage, &busy), 2);
    assert_int_equal(reclass(&stage, "busy", "normal"), COMMAND_OK);
    stage.checkpoint_events = 1;
    restart(&stage);
    restart(&stage);
    /* What has become more urgent than it takes its place. */
    (void)submit(&stage, "a", 1, 1);
    assert_int_equal(reclass(&stage, "a", "production"), COMMAND_OK);
    (void)rounds_in(&stage, 3000, &first);
    assert_phase(&stage, "busy", "");
    assert_phase(&stage, "a", "creating");
    finish(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tj_04_phases_are_kept_over_a_restart),
        TEST(a_name_is_taken_until_it_is_deleted),
        TEST(tj_13_steps_come_every_five_seconds_and_after_events),
        TEST(tj_18_scaling_down_for_others_is_no_failure),
        TEST(tj_18_scaling_down_for_the_load_is_no_failure),
        TEST(tj_21_a_change_of_class_takes_effect_at_once),
        TEST(tj_21_a_checkpoint_knows_the_new_class_of_a_run),
    };

    return RUN_TESTS(tests);
}
