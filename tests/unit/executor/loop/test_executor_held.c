/*
 * executor: the loop over a held stream (armada-api.md 6.3).
 */
#include "loop_fixture.h"
#include "unit.h"

/* Start the executor, and let its stream be held. */
static void hold(struct loop_fixture *fixture)
{
    fixture->server.agrees_to_hold = true;
    loop_start(fixture);
    loop_run_for(fixture, 1000);
}

static void a_held_stream_is_opened_once_and_fed_with_deltas(void **state)
{
    struct loop_fixture *fixture = *state;
    hold(fixture);

    uint32_t job = server_offer(&fixture->server, 1);
    server_push(&fixture->server);
    loop_run_for(fixture, 3000);

    assert_string_equal(loop_events_of(fixture, job), "ars");
    assert_int_equal(fixture->server.open_count, 1);
    assert_true(fixture->server.delta_count >= 2); /* taken, gone */
    assert_false(fixture->server.jobs.items[job].is_held);
    assert_true(executor_stats(fixture->executor)->is_held);
}

static void a_delta_waits_for_room_and_then_says_all(void **state)
{
    struct loop_fixture *fixture = *state;
    hold(fixture);
    int delta_count = fixture->server.delta_count;

    fixture->server.is_full = true;
    uint32_t first = server_offer(&fixture->server, 1);
    uint32_t second = server_offer(&fixture->server, 2);
    server_push(&fixture->server);
    loop_run_for(fixture, 500);
    assert_int_equal(fixture->server.delta_count, delta_count);

    fixture->server.is_full = false;
    loop_run_for(fixture, 100);
    assert_int_equal(fixture->server.delta_count, delta_count + 1);
    loop_run_for(fixture, 3000);
    assert_string_equal(loop_events_of(fixture, first), "ars");
    assert_string_equal(loop_events_of(fixture, second), "ars");
}

static void reports_of_a_held_stream_go_out_within_10_ms(void **state)
{
    struct loop_fixture *fixture = *state;
    hold(fixture);

    uint32_t job = server_offer(&fixture->server, 1);
    server_push(&fixture->server);
    loop_run_for(fixture, 10);

    assert_int_equal(loop_events_of(fixture, job)[0], 'a');
}

static void credit_bounds_what_is_pushed(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    fixture->options.held_lease_max = 8;
    for (int i = 0; i < 100; i++) {
        (void)server_offer(&fixture->server, i);
    }
    loop_start(fixture);

    (void)executor_step(fixture->executor);
    assert_int_equal(fixture->server.credit, 0);
    loop_run_for(fixture, 10000);

    assert_int_equal(loop_stub.create_count, 100);
    for (uint32_t i = 0; i < 100; i++) {
        assert_string_equal(loop_events_of(fixture, i), "ars");
    }
}

static void a_held_stream_that_ends_is_opened_anew_and_in_full(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 500);

    server_hang_up(&fixture->server);
    loop_run_for(fixture, 600);

    assert_int_equal(fixture->server.open_count, 2);
    assert_int_equal(fixture->server.held_run_count, 1);
    loop_run_for(fixture, 2000);
    assert_string_equal(loop_events_of(fixture, job), "ars");
    assert_int_equal(loop_stub.create_count, 1);
}

/* So a server may take executors for silent after a few such periods. */
static void an_executor_with_no_news_says_that_it_lives(void **state)
{
    struct loop_fixture *fixture = *state;
    hold(fixture);
    int before = fixture->server.delta_count;

    loop_run_for(fixture, 4 * fixture->options.alive_period_ms);

    assert_int_equal(fixture->server.delta_count - before, 4);
    assert_int_equal(fixture->server.open_count, 1);
}

static void a_silent_held_stream_is_given_up(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    fixture->options.inventory_period_ms = 1000000000;
    fixture->options.alive_period_ms = 1000000000;
    fixture->options.held_silence_ms = 60000;
    loop_start(fixture);

    loop_run_for(fixture, 130000);

    assert_int_equal(fixture->server.cancel_count, 2);
    assert_int_equal(fixture->server.open_count, 3);
}

/* A server that lives on leases the room of the pods that end: a pod started
 * on it would outlive the executor. */
static void nothing_is_started_once_all_pods_are_to_end(void **state)
{
    struct loop_fixture *fixture = *state;
    enum { OFFERED = 20 };
    fixture->options.create_max = 1;
    hold(fixture);
    for (int i = 0; i < OFFERED; i++) {
        (void)server_offer(&fixture->server, i);
    }
    server_push(&fixture->server);
    while (loop_stub.create_count == 0) {
        (void)executor_step(fixture->executor);
    }
    int created_count = loop_stub.create_count;
    assert_true(created_count < OFFERED);

    executor_stop_all(fixture->executor, 1000);
    uint32_t late = server_offer(&fixture->server, OFFERED);
    server_push(&fixture->server);
    loop_run_for(fixture, 10000);

    assert_int_equal(loop_stub.create_count, created_count);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
    assert_true(fixture->server.jobs.items[0].is_ended);
    assert_string_equal(loop_events_of(fixture, OFFERED - 1), "");
    assert_string_equal(loop_events_of(fixture, late), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(a_held_stream_is_opened_once_and_fed_with_deltas),
        LOOP_TEST(a_delta_waits_for_room_and_then_says_all),
        LOOP_TEST(reports_of_a_held_stream_go_out_within_10_ms),
        LOOP_TEST(credit_bounds_what_is_pushed),
        LOOP_TEST(a_held_stream_that_ends_is_opened_anew_and_in_full),
        LOOP_TEST(an_executor_with_no_news_says_that_it_lives),
        LOOP_TEST(a_silent_held_stream_is_given_up),
        LOOP_TEST(nothing_is_started_once_all_pods_are_to_end),
    };

    return RUN_TESTS(tests);
}
