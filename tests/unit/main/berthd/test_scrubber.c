/* scrubber: it reads all, and tells what is damaged. */
#include <fcntl.h>
#include <unistd.h>

#include "elog/elog_sqlite.h"
#include "main/berthd/scrubber.h"
#include "main/common/machine.h"
#include "patience.h"
#include "tmpdir.h"
#include "unit.h"

enum { RECORD_BYTES = 20000, RECORDS = 50, PERIOD_MS = 40 };

struct fixture {
    struct tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX], store[TMPDIR_PATH_BYTES_MAX];
    struct elog *log;
    struct scrubber *scrubber;
    struct scrubber_metrics metrics;
};

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

static void open_log(struct fixture *f)
{
    struct err err = {""};

    if (elog_sqlite_open(f->path, NULL, &f->log, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* A log that was closed, so that all of it is in its database. */
static int set_up(void **state)
{
    static char bytes[RECORD_BYTES];
    struct fixture *f = mem_alloc(sizeof(*f));
    uint64_t epoch;

    tmpdir_init(&f->dir);
    tmpdir_path(&f->dir, "log.db", f->path);
    tmpdir_path(&f->dir, "store.db", f->store);
    open_log(f);
    assert_int_equal(elog_acquire(f->log, &epoch, NULL), 0);
    for (uint64_t seq = 1; seq <= RECORDS; seq++) {
        struct elog_record record = {.seq = seq,
                                     .epoch = epoch,
                                     .payload = str_make(bytes, sizeof(bytes))};
        assert_int_equal(elog_submit(f->log, &record, on_done, NULL), 0);
        elog_poll(f->log, 0);
    }
    assert_int_equal(elog_backup(f->log, f->store, NULL), 0);
    elog_close(f->log);
    open_log(f);
    *state = f;
    return 0;
}

static void start(struct fixture *f)
{
    struct scrubber_options options = {.log = f->log,
                                       .log_path = f->path,
                                       .store_path = f->store,
                                       .clock = &machine_clock,
                                       .period_ms = PERIOD_MS};
    struct err err = {""};

    f->scrubber = scrubber_start(&options, &err);
    if (!f->scrubber) {
        fail_msg("%s", err.text);
    }
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    scrubber_stop(f->scrubber);
    elog_close(f->log);
    tmpdir_fini(&f->dir);
    mem_free(f);
    return 0;
}

/* Wait until `pass_count` passes were made. */
static void wait_passes(struct fixture *f, uint64_t pass_count)
{
    uint64_t until_ns = machine_clock.mono_ns(&machine_clock) +
                        (uint64_t)patient_ms(20000) * 1000000;

    do {
        assert_true(machine_clock.mono_ns(&machine_clock) < until_ns);
        (void)usleep(1000);
        scrubber_metrics(f->scrubber, &f->metrics);
    } while (f->metrics.pass_count < pass_count);
}

static void flip(const char *path, off_t at)
{
    unsigned char byte;

    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void what_is_whole_is_read_again_and_again(void **state)
{
    struct fixture *f = *state;

    start(f);
    wait_passes(f, 3);
    assert_int_equal(f->metrics.damaged_count, 0);
    /* Both files, and the records once more. */
    assert_true(f->metrics.byte_count > 3u * 3 * RECORDS * RECORD_BYTES);
}

static void a_damaged_page_of_the_store_is_found(void **state)
{
    struct fixture *f = *state;

    flip(f->store, 300000);
    start(f);
    wait_passes(f, 1);
    assert_true(f->metrics.damaged_count >= 1);
}

static void a_damaged_page_of_the_log_is_found_while_it_is_open(void **state)
{
    struct fixture *f = *state;

    start(f);
    wait_passes(f, 1);
    assert_int_equal(f->metrics.damaged_count, 0);
    flip(f->path, 500000);
    wait_passes(f, f->metrics.pass_count + 2);
    assert_true(f->metrics.damaged_count >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(what_is_whole_is_read_again_and_again),
        CASE(a_damaged_page_of_the_store_is_found),
        CASE(a_damaged_page_of_the_log_is_found_while_it_is_open),
    };

    return RUN_TESTS(tests);
}
