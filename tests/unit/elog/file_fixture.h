/*
 * file_fixture - a log in a file of its own, which tests open, fill, and change
 * behind its back.
 */
#pragma once

#include "elog/elog_sqlite.h"
#include "tmpdir.h"

/* An open log that was acquired. */
struct file_fixture {
    struct tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct elog *log;
    uint64_t epoch;
    uint64_t next_seq;
};

/* For cmocka: the fixture is `*state`. */
int file_set_up(void **state);
/* See above. */
int file_tear_down(void **state);
/* Open the log again, after file_close(). */
void file_open(struct file_fixture *f);
/* The same; returns what elog_sqlite_open() did. */
int file_open_code(struct file_fixture *f, struct err *err);
/* Open it again, whatever of it is lost. */
void file_accept_loss(struct file_fixture *f);
/* Close it; the file stays. */
void file_close(struct file_fixture *f);
/* Append `count` records that hold their numbers as text. */
void file_append(struct file_fixture *f, int count);
/* For elog_submit(): what is told is 0. */
void file_on_done(void *ctx, int result, uint64_t seq);
/* Change the file behind the log's back; the log is closed. */
void file_tamper(struct file_fixture *f, const char *sql);
/* Read all there is; `*ret_count` records were good. */
int file_read_all(struct elog *log, uint32_t *ret_count, struct err *err);
/* For elog_read(): count records in the uint32_t `ctx`. */
int file_count_one(void *ctx, const struct elog_record *record);

/* A test that has the fixture. */
#define FILE_TEST(name) \
    cmocka_unit_test_setup_teardown(name, file_set_up, file_tear_down)
