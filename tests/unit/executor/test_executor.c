/*
 * executor: the loop over a fake runtime and a server of a few lines, on a
 * clock that the test moves.  Each test is a sentence of executor.h or of
 * armada-api.md 6.2 and 6.3.
 */
#include <stdio.h>

#include "executor/executor.h"
#include "executor/fake.h"
#include "server.h"
#include "support.h"
#include "unit.h"

struct fixture {
    struct test_clock clock;
    struct server server;
    struct fake_options fake;
    struct executor_options options;
    struct runtime *runtime;
    struct executor *executor;
};

/* What the tests put before the fake runtime's create. */
static struct {
    const struct runtime_ops *real;
    int rc;           /* answered instead of creating; 0: create */
    const char *text; /* with it */
    const char *warning;
    int create_count, ack_count;
} stub;

static int stub_create(struct runtime *runtime, const struct runtime_run *run,
                       struct strbuf *warnings, struct err *err)
{
    stub.create_count++;
    if (stub.warning) {
        strbuf_add_text(warnings, stub.warning);
    }
    return stub.rc < 0 ? err_set(err, stub.rc, "%s", stub.text)
                       : stub.real->create(runtime, run, warnings, err);
}

static void stub_ack(struct runtime *runtime, struct run_id run,
                     enum reconcile_phase phase)
{
    stub.ack_count++;
    stub.real->ack(runtime, run, phase);
}

static struct runtime_ops stub_ops;

static void start(struct fixture *fixture)
{
    fixture->executor =
        executor_create(&fixture->options, &fixture->clock.clock,
                        &fixture->server.port, fixture->runtime);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct err err;

    fixture = (struct fixture){0};
    test_clock_init(&fixture.clock);
    server_init(&fixture.server, &fixture.clock);
    fake_options_default(&fixture.fake);
    executor_options_default(&fixture.options);
    assert_int_equal(
        fake_open(&fixture.fake, &fixture.clock.clock, &fixture.runtime, &err),
        0);
    stub.real = fixture.runtime->ops;
    stub.rc = stub.create_count = stub.ack_count = 0;
    stub.warning = NULL;
    stub_ops = *fixture.runtime->ops;
    stub_ops.create = stub_create;
    stub_ops.ack = stub_ack;
    fixture.runtime->ops = &stub_ops;
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    executor_destroy(fixture->executor);
    runtime_close(fixture->runtime);
    server_fini(&fixture->server);
    return 0;
}

/* Step until `ms` have passed, moving the clock to each wake. */
static void run_for(struct fixture *fixture, int64_t ms)
{
    int64_t until_ms = fixture->clock.now_ms + ms;

    for (;;) {
        int64_t wake_ms = executor_step(fixture->executor);
        if (fixture->server.queue_first < fixture->server.queue.count) {
            continue; /* something has arrived */
        }
        if (fixture->clock.now_ms + wake_ms > until_ms) {
            fixture->clock.now_ms = until_ms;
            (void)executor_step(fixture->executor);
            return;
        }
        fixture->clock.now_ms += wake_ms;
    }
}

static const char *events_of(const struct fixture *fixture, uint32_t job)
{
    return fixture->server.jobs.items[job].events;
}

/* Polled. */

static void a_leased_job_runs_and_each_phase_is_told_once(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    start(fixture);

    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "ars");
    assert_int_equal(stub.create_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
    assert_int_equal(fixture->server.held_run_count, 0);
}

static void the_request_names_nodes_and_held_runs(void **state)
{
    struct fixture *fixture = *state;
    fixture->fake.run_a_ms = 1000000;
    (void)server_offer(&fixture->server, 1);
    start(fixture);

    run_for(fixture, 11000);

    assert_int_equal(fixture->server.node_count, 500);
    assert_string_equal(fixture->server.last_node, "fake-node-0");
    assert_int_equal(fixture->server.open_count, 3); /* every 5 s */
    assert_int_equal(fixture->server.last_lease_max, 100);
}

static void the_request_names_what_budgets_protect(void **state)
{
    struct fixture *fixture = *state;
    fixture->fake.run_a_ms = 1000000;
    uint32_t job = server_offer(&fixture->server, 1);
    start(fixture);

    run_for(fixture, 1000);
    assert_int_equal(fixture->server.protected_count, 0);
    fake_protect(fixture->runtime, &fixture->server.jobs.items[job].run, 1);
    run_for(fixture, 10000);
    assert_int_equal(fixture->server.protected_count, 1);
    fake_protect(fixture->runtime, NULL, 0);
    run_for(fixture, 10000);
    assert_int_equal(fixture->server.protected_count, 0);
}

static void leases_that_come_again_start_nothing(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    fixture->server.is_deaf = true; /* so the server leases it for ever */
    start(fixture);

    run_for(fixture, 60000);

    assert_string_equal(events_of(fixture, job), "");
    assert_int_equal(stub.create_count, 1);
}

static void while_leases_wait_no_more_are_asked_for(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.create_max = 1;
    for (int i = 0; i < 10; i++) {
        (void)server_offer(&fixture->server, i);
    }
    start(fixture);

    (void)executor_step(fixture->executor); /* asks */
    (void)executor_step(fixture->executor); /* creates up to 4 */
    fixture->clock.now_ms += 5000;
    (void)executor_step(fixture->executor);

    assert_int_equal(fixture->server.last_lease_max, 0);
}

static void a_cancelled_run_is_ended_without_a_word(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    start(fixture);

    (void)executor_step(fixture->executor);
    (void)executor_step(fixture->executor);
    fixture->server.jobs.items[job].is_cancelled = true;
    fixture->clock.now_ms += 900;
    server_push(&fixture->server);
    fixture->server.jobs.items[job].is_held = true;
    server_push(&fixture->server);
    run_for(fixture, 30000);

    assert_null(strchr(events_of(fixture, job), 's'));
    assert_null(strchr(events_of(fixture, job), 'f'));
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
    assert_int_equal(executor_stats(fixture->executor)->stop_count, 1);
}

static void a_failure_is_told_with_its_pod_error(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    runtime_close(fixture->runtime);
    fixture->fake.failure_ppm = 1000000;
    assert_int_equal(fake_open(&fixture->fake, &fixture->clock.clock,
                               &fixture->runtime, &err),
                     0);
    uint32_t job = server_offer(&fixture->server, 1);
    start(fixture);

    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "arf");
    assert_string_equal(fixture->server.jobs.items[job].subcategory, "");
}

static void a_run_that_cannot_be_made_fails(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    stub.rc = -ERR_INVALID;
    stub.text = "no";
    start(fixture);

    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "f");
    assert_string_equal(fixture->server.jobs.items[job].subcategory,
                        "job-creation-failed");
    assert_int_equal(stub.create_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void a_run_that_cannot_be_made_here_is_given_back(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    stub.rc = -ERR_FULL;
    stub.text = "disk full";
    start(fixture);

    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "b");
}

static const char *node_of(const struct fixture *fixture, uint32_t job)
{
    return fixture->server.jobs.items[job].node;
}

/* Jobs of 6 cores are leased for node 0 of 8, on which others have some. */
static void start_short(struct fixture *fixture, int64_t cores_taken)
{
    fixture->server.cpu = "6";
    assert_true(fake_take(fixture->runtime, STR("fake-node-0"), STR("cpu"),
                          cores_taken * 1000));
    start(fixture);
}

static void bk_11_a_pod_goes_to_an_equal_node(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    start_short(fixture, 4);

    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "ars");
    assert_string_equal(node_of(fixture, job), "fake-node-1");
    assert_int_equal(executor_stats(fixture->executor)->repack_count, 1);
}

static void bk_11_a_pod_stays_where_it_has_room(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    start_short(fixture, 2);

    run_for(fixture, 20000);

    assert_string_equal(node_of(fixture, job), "fake-node-0");
}

/* Pods of ours count too, until they end. */
static void bk_11_no_node_gets_more_than_it_has(void **state)
{
    struct fixture *fixture = *state;
    uint32_t first = server_offer(&fixture->server, 1);
    uint32_t second = server_offer(&fixture->server, 2);
    uint32_t third = server_offer(&fixture->server, 3);
    start_short(fixture, 4);

    run_for(fixture, 20000);

    assert_string_equal(node_of(fixture, first), "fake-node-1");
    assert_string_equal(node_of(fixture, second), "fake-node-10");
    assert_string_equal(node_of(fixture, third), "fake-node-100");
    uint32_t fourth = server_offer(&fixture->server, 4);
    run_for(fixture, 20000);
    assert_string_equal(node_of(fixture, fourth), "fake-node-1");
}

static void bk_11_a_lease_goes_back_when_no_node_has_room(void **state)
{
    struct fixture *fixture = *state;
    char name[32];
    uint32_t job = server_offer(&fixture->server, 1);
    for (int i = 1; i < 500; i++) {
        snprintf(name, sizeof(name), "fake-node-%d", i);
        assert_true(
            fake_take(fixture->runtime, str_of(name), STR("cpu"), 3000));
    }
    start_short(fixture, 4);

    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "b");
    assert_int_equal(stub.create_count, 0);
}

static void warnings_are_told_once(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    stub.warning = "no images here\n";
    start(fixture);

    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "wars");
}

static void a_forgotten_run_that_is_leased_again_is_told_lost(void **state)
{
    struct fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    start(fixture);
    run_for(fixture, 20000);

    fixture->server.jobs.items[job].is_ended = false; /* it lost its memory */
    run_for(fixture, 20000);

    assert_string_equal(events_of(fixture, job), "arsf");
    assert_string_equal(fixture->server.jobs.items[job].subcategory,
                        "pod-missing");
    assert_int_equal(stub.create_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

/* Outages. */

static void while_the_server_is_away_nothing_is_lost(void **state)
{
    struct fixture *fixture = *state;
    uint32_t jobs[50];
    for (int i = 0; i < 50; i++) {
        jobs[i] = server_offer(&fixture->server, i);
    }
    start(fixture);
    (void)executor_step(fixture->executor);
    (void)executor_step(fixture->executor);

    fixture->server.is_away = true;
    run_for(fixture, 3600 * 1000);
    int tries = fixture->server.report_count;
    fixture->server.is_away = false;
    run_for(fixture, 60000);

    for (int i = 0; i < 50; i++) {
        assert_string_equal(events_of(fixture, jobs[i]), "ars");
    }
    assert_true(tries < 3600 / 25); /* it backs off to 30 s */
    assert_true(executor_stats(fixture->executor)->is_connected);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void acknowledged_phases_are_remembered_by_the_runtime(void **state)
{
    struct fixture *fixture = *state;
    (void)server_offer(&fixture->server, 1);
    start(fixture);

    run_for(fixture, 20000);

    assert_true(stub.ack_count >= 1);
}

/* Held. */

static void a_held_stream_is_opened_once_and_fed_with_deltas(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    start(fixture);
    run_for(fixture, 1000);

    uint32_t job = server_offer(&fixture->server, 1);
    server_push(&fixture->server);
    run_for(fixture, 3000);

    assert_string_equal(events_of(fixture, job), "ars");
    assert_int_equal(fixture->server.open_count, 1);
    assert_true(fixture->server.delta_count >= 2); /* taken, gone */
    assert_false(fixture->server.jobs.items[job].is_held);
    assert_true(executor_stats(fixture->executor)->is_held);
}

static void a_delta_waits_for_room_and_then_says_all(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    start(fixture);
    run_for(fixture, 1000);
    int delta_count = fixture->server.delta_count;

    fixture->server.is_full = true;
    uint32_t first = server_offer(&fixture->server, 1);
    uint32_t second = server_offer(&fixture->server, 2);
    server_push(&fixture->server);
    run_for(fixture, 500);
    assert_int_equal(fixture->server.delta_count, delta_count);

    fixture->server.is_full = false;
    run_for(fixture, 100);
    assert_int_equal(fixture->server.delta_count, delta_count + 1);
    run_for(fixture, 3000);
    assert_string_equal(events_of(fixture, first), "ars");
    assert_string_equal(events_of(fixture, second), "ars");
}

static void reports_of_a_held_stream_go_out_within_10_ms(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    start(fixture);
    run_for(fixture, 1000);

    uint32_t job = server_offer(&fixture->server, 1);
    server_push(&fixture->server);
    run_for(fixture, 10);

    assert_int_equal(events_of(fixture, job)[0], 'a');
}

static void credit_bounds_what_is_pushed(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    fixture->options.held_lease_max = 8;
    for (int i = 0; i < 100; i++) {
        (void)server_offer(&fixture->server, i);
    }
    start(fixture);

    (void)executor_step(fixture->executor);
    assert_int_equal(fixture->server.credit, 0);
    run_for(fixture, 10000);

    assert_int_equal(stub.create_count, 100);
    for (uint32_t i = 0; i < 100; i++) {
        assert_string_equal(events_of(fixture, i), "ars");
    }
}

static void a_held_stream_that_ends_is_opened_anew_and_in_full(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    uint32_t job = server_offer(&fixture->server, 1);
    start(fixture);
    run_for(fixture, 500);

    server_hang_up(&fixture->server);
    run_for(fixture, 600);

    assert_int_equal(fixture->server.open_count, 2);
    assert_int_equal(fixture->server.held_run_count, 1);
    run_for(fixture, 2000);
    assert_string_equal(events_of(fixture, job), "ars");
    assert_int_equal(stub.create_count, 1);
}

/* So a server may take executors for silent after a few such periods. */
static void an_executor_with_no_news_says_that_it_lives(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    start(fixture);
    run_for(fixture, 1000);
    int before = fixture->server.delta_count;

    run_for(fixture, 4 * fixture->options.alive_period_ms);

    assert_int_equal(fixture->server.delta_count - before, 4);
    assert_int_equal(fixture->server.open_count, 1);
}

static void a_silent_held_stream_is_given_up(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    fixture->options.inventory_period_ms = 1000000000;
    fixture->options.alive_period_ms = 1000000000;
    fixture->options.held_silence_ms = 60000;
    start(fixture);

    run_for(fixture, 130000);

    assert_int_equal(fixture->server.cancel_count, 2);
    assert_int_equal(fixture->server.open_count, 3);
}

/* Many. */

static void thousands_of_runs_at_once_are_fine(void **state)
{
    enum { JOBS = 20000 };
    struct fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    start(fixture);
    run_for(fixture, 10);
    for (int i = 0; i < JOBS; i++) {
        (void)server_offer(&fixture->server, i);
    }
    int64_t before_ms = machine_ms();

    server_push(&fixture->server);
    run_for(fixture, 30000);
    int64_t took_ms = machine_ms() - before_ms;

    for (uint32_t i = 0; i < JOBS; i++) {
        assert_string_equal(events_of(fixture, i), "ars");
    }
    print_message("%d runs, both sides: %lld ms\n", JOBS, (long long)took_ms);
    assert_true(fixture->server.report_event_count_max <= 2002);
}

#define EXECUTOR_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXECUTOR_TEST(a_leased_job_runs_and_each_phase_is_told_once),
        EXECUTOR_TEST(the_request_names_nodes_and_held_runs),
        EXECUTOR_TEST(the_request_names_what_budgets_protect),
        EXECUTOR_TEST(leases_that_come_again_start_nothing),
        EXECUTOR_TEST(while_leases_wait_no_more_are_asked_for),
        EXECUTOR_TEST(a_cancelled_run_is_ended_without_a_word),
        EXECUTOR_TEST(a_failure_is_told_with_its_pod_error),
        EXECUTOR_TEST(a_run_that_cannot_be_made_fails),
        EXECUTOR_TEST(a_run_that_cannot_be_made_here_is_given_back),
        EXECUTOR_TEST(bk_11_a_pod_goes_to_an_equal_node),
        EXECUTOR_TEST(bk_11_a_pod_stays_where_it_has_room),
        EXECUTOR_TEST(bk_11_no_node_gets_more_than_it_has),
        EXECUTOR_TEST(bk_11_a_lease_goes_back_when_no_node_has_room),
        EXECUTOR_TEST(warnings_are_told_once),
        EXECUTOR_TEST(a_forgotten_run_that_is_leased_again_is_told_lost),
        EXECUTOR_TEST(while_the_server_is_away_nothing_is_lost),
        EXECUTOR_TEST(acknowledged_phases_are_remembered_by_the_runtime),
        EXECUTOR_TEST(a_held_stream_is_opened_once_and_fed_with_deltas),
        EXECUTOR_TEST(a_delta_waits_for_room_and_then_says_all),
        EXECUTOR_TEST(reports_of_a_held_stream_go_out_within_10_ms),
        EXECUTOR_TEST(credit_bounds_what_is_pushed),
        EXECUTOR_TEST(a_held_stream_that_ends_is_opened_anew_and_in_full),
        EXECUTOR_TEST(an_executor_with_no_news_says_that_it_lives),
        EXECUTOR_TEST(a_silent_held_stream_is_given_up),
        EXECUTOR_TEST(thousands_of_runs_at_once_are_fine),
    };
    return RUN_TESTS(tests);
}
