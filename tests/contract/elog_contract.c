/*
 * elog: the contract of the port, by example.
 */
#include <stdio.h>

#include "elog_contract_private.h"

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

int contract_set_up(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    f->place = f->contract->place_create();
    f->log = f->contract->open(f->place);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    assert_int_equal(elog_reader_open(f->log, &f->reader, NULL), 0);
    return 0;
}

int contract_tear_down(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_reader_close(f->reader);
    elog_close(f->log);
    f->contract->place_destroy(f->place);
    return 0;
}

void contract_reopen(struct fixture *f)
{
    elog_reader_close(f->reader);
    elog_close(f->log);
    f->log = f->contract->open(f->place);
    assert_int_equal(elog_reader_open(f->log, &f->reader, NULL), 0);
}

int contract_submit(struct elog *log, uint64_t epoch, uint64_t seq,
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

int contract_submit_counted(struct fixture *f, uint64_t seq,
                            uint32_t *good_count)
{
    struct elog_record record = {
        .seq = seq, .epoch = f->epoch, .payload = STR("x")};

    return elog_submit(f->log, &record, on_done_count, good_count);
}

void contract_poll_all(struct elog *log)
{
    for (int i = 0; i < 1000 && elog_in_flight_count(log) > 0; i++) {
        elog_poll(log, 10);
    }
    assert_int_equal(elog_in_flight_count(log), 0);
}

void contract_append(struct elog *log, uint64_t epoch, uint64_t first,
                     uint64_t last)
{
    for (uint64_t seq = first; seq <= last; seq++) {
        struct told told = {0};
        char text[32];

        snprintf(text, sizeof(text), "record %llu", (unsigned long long)seq);
        assert_int_equal(contract_submit(log, epoch, seq, str_of(text), &told),
                         0);
        contract_poll_all(log);
        assert_int_equal(told.count, 1);
        assert_int_equal(told.result[0], 0);
    }
}

int contract_on_record(void *ctx, const struct elog_record *record)
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

struct seen contract_read_from(struct elog_reader *reader, uint64_t from_seq)
{
    struct seen seen = {0};
    struct elog_range range = {.from_seq = from_seq};
    struct err err = {""};

    int rc = elog_read(reader, &range, contract_on_record, &seen, &err);
    if (rc < 0) {
        fail_msg("elog_read: %s", err.text);
    }
    assert_int_equal(rc, seen.count);
    return seen;
}

struct elog_bounds contract_bounds_of(struct elog_reader *reader)
{
    struct elog_bounds bounds;

    assert_int_equal(elog_bounds(reader, &bounds, NULL), 0);
    return bounds;
}

int elog_contract_run(const struct elog_contract *contract)
{
    struct fixture fixture = {.contract = contract};

    return elog_contract_append(&fixture) + elog_contract_follow(&fixture) +
           elog_contract_checkpoints(&fixture);
}
