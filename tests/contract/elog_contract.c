/*
 * elog: the contract of the port, by example.
 */
#include "elog_contract.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "unit.h"

enum { WAIT_MS_MAX = 10000 };

struct fixture {
    const struct elog_contract *contract;
    void *place;
    struct elog *log;
    struct elog_reader *reader;
    uint64_t epoch;
};

/* What was told, in order. */
struct told {
    uint32_t count;
    int result[64];
    uint64_t seq[64];
};

static void on_done(void *ctx, int result, uint64_t seq)
{
    struct told *told = (struct told *)ctx;

    assert_true(told->count < 64);
    told->result[told->count] = result;
    told->seq[told->count++] = seq;
}

/* For many records: only that all are good, or not. */
static void on_done_count(void *ctx, int result, uint64_t seq)
{
    uint32_t *good_count = (uint32_t *)ctx;

    (void)seq;
    *good_count += result == 0;
}

static int set_up(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    f->place = f->contract->place_create();
    f->log = f->contract->open(f->place);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    assert_int_equal(elog_reader_open(f->log, &f->reader, NULL), 0);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_reader_close(f->reader);
    elog_close(f->log);
    f->contract->place_destroy(f->place);
    return 0;
}

/* Close and open again, as after a restart; without becoming the writer. */
static void reopen(struct fixture *f)
{
    elog_reader_close(f->reader);
    elog_close(f->log);
    f->log = f->contract->open(f->place);
    assert_int_equal(elog_reader_open(f->log, &f->reader, NULL), 0);
}

static int submit(struct elog *log, uint64_t epoch, uint64_t seq,
                  struct str payload, struct told *told)
{
    struct elog_record record = {
        .seq = seq,
        .epoch = epoch,
        .time_ms = 1700000000000 + (int64_t)seq,
        .format_version = 7,
        .payload = payload,
    };

    return elog_submit(log, &record, on_done, told);
}

static int submit_counted(struct fixture *f, uint64_t seq, uint32_t *good_count)
{
    struct elog_record record = {
        .seq = seq, .epoch = f->epoch, .payload = STR("x")};

    return elog_submit(f->log, &record, on_done_count, good_count);
}

static void poll_all(struct elog *log)
{
    for (int i = 0; i < 1000 && elog_in_flight_count(log) > 0; i++) {
        elog_poll(log, 10);
    }
    assert_int_equal(elog_in_flight_count(log), 0);
}

/* Append records first..last, each holding its number as text. */
static void append(struct elog *log, uint64_t epoch, uint64_t first,
                   uint64_t last)
{
    for (uint64_t seq = first; seq <= last; seq++) {
        struct told told = {0};
        char text[32];

        snprintf(text, sizeof(text), "record %llu", (unsigned long long)seq);
        assert_int_equal(submit(log, epoch, seq, str_of(text), &told), 0);
        poll_all(log);
        assert_int_equal(told.count, 1);
        assert_int_equal(told.result[0], 0);
    }
}

/* What a reader was shown. */
struct seen {
    uint64_t first, last;
    uint32_t count, stop_after;
    struct elog_record record; /* the last, without its payload */
    char text[64];
};

static int on_record(void *ctx, const struct elog_record *record)
{
    struct seen *seen = (struct seen *)ctx;

    if (seen->count == 0) {
        seen->first = record->seq;
    } else {
        assert_int_equal(record->seq, seen->last + 1);
    }
    seen->last = record->seq;
    seen->count++;
    seen->record = *record;
    snprintf(seen->text, sizeof(seen->text), "%.*s",
             (int)(record->payload.byte_count < 60 ? record->payload.byte_count
                                                   : 60),
             record->payload.p ? record->payload.p : "");
    return seen->stop_after > 0 && seen->count >= seen->stop_after;
}

static struct seen read_from(struct elog_reader *reader, uint64_t from_seq)
{
    struct seen seen = {0};
    struct elog_range range = {.from_seq = from_seq};
    struct err err = {""};

    int rc = elog_read(reader, &range, on_record, &seen, &err);
    if (rc < 0) {
        fail_msg("elog_read: %s", err.text);
    }
    assert_int_equal(rc, seen.count);
    return seen;
}

static struct elog_bounds bounds_of(struct elog_reader *reader)
{
    struct elog_bounds bounds;

    assert_int_equal(elog_bounds(reader, &bounds, NULL), 0);
    return bounds;
}

static void an_empty_log_begins_with_record_1(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    struct elog_bounds bounds = bounds_of(f->reader);

    assert_int_equal(bounds.first_seq, 1);
    assert_int_equal(bounds.head_seq, 0);
    assert_int_equal(read_from(f->reader, 1).count, 0);
}

static void a_record_is_read_as_it_was_submitted(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    assert_int_equal(submit(f->log, f->epoch, 1, STR("\0one"), &told), 0);
    assert_int_equal(told.count, 0);
    assert_int_equal(elog_in_flight_count(f->log), 1);
    poll_all(f->log);

    struct seen seen = read_from(f->reader, 1);
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

    assert_int_equal(submit(f->log, f->epoch, 1, (struct str){0}, &told), 0);
    poll_all(f->log);

    assert_int_equal(told.result[0], 0);
    struct seen seen = read_from(f->reader, 1);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.record.payload.byte_count, 0);
}

static void several_in_flight_are_told_in_order(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    for (uint64_t seq = 1; seq <= 10; seq++) {
        assert_int_equal(submit(f->log, f->epoch, seq, STR("x"), &told), 0);
    }
    poll_all(f->log);

    assert_int_equal(told.count, 10);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(told.result[i], 0);
        assert_int_equal(told.seq[i], i + 1);
    }
    assert_int_equal(read_from(f->reader, 1).last, 10);
}

static void a_wrong_next_seq_is_a_conflict(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    append(f->log, f->epoch, 1, 2);
    assert_int_equal(submit(f->log, f->epoch, 2, STR("again"), &told), 0);
    poll_all(f->log);
    assert_int_equal(submit(f->log, f->epoch, 4, STR("hole"), &told), 0);
    poll_all(f->log);

    assert_int_equal(told.result[0], -ERR_CONFLICT);
    assert_int_equal(told.result[1], -ERR_CONFLICT);
    assert_int_equal(bounds_of(f->reader).head_seq, 2);
    append(f->log, f->epoch, 3, 3);
}

static void once_one_fails_all_after_it_fail(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    assert_int_equal(submit(f->log, f->epoch, 1, STR("good"), &told), 0);
    assert_int_equal(submit(f->log, f->epoch, 3, STR("bad"), &told), 0);
    assert_int_equal(submit(f->log, f->epoch, 2, STR("late"), &told), 0);
    poll_all(f->log);

    assert_int_equal(told.count, 3);
    assert_int_equal(told.result[0], 0);
    assert_int_equal(told.result[1], -ERR_CONFLICT);
    assert_true(told.result[2] < 0);
    assert_int_equal(bounds_of(f->reader).head_seq, 1);
}

static void a_payload_over_the_limit_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};
    struct str payload = str_make("", (size_t)ELOG_PAYLOAD_BYTES_MAX + 1);

    assert_int_equal(submit(f->log, f->epoch, 1, payload, &told), -ERR_LIMIT);

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
        assert_int_equal(submit_counted(f, seq, &good_count), 0);
    }
    assert_int_equal(submit_counted(f, seq, &good_count), -ERR_LIMIT);
    poll_all(f->log);

    assert_int_equal(good_count, ELOG_IN_FLIGHT_COUNT_MAX);
    assert_int_equal(submit_counted(f, seq, &good_count), 0);
    poll_all(f->log);
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
    assert_int_equal(submit(f->log, f->epoch, 1, payload, &told), 0);
    poll_all(f->log);

    assert_int_equal(told.result[0], 0);
    /* The checksum, checked by the reader, covers the payload. */
    struct seen seen = read_from(f->reader, 1);
    assert_int_equal(seen.record.payload.byte_count, byte_count);
}

static void reading_stops_at_the_maxima(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct seen seen = {0};

    append(f->log, f->epoch, 1, 9); /* of 8 bytes each */

    struct elog_range three = {.from_seq = 2, .record_count_max = 3};
    assert_int_equal(elog_read(f->reader, &three, on_record, &seen, NULL), 3);
    assert_int_equal(seen.first, 2);
    assert_int_equal(seen.last, 4);
    seen = (struct seen){0};
    struct elog_range bytes = {.from_seq = 1, .byte_count_max = 17};
    assert_int_equal(elog_read(f->reader, &bytes, on_record, &seen, NULL), 2);
    seen = (struct seen){0};
    struct elog_range tiny = {.from_seq = 1, .byte_count_max = 1};
    assert_int_equal(elog_read(f->reader, &tiny, on_record, &seen, NULL), 1);
    seen = (struct seen){.stop_after = 2};
    struct elog_range all = {.from_seq = 5};
    assert_int_equal(elog_read(f->reader, &all, on_record, &seen, NULL), 2);
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

    append(f->log, f->epoch, 1, 3);

    assert_int_equal(elog_read(f->reader, &all, refuse, NULL, NULL),
                     -ERR_LIMIT);
    assert_int_equal(read_from(f->reader, 1).count, 3);
}

static void an_idle_deposed_writer_is_fenced(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    auto_ptr(elog) other = f->contract->open(f->place);
    uint64_t epoch;
    struct told told = {0};

    append(f->log, f->epoch, 1, 1);
    assert_int_equal(elog_acquire(other, &epoch, NULL), 0);
    assert_true(epoch > f->epoch);
    assert_int_equal(submit(f->log, f->epoch, 2, STR("late"), &told), 0);
    poll_all(f->log);

    assert_int_equal(told.result[0], -ERR_FENCED);
    append(other, epoch, 2, 2);
    assert_string_equal(read_from(f->reader, 2).text, "record 2");
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

    append(f->log, f->epoch, 1, 3);
    for (uint64_t seq = 4; seq <= 8; seq++) {
        assert_int_equal(submit(f->log, f->epoch, seq, STR("old"), &told), 0);
    }
    assert_int_equal(elog_acquire(other, &epoch, NULL), 0);
    assert_int_equal(elog_reader_open(other, &reader, NULL), 0);
    /* From here on what a reader sees is what the new leader goes on from. */
    uint64_t head = bounds_of(reader).head_seq;
    append(other, epoch, head + 1, head + 1);
    poll_all(f->log);

    assert_int_equal(told.count, 5);
    uint64_t acked = 3;
    for (uint32_t i = 0; i < told.count; i++) {
        acked += told.result[i] == 0;
    }
    assert_int_equal(acked, head);
    assert_int_equal(told.result[4], -ERR_FENCED);
    assert_int_equal(bounds_of(reader).head_seq, head + 1);
    assert_int_equal(read_from(reader, head + 1).record.epoch, epoch);
}

static void epochs_grow_over_restarts(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    uint64_t epoch;

    append(f->log, f->epoch, 1, 1);
    reopen(f);
    assert_int_equal(elog_acquire(f->log, &epoch, NULL), 0);

    assert_true(epoch > f->epoch);
    append(f->log, epoch, 2, 2);
}

static void what_was_acknowledged_survives_a_restart(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    append(f->log, f->epoch, 1, 20);
    reopen(f);

    struct seen seen = read_from(f->reader, 1);
    assert_int_equal(seen.count, 20);
    assert_string_equal(seen.text, "record 20");
    assert_string_equal(elog_note(f->log), "");
}

static void closing_tells_what_is_in_flight(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct told told = {0};

    assert_int_equal(submit(f->log, f->epoch, 1, STR("x"), &told), 0);
    reopen(f);

    assert_int_equal(told.count, 1);
    assert_int_equal(told.result[0], -ERR_UNAVAILABLE);
    assert_int_equal(bounds_of(f->reader).head_seq, 0);
}

static void waiting_ends_when_the_time_is_over(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    append(f->log, f->epoch, 1, 1);

    assert_int_equal(elog_wait(f->reader, 0, 0, NULL), 1);
    assert_int_equal(elog_wait(f->reader, 1, 0, NULL), 0);
    assert_int_equal(elog_wait(f->reader, 1, 20, NULL), 0);
}

static void an_interrupt_ends_one_wait(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_reader_interrupt(f->reader);

    assert_int_equal(elog_wait(f->reader, 0, WAIT_MS_MAX, NULL), 0);
    append(f->log, f->epoch, 1, 1);
    assert_int_equal(elog_wait(f->reader, 0, WAIT_MS_MAX, NULL), 1);
}

/* A follower on a thread of its own. */
struct follower {
    struct elog *log;
    uint64_t until_seq;
    atomic_uint_fast64_t seen_seq;
    bool is_good;
};

static int on_followed(void *ctx, const struct elog_record *record)
{
    struct follower *follower = (struct follower *)ctx;

    follower->is_good &= record->seq == follower->seen_seq + 1;
    follower->seen_seq = record->seq;
    return 0;
}

static void *follow(void *ctx)
{
    struct follower *follower = (struct follower *)ctx;
    auto_ptr(elog_reader) reader = NULL;

    follower->is_good = elog_reader_open(follower->log, &reader, NULL) == 0;
    while (follower->is_good && follower->seen_seq < follower->until_seq) {
        struct elog_range range = {.from_seq = follower->seen_seq + 1,
                                   .record_count_max = 7};

        follower->is_good =
            elog_wait(reader, follower->seen_seq, WAIT_MS_MAX, NULL) == 1 &&
            elog_read(reader, &range, on_followed, follower, NULL) > 0;
    }
    return NULL;
}

static void a_reader_follows_while_records_are_appended(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct follower follower = {.log = f->log, .until_seq = 300};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, follow, &follower), 0);
    for (uint64_t seq = 1; seq <= 300; seq += 3) {
        struct told told = {0};
        for (uint64_t i = seq; i < seq + 3; i++) {
            assert_int_equal(submit(f->log, f->epoch, i, STR("x"), &told), 0);
        }
        poll_all(f->log);
        /* Visible before it is told. */
        assert_int_equal(bounds_of(f->reader).head_seq, seq + 2);
    }
    pthread_join(thread, NULL);

    assert_true(follower.is_good);
    assert_int_equal(follower.seen_seq, 300);
}

static void *wait_for_one(void *ctx)
{
    struct elog_reader *reader = (struct elog_reader *)ctx;

    return (void *)(intptr_t)elog_wait(reader, 0, WAIT_MS_MAX, NULL);
}

static void an_append_wakes_who_waits(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    pthread_t thread;
    void *answer;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_one, f->reader), 0);
    append(f->log, f->epoch, 1, 1);
    pthread_join(thread, &answer);

    assert_int_equal((intptr_t)answer, 1);
}

static void an_interrupt_wakes_who_waits(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    pthread_t thread;
    void *answer;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_one, f->reader), 0);
    elog_reader_interrupt(f->reader);
    pthread_join(thread, &answer);

    assert_int_equal((intptr_t)answer, 0);
}

static int add_piece(void *ctx, const struct elog_checkpoint *about,
                     struct str piece)
{
    (void)about;
    strbuf_add_str((struct strbuf *)ctx, piece);
    return 0;
}

static void assert_newest_checkpoint(struct fixture *f, uint64_t seq,
                                     const char *text)
{
    auto_strbuf bytes = {0};
    struct elog_checkpoint about;

    assert_int_equal(
        elog_checkpoint_get(f->reader, &about, add_piece, &bytes, NULL), 1);
    assert_int_equal(about.seq, seq);
    assert_int_equal(about.format_version, 3);
    assert_int_equal(about.byte_count, strlen(text));
    assert_string_equal(strbuf_text(&bytes), text);
}

static int put(struct fixture *f, uint64_t seq, const char *text)
{
    return elog_checkpoint_put(f->log, seq, 3, str_of(text), NULL);
}

static void the_newest_checkpoint_is_given(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog_checkpoint about;

    append(f->log, f->epoch, 1, 5);
    assert_int_equal(
        elog_checkpoint_get(f->reader, &about, add_piece, NULL, NULL), 0);
    assert_int_equal(put(f, 2, "two"), 0);
    assert_newest_checkpoint(f, 2, "two");
    assert_int_equal(put(f, 4, "four"), 0);
    assert_newest_checkpoint(f, 4, "four");
    assert_int_equal(put(f, 5, ""), 0);

    assert_newest_checkpoint(f, 5, "");
    reopen(f);
    assert_newest_checkpoint(f, 5, "");
}

static void a_checkpoint_must_be_of_the_log_and_newer(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    append(f->log, f->epoch, 1, 3);
    assert_int_equal(put(f, 2, "two"), 0);

    assert_int_equal(put(f, 4, "future"), -ERR_INVALID);
    assert_int_equal(put(f, 2, "again"), -ERR_INVALID);
    assert_int_equal(put(f, 1, "older"), -ERR_INVALID);
    assert_newest_checkpoint(f, 2, "two");
}

static void a_spoiled_checkpoint_is_passed_over(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    append(f->log, f->epoch, 1, 5);
    assert_int_equal(put(f, 2, "two"), 0);
    assert_int_equal(put(f, 4, "four"), 0);
    elog_reader_close(f->reader);
    elog_close(f->log);
    f->contract->checkpoint_spoil(f->place);
    f->log = f->contract->open(f->place);
    assert_int_equal(elog_reader_open(f->log, &f->reader, NULL), 0);

    assert_newest_checkpoint(f, 2, "two");
}

struct pieces {
    uint32_t count;
    int end;
    char bytes[100000];
};

static int next_piece(void *ctx, struct str *ret_piece)
{
    struct pieces *pieces = (struct pieces *)ctx;

    if (pieces->count == 0) {
        return pieces->end;
    }
    pieces->count--;
    memset(pieces->bytes, (int)('a' + pieces->count % 26), 100000);
    *ret_piece = str_make(pieces->bytes, sizeof(pieces->bytes));
    return 1;
}

static int check_letters(void *ctx, const struct elog_checkpoint *about,
                         struct str piece)
{
    uint64_t *offset = (uint64_t *)ctx;

    for (size_t i = 0; i < piece.byte_count; i++, ++*offset) {
        uint64_t rest = about->byte_count / 100000 - 1 - *offset / 100000;
        assert_int_equal(piece.p[i], 'a' + rest % 26);
    }
    return 0;
}

static void a_big_checkpoint_goes_in_pieces(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    static struct pieces pieces;
    struct elog_checkpoint about;
    uint64_t offset = 0;

    pieces = (struct pieces){.count = 120};
    append(f->log, f->epoch, 1, 1);
    assert_int_equal(
        elog_checkpoint_put_pieces(f->log, 1, 3, next_piece, &pieces, NULL), 0);

    assert_int_equal(
        elog_checkpoint_get(f->reader, &about, check_letters, &offset, NULL),
        1);
    assert_int_equal(about.byte_count, 12000000);
    assert_int_equal(offset, 12000000);
}

static void a_checkpoint_that_breaks_off_is_never_seen(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    static struct pieces pieces;

    pieces = (struct pieces){.count = 50, .end = -ERR_LIMIT};
    append(f->log, f->epoch, 1, 3);
    assert_int_equal(put(f, 1, "one"), 0);
    assert_int_equal(
        elog_checkpoint_put_pieces(f->log, 2, 3, next_piece, &pieces, NULL),
        -ERR_LIMIT);

    assert_newest_checkpoint(f, 1, "one");
    reopen(f);
    assert_newest_checkpoint(f, 1, "one");
    assert_int_equal(put(f, 2, "two"), 0);
    assert_newest_checkpoint(f, 2, "two");
}

/* Another checkpoint is asked for while this one is being put. */
static int piece_and_intruder(void *ctx, struct str *ret_piece)
{
    struct fixture *f = ctx;
    static uint32_t count; /* odd: the piece is out */

    if (count++ % 2 == 1) {
        return 0;
    }
    assert_int_equal(put(f, 3, "intruder"), -ERR_UNAVAILABLE);
    *ret_piece = STR("whole");
    return 1;
}

static void a_second_checkpoint_at_once_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    append(f->log, f->epoch, 1, 3);
    assert_int_equal(
        elog_checkpoint_put_pieces(f->log, 2, 3, piece_and_intruder, f, NULL),
        0);

    assert_newest_checkpoint(f, 2, "whole");
    assert_int_equal(put(f, 3, "three"), 0);
    assert_newest_checkpoint(f, 3, "three");
}

static uint64_t trim(struct fixture *f, uint64_t before_seq)
{
    uint64_t first;

    assert_int_equal(elog_trim(f->log, before_seq, &first, NULL), 0);
    return first;
}

static void nothing_is_trimmed_without_a_checkpoint(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    append(f->log, f->epoch, 1, 5);

    assert_int_equal(trim(f, 4), 1);
    assert_int_equal(read_from(f->reader, 1).count, 5);
}

static void trimming_stops_at_the_newest_checkpoint(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog_range range = {.from_seq = 3};

    append(f->log, f->epoch, 1, 6);
    assert_int_equal(put(f, 4, "four"), 0);
    assert_int_equal(trim(f, 3), 3);
    assert_int_equal(trim(f, 100), 5);
    assert_int_equal(trim(f, 2), 5);

    struct elog_bounds bounds = bounds_of(f->reader);
    assert_int_equal(bounds.first_seq, 5);
    assert_int_equal(bounds.head_seq, 6);
    assert_int_equal(elog_read(f->reader, &range, on_record, NULL, NULL),
                     -ERR_NOT_FOUND);
    struct seen seen = read_from(f->reader, 5);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.text, "record 6");
}

static void a_log_trimmed_to_its_end_goes_on(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    uint64_t epoch;

    append(f->log, f->epoch, 1, 3);
    assert_int_equal(put(f, 3, "three"), 0);
    assert_int_equal(trim(f, 4), 4);
    reopen(f);
    assert_int_equal(bounds_of(f->reader).first_seq, 4);
    assert_int_equal(bounds_of(f->reader).head_seq, 3);
    assert_int_equal(elog_acquire(f->log, &epoch, NULL), 0);
    append(f->log, epoch, 4, 4);

    assert_int_equal(read_from(f->reader, 4).count, 1);
    assert_newest_checkpoint(f, 3, "three");
}

static void a_lost_checkpoint_after_a_trim_is_corruption(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog_checkpoint about;
    struct err err = {""};

    append(f->log, f->epoch, 1, 5);
    assert_int_equal(put(f, 2, "two"), 0);
    assert_int_equal(put(f, 4, "four"), 0);
    assert_int_equal(trim(f, 5), 5);
    elog_reader_close(f->reader);
    elog_close(f->log);
    f->contract->checkpoint_spoil(f->place);
    f->log = f->contract->open(f->place);
    assert_int_equal(elog_reader_open(f->log, &f->reader, NULL), 0);

    /* The older one is valid, but records 3 and 4 are gone. */
    assert_int_equal(
        elog_checkpoint_get(f->reader, &about, add_piece, NULL, &err),
        -ERR_CORRUPT);
    assert_true(strlen(err.text) > 0);
}

static void one_trim_forgets_a_bounded_number(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    uint64_t last = ELOG_TRIM_COUNT_MAX + 10;
    uint32_t good_count = 0;

    for (uint64_t seq = 1; seq <= last; seq++) {
        assert_int_equal(submit_counted(f, seq, &good_count), 0);
        if (seq % 1000 == 0 || seq == last) {
            poll_all(f->log);
        }
    }
    assert_int_equal(good_count, last);
    assert_int_equal(put(f, last, "all"), 0);

    assert_int_equal(trim(f, last + 1), ELOG_TRIM_COUNT_MAX + 1);
    assert_int_equal(trim(f, last + 1), last + 1);
}

int elog_contract_run(const struct elog_contract *contract)
{
    struct fixture fixture = {.contract = contract};
#define CASE(name)                               \
    {                                            \
        #name, name, set_up, tear_down, &fixture \
    }
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
        CASE(waiting_ends_when_the_time_is_over),
        CASE(an_interrupt_ends_one_wait),
        CASE(a_reader_follows_while_records_are_appended),
        CASE(an_append_wakes_who_waits),
        CASE(an_interrupt_wakes_who_waits),
        CASE(the_newest_checkpoint_is_given),
        CASE(a_checkpoint_must_be_of_the_log_and_newer),
        CASE(a_spoiled_checkpoint_is_passed_over),
        CASE(a_big_checkpoint_goes_in_pieces),
        CASE(a_checkpoint_that_breaks_off_is_never_seen),
        CASE(a_second_checkpoint_at_once_is_refused),
        CASE(nothing_is_trimmed_without_a_checkpoint),
        CASE(trimming_stops_at_the_newest_checkpoint),
        CASE(a_log_trimmed_to_its_end_goes_on),
        CASE(a_lost_checkpoint_after_a_trim_is_corruption),
        CASE(one_trim_forgets_a_bounded_number),
    };
#undef CASE
    return cmocka_run_group_tests_name(contract->name, tests, NULL, NULL);
}
