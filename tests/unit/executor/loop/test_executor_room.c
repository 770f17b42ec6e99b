/*
 * executor: a pod goes where there is room, or back (model.md 8, BK-11).
 */
#include <stdio.h>

#include "loop_fixture.h"
#include "unit.h"

static const char *node_of(const struct loop_fixture *fixture, uint32_t job)
{
    return fixture->server.jobs.items[job].node;
}

/* Jobs of 6 cores are leased for node 0 of 8, on which others have some. */
static void start_short(struct loop_fixture *fixture, int64_t cores_taken)
{
    fixture->server.cpu = "6";
    assert_true(fake_take(fixture->runtime, STR("fake-node-0"), STR("cpu"),
                          cores_taken * 1000));
    loop_start(fixture);
}

static void bk_11_a_pod_goes_to_an_equal_node(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    start_short(fixture, 4);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "ars");
    assert_string_equal(node_of(fixture, job), "fake-node-1");
    assert_int_equal(executor_stats(fixture->executor)->repack_count, 1);
}

static void bk_11_a_pod_stays_where_it_has_room(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = server_offer(&fixture->server, 1);
    start_short(fixture, 2);

    loop_run_for(fixture, 20000);

    assert_string_equal(node_of(fixture, job), "fake-node-0");
}

/* Pods of ours count too, until they end. */
static void bk_11_no_node_gets_more_than_it_has(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t first = server_offer(&fixture->server, 1);
    uint32_t second = server_offer(&fixture->server, 2);
    uint32_t third = server_offer(&fixture->server, 3);
    start_short(fixture, 4);

    loop_run_for(fixture, 20000);

    assert_string_equal(node_of(fixture, first), "fake-node-1");
    assert_string_equal(node_of(fixture, second), "fake-node-10");
    assert_string_equal(node_of(fixture, third), "fake-node-100");
    uint32_t fourth = server_offer(&fixture->server, 4);
    loop_run_for(fixture, 20000);
    assert_string_equal(node_of(fixture, fourth), "fake-node-1");
}

static void bk_11_a_lease_goes_back_when_no_node_has_room(void **state)
{
    struct loop_fixture *fixture = *state;
    char name[32];
    uint32_t job = server_offer(&fixture->server, 1);
    for (int i = 1; i < 500; i++) {
        snprintf(name, sizeof(name), "fake-node-%d", i);
        assert_true(
            fake_take(fixture->runtime, str_of(name), STR("cpu"), 3000));
    }
    start_short(fixture, 4);

    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "b");
    assert_int_equal(loop_stub.create_count, 0);
}

/* One node of 8 cores that takes two pods. */
static void no_node_gets_more_pods_than_it_takes(void **state)
{
    struct loop_fixture *fixture = *state;
    struct resource_amount amounts[] = {{STR("cpu"), 8000},
                                        {STR("memory"), 1000000000000},
                                        {STR("pods"), 2000}};
    struct fake_group group = {
        .name = STR("node"),
        .count = 1,
        .node = {.total = {amounts, ARRAY_COUNT(amounts)}}};

    fixture->fake.groups = &group;
    fixture->fake.run_a_ms = 100000000;
    loop_open(fixture);
    fixture->server.cpu = "100m";
    uint32_t jobs[] = {server_offer(&fixture->server, 1),
                       server_offer(&fixture->server, 2),
                       server_offer(&fixture->server, 3)};
    loop_start(fixture);
    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, jobs[0]), "ar");
    assert_string_equal(loop_events_of(fixture, jobs[1]), "ar");
    assert_string_equal(loop_events_of(fixture, jobs[2]), "b");
}

/* One node of 8 cores.  A pod of 6 that runs for long was told to end, and
 * another of 6 is leased: the server counts the room as free. */
static uint32_t lease_room_of_one_that_ends(struct loop_fixture *fixture)
{
    struct fake_group group = fixture->fake.groups[0];

    group.count = 1;
    fixture->fake.groups = &group;
    fixture->fake.run_a_ms = 100000000;
    loop_open(fixture);
    loop_stub.has_long_grace = true;
    uint32_t first = server_offer(&fixture->server, 1);
    start_short(fixture, 0);
    loop_run_for(fixture, 20000);
    assert_string_equal(loop_events_of(fixture, first), "ar");
    fixture->server.jobs.items[first].is_cancelled = true;
    return server_offer(&fixture->server, 2);
}

static void a_pod_keeps_its_room_until_it_has_ended(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = lease_room_of_one_that_ends(fixture);

    loop_run_for(fixture, 60000);
    assert_string_equal(loop_events_of(fixture, job), "");
    assert_int_equal(loop_stub.create_count, 1);
    loop_end_stopped(fixture);
    loop_run_for(fixture, 10000);

    assert_string_equal(loop_events_of(fixture, job), "ar");
    assert_string_equal(node_of(fixture, job), "fake-node-0");
    assert_int_equal(loop_stub.create_count, 2);
}

static void a_lease_that_waits_too_long_for_room_goes_back(void **state)
{
    struct loop_fixture *fixture = *state;
    fixture->options.room_wait_ms_max = 30000;
    uint32_t job = lease_room_of_one_that_ends(fixture);

    loop_run_for(fixture, 60000);

    assert_string_equal(loop_events_of(fixture, job), "b");
    assert_int_equal(loop_stub.create_count, 1);
}

static void a_lease_that_waits_for_room_can_be_cancelled(void **state)
{
    struct loop_fixture *fixture = *state;
    uint32_t job = lease_room_of_one_that_ends(fixture);

    loop_run_for(fixture, 20000);
    fixture->server.jobs.items[job].is_cancelled = true;
    loop_run_for(fixture, 20000);
    assert_int_equal(executor_stats(fixture->executor)->run_count, 1);
    loop_end_stopped(fixture);
    loop_run_for(fixture, 20000);

    assert_string_equal(loop_events_of(fixture, job), "");
    assert_int_equal(executor_stats(fixture->executor)->run_count, 0);
    assert_int_equal(loop_stub.create_count, 1);
}

/* What waits for room does not keep the executor from asking for others. */
static void others_are_leased_while_one_waits_for_room(void **state)
{
    struct loop_fixture *fixture = *state;

    (void)lease_room_of_one_that_ends(fixture);
    loop_run_for(fixture, 20000);

    assert_int_equal(fixture->server.last_lease_max, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(bk_11_a_pod_goes_to_an_equal_node),
        LOOP_TEST(bk_11_a_pod_stays_where_it_has_room),
        LOOP_TEST(bk_11_no_node_gets_more_than_it_has),
        LOOP_TEST(bk_11_a_lease_goes_back_when_no_node_has_room),
        LOOP_TEST(no_node_gets_more_pods_than_it_takes),
        LOOP_TEST(a_pod_keeps_its_room_until_it_has_ended),
        LOOP_TEST(a_lease_that_waits_too_long_for_room_goes_back),
        LOOP_TEST(a_lease_that_waits_for_room_can_be_cancelled),
        LOOP_TEST(others_are_leased_while_one_waits_for_room),
    };

    return RUN_TESTS(tests);
}
