/*
 * A log and its query store on a disk that loses power, at each write and
 * sync in turn.
 *
 * Whatever was lost, the store is never ahead of the log, follows it to its
 * end, and is then what a store would be that is made from the log anew.
 */
#include <stdlib.h>

#include "elog/elog_sqlite.h"
#include "fault_vfs.h"
#include "store_world.h"
#include "unit.h"

enum { LIVES_MAX = 60, RECORD_COUNT = 30, RESTART_COUNT = 3 };

/* A log and a store, both in one folder. */
struct pair {
    char log_path[TMPDIR_PATH_BYTES_MAX];
    char store_path[TMPDIR_PATH_BYTES_MAX];
    struct elog *log;
    struct elog_reader *reader;
    struct store *store;
    uint64_t epoch;
};

static void close_pair(struct pair *pair)
{
    elog_reader_close(pair->reader);
    elog_close(pair->log);
    store_close(pair->store);
    pair->reader = NULL;
    pair->log = NULL;
    pair->store = NULL;
}

static int open_pair(struct pair *pair)
{
    int rc = elog_sqlite_open(pair->log_path, NULL, &pair->log, NULL);
    if (rc == 0) {
        rc = elog_reader_open(pair->log, &pair->reader, NULL);
    }
    if (rc == 0) {
        rc = elog_acquire(pair->log, &pair->epoch, NULL);
    }
    return rc < 0 ? rc
                  : store_sqlite_open(pair->store_path, &pair->store, NULL);
}

static int follow_to_end(struct pair *pair)
{
    int rc;

    do {
        rc = store_follow(pair->store, pair->reader, NULL, NULL, NULL);
    } while (rc > 0);
    return rc;
}

static struct job_id job_of(uint64_t n)
{
    const uint8_t random[10] = {(uint8_t)n};

    return job_id_make((int64_t)(1000 + n), random);
}

/* Record `seq`: a job is submitted, the one before is leased, and the one
 * before that ends. */
static void fill(struct log_batch *batch, uint64_t seq)
{
    struct event_scope scope = {STR("q"), STR("set"), STR("ann")};
    auto_strbuf spec = {0};
    auto_strbuf submit = {0};
    struct event leased = {.type = EVENT_LEASED,
                           .created_ms = (int64_t)seq,
                           .job = job_of(seq - 1),
                           .run = run_id_make(job_of(seq - 1), 0),
                           .leased.pool = STR("pool")};
    struct event ended = {.type = EVENT_SUCCEEDED,
                          .created_ms = (int64_t)seq,
                          .job = job_of(seq - 2)};

    store_world_encode_submit(&spec, job_of(seq), "client", "");
    log_put_submit(&submit, (int64_t)seq, strbuf_str(&spec), (struct str){0});
    log_batch_add_encoded(batch, &scope, strbuf_str(&submit));
    log_batch_add(batch, &scope, &leased);
    log_batch_add(batch, &scope, &ended);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)seq;
    *(int *)ctx = result;
}

static int append(struct pair *pair, uint64_t seq)
{
    auto_log_batch batch = {0};
    int result = -1;

    fill(&batch, seq);
    struct elog_record record = {
        .seq = seq, .epoch = pair->epoch, .payload = log_batch_finish(&batch)};
    int rc = elog_submit(pair->log, &record, on_done, &result);
    assert_int_equal(rc, 0);
    elog_poll(pair->log, 0);
    return result;
}

/* Append RECORD_COUNT records, follow now and then, and restart. */
static int live_once(struct pair *pair)
{
    struct elog_bounds bounds;

    int rc = open_pair(pair);
    if (rc == 0) {
        rc = elog_bounds(pair->reader, &bounds, NULL);
    }
    for (uint64_t i = 1; rc == 0 && i <= RECORD_COUNT; i++) {
        rc = append(pair, bounds.head_seq + i);
        if (rc == 0 && i % 3 == 0) {
            rc = follow_to_end(pair);
        }
    }
    return rc;
}

static void live(struct pair *pair)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < RESTART_COUNT; i++) {
        rc = live_once(pair);
        close_pair(pair);
    }
}

static void check(struct pair *pair)
{
    auto_strbuf rows = {0};
    auto_strbuf rows_anew = {0};
    struct err err = {""};

    assert_int_equal(open_pair(pair), 0);
    if (store_check(pair->store, pair->reader, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(follow_to_end(pair), 0);
    store_world_dump(pair->store_path, &rows);
    store_close(pair->store);
    pair->store = NULL;
    assert_int_equal(store_sqlite_remove(pair->store_path, NULL), 0);
    assert_int_equal(store_sqlite_open(pair->store_path, &pair->store, NULL),
                     0);
    assert_int_equal(follow_to_end(pair), 0);
    store_world_dump(pair->store_path, &rows_anew);
    assert_string_equal(strbuf_text(&rows), strbuf_text(&rows_anew));
    close_pair(pair);
}

/* Live on a fresh disk whose power goes at operation `n` (0: never); the
 * number of operations. */
static uint64_t live_until(uint64_t n)
{
    auto_tmpdir dir = {""};
    struct pair pair = {.log = NULL};

    tmpdir_init(&dir);
    tmpdir_path(&dir, "log", pair.log_path);
    tmpdir_path(&dir, "store", pair.store_path);
    fault_vfs_install(true);
    if (n > 0) {
        fault_vfs_plan_crash(n);
    }
    live(&pair);
    uint64_t op_count = fault_vfs_op_count();
    fault_vfs_power_on(n * 31337);
    check(&pair);
    fault_vfs_remove();
    return op_count;
}

static void the_store_catches_up_after_the_power_was_gone(void **state)
{
    const char *text = getenv("POWER_LIVES");
    uint64_t lives_max = text ? strtoull(text, NULL, 10) : LIVES_MAX;
    uint64_t op_count = live_until(0);

    (void)state;
    assert_true(op_count > 100);
    for (uint64_t n = 1; n <= op_count; n += op_count / lives_max + 1) {
        live_until(n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_store_catches_up_after_the_power_was_gone),
    };
    return RUN_TESTS(tests);
}
