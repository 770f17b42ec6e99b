/* Held sessions of executors: what is pushed, and whose a session is. */
#include <stdio.h>

#include "leader_stage.h"
#include "unit.h"

/* Held streams. */
struct listener {
    struct exchange_session session;
    uint32_t lease_count, cancel_count, released_count;
    enum command_result result;
};

static void on_push(struct exchange_session *session,
                    const struct exchange_response *response)
{
    struct listener *listener = session->ctx;

    listener->lease_count += response->lease_count;
    listener->cancel_count += response->cancel_count;
}

static void on_released(struct exchange_session *session,
                        enum command_result result)
{
    struct listener *listener = session->ctx;

    listener->released_count++;
    listener->result = result;
}

static void listen(struct stage *s, struct listener *listener, uint32_t credit)
{
    struct command *command = stage_exchange_command("e", 1, NULL, 0);

    *listener = (struct listener){
        .session = {.push = on_push, .released = on_released}};
    listener->session.ctx = listener;
    command->exchange.request.session = &listener->session;
    command->exchange.request.lease_max = credit;
    stage_do(s, command);
    listener->lease_count += s->answer->exchange.response.lease_count;
}

static void a_deleted_executor_comes_back(void **state)
{
    struct stage *s = stage_begin(1);
    struct listener listener;
    struct event event = stage_event_make(EVENT_EXECUTOR_DELETED);

    (void)state;
    listen(s, &listener, 10);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    event.settings.name = STR("e");
    stage_event(s, "", "", "root", &event);
    assert_int_equal(listener.released_count, 1);
    assert_int_equal(listener.result, COMMAND_NOT_FOUND);
    stage_pass(s, 2 * s->policy.executor_lost_timeout_ms);
    STAGE_HISTORY(s, job, "submit leased"); /* it never expires */
    listen(s, &listener, 10);
    assert_int_equal(listener.lease_count, 1);
    job = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, job, "submit leased");
    stage_end(s);
}

/* What an exchange takes in memory says nothing of what is logged. */
static void a_big_exchange_is_taken(void **state)
{
    struct stage *s = stage_begin(1);
    struct command *command = stage_exchange_command("big", 3, NULL, 0);

    (void)state;
    (void)!arena_alloc(&command->arena, CONTROL_BATCH_BYTES_MAX / 2 + 1);
    stage_do(s, command);
    assert_int_equal(s->answer->result, COMMAND_OK);
    stage_end(s);
}

/* A table that is full says so, and has room again for each that is
 * deleted. */
static void an_executor_that_is_deleted_makes_room(void **state)
{
    struct stage *s = stage_begin(1);
    struct event event = stage_event_make(EVENT_EXECUTOR_DELETED);
    struct control_metrics metrics;
    char name[32] = "";

    (void)state;
    control_metrics(s->control, &metrics);
    for (uint32_t i = metrics.executor_count; i < EXECUTORS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "executor-%u", i);
        stage_post(s, stage_exchange_command(name, 0, NULL, 0));
    }
    stage_settle(s);
    stage_do(s, stage_exchange_command("one-more", 0, NULL, 0));
    assert_int_equal(s->answer->result, COMMAND_OVERLOADED);

    event.settings.name = str_of(name);
    stage_event(s, "", "", "root", &event);
    stage_do(s, stage_exchange_command("one-more", 1, NULL, 0));
    assert_int_equal(s->answer->result, COMMAND_OK);
    stage_do(s, stage_exchange_command(name, 0, NULL, 0));
    assert_int_equal(s->answer->result, COMMAND_OVERLOADED);
    control_assert_valid(s->control);
    stage_end(s);
}

/* Open a held stream as a program of that number. */
static enum command_result listen_as(struct stage *s, struct listener *listener,
                                     uint64_t instance)
{
    struct command *command = stage_exchange_command("e", 1, NULL, 0);

    *listener = (struct listener){
        .session = {.push = on_push, .released = on_released}};
    listener->session.ctx = listener;
    command->exchange.request.session = &listener->session;
    command->exchange.request.instance = instance;
    stage_do(s, command);
    return s->answer->result;
}

static void
second_program_of_an_id_is_refused_while_the_first_is_there(void **state)
{
    struct stage *s = stage_begin(1);
    struct listener one, again, other;
    struct control_metrics metrics;

    (void)state;
    assert_int_equal(listen_as(s, &one, 1), COMMAND_OK);
    assert_int_equal(listen_as(s, &other, 2), COMMAND_EXISTS);
    assert_non_null(memmem(s->answer->result_text.p,
                           s->answer->result_text.byte_count, "\"e\"", 3));
    assert_int_equal(one.released_count, 0);
    control_metrics(s->control, &metrics);
    assert_int_equal(metrics.duplicate_id_count, 1);
    /* The first may come again; one that does not say is taken for it. */
    assert_int_equal(listen_as(s, &again, 1), COMMAND_OK);
    assert_int_equal(one.released_count, 1);
    assert_int_equal(listen_as(s, &one, 0), COMMAND_OK);
    assert_int_equal(again.released_count, 1);
    assert_int_equal(listen_as(s, &again, 1), COMMAND_OK);
    /* When its stream has ended the id is free. */
    struct command *over = command_create(COMMAND_SESSION_END);
    over->session_end.session = &again.session;
    stage_do(s, over);
    assert_int_equal(listen_as(s, &other, 2), COMMAND_OK);
    stage_end(s);
}

/* The stream of a machine that lost its power ends only when the network says
 * so, minutes later. */
static void a_silent_program_gives_up_its_id(void **state)
{
    struct stage *s = stage_begin(1);
    struct listener one, other;

    (void)state;
    assert_int_equal(listen_as(s, &one, 1), COMMAND_OK);
    stage_pass(s, CONTROL_DUPLICATE_ID_MS - 1000);
    assert_int_equal(listen_as(s, &other, 2), COMMAND_EXISTS);
    stage_pass(s, 1000);
    assert_int_equal(listen_as(s, &other, 2), COMMAND_OK);
    assert_int_equal(one.released_count, 1);
    stage_end(s);
}

static void leases_are_pushed_when_they_are_durable(void **state)
{
    struct stage *s = stage_begin(1);
    struct listener one, two;

    (void)state;
    struct job_id before = stage_leased(s, (struct stage_job){0});
    listen(s, &one, 2);
    assert_int_equal(one.lease_count, 1);
    struct job_id job = stage_leased(s, (struct stage_job){0});
    stage_leased(s, (struct stage_job){0});
    assert_int_equal(one.lease_count, 2); /* the third waits for credit */
    stage_cancel(s, before);
    stage_cancel(s, job);
    stage_settle(s);
    assert_int_equal(one.cancel_count, 2);
    struct command *delta = stage_exchange_command("e", 0, NULL, 0);
    delta->exchange.request.is_full = false;
    delta->exchange.request.session = &one.session;
    stage_do(s, delta);
    assert_int_equal(s->answer->exchange.response.lease_count, 1);
    /* A newer session takes over, and is told all that it does not list. */
    listen(s, &two, 100);
    assert_int_equal(one.released_count, 1);
    assert_int_equal(one.result, COMMAND_INVALID);
    assert_int_equal(two.lease_count, 1);
    struct command *over = command_create(COMMAND_SESSION_END);
    over->session_end.session = &two.session;
    stage_do(s, over);
    assert_int_equal(two.released_count, 1);
    assert_int_equal(two.result, COMMAND_OK);
    stage_leased(s, (struct stage_job){0});
    assert_int_equal(two.lease_count, 1);
    listen(s, &one, 100);
    stage_crash(s);
    assert_int_equal(one.released_count, 1);
    assert_int_equal(one.result, COMMAND_UNAVAILABLE);
    stage_start(s);
    stage_end(s);
}

static uint32_t node_count(struct stage *s)
{
    struct control_metrics metrics;

    control_metrics(s->control, &metrics);
    return metrics.node_count;
}

/* Once each, and not those that it lists as there. */
static void a_delta_names_the_nodes_that_are_gone(void **state)
{
    const struct str gone[] = {STR("n1"), STR("n0"), STR("n1"), STR("never")};
    struct stage *s = stage_begin(1);

    (void)state;
    stage_exchange(s, "e", 3, NULL, 0);
    int count = stage_count(s, EVENT_EXECUTOR_NODES);
    for (int i = 0; i < 2; i++) {
        struct command *delta = stage_exchange_command("e", 1, NULL, 0);
        delta->exchange.request.is_full = false;
        delta->exchange.request.nodes_gone = gone;
        delta->exchange.request.nodes_gone_count = ARRAY_COUNT(gone);
        stage_do(s, delta);
        assert_int_equal(s->answer->result, COMMAND_OK);
        /* n0 and n2 are left; to say it again is no news. */
        assert_int_equal(node_count(s), 2);
        assert_int_equal(stage_count(s, EVENT_EXECUTOR_NODES), count + 1);
    }
    stage_crash(s);
    stage_start(s);
    assert_int_equal(node_count(s), 2);
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_deleted_executor_comes_back),
        TEST(a_big_exchange_is_taken),
        TEST(an_executor_that_is_deleted_makes_room),
        TEST(a_silent_program_gives_up_its_id),
        TEST(leases_are_pushed_when_they_are_durable),
        TEST(second_program_of_an_id_is_refused_while_the_first_is_there),
        TEST(a_delta_names_the_nodes_that_are_gone),
    };

    return RUN_TESTS(tests);
}
