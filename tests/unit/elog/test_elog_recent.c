/* The newest records of a log, in memory. */
#include "base/strbuf.h"
#include "elog/elog_recent.h"
#include "elog/sq.h"
#include "file_fixture.h"
#include "unit.h"

static void add(struct elog_recent *recent, uint64_t seq, size_t byte_count)
{
    auto_mem char *bytes = mem_alloc(byte_count + 1);

    memset(bytes, (int)('a' + seq % 26), byte_count);
    struct elog_record record = {
        .seq = seq,
        .epoch = 1,
        .payload = str_make(bytes, byte_count),
    };
    elog_recent_add(recent, &record);
}

/* Whether a record is kept, and is what was added. */
static bool has(struct elog_recent *recent, uint64_t seq)
{
    struct elog_recent_item *item = elog_recent_hold(recent, seq);

    if (!item) {
        return false;
    }
    struct str payload = item->record.payload;
    assert_int_equal(item->record.seq, seq);
    assert_true(payload.byte_count == 0 ||
                payload.p[0] == (char)('a' + seq % 26));
    elog_recent_release(item);
    return true;
}

static void the_newest_records_are_kept(void **state)
{
    struct elog_recent recent;

    (void)state;
    elog_recent_init(&recent, 3, 7);
    assert_false(has(&recent, 6));
    for (uint64_t seq = 7; seq < 7 + ELOG_RECENT_COUNT_MAX + 5; seq++) {
        add(&recent, seq, 10);
    }

    struct elog_bounds bounds = elog_recent_bounds(&recent);
    assert_int_equal(bounds.first_seq, 3);
    assert_int_equal(bounds.head_seq, 7 + ELOG_RECENT_COUNT_MAX + 4);
    assert_false(has(&recent, 11));
    assert_true(has(&recent, 12));
    assert_true(has(&recent, bounds.head_seq));
    assert_false(has(&recent, bounds.head_seq + 1));
    elog_recent_fini(&recent);
}

static void payloads_have_a_limit(void **state)
{
    struct elog_recent recent;

    (void)state;
    elog_recent_init(&recent, 1, 1);
    add(&recent, 1, ELOG_RECENT_BYTES_MAX / 2);
    add(&recent, 2, ELOG_RECENT_BYTES_MAX / 2);
    assert_true(has(&recent, 1));
    add(&recent, 3, 1);
    assert_false(has(&recent, 1));
    assert_true(has(&recent, 2));

    /* What alone exceeds it leaves none: those before it are not the newest. */
    add(&recent, 4, ELOG_RECENT_BYTES_MAX + 1);
    assert_false(has(&recent, 3));
    assert_false(has(&recent, 4));
    add(&recent, 5, 0);
    assert_true(has(&recent, 5));
    elog_recent_fini(&recent);
}

static void trimmed_records_are_gone(void **state)
{
    struct elog_recent recent;

    (void)state;
    elog_recent_init(&recent, 1, 1);
    add(&recent, 1, 1);
    add(&recent, 2, 1);
    elog_recent_trim(&recent, 2);

    assert_false(has(&recent, 1));
    assert_true(has(&recent, 2));
    assert_int_equal(elog_recent_bounds(&recent).first_seq, 2);
    elog_recent_fini(&recent);
}

static void a_record_stays_as_long_as_it_is_held(void **state)
{
    struct elog_recent recent;

    (void)state;
    elog_recent_init(&recent, 1, 1);
    add(&recent, 1, 3);
    struct elog_recent_item *item = elog_recent_hold(&recent, 1);
    elog_recent_trim(&recent, 2);

    assert_non_null(item);
    assert_true(str_equal(item->record.payload, STR("bbb")));
    elog_recent_release(item);
    elog_recent_fini(&recent);
}

static int take(void *ctx, const struct elog_record *record)
{
    struct strbuf *seen = (struct strbuf *)ctx;

    strbuf_add_str(seen, record->payload);
    return 0;
}

/* The file is changed behind the log's back, which shows who is asked. */
static void a_reader_that_keeps_up_does_not_read_the_file(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    auto_strbuf seen = {0};
    struct elog_range range = {.from_seq = 1};
    struct elog_reader *reader = NULL;
    struct err err;
    sqlite3 *db;

    file_append(f, 2);
    assert_int_equal(sq_open(&(struct sq_open){.path = f->path}, &db, &err), 0);
    assert_int_equal(
        sq_exec(db, "UPDATE record SET payload = 'x' WHERE seq = 1", &err), 0);
    sq_close(db);

    assert_int_equal(elog_reader_open(f->log, &reader, &err), 0);
    assert_int_equal(elog_read(reader, &range, take, &seen, &err), 2);
    assert_string_equal(strbuf_text(&seen), "record 1record 2");
    elog_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_records_are_kept),
        cmocka_unit_test(payloads_have_a_limit),
        cmocka_unit_test(trimmed_records_are_gone),
        cmocka_unit_test(a_record_stays_as_long_as_it_is_held),
        FILE_TEST(a_reader_that_keeps_up_does_not_read_the_file),
    };

    return RUN_TESTS(tests);
}
