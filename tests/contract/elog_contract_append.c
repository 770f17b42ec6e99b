/* Records: appended, read again, refused; over restarts and other writers. */
#include "elog_contract_private.h"

static void an_empty_log_begins_with_record_1(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    struct elog_bounds bounds = contract_bounds_of(f->reader);

    assert_int_equal(bounds.first_seq, 1);
    assert_int_equal(bounds.head_seq, 0);
    assert_int_equal(contract_read_from(f->reader, 1).count, 0);
}

static void a_record_is_read_as_it_was_submitted(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    assert_int_equal(contract_submit(f->log, f->epoch, 1, STR("\0one"), &told),
                     0);
    assert_int_equal(told.count, 0);
    assert_int_equal(elog_in_flight_count(f->log), 1);
    contract_poll_all(f->log);

    struct seen seen = contract_read_from(f->reader, 1);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.result[0], 0);
    assert_int_equal(told.seq[0], 1);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.record.seq, 1);
    assert_int_equal(seen.record.epoch, f->epoch);
    assert_int_equal(seen.record.time_ms, 1700000000001);
    assert_int_equal(seen.record.format_version, 7);
    assert_int_equal(seen.record.payload.byte_count, 4);
    assert_true(seen.record.checksum != 0);
}

static void a_payload_may_be_empty(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    assert_int_equal(
        contract_submit(f->log, f->epoch, 1, (struct str){0}, &told), 0);
    contract_poll_all(f->log);

    assert_int_equal(told.result[0], 0);
    struct seen seen = contract_read_from(f->reader, 1);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.record.payload.byte_count, 0);
}

static void several_in_flight_are_told_in_order(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    for (uint64_t seq = 1; seq <= 10; seq++) {
        assert_int_equal(
            contract_submit(f->log, f->epoch, seq, STR("x"), &told), 0);
    }
    contract_poll_all(f->log);

    assert_int_equal(told.count, 10);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(told.result[i], 0);
        assert_int_equal(told.seq[i], i + 1);
    }
    assert_int_equal(contract_read_from(f->reader, 1).last, 10);
}

static void a_wrong_next_seq_is_a_conflict(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    contract_append(f->log, f->epoch, 1, 2);
    assert_int_equal(contract_submit(f->log, f->epoch, 2, STR("again"), &told),
                     0);
    contract_poll_all(f->log);
    assert_int_equal(contract_submit(f->log, f->epoch, 4, STR("hole"), &told),
                     0);
    contract_poll_all(f->log);

    assert_int_equal(told.result[0], -ERR_CONFLICT);
    assert_int_equal(told.result[1], -ERR_CONFLICT);
    assert_int_equal(contract_bounds_of(f->reader).head_seq, 2);
    contract_append(f->log, f->epoch, 3, 3);
}

static void once_one_fails_all_after_it_fail(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    assert_int_equal(contract_submit(f->log, f->epoch, 1, STR("good"), &told),
                     0);
    assert_int_equal(contract_submit(f->log, f->epoch, 3, STR("bad"), &told),
                     0);
    assert_int_equal(contract_submit(f->log, f->epoch, 2, STR("late"), &told),
                     0);
    contract_poll_all(f->log);

    assert_int_equal(told.count, 3);
    assert_int_equal(told.result[0], 0);
    assert_int_equal(told.result[1], -ERR_CONFLICT);
    assert_true(told.result[2] < 0);
    assert_int_equal(contract_bounds_of(f->reader).head_seq, 1);
}

static void a_payload_over_the_limit_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};
    struct str payload = str_make("", (size_t)ELOG_PAYLOAD_BYTES_MAX + 1);

    assert_int_equal(contract_submit(f->log, f->epoch, 1, payload, &told),
                     -ERR_LIMIT);

    assert_int_equal(elog_in_flight_count(f->log), 0);
    assert_int_equal(elog_poll(f->log, 0), 0);
    assert_int_equal(told.count, 0);
}

static void too_many_in_flight_are_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    uint32_t good_count = 0;
    uint64_t seq = 1;

    for (; seq <= ELOG_IN_FLIGHT_COUNT_MAX; seq++) {
        assert_int_equal(contract_submit_counted(f, seq, &good_count), 0);
    }
    assert_int_equal(contract_submit_counted(f, seq, &good_count), -ERR_LIMIT);
    contract_poll_all(f->log);

    assert_int_equal(good_count, ELOG_IN_FLIGHT_COUNT_MAX);
    assert_int_equal(contract_submit_counted(f, seq, &good_count), 0);
    contract_poll_all(f->log);
}

static void the_largest_payload_comes_back_whole(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};
    size_t byte_count = ELOG_PAYLOAD_BYTES_MAX;
    auto_mem char *bytes = mem_alloc(byte_count);

    for (size_t i = 0; i < byte_count; i += 997) {
        bytes[i] = (char)i;
    }
    struct str payload = str_make(bytes, byte_count);
    assert_int_equal(contract_submit(f->log, f->epoch, 1, payload, &told), 0);
    contract_poll_all(f->log);

    assert_int_equal(told.result[0], 0);
    /* The checksum, checked by the reader, covers the payload. */
    struct seen seen = contract_read_from(f->reader, 1);
    assert_int_equal(seen.record.payload.byte_count, byte_count);
}

static void reading_stops_at_the_maxima(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct seen seen = {0};

    contract_append(f->log, f->epoch, 1, 9); /* of 8 bytes each */

    struct elog_range three = {.from_seq = 2, .record_count_max = 3};
    assert_int_equal(
        elog_read(f->reader, &three, contract_on_record, &seen, NULL), 3);
    assert_int_equal(seen.first, 2);
    assert_int_equal(seen.last, 4);
    seen = (struct seen){0};
    struct elog_range bytes = {.from_seq = 1, .byte_count_max = 17};
    assert_int_equal(
        elog_read(f->reader, &bytes, contract_on_record, &seen, NULL), 2);
    seen = (struct seen){0};
    struct elog_range tiny = {.from_seq = 1, .byte_count_max = 1};
    assert_int_equal(
        elog_read(f->reader, &tiny, contract_on_record, &seen, NULL), 1);
    seen = (struct seen){.stop_after = 2};
    struct elog_range all = {.from_seq = 5};
    assert_int_equal(
        elog_read(f->reader, &all, contract_on_record, &seen, NULL), 2);
    assert_string_equal(seen.text, "record 6");
}

static int refuse(void *ctx, const struct elog_record *record)
{
    (void)ctx;
    return record->seq == 2 ? -ERR_LIMIT : 0;
}

static void a_negative_answer_ends_the_read_with_it(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog_range all = {.from_seq = 1};

    contract_append(f->log, f->epoch, 1, 3);

    assert_int_equal(elog_read(f->reader, &all, refuse, NULL, NULL),
                     -ERR_LIMIT);
    assert_int_equal(contract_read_from(f->reader, 1).count, 3);
}

static void an_idle_deposed_writer_is_fenced(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    auto_ptr(elog) other = f->contract->open(f->place);
    uint64_t epoch;
    struct told told = {0};

    contract_append(f->log, f->epoch, 1, 1);
    assert_int_equal(elog_acquire(other, &epoch, NULL), 0);
    assert_true(epoch > f->epoch);
    assert_int_equal(contract_submit(f->log, f->epoch, 2, STR("late"), &told),
                     0);
    contract_poll_all(f->log);

    assert_int_equal(told.result[0], -ERR_FENCED);
    contract_append(other, epoch, 2, 2);
    assert_string_equal(contract_read_from(f->reader, 2).text, "record 2");
}

/* The hole of logs that compare sequence numbers only: of several in flight
 * the new leader's own record makes room for the second. */
static void a_deposed_writer_with_several_in_flight_adds_nothing(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    auto_ptr(elog) other = f->contract->open(f->place);
    auto_ptr(elog_reader) reader = NULL;
    uint64_t epoch;
    struct told told = {0};

    contract_append(f->log, f->epoch, 1, 3);
    for (uint64_t seq = 4; seq <= 8; seq++) {
        assert_int_equal(
            contract_submit(f->log, f->epoch, seq, STR("old"), &told), 0);
    }
    assert_int_equal(elog_acquire(other, &epoch, NULL), 0);
    assert_int_equal(elog_reader_open(other, &reader, NULL), 0);
    /* From here on what a reader sees is what the new leader goes on from. */
    uint64_t head = contract_bounds_of(reader).head_seq;
    contract_append(other, epoch, head + 1, head + 1);
    contract_poll_all(f->log);

    assert_int_equal(told.count, 5);
    uint64_t acked = 3;
    for (uint32_t i = 0; i < told.count; i++) {
        acked += told.result[i] == 0;
    }
    assert_int_equal(acked, head);
    assert_int_equal(told.result[4], -ERR_FENCED);
    assert_int_equal(contract_bounds_of(reader).head_seq, head + 1);
    assert_int_equal(contract_read_from(reader, head + 1).record.epoch, epoch);
}

static void epochs_grow_over_restarts(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    uint64_t epoch;

    contract_append(f->log, f->epoch, 1, 1);
    contract_reopen(f);
    assert_int_equal(elog_acquire(f->log, &epoch, NULL), 0);

    assert_true(epoch > f->epoch);
    contract_append(f->log, epoch, 2, 2);
}

static void what_was_acknowledged_survives_a_restart(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    contract_append(f->log, f->epoch, 1, 20);
    contract_reopen(f);

    struct seen seen = contract_read_from(f->reader, 1);
    assert_int_equal(seen.count, 20);
    assert_string_equal(seen.text, "record 20");
    assert_string_equal(elog_note(f->log), "");
}

static void closing_tells_what_is_in_flight(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    assert_int_equal(contract_submit(f->log, f->epoch, 1, STR("x"), &told), 0);
    contract_reopen(f);

    assert_int_equal(told.count, 1);
    assert_int_equal(told.result[0], -ERR_UNAVAILABLE);
    assert_int_equal(contract_bounds_of(f->reader).head_seq, 0);
}

int elog_contract_append(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {
        CASE(an_empty_log_begins_with_record_1),
        CASE(a_record_is_read_as_it_was_submitted),
        CASE(a_payload_may_be_empty),
        CASE(several_in_flight_are_told_in_order),
        CASE(a_wrong_next_seq_is_a_conflict),
        CASE(once_one_fails_all_after_it_fail),
        CASE(a_payload_over_the_limit_is_refused),
        CASE(too_many_in_flight_are_refused),
        CASE(the_largest_payload_comes_back_whole),
        CASE(reading_stops_at_the_maxima),
        CASE(a_negative_answer_ends_the_read_with_it),
        CASE(an_idle_deposed_writer_is_fenced),
        CASE(a_deposed_writer_with_several_in_flight_adds_nothing),
        CASE(epochs_grow_over_restarts),
        CASE(what_was_acknowledged_survives_a_restart),
        CASE(closing_tells_what_is_in_flight),
    };
    return cmocka_run_group_tests_name(fixture->contract->name, tests, NULL,
                                       NULL);
}
