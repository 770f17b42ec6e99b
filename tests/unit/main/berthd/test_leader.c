/*
 * leader: the thread around control/control.h, over the log in memory.
 */
#include <poll.h>
#include <stdatomic.h>

#include "elog/elog_memory.h"
#include "main/berthd/leader.h"
#include "main/berthd/policy_event.h"
#include "main/common/machine.h"
#include "patience.h"
#include "store/store_sqlite.h"
#include "tmpdir.h"
#include "unit.h"

#define DEADLINE_MS patient_ms(20000)

struct world {
    struct tmpdir dir;
    struct elog_memory_storage *storage;
    struct elog *log;
    struct store *store;
    struct queue_table *queues, *retry_policies;
    struct policy policy;
    struct leader *leader;
    atomic_bool has_failed;
};

static void on_failed(void *ctx)
{
    struct world *world = ctx;

    atomic_store(&world->has_failed, true);
}

static int set_up(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));
    char path[TMPDIR_PATH_BYTES_MAX];
    struct err err;

    tmpdir_init(&world->dir);
    world->storage = elog_memory_storage_create();
    world->log = elog_memory_open(world->storage);
    assert_int_equal(
        store_sqlite_open(tmpdir_path(&world->dir, "store.db", path),
                          &world->store, &err),
        0);
    world->queues = queue_table_create();
    world->retry_policies = queue_table_create();
    policy_defaults(&world->policy);
    struct leader_options options = {
        .log = world->log,
        .store = world->store,
        .clock = &machine_clock,
        .rng = &machine_rng,
        .policy = &world->policy,
        .queues = world->queues,
        .retry_policies = world->retry_policies,
        .checkpoint_record_count = 1,
        .failed = on_failed,
        .ctx = world,
    };
    world->leader = leader_start(&options, &err);
    assert_non_null(world->leader);
    assert_true(leader_wait_ready(world->leader, DEADLINE_MS));
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    leader_stop(world->leader);
    leader_destroy(world->leader);
    queue_table_destroy(world->queues);
    queue_table_destroy(world->retry_policies);
    store_close(world->store);
    elog_close(world->log);
    elog_memory_storage_destroy(world->storage);
    tmpdir_fini(&world->dir);
    mem_free(world);
    return 0;
}

/* The page of metrics may be asked for until the server is taken down. */
static void metrics_can_be_asked_for_after_the_leader_has_failed(void **state)
{
    struct world *world = *state;
    auto_ptr(elog) successor = elog_memory_open(world->storage);
    struct control_metrics metrics;
    uint64_t epoch;
    struct err err;

    assert_int_equal(elog_acquire(successor, &epoch, &err), 0);
    assert_int_equal(policy_event_post(leader_inbox(world->leader),
                                       STR("pools:\n- name: default\n"),
                                       &machine_clock, &err),
                     0);
    for (int ms = 0; ms < DEADLINE_MS && !atomic_load(&world->has_failed);
         ms++) {
        (void)poll(NULL, 0, 1);
    }
    assert_true(atomic_load(&world->has_failed));

    do {
        leader_metrics(world->leader, &metrics);
    } while (metrics.state != CONTROL_STOPPED);
    leader_metrics(world->leader, &metrics);
    assert_int_equal(metrics.state, CONTROL_STOPPED);
}

static int pass_over(void *ctx, const struct elog_checkpoint *about,
                     struct str piece)
{
    (void)ctx;
    (void)about;
    (void)piece;
    return 0;
}

/* A clean stop leaves a checkpoint of the last record, whatever checkpoint
 * was being written when it came. */
static void a_stop_leaves_a_checkpoint_of_the_last_record(void **state)
{
    struct world *world = *state;
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds;
    struct elog_checkpoint about;
    struct err err;

    assert_int_equal(policy_event_post(leader_inbox(world->leader),
                                       STR("pools:\n- name: default\n"),
                                       &machine_clock, &err),
                     0);
    leader_stop(world->leader);

    assert_int_equal(elog_reader_open(world->log, &reader, &err), 0);
    assert_int_equal(elog_bounds(reader, &bounds, &err), 0);
    assert_int_equal(elog_checkpoint_get(reader, &about, pass_over, NULL, &err),
                     1);
    assert_int_equal(about.seq, bounds.head_seq);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            metrics_can_be_asked_for_after_the_leader_has_failed, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_stop_leaves_a_checkpoint_of_the_last_record, set_up, tear_down),
    };
    return RUN_TESTS(tests);
}
