/*
 * set_counts: what a transaction changes of the counts of jobs is written once
 * for each job set and state, and what is empty goes.
 */
#include <stdio.h>

#include "store/set_counts.h"
#include "store_fixture.h"

static int64_t get(sqlite3 *db, const char *sql)
{
    int64_t value = -1;

    assert_int_equal(sq_get_int(db, sql, &value, NULL), 1);
    return value;
}

static void write_counts(sqlite3 *db, const struct set_counts *counts)
{
    sqlite3_stmt *statements[SET_COUNTS_STATEMENTS] = {NULL};

    for (int i = 0; i < SET_COUNTS_STATEMENTS; i++) {
        assert_int_equal(
            sq_prepare(db, set_counts_sql[i], &statements[i], NULL), 0);
    }
    assert_int_equal(set_counts_write(counts, statements, NULL), 0);
    for (int i = 0; i < SET_COUNTS_STATEMENTS; i++) {
        sqlite3_finalize(statements[i]);
    }
}

static void changes_come_together_and_what_is_empty_goes(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct set_counts first = {0}, second = {0};
    struct err err;
    sqlite3 *db;

    store_submit_plain(world, 1);
    store_world_apply(world);
    assert_int_equal(sq_open(&(struct sq_open){.path = world->path}, &db, &err),
                     0);
    assert_int_equal(sq_exec(db, "DELETE FROM set_count", &err), 0);
    for (int i = 0; i < 3; i++) {
        set_counts_note(&first, 1, STORED_JOB_QUEUED, 0, T0 + 50 - i);
        set_counts_note(&first, 1, STORED_JOB_LEASED, STORED_JOB_QUEUED,
                        T0 + 60 - i);
    }
    write_counts(db, &first);
    assert_int_equal(get(db, "SELECT count(*) FROM set_count"), 1);
    assert_int_equal(get(db, "SELECT job_count FROM set_count"), 3);
    assert_int_equal(get(db, "SELECT changed_ms FROM job_set"), T0 + 60);
    for (int i = 0; i < 3; i++) {
        set_counts_note(&second, 1, STORED_JOB_FAILED, STORED_JOB_LEASED, 1);
    }
    write_counts(db, &second);
    assert_int_equal(get(db, "SELECT count(*) FROM set_count"), 1);
    assert_int_equal(get(db, "SELECT job_count FROM set_count"
                             " WHERE state = 5"),
                     3);
    assert_int_equal(get(db, "SELECT changed_ms FROM job_set"), T0 + 60);
    set_counts_fini(&first);
    set_counts_fini(&second);
    sq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            changes_come_together_and_what_is_empty_goes, store_set_up,
            store_tear_down),
    };

    return RUN_TESTS(tests);
}
