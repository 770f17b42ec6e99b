/* Applications in the leader: what the planner is told of them, and that
 * their states are what the log says. */
#include <stdio.h>
#include <string.h>

#include "leader_stage.h"
#include "unit.h"

enum { APPS = 10, EXECUTORS_OF_APP = 3, MINUTE_MS = 60 * 1000 };

/* A stage with a queue of an ordering and one node of 10 cpu. */
static struct stage *begin(const char *ordering)
{
    struct stage *s = mem_alloc(sizeof(*s));

    stage_init(s);
    stage_start(s);
    stage_do(s, stage_ordered_queue_command("q", ordering));
    stage_exchange(s, "e", 1, NULL, 0);
    return s;
}

static void end(struct stage *s)
{
    control_assert_valid(s->control);
    stage_fini(s);
    mem_free(s);
}

static struct job_id ask(struct stage *s, const char *application)
{
    return stage_submit(s, "q", (struct stage_job){.application = application});
}

static bool is_leased(struct stage *s, struct job_id job)
{
    return !key128_is_none(stage_run(s, job).v);
}

/* All applications of the queue as text: "id state asks/allocations, ...". */
static void assert_apps(struct stage *s, const char *expected)
{
    struct command *command = command_create(COMMAND_QUERY_APPS);
    auto_strbuf text = {0};

    command->apps.queue = STR("q");
    command->apps.limit = 100;
    stage_do(s, command);
    assert_int_equal(s->answer->result, COMMAND_OK);
    for (uint32_t i = 0; i < s->answer->apps.row_count; i++) {
        const struct application_row *row = &s->answer->apps.rows[i];
        strbuf_addf(&text, "%s%.*s %.*s %u/%u", i ? ", " : "", STR_ARG(row->id),
                    STR_ARG(row->state), row->ask_count, row->allocation_count);
    }
    strbuf_add_char(&text, '\0');
    assert_string_equal(text.bytes, expected);
}

/* The leader starts again, and nothing is otherwise. */
static void restart(struct stage *s)
{
    auto_strbuf before = {0}, after = {0};

    control_assert_valid(s->control);
    control_encode_state(s->control, &before);
    stage_crash(s);
    stage_start(s);
    control_encode_state(s->control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, after.byte_count);
    control_assert_valid(s->control);
}

/* Ten applications of a driver, and of three executors that it asks for once
 * it runs. */
struct ten {
    struct stage *stage;
    struct job_id driver[APPS], executors[APPS][EXECUTORS_OF_APP];
    bool has_asked[APPS], is_over[APPS];
    char ids[APPS][8];
    uint32_t completed_count;
};

static void ten_begin(struct ten *ten, struct stage *stage)
{
    *ten = (struct ten){.stage = stage};
    for (uint32_t i = 0; i < APPS; i++) {
        snprintf(ten->ids[i], sizeof(ten->ids[i]), "app%u", i);
        ten->driver[i] = ask(stage, ten->ids[i]);
    }
    stage_settle(stage);
}

static void finish(struct ten *ten, uint32_t i)
{
    for (uint32_t e = 0; e < EXECUTORS_OF_APP; e++) {
        stage_report(ten->stage, ten->executors[i][e], EVENT_RUN_SUCCEEDED);
    }
    stage_report(ten->stage, ten->driver[i], EVENT_RUN_SUCCEEDED);
    ten->is_over[i] = true;
    ten->completed_count++;
}

/* Drivers that run ask; who has all executors ends. */
static void play(struct ten *ten)
{
    for (uint32_t i = 0; i < APPS; i++) {
        bool has_all = ten->has_asked[i] && !ten->is_over[i];
        for (uint32_t e = 0; has_all && e < EXECUTORS_OF_APP; e++) {
            has_all = is_leased(ten->stage, ten->executors[i][e]);
        }
        if (has_all) {
            finish(ten, i);
        } else if (!ten->has_asked[i] &&
                   is_leased(ten->stage, ten->driver[i])) {
            ten->has_asked[i] = true;
            for (uint32_t e = 0; e < EXECUTORS_OF_APP; e++) {
                ten->executors[i][e] = ask(ten->stage, ten->ids[i]);
            }
        }
    }
    stage_settle(ten->stage);
}

/* SA-06: with one application starting at a time all of them complete; the
 * leader is killed after every round and goes on. */
static void sa_06_all_complete_and_survive_restarts(void **state)
{
    struct stage *s = begin("stateaware");
    struct ten ten;

    (void)state;
    s->checkpoint_events = 20;
    ten_begin(&ten, s);
    for (int round = 0; round < 60 && ten.completed_count < APPS; round++) {
        play(&ten);
        restart(s);
        stage_settle(s);
    }
    assert_int_equal(ten.completed_count, APPS);
    end(s);
}

/* SA-06, the contrast: by fifo ten drivers have the queue for ever. */
static void sa_06_fifo_deadlocks(void **state)
{
    struct stage *s = begin("fifo");
    struct ten ten;

    (void)state;
    ten_begin(&ten, s);
    for (int round = 0; round < 10; round++) {
        play(&ten);
    }
    assert_int_equal(ten.completed_count, 0);
    for (uint32_t i = 0; i < APPS; i++) {
        assert_true(is_leased(s, ten.driver[i]));
    }
    end(s);
}

/* SA-03: the leader wakes by itself when Starting has lasted long enough. */
static void sa_03_wakes_when_starting_ends(void **state)
{
    struct stage *s = begin("stateaware");
    struct job_id first = ask(s, "a"), second = ask(s, "b");

    (void)state;
    stage_settle(s);
    assert_apps(s, "a Starting 0/1, b Accepted 1/0");
    stage_report(s, first, EVENT_RUN_RUNNING);
    int64_t leased_ms = s->wall_ms;
    /* Executors stay in touch; that alone makes no plan. */
    while (s->wall_ms < leased_ms + 5 * MINUTE_MS - 2000) {
        struct run_id run = stage_run(s, first);
        stage_pass(s, 1000);
        stage_exchange(s, "e", 0, &run, 1);
        assert_false(is_leased(s, second));
    }
    restart(s);
    stage_pass(s, 3000);
    stage_settle(s);
    assert_true(is_leased(s, second));
    assert_apps(s, "a Running 0/1, b Starting 0/1");
    end(s);
}

/* SA-09: what opted out is Running at once, and the next one starts without
 * any other event. */
static void sa_09_goes_on_at_once(void **state)
{
    struct stage *s = begin("stateaware");

    (void)state;
    stage_submit(
        s, "q",
        (struct stage_job){.application = "a", .has_stateaware_off = true});
    struct job_id next = ask(s, "b");
    int64_t now_ms = s->wall_ms;
    stage_settle(s);
    assert_apps(s, "a Running 0/1, b Starting 0/1");
    assert_true(is_leased(s, next));
    assert_true(s->wall_ms < now_ms + MINUTE_MS);
    end(s);
}

/* SA-14: without an id the job set is the application; with one, each is its
 * own, in one job set too. */
static void sa_14_applications_within_a_job_set(void **state)
{
    struct stage *s = begin("stateaware");

    (void)state;
    ask(s, "a");
    ask(s, "b");
    ask(s, NULL);
    stage_settle(s);
    assert_apps(s, "a Starting 0/1, b Accepted 1/0, set Accepted 1/0");
    end(s);
}

/* A queue that is switched takes up the jobs that it has, and a crash after
 * that changes nothing. */
static void a_queue_is_switched_while_it_works(void **state)
{
    struct stage *s = begin("");
    struct job_id jobs[12];

    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        jobs[i] = ask(s, i % 2 ? "odd" : "even");
    }
    stage_settle(s);
    assert_apps(s, "");
    stage_do(s, stage_ordered_queue_command("q", "stateaware"));
    assert_apps(s, "even Running 1/5, odd Running 1/5");
    restart(s);
    stage_report(s, jobs[0], EVENT_RUN_SUCCEEDED);
    stage_settle(s);
    assert_apps(s, "even Running 0/5, odd Running 1/5");
    stage_do(s, stage_ordered_queue_command("q", ""));
    assert_apps(s, "");
    restart(s);
    end(s);
}

static void explains_who_is_starting(void **state)
{
    struct stage *s = begin("stateaware");

    (void)state;
    ask(s, "a");
    stage_settle(s);
    (void)stage_explain(s, ask(s, "b"));
    assert_non_null(
        strstr(s->answer->explain.text.p, "Application a has been Starting"));
    assert_non_null(strstr(s->answer->explain.json.p, "\"application\":\"a\""));
    assert_non_null(strstr(s->answer->explain.json.p,
                           "\"reason\":\"applicationStarting\""));
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sa_06_all_complete_and_survive_restarts),
        TEST(sa_06_fifo_deadlocks),
        TEST(sa_03_wakes_when_starting_ends),
        TEST(sa_09_goes_on_at_once),
        TEST(sa_14_applications_within_a_job_set),
        TEST(a_queue_is_switched_while_it_works),
        TEST(explains_who_is_starting),
    };

    return RUN_TESTS(tests);
}
