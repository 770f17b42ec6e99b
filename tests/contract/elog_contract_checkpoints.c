/* Checkpoints, and what is trimmed before them. */

#include "elog_contract_private.h"

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

    contract_append(f->log, f->epoch, 1, 5);
    assert_int_equal(
        elog_checkpoint_get(f->reader, &about, add_piece, NULL, NULL), 0);
    assert_int_equal(put(f, 2, "two"), 0);
    assert_newest_checkpoint(f, 2, "two");
    assert_int_equal(put(f, 4, "four"), 0);
    assert_newest_checkpoint(f, 4, "four");
    assert_int_equal(put(f, 5, ""), 0);

    assert_newest_checkpoint(f, 5, "");
    contract_reopen(f);
    assert_newest_checkpoint(f, 5, "");
}

static void a_checkpoint_must_be_of_the_log_and_newer(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    contract_append(f->log, f->epoch, 1, 3);
    assert_int_equal(put(f, 2, "two"), 0);

    assert_int_equal(put(f, 4, "future"), -ERR_INVALID);
    assert_int_equal(put(f, 2, "again"), -ERR_INVALID);
    assert_int_equal(put(f, 1, "older"), -ERR_INVALID);
    assert_newest_checkpoint(f, 2, "two");
}

static void a_spoiled_checkpoint_is_passed_over(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    contract_append(f->log, f->epoch, 1, 5);
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
    contract_append(f->log, f->epoch, 1, 1);
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
    contract_append(f->log, f->epoch, 1, 3);
    assert_int_equal(put(f, 1, "one"), 0);
    assert_int_equal(
        elog_checkpoint_put_pieces(f->log, 2, 3, next_piece, &pieces, NULL),
        -ERR_LIMIT);

    assert_newest_checkpoint(f, 1, "one");
    contract_reopen(f);
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

    contract_append(f->log, f->epoch, 1, 3);
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

    contract_append(f->log, f->epoch, 1, 5);

    assert_int_equal(trim(f, 4), 1);
    assert_int_equal(contract_read_from(f->reader, 1).count, 5);
}

static void trimming_stops_at_the_newest_checkpoint(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog_range range = {.from_seq = 3};

    contract_append(f->log, f->epoch, 1, 6);
    assert_int_equal(put(f, 4, "four"), 0);
    assert_int_equal(trim(f, 3), 3);
    assert_int_equal(trim(f, 100), 5);
    assert_int_equal(trim(f, 2), 5);

    struct elog_bounds bounds = contract_bounds_of(f->reader);
    assert_int_equal(bounds.first_seq, 5);
    assert_int_equal(bounds.head_seq, 6);
    assert_int_equal(
        elog_read(f->reader, &range, contract_on_record, NULL, NULL),
        -ERR_NOT_FOUND);
    struct seen seen = contract_read_from(f->reader, 5);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.text, "record 6");
}

static void a_log_trimmed_to_its_end_goes_on(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    uint64_t epoch;

    contract_append(f->log, f->epoch, 1, 3);
    assert_int_equal(put(f, 3, "three"), 0);
    assert_int_equal(trim(f, 4), 4);
    contract_reopen(f);
    assert_int_equal(contract_bounds_of(f->reader).first_seq, 4);
    assert_int_equal(contract_bounds_of(f->reader).head_seq, 3);
    assert_int_equal(elog_acquire(f->log, &epoch, NULL), 0);
    contract_append(f->log, epoch, 4, 4);

    assert_int_equal(contract_read_from(f->reader, 4).count, 1);
    assert_newest_checkpoint(f, 3, "three");
}

static void a_lost_checkpoint_after_a_trim_is_corruption(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog_checkpoint about;
    struct err err = {""};

    contract_append(f->log, f->epoch, 1, 5);
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
        assert_int_equal(contract_submit_counted(f, seq, &good_count), 0);
        if (seq % 1000 == 0 || seq == last) {
            contract_poll_all(f->log);
        }
    }
    assert_int_equal(good_count, last);
    assert_int_equal(put(f, last, "all"), 0);

    assert_int_equal(trim(f, last + 1), ELOG_TRIM_COUNT_MAX + 1);
    assert_int_equal(trim(f, last + 1), last + 1);
}

int elog_contract_checkpoints(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {
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
    return cmocka_run_group_tests_name(fixture->contract->name, tests, NULL,
                                       NULL);
}
