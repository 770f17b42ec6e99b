/*
 * elog_sqlite on a disk that fills up or loses power, at each of its writes
 * and syncs in turn.
 *
 * Method: a short life of a log (append, several in flight, checkpoint, trim,
 * restart) is lived once to count its disk operations, then once for each of
 * them, or a bounded number of them evenly spread, with the fault there.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "elog/elog_sqlite.h"
#include "fault_vfs.h"
#include "tmpdir.h"
#include "unit.h"

enum {
    LIVES_MAX = 200,   /* of each test; $POWER_LIVES overrides */
    RESTART_COUNT = 3, /* of a life */
    POLL_COUNT = 10,   /* of a stretch between two restarts */
    PAYLOAD_BYTES_MAX = 30000,
};

/* What the world was told, and must hold. */
struct life {
    const char *path;
    struct elog *log;
    uint64_t epoch;
    uint64_t acked_seq;      /* told 0 */
    uint64_t submitted_seq;  /* at most this may be there */
    uint64_t checkpoint_seq; /* put returned 0 */
    uint64_t op_count;       /* of the disk */
    uint32_t full_count;     /* told -ERR_FULL */
    uint32_t lost_count;     /* told any other failure */
    bool is_over;            /* something failed for good */
};

static uint64_t lives_max(void)
{
    const char *text = getenv("POWER_LIVES");

    return text ? strtoull(text, NULL, 10) : LIVES_MAX;
}

/* The bytes of record `seq`, always the same. */
static struct str payload_of(uint64_t seq, char *bytes)
{
    size_t byte_count = hash_mix(seq) % PAYLOAD_BYTES_MAX;

    for (size_t i = 0; i < byte_count; i++) {
        bytes[i] = (char)(seq * 131 + i * 7);
    }
    return str_make(bytes, byte_count);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    struct life *life = (struct life *)ctx;

    if (result == 0) {
        assert_int_equal(seq, life->acked_seq + 1);
        life->acked_seq = seq;
    } else if (result == -ERR_FULL) {
        life->full_count++;
    } else {
        life->lost_count++;
        life->is_over = true;
    }
}

/* Submit `count` (up to 4) records and poll once. */
static void append(struct life *life, uint64_t count)
{
    static char bytes[4][PAYLOAD_BYTES_MAX];
    uint64_t first_seq = life->acked_seq + 1;

    for (uint64_t seq = first_seq; seq < first_seq + count; seq++) {
        struct elog_record record = {
            .seq = seq,
            .epoch = life->epoch,
            .time_ms = (int64_t)seq,
            .format_version = 1,
            .payload = payload_of(seq, bytes[seq - first_seq]),
        };
        assert_int_equal(elog_submit(life->log, &record, on_done, life), 0);
        if (seq > life->submitted_seq) {
            life->submitted_seq = seq;
        }
    }
    elog_poll(life->log, 0);
}

static int open_log(struct life *life, struct err *err)
{
    struct elog_sqlite_options options = {.vfs = FAULT_VFS};

    return elog_sqlite_open(life->path, &options, &life->log, err);
}

/* Between two restarts. */
static void live_stretch(struct life *life)
{
    uint64_t first_seq;

    if (open_log(life, NULL) < 0 ||
        elog_acquire(life->log, &life->epoch, NULL) < 0) {
        life->is_over = true;
        return;
    }
    for (uint64_t i = 0; i < POLL_COUNT && !life->is_over; i++) {
        append(life, 1 + i % 4);
        if (i % 5 == 3 && life->acked_seq > life->checkpoint_seq &&
            elog_checkpoint_put(life->log, life->acked_seq, 1, STR("the state"),
                                NULL) == 0) {
            life->checkpoint_seq = life->acked_seq;
        }
        if (i % 5 == 4) {
            uint64_t before_seq =
                life->checkpoint_seq - life->checkpoint_seq / 4;
            int rc = elog_trim(life->log, before_seq, &first_seq, NULL);
            (void)rc; /* it may fail: then nothing is gone */
        }
    }
}

static void live(struct life *life)
{
    for (int i = 0; i < RESTART_COUNT && !life->is_over; i++) {
        live_stretch(life);
        elog_close(life->log);
        life->log = NULL;
    }
    life->op_count = fault_vfs_op_count();
}

static int check_record(void *ctx, const struct elog_record *record)
{
    static char bytes[PAYLOAD_BYTES_MAX];
    uint64_t *next_seq = (uint64_t *)ctx;

    assert_int_equal(record->seq, *next_seq);
    assert_true(str_equal(record->payload, payload_of(record->seq, bytes)));
    ++*next_seq;
    return 0;
}

static int add_piece(void *ctx, const struct elog_checkpoint *about,
                     struct str piece)
{
    (void)about;
    strbuf_add_str((struct strbuf *)ctx, piece);
    return 0;
}

/* The newest checkpoint that was acknowledged, or a newer one, is whole, and
 * the log continues it. */
static void check_checkpoint(const struct life *life,
                             struct elog_reader *reader,
                             const struct elog_bounds *bounds)
{
    auto_strbuf state = {0};
    struct elog_checkpoint about = {0};

    int rc = elog_checkpoint_get(reader, &about, add_piece, &state, NULL);
    assert_true(rc >= 0);
    assert_true(about.seq >= life->checkpoint_seq);
    assert_true(bounds->first_seq <= about.seq + 1);
    assert_true(about.seq <= bounds->head_seq);
    if (rc == 1) {
        assert_string_equal(strbuf_text(&state), "the state");
    }
}

/* No acknowledged record is missing, there is no hole, and nothing that was
 * never submitted. */
static struct elog_bounds check_records(const struct life *life,
                                        struct elog_reader *reader)
{
    struct elog_bounds bounds;
    struct err err = {""};

    assert_int_equal(elog_bounds(reader, &bounds, NULL), 0);
    assert_true(bounds.head_seq >= life->acked_seq);
    assert_true(bounds.head_seq <= life->submitted_seq);
    struct elog_range all = {.from_seq = bounds.first_seq};
    uint64_t next_seq = bounds.first_seq;
    if (elog_read(reader, &all, check_record, &next_seq, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(next_seq, bounds.head_seq + 1);
    return bounds;
}

/* What must hold after any life; and the log goes on. */
static void check_world(struct life *life)
{
    struct elog_reader *reader = NULL;
    struct err err = {""};

    if (open_log(life, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(elog_reader_open(life->log, &reader, NULL), 0);
    struct elog_bounds bounds = check_records(life, reader);
    check_checkpoint(life, reader, &bounds);
    assert_int_equal(elog_acquire(life->log, &life->epoch, NULL), 0);
    life->acked_seq = bounds.head_seq;
    append(life, 3);
    assert_int_equal(life->acked_seq, bounds.head_seq + 3);
    elog_reader_close(reader);
    elog_close(life->log);
}

typedef void plan_fn(uint64_t n);

/* Live on a fresh disk with a fault planned by `plan`. */
static struct life live_with(plan_fn *plan, uint64_t n)
{
    auto_tmpdir dir = {""};
    char path[TMPDIR_PATH_BYTES_MAX];
    struct life life = {0};

    tmpdir_init(&dir);
    life.path = tmpdir_path(&dir, "log", path);
    fault_vfs_install(false);
    if (plan) {
        plan(n);
    }
    live(&life);
    struct life lived = life;
    fault_vfs_power_on(n * 7919);
    check_world(&life);
    fault_vfs_remove();
    return lived;
}

/* Plan for each operation of a life, or for every so many of them. */
static void for_each_op(plan_fn *plan, void (*check)(const struct life *))
{
    struct life whole = live_with(NULL, 0);
    uint64_t step = whole.op_count / lives_max() + 1;

    assert_false(whole.is_over);
    assert_true(whole.op_count > 100);
    for (uint64_t n = 1; n <= whole.op_count; n += step) {
        struct life life = live_with(plan, n);

        check(&life);
    }
}

static void check_nothing(const struct life *life)
{
    (void)life;
}

static void nothing_acknowledged_is_lost_when_the_power_goes(void **state)
{
    (void)state;
    for_each_op(fault_vfs_plan_crash, check_nothing);
}

static void plan_full(uint64_t n)
{
    fault_vfs_plan_full(n, 6);
}

/* A full disk is never taken for a broken one. */
static void check_went_on(const struct life *life)
{
    assert_int_equal(life->lost_count, 0);
}

static void a_full_disk_refuses_and_the_log_goes_on(void **state)
{
    (void)state;
    for_each_op(plan_full, check_went_on);
    /* In the middle of a life an append meets it. */
    assert_true(live_with(plan_full, 100).full_count > 0);
}

static void plan_long_full(uint64_t n)
{
    fault_vfs_plan_full(n, 1000000);
}

static void a_disk_that_stays_full_loses_nothing(void **state)
{
    (void)state;
    for_each_op(plan_long_full, check_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_acknowledged_is_lost_when_the_power_goes),
        TEST(a_full_disk_refuses_and_the_log_goes_on),
        TEST(a_disk_that_stays_full_loses_nothing),
    };
    return RUN_TESTS(tests);
}
