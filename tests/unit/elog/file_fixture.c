#include "file_fixture.h"

#include <stdio.h>

#include "elog/sq.h"
#include "unit.h"

void file_on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

void file_append(struct file_fixture *f, int count)
{
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "record %llu",
                 (unsigned long long)f->next_seq);
        struct elog_record record = {
            .seq = f->next_seq++, .epoch = f->epoch, .payload = str_of(text)};

        assert_int_equal(elog_submit(f->log, &record, file_on_done, NULL), 0);
        elog_poll(f->log, 0);
    }
}

void file_open(struct file_fixture *f)
{
    struct err err = {""};

    if (elog_sqlite_open(f->path, NULL, &f->log, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

void file_accept_loss(struct file_fixture *f)
{
    struct elog_sqlite_options options = {.accepts_loss = true};
    struct err err = {""};

    if (elog_sqlite_open(f->path, &options, &f->log, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

int file_set_up(void **state)
{
    struct file_fixture *f = mem_alloc(sizeof(*f));

    tmpdir_init(&f->dir);
    tmpdir_path(&f->dir, "log", f->path);
    f->next_seq = 1;
    file_open(f);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    *state = f;
    return 0;
}

int file_tear_down(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;

    elog_close(f->log);
    tmpdir_fini(&f->dir);
    mem_free(f);
    return 0;
}

void file_close(struct file_fixture *f)
{
    elog_close(f->log);
    f->log = NULL;
}

void file_tamper(struct file_fixture *f, const char *sql)
{
    struct sq_open how = {.path = f->path};
    sqlite3 *db = NULL;

    assert_int_equal(sq_open(&how, &db, NULL), 0);
    assert_int_equal(sq_exec(db, sql, NULL), 0);
    sq_close(db);
}

int file_open_code(struct file_fixture *f, struct err *err)
{
    *err = (struct err){""};
    return elog_sqlite_open(f->path, NULL, &f->log, err);
}

int file_count_one(void *ctx, const struct elog_record *record)
{
    (void)record;
    ++*(uint32_t *)ctx;
    return 0;
}

int file_read_all(struct elog *log, uint32_t *ret_count, struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range all = {.from_seq = 1};

    *ret_count = 0;
    *err = (struct err){""};
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    return elog_read(reader, &all, file_count_one, ret_count, err);
}
