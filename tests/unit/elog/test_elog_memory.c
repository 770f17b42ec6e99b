/*
 * elog_memory: faults on demand, by example.
 */
#include "elog/elog_memory.h"
#include "unit.h"

struct told {
    uint32_t count;
    int result[8];
};

static void on_done(void *ctx, int result, uint64_t seq)
{
    struct told *told = (struct told *)ctx;

    (void)seq;
    told->result[told->count++] = result;
}

struct fixture {
    struct elog_memory_storage *storage;
    struct elog *log;
    struct elog_reader *reader;
    uint64_t epoch;
    struct told told;
};

static int set_up(void **state)
{
    struct fixture *f = mem_alloc(sizeof(*f));

    f->storage = elog_memory_storage_create();
    f->log = elog_memory_open(f->storage);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    assert_int_equal(elog_reader_open(f->log, &f->reader, NULL), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_reader_close(f->reader);
    elog_close(f->log);
    elog_memory_storage_destroy(f->storage);
    mem_free(f);
    return 0;
}

static void submit(struct fixture *f, uint64_t seq)
{
    struct elog_record record = {
        .seq = seq, .epoch = f->epoch, .payload = STR("x")};

    assert_int_equal(elog_submit(f->log, &record, on_done, &f->told), 0);
}

static uint64_t head(struct fixture *f)
{
    struct elog_bounds bounds;

    assert_int_equal(elog_bounds(f->reader, &bounds, NULL), 0);
    return bounds.head_seq;
}

static void a_full_storage_refuses_one_and_those_behind_it(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_memory_inject(f->storage, 2, ELOG_MEMORY_FULL);
    submit(f, 1);
    submit(f, 2);
    submit(f, 3);
    elog_poll(f->log, 0);

    assert_int_equal(f->told.result[0], 0);
    assert_int_equal(f->told.result[1], -ERR_FULL);
    assert_int_equal(f->told.result[2], -ERR_FULL);
    assert_int_equal(head(f), 1);
    submit(f, 2);
    elog_poll(f->log, 0);
    assert_int_equal(f->told.result[3], 0);
}

static void after_an_io_error_the_handle_appends_no_more(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_memory_inject(f->storage, 1, ELOG_MEMORY_IO);
    submit(f, 1);
    elog_poll(f->log, 0);
    submit(f, 1);
    elog_poll(f->log, 0);

    assert_int_equal(f->told.result[0], -ERR_IO);
    assert_int_equal(f->told.result[1], -ERR_IO);
    assert_int_equal(head(f), 0);
}

static void a_record_whose_acknowledgement_is_lost_is_there(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_memory_inject(f->storage, 1, ELOG_MEMORY_DROP_ACK);
    submit(f, 1);
    elog_poll(f->log, 0);

    assert_int_equal(f->told.result[0], -ERR_IO);
    assert_int_equal(head(f), 1);
}

static void a_held_storage_decides_nothing(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_memory_hold(f->storage, true);
    submit(f, 1);
    assert_int_equal(elog_poll(f->log, 0), 0);
    assert_int_equal(elog_in_flight_count(f->log), 1);
    assert_int_equal(head(f), 0);
    elog_memory_hold(f->storage, false);

    assert_int_equal(elog_poll(f->log, 0), 1);
    assert_int_equal(f->told.result[0], 0);
}

static void there_is_nothing_to_back_up(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    assert_int_equal(elog_backup(f->log, "/nowhere", NULL), -ERR_UNAVAILABLE);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_full_storage_refuses_one_and_those_behind_it),
        CASE(after_an_io_error_the_handle_appends_no_more),
        CASE(a_record_whose_acknowledgement_is_lost_is_there),
        CASE(a_held_storage_decides_nothing),
        CASE(there_is_nothing_to_back_up),
    };
    return RUN_TESTS(tests);
}
