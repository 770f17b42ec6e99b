/*
 * notify_source: what is told of the ends that log and store have.
 */
#include "elog/elog_memory.h"
#include "main/berthd/notify_source.h"
#include "store_world.h"
#include "unit.h"

enum { T0 = 1000000, ROOM = 4, KEEP_MS = 60000 };

/* A log and a store that have the same records, and two targets: one wants
 * jobs, the other sets. */
struct fixture {
    struct store_world world;
    struct elog_memory_storage *storage;
    struct elog *log;
    struct elog_reader *reader;
    struct outbox *outbox;
    struct notify_target targets[2];
    struct notify_source source;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof(*fixture));
    struct err err;
    uint64_t epoch;

    store_world_init(&fixture->world);
    fixture->storage = elog_memory_storage_create();
    fixture->log = elog_memory_open(fixture->storage);
    assert_int_equal(elog_acquire(fixture->log, &epoch, &err), 0);
    assert_int_equal(elog_reader_open(fixture->log, &fixture->reader, &err), 0);
    fixture->outbox = outbox_create(2, ROOM, KEEP_MS);
    fixture->targets[0] =
        (struct notify_target){.name = STR("jobs"), .events = NOTIFY_JOB};
    fixture->targets[1] =
        (struct notify_target){.name = STR("sets"), .events = NOTIFY_JOB_SET};
    fixture->source = (struct notify_source){
        .targets = fixture->targets,
        .target_count = 2,
        .log = fixture->reader,
        .store = fixture->world.reader,
        .outbox = fixture->outbox,
    };
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    notify_source_fini(&fixture->source);
    outbox_destroy(fixture->outbox);
    elog_reader_close(fixture->reader);
    elog_close(fixture->log);
    elog_memory_storage_destroy(fixture->storage);
    store_world_fini(&fixture->world);
    mem_free(fixture);
    return 0;
}

static struct job_id job_at(int n)
{
    const uint8_t random[10] = {1};

    return job_id_make(T0 + n, random);
}

static void submit(struct fixture *fixture, const char *set, int n)
{
    auto_strbuf spec = {0}, event = {0};
    struct event_scope scope = {STR("q"), str_of(set), STR("ann")};

    store_world_encode_submit(&spec, job_at(n), "", "");
    log_put_submit(&event, T0 + n, strbuf_str(&spec), STR(""));
    log_batch_add_encoded(&fixture->world.batch, &scope, strbuf_str(&event));
}

static void end(struct fixture *fixture, const char *set, int n)
{
    struct event event = {
        .type = EVENT_SUCCEEDED, .created_ms = T0 + 100 + n, .job = job_at(n)};

    store_world_add(&fixture->world, set, &event);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

/* What was added is the next record of both. */
static void append(struct fixture *fixture)
{
    struct store_world *world = &fixture->world;
    struct elog_record record = {.seq = ++world->seq,
                                 .epoch = 1,
                                 .time_ms = T0,
                                 .payload = log_batch_finish(&world->batch)};
    struct err err;

    assert_int_equal(elog_submit(fixture->log, &record, on_done, NULL), 0);
    assert_int_equal(elog_poll(fixture->log, 0), 1);
    assert_int_equal(store_apply(world->store, &record, 1, NULL, NULL, &err),
                     0);
    log_batch_clear(&world->batch);
}

static int go_on(struct fixture *fixture)
{
    struct err err;

    return notify_source_go_on(&fixture->source, fixture->world.seq, 0, &err);
}

static uint64_t waiting(const struct fixture *fixture, uint32_t target)
{
    return outbox_counts(fixture->outbox, target).waiting_count;
}

static void each_end_is_told_to_who_wants_it(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, "a", 1);
    submit(fixture, "b", 2);
    append(fixture);
    end(fixture, "a", 1);
    append(fixture);
    assert_int_equal(go_on(fixture), 1);
    assert_int_equal(go_on(fixture), 0);
    assert_int_equal(waiting(fixture, 0), 1);
    assert_int_equal(waiting(fixture, 1), 1);
    struct outbox_item *item = outbox_next(fixture->outbox, 0);
    assert_non_null(strstr(item->body.p, "\"type\":\"job.ended\""));
    assert_non_null(strstr(item->body.p, "\"jobSet\":\"a\""));
    assert_int_equal(item->seq, 2);
    assert_int_equal(notify_source_position(&fixture->source, 0), 1);
}

static void a_set_is_told_once_when_its_last_record_is_read(void **state)
{
    struct fixture *fixture = *state;

    /* The store knows at once that the set went on and ended again. */
    submit(fixture, "a", 1);
    end(fixture, "a", 1);
    append(fixture);
    submit(fixture, "a", 2);
    append(fixture);
    end(fixture, "a", 2);
    append(fixture);
    fixture->source.seq = fixture->source.read_seq = 0;
    struct err err;
    assert_int_equal(notify_source_go_on(&fixture->source, 1, 0, &err), 1);
    assert_int_equal(waiting(fixture, 1), 0);
    assert_int_equal(notify_source_position(&fixture->source, 1), 0);
    assert_int_equal(notify_source_position(&fixture->source, 0), 0);
    assert_int_equal(go_on(fixture), 1);
    assert_int_equal(waiting(fixture, 1), 1);
    assert_int_equal(go_on(fixture), 0);
    assert_int_equal(waiting(fixture, 1), 1);
    (void)outbox_next(fixture->outbox, 0);
    struct outbox_item *item = outbox_next(fixture->outbox, 0);
    item = item->target == 1 ? item : outbox_next(fixture->outbox, 0);
    assert_non_null(strstr(item->body.p, "\"total\":2"));
}

static void a_set_with_work_left_is_not_told(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, "a", 1);
    submit(fixture, "a", 2);
    end(fixture, "a", 1);
    append(fixture);
    assert_int_equal(go_on(fixture), 1);
    assert_int_equal(waiting(fixture, 1), 0);
    assert_int_equal(notify_source_position(&fixture->source, 1), 1);
}

static void what_was_told_is_not_told_again(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, "a", 1);
    end(fixture, "a", 1);
    append(fixture);
    fixture->source.told_seqs[0] = 1;
    assert_int_equal(go_on(fixture), 1);
    assert_int_equal(waiting(fixture, 0), 0);
    assert_int_equal(waiting(fixture, 1), 1);
}

static void reading_waits_for_a_target_that_answers(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < ROOM + 2; i++) {
        submit(fixture, "a", i);
        end(fixture, "a", i);
    }
    append(fixture);
    assert_int_equal(go_on(fixture), 0);
    assert_int_equal(waiting(fixture, 0), ROOM);
    assert_int_equal(notify_source_position(&fixture->source, 0), 0);
    for (int i = 0; i < ROOM; i++) {
        struct outbox_item *item = outbox_next(fixture->outbox, 0);
        assert_false(outbox_end(fixture->outbox, item, OUTBOX_SENT, 0));
    }
    assert_int_equal(go_on(fixture), 1);
    assert_int_equal(waiting(fixture, 0), 2);
    assert_int_equal(outbox_counts(fixture->outbox, 0).full_count, 0);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(each_end_is_told_to_who_wants_it),
        WITH(a_set_is_told_once_when_its_last_record_is_read),
        WITH(a_set_with_work_left_is_not_told),
        WITH(what_was_told_is_not_told_again),
        WITH(reading_waits_for_a_target_that_answers),
    };

    return RUN_TESTS(tests);
}
