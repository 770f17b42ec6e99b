/*
 * executor: the loop as it asks for leases now and then.  Each test is a
 * sentence of executor.h or of armada-api.md 6.2.
 */
#include "executor/loop/failure_class.h"
#include "loop_fixture.h"
#include "unit.h"

static void a_leased_job_runs_and_each_phase_is_told_once(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "ars");
    assert_int_equal(loop_stub.create_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
    assert_int_equal(fixture->server.held_run_count, 0);
}

static void the_request_names_nodes_and_held_runs(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.run_a_ms = 1000000;
    (void)server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 11000);

    assert_int_equal(fixture->server.node_count, 500);
    assert_string_equal(fixture->server.last_node, "fake-node-0");
    assert_int_equal(fixture->server.open_count, 3); /* every 5 s */
    assert_int_equal(fixture->server.last_lease_max, 100);
}

static void the_request_names_what_budgets_protect(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.run_a_ms = 1000000;
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 1000);
    assert_int_equal(fixture->server.protected_count, 0);
    fake_protect(fixture->runtime, &fixture->server.jobs.items[job].run, 1);
    loop_run_for(fixture, 10000);
    assert_int_equal(fixture->server.protected_count, 1);
    fake_protect(fixture->runtime, NULL, 0);
    loop_run_for(fixture, 10000);
    assert_int_equal(fixture->server.protected_count, 0);
}

static void leases_that_come_again_start_nothing(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    fixture->server.is_deaf = true; /* so the server leases it for ever */
    loop_start(fixture);

    loop_run_for(fixture, 60000);

    assert_string_equal(loop_events_of(fixture, job), "");
    assert_int_equal(loop_stub.create_count, 1);
}

static void a_lease_whose_ids_are_none_is_passed_over(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t no_run = server_offer(&fixture->server, 1);
    uint32_t no_job = server_offer(&fixture->server, 2);
    uint32_t good = server_offer(&fixture->server, 3);
    fixture->server.jobs.items[no_run].run = (struct run_id){{0, 0}};
    fixture->server.jobs.items[no_job].job = (struct job_id){{0, 0}};
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_int_equal(loop_stub.create_count, 1);
    assert_string_equal(loop_events_of(fixture, good), "ars");
}

static void while_leases_wait_no_more_are_asked_for(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->options.create_max = 1;
    for (int i = 0; i < 10; i++) {
        (void)server_offer(&fixture->server, i);
    }
    loop_start(fixture);

    (void)executor_step(fixture->executor); /* asks */
    (void)executor_step(fixture->executor); /* creates up to 4 */
    fixture->clock.now_ms += 5000;
    (void)executor_step(fixture->executor);

    assert_int_equal(fixture->server.last_lease_max, 0);
}

static void a_cancelled_run_is_ended_without_a_word(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    (void)executor_step(fixture->executor);
    (void)executor_step(fixture->executor);
    fixture->server.jobs.items[job].is_cancelled = true;
    fixture->clock.now_ms += 900;
    server_push(&fixture->server);
    fixture->server.jobs.items[job].is_held = true;
    server_push(&fixture->server);
    loop_run_for(fixture, 30000);

    assert_null(strchr(loop_events_of(fixture, job), 's'));
    assert_null(strchr(loop_events_of(fixture, job), 'f'));
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
    assert_int_equal(executor_stats(fixture->executor)->stop_count, 1);
}

static void a_failure_is_told_with_its_pod_error(void **state)
{
    struct loop_fixture *fixture = *state;
    struct err err;
    runtime_close(fixture->runtime);
    fixture->fake.failure_ppm = 1000000;
    assert_int_equal(fake_open(&fixture->fake, &fixture->clock.clock,
                               &fixture->runtime, &err),
                     0);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "arf");
    assert_string_equal(fixture->server.jobs.items[job].subcategory, "");
}

static void a_failure_is_told_by_the_category_of_its_rule(void **state)
{
    static const int32_t none[] = {99};
    static const struct failure_rule rule = {.category = {"user_error", 10},
                                             .subcategory = {"code", 4},
                                             .sign = FAILURE_EXIT_CODE,
                                             .exit_codes = none,
                                             .exit_code_count = 1,
                                             .is_not_in = true};
    static const struct failure_rules rules = {.items = &rule, .count = 1};
    struct loop_fixture *fixture = *state;
    struct err err;
    auto_ptr(failure_classes) classes = failure_classes_create(&rules, &err);
    fixture->options.classes = classes;
    fixture->fake.failure_ppm = 1000000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "arf");
    assert_string_equal(fixture->server.jobs.items[job].subcategory, "code");
}

static void a_run_that_cannot_be_made_fails(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    fake_answer(fixture->runtime, RUNTIME_REFUSED, RUNTIME_SCOPE_CLUSTER,
                STR("no"));
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "f");
    assert_string_equal(fixture->server.jobs.items[job].subcategory,
                        "job-creation-failed");
    assert_int_equal(loop_stub.create_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void a_run_that_cannot_be_made_here_is_given_back(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    fake_answer(fixture->runtime, RUNTIME_RETURNED, RUNTIME_SCOPE_NODE,
                STR("disk full"));
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "b");
}

static void warnings_are_told_once(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    fake_answer(fixture->runtime, RUNTIME_CREATED, RUNTIME_SCOPE_NODE,
                STR("no images here\n"));
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "wars");
}

static void a_forgotten_run_that_is_leased_again_is_told_lost(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 20000);

    fixture->server.jobs.items[job].is_ended = false; /* it lost its memory */
    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "arsf");
    assert_string_equal(fixture->server.jobs.items[job].subcategory,
                        "pod-missing");
    assert_int_equal(loop_stub.create_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

/* As after a restart of a runtime that kept nothing. */
static void a_reported_run_without_a_pod_is_told_lost(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    uint32_t other = server_offer(&fixture->server, 2);
    fixture->server.jobs.items[job].was_reported = true;
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "f");
    assert_string_equal(fixture->server.jobs.items[job].subcategory,
                        "pod-missing");
    assert_string_equal(loop_events_of(fixture, other), "ars");
    assert_int_equal(loop_stub.create_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void while_the_server_is_away_nothing_is_lost(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t jobs[50];
    for (int i = 0; i < 50; i++) {
        jobs[i] = server_offer(&fixture->server, i);
    }
    /* Each try carries the whole inventory. */
    fixture->options.lease_retry_ms = 10000;
    loop_start(fixture);
    (void)executor_step(fixture->executor);
    (void)executor_step(fixture->executor);

    fixture->server.is_away = true;
    loop_run_for(fixture, 3600 * 1000);
    int tries = fixture->server.report_count;
    fixture->server.is_away = false;
    loop_run_for(fixture, 60000);

    for (int i = 0; i < 50; i++) {
        assert_string_equal(loop_events_of(fixture, jobs[i]), "ars");
    }
    assert_true(tries < 3600 / 25); /* it backs off to 30 s */
    assert_true(executor_stats(fixture->executor)->is_connected);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void acknowledged_phases_are_remembered_by_the_runtime(void **state)
{
    struct loop_fixture *fixture = *state;
    (void)server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_true(loop_stub.ack_count >= 1);
}

static void thousands_of_runs_at_once_are_fine(void **state)
{
    enum { JOBS = 20000 };
    struct loop_fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    loop_start(fixture);
    loop_run_for(fixture, 10);
    for (int i = 0; i < JOBS; i++) {
        (void)server_offer(&fixture->server, i);
    }
    int64_t before_ms = machine_ms();

    server_push(&fixture->server);
    loop_run_for(fixture, 30000);
    int64_t took_ms = machine_ms() - before_ms;

    for (uint32_t i = 0; i < JOBS; i++) {
        assert_string_equal(loop_events_of(fixture, i), "ars");
    }
    print_message("%d runs, both sides: %lld ms\n", JOBS, (long long)took_ms);
    assert_true(fixture->server.report_event_count_max <= 2002);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(a_leased_job_runs_and_each_phase_is_told_once),
        LOOP_TEST(the_request_names_nodes_and_held_runs),
        LOOP_TEST(the_request_names_what_budgets_protect),
        LOOP_TEST(leases_that_come_again_start_nothing),
        LOOP_TEST(a_lease_whose_ids_are_none_is_passed_over),
        LOOP_TEST(while_leases_wait_no_more_are_asked_for),
        LOOP_TEST(a_cancelled_run_is_ended_without_a_word),
        LOOP_TEST(a_failure_is_told_with_its_pod_error),
        LOOP_TEST(a_failure_is_told_by_the_category_of_its_rule),
        LOOP_TEST(a_run_that_cannot_be_made_fails),
        LOOP_TEST(a_run_that_cannot_be_made_here_is_given_back),
        LOOP_TEST(warnings_are_told_once),
        LOOP_TEST(a_forgotten_run_that_is_leased_again_is_told_lost),
        LOOP_TEST(a_reported_run_without_a_pod_is_told_lost),
        LOOP_TEST(while_the_server_is_away_nothing_is_lost),
        LOOP_TEST(acknowledged_phases_are_remembered_by_the_runtime),
        LOOP_TEST(thousands_of_runs_at_once_are_fine),
    };

    return RUN_TESTS(tests);
}
