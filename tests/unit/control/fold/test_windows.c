/* Maintenance windows in the leader: what the log says of them stays, what
 * would run into one does not start, and they end by themselves. */
#include <stdio.h>
#include <string.h>

#include "berth/api.pb-c.h"
#include "leader_stage.h"
#include "unit.h"
#include "wire/message/message.h"

enum { S = 1000, HOUR_S = 3600 };

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

/* A window that begins so many seconds from now and lasts an hour, of what
 * `nodes` says; NULL: of all nodes. */
static struct command *repeated_command(const struct stage *s, const char *name,
                                        int64_t begin_s, const char *node,
                                        int64_t repeat_s)
{
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_WINDOW_SET);
    Google__Protobuf__Timestamp begin = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Google__Protobuf__Timestamp end = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Berth__Api__MaintenanceWindow window = BERTH__API__MAINTENANCE_WINDOW__INIT;
    char *nodes[] = {arena_strdup(&arena, str_of(node))};

    begin.seconds = s->wall_ms / S + begin_s;
    end.seconds = begin.seconds + HOUR_S;
    window.name = arena_strdup(&arena, str_of(name));
    window.begin = &begin;
    window.end = &end;
    window.lead_seconds = 2 * HOUR_S;
    window.repeat_seconds = repeat_s;
    window.all_nodes = node == NULL;
    window.n_nodes = node != NULL;
    window.nodes = nodes;
    window.reason = arena_strdup(&arena, STR("new cables"));
    event.window.encoded = wire_encode_arena(&window.base, &arena);
    return stage_event_command("", "", "olaf", &event);
}

static struct command *window_command(const struct stage *s, const char *name,
                                      int64_t begin_s, const char *node)
{
    return repeated_command(s, name, begin_s, node, 0);
}

static void put(struct stage *s, const char *name, int64_t begin_s,
                const char *node)
{
    stage_do(s, window_command(s, name, begin_s, node));
    assert_int_equal(s->answer->result, COMMAND_OK);
}

static struct command *deletion(const char *name)
{
    struct event event = stage_event_make(EVENT_WINDOW_DELETED);

    event.window.record.name = str_of(name);
    return stage_event_command("", "", "olaf", &event);
}

static void assert_windows(struct stage *s, const char *expected)
{
    auto_strbuf text = {0};

    stage_do(s, command_create(COMMAND_QUERY_WINDOWS));
    for (uint32_t i = 0; i < s->answer->windows.row_count; i++) {
        const struct window_row *row = &s->answer->windows.rows[i];
        auto_arena arena = {0};
        ProtobufCMessage *window;
        assert_int_equal(
            wire_decode(&berth__api__maintenance_window__descriptor,
                        row->encoded, &wire_request_limits, &arena, &window,
                        NULL),
            0);
        strbuf_addf(&text, "%s%s %u %s", i ? ", " : "",
                    ((Berth__Api__MaintenanceWindow *)(void *)window)->name,
                    row->node_count, row->is_open ? "open" : "planned");
    }
    assert_string_equal(strbuf_text(&text), expected);
}

static bool is_leased(struct stage *s, struct job_id job)
{
    auto_mem char *history = stage_history(s, job);

    return strstr(history, "leased") != NULL;
}

static void they_are_listed_in_order_of_names(void **state)
{
    struct stage *s = *state;

    put(s, "b", -1, NULL);
    put(s, "a", 2 * HOUR_S, "n0");
    put(s, "c", HOUR_S, "n7");
    assert_windows(s, "a 1 planned, b 1 open, c 0 planned");
    stage_do(s, deletion("b"));
    assert_windows(s, "a 1 planned, c 0 planned");
}

static void nodes_tell_of_the_windows_about_them(void **state)
{
    struct stage *s = *state;

    put(s, "a", HOUR_S, NULL);
    put(s, "b", 2 * HOUR_S, "n7");
    put(s, "c", 3 * HOUR_S, "n0");
    struct command *command = command_create(COMMAND_QUERY_NODES);
    command->nodes.count_max = 10;
    stage_do(s, command);
    assert_int_equal(s->answer->nodes.node_count, 1);
    const struct node_status *node = &s->answer->nodes.nodes[0];
    assert_int_equal(node->window_count, 2);
    assert_true(str_equal(node->windows[0].name, STR("a")));
    assert_true(str_equal(node->windows[1].name, STR("c")));
    assert_int_equal(node->windows[1].begin_ms - node->windows[0].begin_ms,
                     2 * HOUR_S * S);
    assert_int_equal(node->windows[1].end_ms - node->windows[1].begin_ms,
                     HOUR_S * S);
}

static void a_name_is_asked_for_alone(void **state)
{
    struct stage *s = *state;
    struct command *command = command_create(COMMAND_QUERY_WINDOWS);

    put(s, "a", HOUR_S, "n7");
    put(s, "b", HOUR_S, "n0");
    command->windows.name = STR("b");
    stage_do(s, command);
    assert_int_equal(s->answer->windows.row_count, 1);
    assert_int_equal(s->answer->windows.rows[0].node_count, 1);
    command = command_create(COMMAND_QUERY_WINDOWS);
    command->windows.name = STR("c");
    stage_do(s, command);
    assert_int_equal(s->answer->result, COMMAND_OK);
    assert_int_equal(s->answer->windows.row_count, 0);
}

/* Their counts are kept, not made when somebody asks. */
static void counts_follow_nodes_and_windows(void **state)
{
    struct stage *s = *state;

    put(s, "all", HOUR_S, NULL);
    put(s, "one", HOUR_S, "n2");
    assert_windows(s, "all 1 planned, one 0 planned");
    stage_exchange(s, "e", 3, NULL, 0);
    stage_exchange(s, "f", 2, NULL, 0);
    assert_windows(s, "all 5 planned, one 1 planned");
    put(s, "one", HOUR_S, "n1");
    assert_windows(s, "all 5 planned, one 2 planned");
    stage_do(s, deletion("all"));
    put(s, "other", HOUR_S, "n0"); /* in its place */
    assert_windows(s, "one 2 planned, other 2 planned");
    stage_exchange(s, "e", 1, NULL, 0);
    assert_windows(s, "one 1 planned, other 2 planned");
    stage_crash(s);
    stage_start(s);
    assert_windows(s, "one 1 planned, other 2 planned");
}

static void they_outlive_the_leader(void **state)
{
    struct stage *s = *state;
    auto_strbuf before = {0}, after = {0};

    put(s, "a", HOUR_S, NULL);
    control_encode_state(s->control, &before);
    stage_crash(s);
    stage_start(s);
    control_encode_state(s->control, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
    assert_windows(s, "a 1 planned");
}

static void they_outlive_it_by_a_checkpoint(void **state)
{
    struct stage *s = *state;

    s->checkpoint_events = 1;
    stage_crash(s);
    stage_start(s);
    put(s, "a", HOUR_S, NULL);
    stage_pass(s, 120 * S);
    stage_crash(s);
    stage_start(s);
    assert_windows(s, "a 1 planned");
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.deadline_ms = HOUR_S * S});
    stage_settle(s);
    assert_false(is_leased(s, job));
}

static void what_would_run_into_one_does_not_start(void **state)
{
    struct stage *s = *state;

    put(s, "cables", HOUR_S, NULL);
    struct job_id late = stage_submit(
        s, "q", (struct stage_job){.deadline_ms = (HOUR_S + 1) * S});
    struct job_id endless = stage_submit(s, "q", (struct stage_job){0});
    struct job_id in_time =
        stage_submit(s, "q", (struct stage_job){.deadline_ms = HOUR_S / 2 * S});
    stage_settle(s);

    assert_true(is_leased(s, in_time));
    assert_false(is_leased(s, late));
    assert_false(is_leased(s, endless));
    stage_do(s, deletion("cables"));
    stage_settle(s);
    assert_true(is_leased(s, late));
    assert_true(is_leased(s, endless));
}

static bool has(struct str text, const char *part)
{
    return memmem(text.p, text.byte_count, part, strlen(part)) != NULL;
}

static void explain_names_it(void **state)
{
    struct stage *s = *state;

    put(s, "cables", HOUR_S, NULL);
    put(s, "later", 3 * HOUR_S, NULL);
    put(s, "elsewhere", HOUR_S, "n7");
    struct job_id job = stage_submit(
        s, "q", (struct stage_job){.deadline_ms = (HOUR_S + 1) * S});
    stage_settle(s);

    const struct command *answer = stage_explain(s, job);
    struct str text = answer->explain.text, json = answer->explain.json;
    assert_true(has(text, "Maintenance window cables is from "));
    assert_true(has(text, "(new cables)"));
    assert_false(has(text, "later"));
    assert_false(has(text, "elsewhere"));
    assert_true(has(json, "\"reason\":\"maintenanceWindow\""));
    assert_true(has(json, "\"maintenanceWindows\":[{\"name\":\"cables\""));
}

static void one_ends_by_itself(void **state)
{
    struct stage *s = *state;

    put(s, "a", 60, NULL);
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.deadline_ms = HOUR_S * S});
    stage_pass(s, (60 + HOUR_S - 10) * S);
    stage_exchange(s, "e", 1, NULL, 0);
    assert_windows(s, "a 1 open");
    assert_false(is_leased(s, job));
    stage_pass(s, 11 * S);
    stage_settle(s);

    assert_windows(s, "");
    assert_int_equal(stage_count(s, EVENT_WINDOW_DELETED), 1);
    assert_true(is_leased(s, job));
}

/* The windows are seconds apart: a limit of a minute fits between two. */
static void one_that_repeats_moves_on(void **state)
{
    struct stage *s = *state;

    stage_do(s, repeated_command(s, "a", 60, NULL, HOUR_S + 120));
    stage_pass(s, (60 + HOUR_S + 1) * S);
    stage_exchange(s, "e", 1, NULL, 0);
    stage_settle(s);
    assert_windows(s, "a 1 planned");
    assert_int_equal(stage_count(s, EVENT_WINDOW_DELETED), 0);
    assert_int_equal(stage_count(s, EVENT_WINDOW_SET), 2);
    struct job_id in_time =
        stage_submit(s, "q", (struct stage_job){.deadline_ms = 60 * S});
    struct job_id late =
        stage_submit(s, "q", (struct stage_job){.deadline_ms = 180 * S});
    stage_settle(s);
    assert_true(is_leased(s, in_time));
    assert_false(is_leased(s, late));
    stage_pass(s, 120 * S);
    assert_windows(s, "a 1 open");
}

static void nothing_starts_in_the_batch_that_makes_one(void **state)
{
    struct stage *s = *state;

    stage_post(s, window_command(s, "a", 60, NULL));
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.deadline_ms = HOUR_S * S});
    stage_settle(s);
    assert_false(is_leased(s, job));
}

static void of_two_who_make_one_at_once_one_is_refused(void **state)
{
    struct stage *s = *state;
    struct command *first = window_command(s, "a", 60, NULL);
    struct command *second = window_command(s, "a", 90, NULL);

    first->events.object_wish = second->events.object_wish = OBJECT_WISH_NEW;
    stage_post(s, first);
    stage_do(s, second);
    assert_int_equal(s->answer->result, COMMAND_EXISTS);
    second = window_command(s, "b", 90, NULL);
    second->events.object_wish = OBJECT_WISH_THERE;
    stage_do(s, second);
    assert_int_equal(s->answer->result, COMMAND_NOT_FOUND);
    assert_windows(s, "a 1 planned");
}

static void there_are_only_so_many(void **state)
{
    struct stage *s = *state;

    for (int i = 0; i < WINDOWS_MAX; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "w%d", i);
        put(s, name, HOUR_S, "n0");
    }
    stage_do(s, window_command(s, "more", HOUR_S, "n0"));
    assert_int_equal(s->answer->result, COMMAND_OVERLOADED);
    put(s, "w0", 2 * HOUR_S, "n0"); /* a change needs no room */
}

#define OF_LEADER(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_LEADER(they_are_listed_in_order_of_names),
        OF_LEADER(nodes_tell_of_the_windows_about_them),
        OF_LEADER(a_name_is_asked_for_alone),
        OF_LEADER(counts_follow_nodes_and_windows),
        OF_LEADER(they_outlive_the_leader),
        OF_LEADER(they_outlive_it_by_a_checkpoint),
        OF_LEADER(what_would_run_into_one_does_not_start),
        OF_LEADER(explain_names_it),
        OF_LEADER(one_ends_by_itself),
        OF_LEADER(one_that_repeats_moves_on),
        OF_LEADER(nothing_starts_in_the_batch_that_makes_one),
        OF_LEADER(of_two_who_make_one_at_once_one_is_refused),
        OF_LEADER(there_are_only_so_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
