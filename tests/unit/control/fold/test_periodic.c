/* Periodic jobs in the leader: what the log says of them stays, each moment is
 * answered once, and a run and its moment are one record. */
#include <stdio.h>
#include <string.h>

#include "control/control.h"
#include "leader_stage.h"
#include "unit.h"

enum { DUE_MS = 60000, NEXT_MS = 120000 };

static int setup(void **state)
{
    *state = stage_begin(1);
    return 0;
}

static int teardown(void **state)
{
    stage_end(*state);
    return 0;
}

static struct command *command_of(const char *queue, struct event *event)
{
    struct command *command = stage_event_command(queue, "", "anna", event);

    command->events.is_periodic = true;
    return command;
}

static struct command *set_command(const char *queue, const char *name,
                                   int64_t next_ms, enum object_wish wish)
{
    static const struct str groups[] = {{"everyone", 8}, {"physics", 7}};
    struct event event = stage_event_make(EVENT_PERIODIC_SET);

    event.periodic.name = str_of(name);
    event.periodic.encoded = STR("some bytes");
    event.periodic.next_ms = next_ms;
    event.periodic.owner = (struct periodic_owner){
        .name = STR("anna"), .groups = groups, .group_count = 2};
    struct command *command = command_of(queue, &event);
    command->events.object_wish = wish;
    return command;
}

static void put(struct stage *s, const char *queue, const char *name,
                int64_t next_ms)
{
    stage_do(s, set_command(queue, name, next_ms, OBJECT_WISH_NONE));
    assert_int_equal(s->answer->result, COMMAND_OK);
}

static struct event run_event(const char *name, int64_t due_ms,
                              enum periodic_outcome outcome)
{
    struct event event = stage_event_make(EVENT_PERIODIC_RUN);

    event.periodic.name = str_of(name);
    event.periodic.due_ms = due_ms;
    event.periodic.next_ms = due_ms + NEXT_MS - DUE_MS;
    event.periodic.run =
        (struct periodic_run){.moment_ms = due_ms, .outcome = outcome};
    return event;
}

/* A submission of two jobs that is a run. */
static struct command *run_command(struct stage *s, const char *name,
                                   int64_t due_ms)
{
    const struct stage_job jobs[2] = {{0}, {0}};
    struct command *command = stage_submit_command(s, "q", jobs, 2);
    struct event event = run_event(name, due_ms, PERIODIC_SUBMITTED);
    auto_strbuf encoded = {0};

    event.periodic.run.first = command->submit.items[0].job;
    event.periodic.run.job_count = 1;
    log_encode_event(&encoded, &event);
    command->submit.periodic_name = arena_str(&command->arena, str_of(name));
    command->submit.periodic_due_ms = due_ms;
    command->submit.periodic_event =
        arena_str(&command->arena, strbuf_str(&encoded));
    return command;
}

static void assert_rows(struct stage *s, int64_t due_ms, const char *expected)
{
    struct command *command = command_create(COMMAND_QUERY_PERIODIC);
    auto_strbuf text = {0};

    command->periodic.due_ms = due_ms;
    stage_do(s, command);
    for (uint32_t i = 0; i < s->answer->periodic.row_count; i++) {
        const struct periodic_row *row = &s->answer->periodic.rows[i];
        assert_true(str_equal(row->encoded, STR("some bytes")));
        assert_true(str_equal(row->owner.groups[1], STR("physics")));
        strbuf_addf(&text, "%s%.*s/%.*s %lld %s%.*s %u", i ? ", " : "",
                    STR_ARG(row->queue), STR_ARG(row->name),
                    (long long)row->next_ms,
                    periodic_outcome_name(row->last.outcome),
                    STR_ARG(row->last.text), row->run_count);
    }
    assert_string_equal(strbuf_text(&text), expected);
}

static void they_are_listed_by_queue_and_name(void **state)
{
    struct stage *s = *state;

    stage_queue(s, "p");
    put(s, "q", "a", DUE_MS);
    put(s, "p", "b", NEXT_MS);
    put(s, "q", "b", 0);
    assert_rows(s, 0, "p/b 120000  0, q/a 60000  0, q/b 0  0");
    assert_rows(s, DUE_MS, "q/a 60000  0");
    assert_rows(s, DUE_MS - 1, "");
}

static void new_ones_are_new_and_others_are_there(void **state)
{
    struct stage *s = *state;
    struct event event = stage_event_make(EVENT_PERIODIC_DELETED);

    stage_do(s, set_command("q", "a", DUE_MS, OBJECT_WISH_THERE));
    assert_int_equal(s->answer->result, COMMAND_NOT_FOUND);
    stage_do(s, set_command("q", "a", DUE_MS, OBJECT_WISH_NEW));
    assert_int_equal(s->answer->result, COMMAND_OK);
    stage_do(s, set_command("q", "a", DUE_MS, OBJECT_WISH_NEW));
    assert_int_equal(s->answer->result, COMMAND_EXISTS);
    stage_do(s, set_command("q", "a", NEXT_MS, OBJECT_WISH_THERE));
    assert_rows(s, 0, "q/a 120000  0");
    event.periodic.name = STR("a");
    stage_do(s, command_of("q", &event));
    assert_rows(s, 0, "");
}

static void a_queue_has_a_limit(void **state)
{
    struct stage *s = *state;
    char name[20];

    for (int i = 0; i < PERIODIC_OF_QUEUE_MAX; i++) {
        (void)snprintf(name, sizeof(name), "n%d", i);
        put(s, "q", name, DUE_MS);
    }
    stage_do(s, set_command("q", "more", DUE_MS, OBJECT_WISH_NEW));
    assert_int_equal(s->answer->result, COMMAND_OVERLOADED);
    put(s, "q", "n7", NEXT_MS); /* a change is no further one */
}

static void a_run_and_its_moment_are_one_record(void **state)
{
    struct stage *s = *state;

    put(s, "q", "a", DUE_MS);
    uint32_t before = stage_count(s, EVENT_SUBMIT);
    struct command *first = run_command(s, "a", DUE_MS);
    struct command *again = run_command(s, "a", DUE_MS);
    stage_post(s, first);
    stage_do(s, again);
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), before + 2);
    assert_int_equal(stage_count(s, EVENT_PERIODIC_RUN), 1);
    assert_rows(s, 0, "q/a 120000 Submitted 1");
}

static void a_restart_knows_which_moments_are_dealt_with(void **state)
{
    struct stage *s = *state;

    put(s, "q", "a", DUE_MS);
    stage_do(s, run_command(s, "a", DUE_MS));
    assert_int_equal(s->answer->result, COMMAND_OK);
    stage_crash(s);
    stage_start(s);
    assert_rows(s, 0, "q/a 120000 Submitted 1");
    stage_do(s, run_command(s, "a", DUE_MS));
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    assert_int_equal(stage_count(s, EVENT_PERIODIC_RUN), 1);
}

static void a_checkpoint_has_them(void **state)
{
    struct stage *s = *state;
    struct event event = run_event("b", DUE_MS, PERIODIC_SKIPPED);

    put(s, "q", "a", DUE_MS);
    put(s, "q", "b", DUE_MS);
    stage_do(s, run_command(s, "a", DUE_MS));
    event.periodic.run.text = STR(": the one before");
    stage_do(s, command_of("q", &event));
    s->checkpoint_events = 1;
    stage_crash(s);
    stage_start(s);
    stage_settle(s);
    stage_crash(s);
    stage_start(s);
    assert_rows(s, 0,
                "q/a 120000 Submitted 1, q/b 120000 Skipped: the one before 0");
}

static void another_next_moment_is_no_outcome(void **state)
{
    struct stage *s = *state;
    struct event event = run_event("a", NEXT_MS, PERIODIC_NONE);

    put(s, "q", "a", DUE_MS);
    stage_do(s, run_command(s, "a", DUE_MS));
    event.periodic.next_ms = DUE_MS;
    stage_do(s, command_of("q", &event));
    assert_rows(s, 0, "q/a 60000 Submitted 1");
}

static void runs_that_have_ended_are_forgotten(void **state)
{
    struct stage *s = *state;

    put(s, "q", "a", DUE_MS);
    struct command *command = run_command(s, "a", DUE_MS);
    struct job_id job = command->submit.items[0].job;
    stage_do(s, command);
    assert_rows(s, 0, "q/a 120000 Submitted 1");
    stage_cancel(s, job);
    stage_settle(s);
    assert_rows(s, 0, "q/a 120000 Submitted 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_are_listed_by_queue_and_name,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(new_ones_are_new_and_others_are_there,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_queue_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_and_its_moment_are_one_record,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_restart_knows_which_moments_are_dealt_with, setup, teardown),
        cmocka_unit_test_setup_teardown(a_checkpoint_has_them, setup, teardown),
        cmocka_unit_test_setup_teardown(another_next_moment_is_no_outcome,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(runs_that_have_ended_are_forgotten,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
