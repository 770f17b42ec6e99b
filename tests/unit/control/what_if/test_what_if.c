/* What would happen if something were changed. */
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "leader_stage.h"
#include "unit.h"

enum { SPAN_MS = 60000 };

/* What the hook was given. */
struct given {
    struct command *command;
    char *bytes;
    size_t byte_count;
    int64_t now_ms;
};

static void take(void *ctx, struct command *command, char *bytes,
                 size_t byte_count, int64_t now_ms)
{
    *(struct given *)ctx = (struct given){command, bytes, byte_count, now_ms};
}

struct scene {
    struct stage stage;
    struct given given;
    struct what_if *as_is, *what_if;
    struct arena arena;
    struct what_if_answer answer;
};

/* A leader with queues q and r and two nodes of 10 cpu. */
static struct scene *begin(void)
{
    struct scene *scene = mem_alloc(sizeof(*scene));

    stage_init(&scene->stage);
    scene->stage.hooks =
        (struct control_hooks){.ctx = &scene->given, .what_if = take};
    stage_start(&scene->stage);
    stage_queue(&scene->stage, "q");
    stage_queue(&scene->stage, "r");
    stage_exchange(&scene->stage, "e", 2, NULL, 0);
    return scene;
}

static void forget(struct scene *scene)
{
    what_if_destroy(scene->as_is);
    what_if_destroy(scene->what_if);
    command_destroy(scene->given.command);
    mem_free(scene->given.bytes);
    scene->as_is = scene->what_if = NULL;
    scene->given = (struct given){0};
}

static void end(struct scene *scene)
{
    forget(scene);
    arena_fini(&scene->arena);
    stage_settle(&scene->stage);
    control_assert_valid(scene->stage.control);
    stage_fini(&scene->stage);
    mem_free(scene);
}

static void ask(struct scene *scene)
{
    forget(scene);
    stage_post(&scene->stage, command_create(COMMAND_WHAT_IF));
    while (!scene->given.command) {
        stage_step(&scene->stage);
        assert_true(scene->stage.step_rc >= 0);
    }
}

static struct what_if *play(struct scene *scene,
                            struct what_if_changes *changes, int64_t span_ms)
{
    struct what_if_state state = {
        str_make(scene->given.bytes, scene->given.byte_count),
        scene->given.now_ms, WHAT_IF_P50};
    struct what_if_bounds bounds = {.clock = NULL};
    struct what_if *what_if;
    struct err err;

    assert_int_equal(what_if_create(&state, changes, &bounds, &what_if, &err),
                     0);
    assert_int_equal(what_if_play(what_if, span_ms, &err), 0);
    return what_if;
}

static const struct what_if_answer *
compare(struct scene *scene, struct what_if_changes *changes, int64_t span_ms)
{
    struct err err;

    ask(scene);
    scene->as_is = play(scene, NULL, span_ms);
    scene->what_if = play(scene, changes, span_ms);
    assert_int_equal(what_if_compare(scene->as_is, scene->what_if,
                                     &scene->arena, &scene->answer, &err),
                     0);
    return &scene->answer;
}

static int refused(struct scene *scene, struct what_if_changes *changes,
                   struct err *err)
{
    struct what_if_bounds bounds = {.clock = NULL};
    struct what_if *what_if = NULL;

    ask(scene);
    struct what_if_state state = {
        str_make(scene->given.bytes, scene->given.byte_count),
        scene->given.now_ms, WHAT_IF_P50};
    int rc = what_if_create(&state, changes, &bounds, &what_if, err);
    if (rc == 0) {
        rc = what_if_play(what_if, 0, err);
    }
    what_if_destroy(what_if);
    return rc;
}

static void test_without_changes_there_is_no_difference(void **state)
{
    struct scene *scene = begin();

    (void)state;
    for (int i = 0; i < 5; i++) {
        stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 5000});
    }
    struct what_if_changes none = {.submission = NULL};
    const struct what_if_answer *answer = compare(scene, &none, SPAN_MS);
    assert_int_equal(answer->row_count, 0);
    assert_int_equal(answer->counts[WHAT_IF_SAME], 4); /* they run */
    assert_int_equal(answer->queue_count, 1);
    assert_true(str_equal(answer->queues[0].name, STR("q")));
    assert_int_equal(answer->queues[0].what_if.running_count, 4);
    assert_int_equal(answer->queues[0].what_if.waiting_count, 1);
    /* Who never starts waits to the end. */
    assert_int_equal(answer->queues[0].what_if.wait_ms_sum, SPAN_MS);
    assert_int_equal(answer->span_ms, SPAN_MS);
    end(scene);
}

static void test_a_place_becomes_free_at_a_deadline(void **state)
{
    struct scene *scene = begin();
    struct what_if_nodes nodes = {STR("n0"), 1};
    struct what_if_changes changes = {.nodes = &nodes, .nodes_count = 1};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job_id job = stage_leased(
            &scene->stage,
            (struct stage_job){.cpu_milli = 10000, .deadline_ms = 30000});
        stage_report(&scene->stage, job, EVENT_RUN_RUNNING);
    }
    struct job_id last =
        stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    const struct what_if_answer *answer = compare(scene, &changes, SPAN_MS);
    assert_int_equal(answer->row_count, 1);
    assert_int_equal(answer->rows[0].effect, WHAT_IF_EARLIER);
    assert_int_equal(key128_compare(answer->rows[0].job.v, last.v), 0);
    assert_in_range(answer->rows[0].as_is.started_ms, 25000, 31000);
    assert_in_range(answer->rows[0].what_if.started_ms, 0, 1000);
    assert_true(str_equal(answer->rows[0].what_if.node, STR("what-if-1")));
    assert_int_equal(answer->queues[0].as_is.ended_count, 2);
    end(scene);
}

static void test_a_node_that_is_drained_loses_its_jobs(void **state)
{
    struct scene *scene = begin();
    struct str drained[] = {STR("n0"), STR("n0")}; /* twice is once */
    struct what_if_changes changes = {.drained = drained, .drained_count = 2};

    (void)state;
    for (int i = 0; i < 2; i++) {
        stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    }
    const struct what_if_answer *answer = compare(scene, &changes, SPAN_MS);
    assert_int_equal(answer->row_count, 1);
    assert_int_equal(answer->rows[0].effect, WHAT_IF_PREEMPTED);
    assert_true(str_equal(answer->rows[0].what_if.node, STR("n0")));
    assert_int_equal(answer->queues[0].what_if.preempted_count, 1);
    /* The leader itself knows nothing of it. */
    assert_int_equal(stage_count(&scene->stage, EVENT_RUN_PREEMPTED), 0);
    end(scene);
}

static void test_a_node_that_is_drained_keeps_what_may_not_go(void **state)
{
    struct scene *scene = begin();
    struct str drained[] = {STR("n0"), STR("n1"), STR("n0")};
    struct what_if_changes changes = {.drained = drained, .drained_count = 3};

    (void)state;
    stage_leased(&scene->stage,
                 (struct stage_job){.priority_class = "armada-default",
                                    .cpu_milli = 10000});
    stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    const struct what_if_answer *answer = compare(scene, &changes, SPAN_MS);
    assert_int_equal(answer->counts[WHAT_IF_PREEMPTED], 1);
    assert_int_equal(answer->drained_count, 2);
    assert_true(str_equal(answer->drained[0].node, STR("n0")));
    assert_true(str_equal(answer->drained[0].executor, STR("e")));
    assert_int_equal(answer->drained[0].kept_count, 1);
    assert_true(str_equal(answer->drained[1].node, STR("n1")));
    assert_int_equal(answer->drained[1].kept_count, 0);
    end(scene);
}

static void test_a_job_more_takes_the_place_of_one_less_urgent(void **state)
{
    struct scene *scene = begin();
    struct stage_job urgent = {.priority_class = "production",
                               .cpu_milli = 10000};
    struct what_if_changes changes = {.submission = NULL};

    (void)state;
    for (int i = 0; i < 2; i++) {
        stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    }
    changes.submission = stage_submit_command(&scene->stage, "q", &urgent, 1);
    const struct what_if_answer *answer = compare(scene, &changes, SPAN_MS);
    assert_null(changes.submission); /* it was taken */
    assert_int_equal(answer->counts[WHAT_IF_STARTS], 1);
    assert_int_equal(answer->counts[WHAT_IF_PREEMPTED], 1);
    /* In order of effects. */
    assert_int_equal(answer->rows[0].effect, WHAT_IF_STARTS);
    assert_true(
        str_equal(answer->rows[0].what_if.node, answer->rows[1].what_if.node));
    end(scene);
}

static void
test_a_submission_is_told_when_it_starts_and_why_not_now(void **state)
{
    struct scene *scene = begin();
    struct what_if_changes changes = {.submission = NULL};
    const struct stage_job jobs[] = {
        {.cpu_milli = 10000},  /* takes the free node */
        {.cpu_milli = 10000},  /* waits for the other */
        {.cpu_milli = 999000}, /* fits nowhere */
    };

    (void)state;
    struct job_id running =
        stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000,
                                                       .deadline_ms = 30000});
    stage_report(&scene->stage, running, EVENT_RUN_RUNNING);
    changes.submission = stage_submit_command(&scene->stage, "q", jobs, 3);
    const struct what_if_answer *answer = compare(scene, &changes, SPAN_MS);
    assert_int_equal(answer->submitted_count, 3);
    assert_true(answer->submitted[0].outcome.started_ms >= 0 &&
                answer->submitted[0].outcome.started_ms < 1000);
    assert_int_equal(answer->submitted[0].why.byte_count, 0);
    assert_true(answer->submitted[1].outcome.started_ms >= 29000);
    assert_non_null(strstr(answer->submitted[1].why.p, "nodes"));
    assert_int_equal(answer->submitted[2].outcome.started_ms, -1);
    assert_true(answer->submitted[2].outcome.is_refused ||
                answer->submitted[2].why.byte_count > 0);
    end(scene);
}

static void test_a_class_gets_another_priority(void **state)
{
    struct scene *scene = begin();
    struct class_change class = {
        .name = STR("offline"), .has_priority = true, .priority = 20000};
    struct what_if_changes changes = {.classes = &class, .class_count = 1};

    (void)state;
    for (int i = 0; i < 2; i++) {
        stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    }
    stage_leased(&scene->stage, (struct stage_job){
                                    .cpu_milli = 10000,
                                    .priority_class = "offline",
                                });
    const struct what_if_answer *answer = compare(scene, &changes, SPAN_MS);
    assert_int_equal(answer->counts[WHAT_IF_STARTS], 1);
    assert_int_equal(answer->counts[WHAT_IF_PREEMPTED], 1);
    end(scene);
}

/* The weights of all queues, by how much they are of the first's. */
static void test_a_weight_above_one_makes_the_others_smaller(void **state)
{
    struct scene *scene = begin();
    /* The last one counts. */
    struct what_if_weight weights[] = {{STR("q"), 2}, {STR("q"), 4}};
    struct what_if_changes changes = {.weights = weights, .weight_count = 2};

    (void)state;
    for (int i = 0; i < 20; i++) {
        stage_submit(&scene->stage, "r", (struct stage_job){.cpu_milli = 1000});
    }
    stage_settle(&scene->stage);
    for (int i = 0; i < 20; i++) {
        stage_submit(&scene->stage, "q", (struct stage_job){.cpu_milli = 1000});
    }
    const struct what_if_answer *answer = compare(scene, &changes, SPAN_MS);
    assert_int_equal(answer->queue_count, 2);
    assert_int_equal(answer->queues[0].as_is.running_count, 10);
    assert_int_equal(answer->queues[0].what_if.running_count, 16);
    assert_int_equal(answer->queues[1].what_if.running_count, 4);
    end(scene);
}

static void test_what_cannot_be_changed_is_named(void **state)
{
    struct scene *scene = begin();
    struct what_if_weight weight = {STR("none"), 2};
    struct class_change class = {.name = STR("none")};
    struct what_if_nodes nodes = {STR("none"), 1};
    struct str drained = STR("none");
    struct stage_job job = {.cpu_milli = 1000};
    struct err err;

    (void)state;
    struct what_if_changes changes = {.weights = &weight, .weight_count = 1};
    assert_int_equal(refused(scene, &changes, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "there is no queue \"none\"");
    changes = (struct what_if_changes){.classes = &class, .class_count = 1};
    assert_int_equal(refused(scene, &changes, &err), -ERR_NOT_FOUND);
    changes = (struct what_if_changes){.nodes = &nodes, .nodes_count = 1};
    assert_int_equal(refused(scene, &changes, &err), -ERR_NOT_FOUND);
    changes = (struct what_if_changes){.drained = &drained, .drained_count = 1};
    assert_int_equal(refused(scene, &changes, &err), -ERR_NOT_FOUND);
    changes = (struct what_if_changes){.policy = STR("pools: 3")};
    assert_int_equal(refused(scene, &changes, &err), -ERR_INVALID);
    changes = (struct what_if_changes){
        .submission = stage_submit_command(&scene->stage, "none", &job, 1)};
    assert_int_equal(refused(scene, &changes, &err), -ERR_NOT_FOUND);
    end(scene);
}

/* What comes after the end of the shorter course is not held against it. */
static void
test_what_comes_after_the_shorter_course_is_not_counted(void **state)
{
    struct scene *scene = begin();
    struct str drained = STR("n0"), queue = STR("q");
    struct what_if_changes changes = {.drained = &drained, .drained_count = 1};
    struct event event = {.type = EVENT_SELECTION};
    struct err err;

    (void)state;
    stage_leased(
        &scene->stage,
        (struct stage_job){.cpu_milli = 10000, .is_requeue_preempted = true});
    ask(scene);
    scene->as_is = play(scene, NULL, SPAN_MS / 2);
    scene->what_if = play(scene, &changes, SPAN_MS / 2);
    event.created_ms = scene->what_if->now_ms;
    event.selection.action = SELECTION_PREEMPT;
    event.selection.queues = &queue;
    event.selection.queue_count = 1;
    event.selection.states = STATE_SET_ALL;
    what_if_move(scene->what_if, 1);
    assert_int_equal(what_if_post_event(scene->what_if, &event, &err), 0);
    assert_int_equal(what_if_play(scene->what_if, SPAN_MS, &err), 0);
    assert_int_equal(what_if_compare(scene->as_is, scene->what_if,
                                     &scene->arena, &scene->answer, &err),
                     0);
    assert_int_equal(scene->answer.row_count, 1);
    assert_int_equal(scene->answer.rows[0].what_if.preempted_count, 1);
    /* By itself it was preempted once more. */
    struct what_if_outcome outcome;
    assert_true(what_if_outcome_of(scene->what_if, scene->answer.rows[0].job,
                                   &outcome));
    assert_int_equal(outcome.preempted_count, 2);
    end(scene);
}

/* The copy's leader stops, here for another that leads its log: whoever asked
 * is told, and nobody is ended by it. */
static void test_a_copy_that_stops_is_an_error(void **state)
{
    struct event event = {.type = EVENT_EXECUTOR_SETTINGS};
    struct scene *scene = begin();
    struct err err;
    uint64_t epoch;
    int rc = 0;

    (void)state;
    ask(scene);
    struct what_if *what_if = play(scene, NULL, 0);
    struct elog *other = elog_memory_open(what_if->storage);
    assert_int_equal(elog_acquire(other, &epoch, &err), 0);
    event.created_ms = what_if->now_ms;
    event.settings.name = STR("e");
    for (int i = 0; i < 2 * INBOX_COMMANDS_MAX && rc == 0; i++) {
        rc = what_if_post_event(what_if, &event, &err);
    }
    assert_int_equal(rc, -ERR_FENCED);
    assert_true(err.text[0] != '\0');
    what_if_destroy(what_if);
    elog_close(other);
    end(scene);
}

static void test_a_change_too_large_for_the_log_is_an_error(void **state)
{
    static char bytes[COMMAND_BYTES_MAX + 1];
    struct event event = {.type = EVENT_POLICY_SET};
    struct scene *scene = begin();
    struct err err;

    (void)state;
    ask(scene);
    scene->as_is = play(scene, NULL, 0);
    event.created_ms = scene->as_is->now_ms;
    event.policy.text = str_make(bytes, sizeof(bytes));
    assert_int_equal(what_if_post_event(scene->as_is, &event, &err),
                     -ERR_LIMIT);
    end(scene);
}

/* A clock of the work, on which time goes by, or the server is stopped, when it
 * is looked at for the nth time. */
struct work {
    struct clock clock; /* first member */
    bool is_stopping;
    uint32_t look_count;
    uint32_t stop_at, spent_at; /* 0: never */
};

static uint64_t work_ns(const struct clock *clock)
{
    struct work *work = (struct work *)(uintptr_t)clock;

    work->look_count++;
    if (work->look_count == work->stop_at) {
        __atomic_store_n(&work->is_stopping, true, __ATOMIC_RELAXED);
    }
    return work->spent_at && work->look_count >= work->spent_at
               ? 2 * WHAT_IF_WORK_MS_MAX * (uint64_t)NS_PER_MS
               : 0;
}

static int work_on(struct scene *scene, struct work *work,
                   struct what_if **ret_what_if)
{
    struct str drained = STR("n0");
    struct what_if_weight weight = {STR("q"), 4};
    struct what_if_changes changes = {.drained = &drained,
                                      .drained_count = 1,
                                      .weights = &weight,
                                      .weight_count = 1};
    struct what_if_bounds bounds = {&work->clock, &work->is_stopping, 0};
    struct what_if_state state = {
        str_make(scene->given.bytes, scene->given.byte_count),
        scene->given.now_ms, WHAT_IF_P50};
    struct err err;

    *ret_what_if = NULL;
    int rc = what_if_create(&state, &changes, &bounds, ret_what_if, &err);
    return rc < 0 ? rc : what_if_play(*ret_what_if, SPAN_MS, &err);
}

/* Wherever it comes: while the changes are made, within a moment, or between
 * two. */
static void test_a_stop_ends_the_work_at_once(void **state)
{
    struct work whole = {.clock = {.mono_ns = work_ns}};
    struct scene *scene = begin();
    struct what_if *what_if;

    (void)state;
    stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    ask(scene);
    assert_int_equal(work_on(scene, &whole, &what_if), 0);
    what_if_destroy(what_if);
    assert_true(whole.look_count > 10);
    for (uint32_t i = 1; i <= whole.look_count; i++) {
        struct work work = {.clock = {.mono_ns = work_ns}, .stop_at = i};
        assert_int_equal(work_on(scene, &work, &what_if), -ERR_UNAVAILABLE);
        assert_true(work.look_count <= i + 1);
        what_if_destroy(what_if);
    }
    end(scene);
}

/* So no size of it holds up a server that is to stop. */
static void test_a_stop_ends_the_reading_of_a_large_state(void **state)
{
    enum { JOBS = 3000, JOBS_AT_ONCE = 500, READ_AT_ONCE = 1024 };
    struct work whole = {.clock = {.mono_ns = work_ns}};
    struct scene *scene = begin();
    struct stage_job jobs[JOBS_AT_ONCE] = {0};
    struct what_if *what_if;

    (void)state;
    for (int i = 0; i < JOBS_AT_ONCE; i++) {
        jobs[i].cpu_milli = 10000;
    }
    for (int i = 0; i < JOBS / JOBS_AT_ONCE; i++) {
        stage_do(&scene->stage,
                 stage_submit_command(&scene->stage, "q", jobs, JOBS_AT_ONCE));
    }
    ask(scene);
    struct what_if_bounds bounds = {&whole.clock, &whole.is_stopping, 0};
    struct what_if_state given = {
        str_make(scene->given.bytes, scene->given.byte_count),
        scene->given.now_ms, WHAT_IF_P50};
    struct err err;
    assert_int_equal(what_if_create(&given, NULL, &bounds, &what_if, &err), 0);
    what_if_destroy(what_if);
    /* Both where jobs are decoded and where the planner is told of them. */
    assert_true(whole.look_count > 2 * (JOBS / READ_AT_ONCE));
    for (uint32_t i = 1; i <= whole.look_count; i++) {
        struct work work = {.clock = {.mono_ns = work_ns}, .stop_at = i};
        assert_int_equal(work_on(scene, &work, &what_if), -ERR_UNAVAILABLE);
        assert_true(work.look_count <= i + 1);
        what_if_destroy(what_if);
    }
    end(scene);
}

static void test_a_stop_ends_the_comparison(void **state)
{
    struct work work = {.clock = {.mono_ns = work_ns}};
    struct scene *scene = begin();
    struct err err;

    (void)state;
    stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    ask(scene);
    scene->as_is = play(scene, NULL, SPAN_MS);
    assert_int_equal(work_on(scene, &work, &scene->what_if), 0);
    __atomic_store_n(&work.is_stopping, true, __ATOMIC_RELAXED);
    assert_int_equal(what_if_compare(scene->as_is, scene->what_if,
                                     &scene->arena, &scene->answer, &err),
                     -ERR_UNAVAILABLE);
    end(scene);
}

/* Before the first moment is over there is nothing to answer with, afterwards
 * the course is cut; it never goes on. */
static void test_work_is_bounded(void **state)
{
    struct work whole = {.clock = {.mono_ns = work_ns}};
    struct scene *scene = begin();
    struct what_if *what_if;
    bool was_cut = false;

    (void)state;
    stage_leased(&scene->stage, (struct stage_job){.cpu_milli = 10000});
    ask(scene);
    assert_int_equal(work_on(scene, &whole, &what_if), 0);
    what_if_destroy(what_if);
    for (uint32_t i = 2; i <= whole.look_count; i++) {
        struct work work = {.clock = {.mono_ns = work_ns}, .spent_at = i};
        int rc = work_on(scene, &work, &what_if);
        assert_true(rc == 0 || rc == -ERR_LIMIT);
        assert_true(rc == 0 || !was_cut);
        assert_true(work.look_count <= i);
        assert_true(rc < 0 || (what_if->is_cut && what_if->span_ms <= SPAN_MS));
        was_cut |= rc == 0;
        what_if_destroy(what_if);
    }
    assert_true(was_cut);
    end(scene);
}

/* Marks of the log's time are of the leader's log, not of the copy's. */
static void test_a_leader_of_many_days_is_asked(void **state)
{
    struct what_if_changes none = {.submission = NULL};
    struct scene *scene = begin();

    (void)state;
    for (int i = 0; i < 3; i++) {
        stage_pass(&scene->stage, INT64_C(24) * 3600 * 1000);
        stage_queue(&scene->stage, "q");
    }
    assert_true(scene->stage.control->marks.count > 1);
    assert_int_equal(compare(scene, &none, SPAN_MS)->row_count, 0);
    end(scene);
}

static void on_answered(struct command *command, void *ctx)
{
    *(enum command_result *)ctx = command->result;
    command_destroy(command);
}

static struct command *question(enum command_result *result)
{
    struct command *command = command_create(COMMAND_WHAT_IF);

    command->done = on_answered;
    command->ctx = result;
    return command;
}

static void test_one_is_answered_at_a_time(void **state)
{
    enum command_result second = COMMAND_OK;
    struct scene *scene = begin();

    (void)state;
    stage_post(&scene->stage, command_create(COMMAND_WHAT_IF));
    assert_int_equal(inbox_post(scene->stage.inbox, question(&second)), 0);
    stage_settle(&scene->stage);
    assert_int_equal(second, COMMAND_OVERLOADED);
    assert_non_null(scene->given.command);
    end(scene);
}

static void test_without_a_hook_it_is_refused(void **state)
{
    enum command_result result = COMMAND_OK;
    struct stage *stage = stage_begin(1);

    (void)state;
    assert_int_equal(inbox_post(stage->inbox, question(&result)), 0);
    stage_settle(stage);
    assert_int_equal(result, COMMAND_UNAVAILABLE);
    stage_end(stage);
}

/* A checkpoint that is written meanwhile takes the turn; the question is still
 * answered. */
static void test_a_clean_stop_answers_what_waits(void **state)
{
    enum command_result result = COMMAND_OK;
    struct scene *scene = begin();
    struct err err;

    (void)state;
    assert_int_equal(inbox_post(scene->stage.inbox, question(&result)), 0);
    stage_step(&scene->stage);
    assert_null(scene->given.command); /* the jobs are still to be encoded */
    assert_int_equal(control_checkpoint(scene->stage.control, &err), 0);
    control_destroy(scene->stage.control);
    scene->stage.control = NULL;
    assert_int_equal(result, COMMAND_UNAVAILABLE);
    stage_crash(&scene->stage);
    stage_start(&scene->stage);
    end(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_changes_there_is_no_difference),
        TEST(test_a_place_becomes_free_at_a_deadline),
        TEST(test_a_node_that_is_drained_loses_its_jobs),
        TEST(test_a_node_that_is_drained_keeps_what_may_not_go),
        TEST(test_a_job_more_takes_the_place_of_one_less_urgent),
        TEST(test_a_submission_is_told_when_it_starts_and_why_not_now),
        TEST(test_a_class_gets_another_priority),
        TEST(test_a_weight_above_one_makes_the_others_smaller),
        TEST(test_what_cannot_be_changed_is_named),
        TEST(test_what_comes_after_the_shorter_course_is_not_counted),
        TEST(test_a_copy_that_stops_is_an_error),
        TEST(test_a_change_too_large_for_the_log_is_an_error),
        TEST(test_a_stop_ends_the_work_at_once),
        TEST(test_a_stop_ends_the_reading_of_a_large_state),
        TEST(test_a_stop_ends_the_comparison),
        TEST(test_work_is_bounded),
        TEST(test_a_leader_of_many_days_is_asked),
        TEST(test_one_is_answered_at_a_time),
        TEST(test_without_a_hook_it_is_refused),
        TEST(test_a_clean_stop_answers_what_waits),
    };

    return RUN_TESTS(tests);
}
