/*
 * executor: the loop over a runtime that answers later, as a cluster does.
 */
#include "executor/port/node_set.h"
#include "loop_fixture.h"
#include "unit.h"

/* A pod that nobody told the executor of. */
static void appear(struct loop_fixture *fixture, struct job_id job,
                   struct run_id run, enum reconcile_phase phase)
{
    const struct runtime_pod pod = {
        .run = run,
        .job = job,
        .queue = STR("queue"),
        .job_set = STR("set"),
        .pod_name = STR("mine"),
        .phase = phase,
    };

    fake_appear(fixture->runtime, &pod);
}

static void
nothing_is_asked_of_the_server_before_the_pods_are_listed(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.list_delay_ms = 7000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 6999);
    assert_int_equal(fixture->server.open_count, 0);
    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "ars");
}

static void a_creation_may_take_its_time(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.create_delay_ms = 8000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 7000);
    assert_string_equal(loop_events_of(fixture, job), "");
    assert_int_equal(executor_stats(fixture->executor)->create_count, 0);
    assert_int_equal(fixture->server.last_lease_max, 0); /* it waits */
    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "ars");
    assert_int_equal(loop_stub.create_count, 1);
}

static void what_is_cancelled_while_it_is_created_ends_then(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.create_delay_ms = 20000;
    fixture->fake.run_a_ms = 1000000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 7000);

    fixture->server.jobs.items[job].is_cancelled = true;
    loop_run_for(fixture, 10000);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 1);
    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "");
    assert_int_equal(executor_stats(fixture->executor)->stop_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void a_stop_that_gets_lost_is_asked_again(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.run_a_ms = 100000000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 7000);

    fake_lose_requests(fixture->runtime, 2);
    fixture->server.jobs.items[job].is_cancelled = true;
    loop_run_for(fixture, 55000);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 1);
    loop_run_for(fixture, 20000);

    assert_int_equal(executor_stats(fixture->executor)->stop_count, 3);
    assert_int_equal(executor_stats(fixture->executor)->repeat_count, 2);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void a_forget_that_gets_lost_is_asked_again(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    fake_lose_requests(fixture->runtime, 1);
    loop_run_for(fixture, 20000);
    assert_string_equal(loop_events_of(fixture, job), "ars");
    assert_int_equal(executor_stats(fixture->executor)->run_count, 1);
    loop_run_for(fixture, 30000);

    assert_string_equal(loop_events_of(fixture, job), "ars");
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

static void a_pod_that_appears_is_held_and_told(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    struct server_job *offered = &fixture->server.jobs.items[job];
    offered->is_cancelled = true; /* not leased */
    fixture->fake.run_a_ms = 100000000;
    loop_open(fixture);
    loop_start(fixture);
    loop_run_for(fixture, 1000);

    offered->is_cancelled = false;
    appear(fixture, offered->job, offered->run, RECONCILE_RUNNING);
    loop_run_for(fixture, 10000);

    assert_string_equal(loop_events_of(fixture, job), "ar");
    assert_true(fixture->server.jobs.items[job].is_held);
    assert_int_equal(loop_stub.create_count, 0);
}

/* A creation that went back because nobody could tell how it ended. */
static void a_pod_that_appears_after_its_end_is_ended(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    fake_answer(fixture->runtime, RUNTIME_RETURNED, RUNTIME_SCOPE_NODE,
                STR("no answer"));
    loop_start(fixture);
    loop_run_for(fixture, 20000);
    assert_string_equal(loop_events_of(fixture, job), "b");

    appear(fixture, fixture->server.jobs.items[job].job,
           fixture->server.jobs.items[job].run, RECONCILE_RUNNING);
    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "b");
    assert_int_equal(executor_stats(fixture->executor)->stop_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

/* What it used is counted from its start, not from its end. */
static void a_pod_that_nobody_saw_run_has_run_all_the_same(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.is_start_missed = true;
    fixture->fake.failure_ppm = 1000000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "arf");
}

/* Run a job for long, and let it end for a reason of the cluster's. */
static struct server_job *end_by(struct loop_fixture *fixture,
                                 enum runtime_cause cause)
{
    fixture->fake.run_a_ms = 100000000;
    fixture->fake.start_delay_ms =
        cause == RUNTIME_CAUSE_REJECTED ? 100000000 : 0;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 10000);
    fake_end(fixture->runtime, fixture->server.jobs.items[job].run, cause,
             STR("so it was"));
    loop_run_for(fixture, 20000);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
    return &fixture->server.jobs.items[job];
}

static void what_its_node_rejects_goes_back(void **state)
{
    assert_string_equal(end_by(*state, RUNTIME_CAUSE_REJECTED)->events, "ab");
}

static void what_is_evicted_fails_by_that_cause(void **state)
{
    const struct server_job *job = end_by(*state, RUNTIME_CAUSE_EVICTED);

    assert_string_equal(job->events, "arf");
    assert_string_equal(job->subcategory, "evicted");
}

static void what_vanishes_fails_as_missing(void **state)
{
    const struct server_job *job = end_by(*state, RUNTIME_CAUSE_LOST);

    assert_string_equal(job->events, "arf");
    assert_string_equal(job->subcategory, "pod-missing");
}

static void a_node_that_goes_takes_its_pods_and_is_told(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    fixture->fake.run_a_ms = 100000000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 10000);

    assert_true(fake_remove_node(fixture->runtime, STR("fake-node-0")));
    loop_run_for(fixture, 1000);

    assert_string_equal(loop_events_of(fixture, job), "arf");
    assert_string_equal(fixture->server.jobs.items[job].subcategory,
                        "pod-missing");
    assert_int_equal(fixture->server.removed_node_count, 1);
    assert_string_equal(fixture->server.last_removed, "fake-node-0");
    assert_int_equal(fixture->server.changed_node_count, 0);
}

static void a_node_that_comes_or_changes_is_told_alone(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->server.agrees_to_hold = true;
    loop_start(fixture);
    loop_run_for(fixture, 10000);
    struct node_record other = {.name = STR("new")};
    struct node_record node = *node_set_find(
        fixture->runtime->ops->nodes(fixture->runtime), STR("fake-node-7"));

    node.is_unschedulable = true;
    fake_put_node(fixture->runtime, &node);
    fake_put_node(fixture->runtime, &other);
    loop_run_for(fixture, 1000);
    assert_int_equal(fixture->server.changed_node_count, 2);
    fake_put_node(fixture->runtime, &other);
    loop_run_for(fixture, 1000);

    assert_int_equal(fixture->server.changed_node_count, 2);
    assert_int_equal(fixture->server.removed_node_count, 0);
}

static void facts_of_a_pod_are_told_also_after_a_failure(void **state)
{
    struct loop_fixture *fixture = *state;
    struct resource_amount amount = {STR("cpu"), 1500};
    const struct resource_list used = {&amount, 1};
    fixture->fake.run_a_ms = 100000000;
    loop_open(fixture);
    uint32_t job = server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 10000);

    fixture->server.is_away = true;
    fake_tell(fixture->runtime, fixture->server.jobs.items[job].run, 8080,
              STR("a.example"), &used);
    loop_run_for(fixture, 60000);
    assert_string_equal(loop_events_of(fixture, job), "ar");
    fixture->server.is_away = false;
    loop_run_for(fixture, 60000);

    assert_string_equal(loop_events_of(fixture, job), "ariu");
    assert_string_equal(fixture->server.jobs.items[job].address,
                        "8080=a.example");
    assert_string_equal(fixture->server.jobs.items[job].used, "cpu=1500m");
}

static void an_end_stops_what_is_being_created(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->fake.create_delay_ms = 8000;
    fixture->fake.run_a_ms = 100000000;
    loop_open(fixture);
    (void)server_offer(&fixture->server, 1);
    loop_start(fixture);
    loop_run_for(fixture, 7000);

    executor_stop_all(fixture->executor, 0);
    loop_run_for(fixture, 20000);

    assert_int_equal(executor_stats(fixture->executor)->stop_count, 1);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(nothing_is_asked_of_the_server_before_the_pods_are_listed),
        LOOP_TEST(a_creation_may_take_its_time),
        LOOP_TEST(what_is_cancelled_while_it_is_created_ends_then),
        LOOP_TEST(a_stop_that_gets_lost_is_asked_again),
        LOOP_TEST(a_forget_that_gets_lost_is_asked_again),
        LOOP_TEST(a_pod_that_appears_is_held_and_told),
        LOOP_TEST(a_pod_that_nobody_saw_run_has_run_all_the_same),
        LOOP_TEST(a_pod_that_appears_after_its_end_is_ended),
        LOOP_TEST(what_its_node_rejects_goes_back),
        LOOP_TEST(what_is_evicted_fails_by_that_cause),
        LOOP_TEST(what_vanishes_fails_as_missing),
        LOOP_TEST(a_node_that_goes_takes_its_pods_and_is_told),
        LOOP_TEST(a_node_that_comes_or_changes_is_told_alone),
        LOOP_TEST(facts_of_a_pod_are_told_also_after_a_failure),
        LOOP_TEST(an_end_stops_what_is_being_created),
    };

    return RUN_TESTS(tests);
}
