/*
 * arrays: each job of an array lies in a piece of its own kind, pieces hold
 * nothing else, and neighbours share one, in whatever order jobs come and go.
 */
#include <stdio.h>

#include "store/arrays.h"
#include "store/store_sqlite_file.h"
#include "unit.h"

enum { IDS = 60, STEPS = 4000, KINDS = 4 /* 0: no array */ };

struct fixture {
    sqlite3 *db;
    struct arrays arrays;
    int64_t kinds[IDS + 1]; /* of the jobs that are there; -1: none */
    uint64_t random;
};

static struct job_id id_of(int n)
{
    return (struct job_id){{7, (uint64_t)n}};
}

static int64_t get(sqlite3 *db, const char *sql)
{
    int64_t value = -1;

    assert_int_equal(sq_get_int(db, sql, &value, NULL), 1);
    return value;
}

static int set_up(void **state)
{
    struct fixture *f = mem_alloc(sizeof(*f));

    assert_int_equal(sqlite3_open(":memory:", &f->db), SQLITE_OK);
    assert_int_equal(sq_exec(f->db,
                             "CREATE TABLE job (id BLOB PRIMARY KEY)"
                             " WITHOUT ROWID;" ARRAY_PIECE_TABLE,
                             NULL),
                     0);
    for (int i = 0; i < ARRAYS_STATEMENTS; i++) {
        assert_int_equal(
            sq_prepare(f->db, arrays_sql[i], &f->arrays.statements[i], NULL),
            0);
    }
    for (int n = 0; n <= IDS; n++) {
        f->kinds[n] = -1;
    }
    f->random = 1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < ARRAYS_STATEMENTS; i++) {
        sqlite3_finalize(f->arrays.statements[i]);
    }
    sqlite3_close(f->db);
    mem_free(f);
    return 0;
}

static int pick(struct fixture *f, int below)
{
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((f->random >> 33) % (uint64_t)below);
}

static void store(struct fixture *f, int n, int64_t kind)
{
    char sql[100];

    snprintf(sql, sizeof(sql), "INSERT INTO job VALUES (x'%016x%016x')", 7, n);
    assert_int_equal(sq_exec(f->db, sql, NULL), 0);
    f->kinds[n] = kind;
}

static void add(struct fixture *f, int n, int64_t kind)
{
    store(f, n, kind);
    assert_int_equal(arrays_add(&f->arrays, id_of(n), kind, NULL), 0);
}

static void drop(struct fixture *f, int n)
{
    char sql[100];

    snprintf(sql, sizeof(sql), "DELETE FROM job WHERE id = x'%016x%016x'", 7,
             n);
    assert_int_equal(sq_exec(f->db, sql, NULL), 0);
    if (f->kinds[n] > 0) {
        assert_int_equal(arrays_remove(&f->arrays, id_of(n), NULL), 0);
    }
    f->kinds[n] = -1;
}

/* The pieces against the jobs that there are. */
static void check(struct fixture *f)
{
    int64_t of_piece[IDS + 1] = {0};
    sqlite3_stmt *stmt = NULL;

    assert_int_equal(sq_prepare(f->db,
                                "SELECT first, last, hash FROM array_piece",
                                &stmt, NULL),
                     0);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        int first = (int)store_id_column(stmt, 0).lo;
        int last = (int)store_id_column(stmt, 1).lo, count = 0;
        assert_true(first >= 1 && first <= last && last <= IDS);
        for (int n = first; n <= last; n++) {
            assert_int_equal(of_piece[n], 0);
            of_piece[n] = sqlite3_column_int64(stmt, 2);
            assert_true(f->kinds[n] == -1 || f->kinds[n] == of_piece[n]);
            count += f->kinds[n] >= 0;
        }
        assert_true(count > 0);
    }
    sqlite3_finalize(stmt);
    for (int n = 1; n <= IDS; n++) {
        assert_true(f->kinds[n] <= 0 || of_piece[n] == f->kinds[n]);
    }
}

static void jobs_that_follow_one_another_share_a_piece(void **state)
{
    struct fixture *f = *state;

    add(f, 1, 0);
    for (int n = 2; n < 20; n++) {
        add(f, n, n < 10 ? 1 : 2);
    }
    check(f);
    assert_int_equal(get(f->db, "SELECT count(*) FROM array_piece"), 2);
    add(f, 20, 0);
    add(f, 21, 2);
    check(f);
    assert_int_equal(get(f->db, "SELECT count(*) FROM array_piece"), 3);
    for (int n = 1; n <= 21; n++) {
        drop(f, n);
        check(f);
    }
    assert_int_equal(get(f->db, "SELECT count(*) FROM array_piece"), 0);
}

/* All of a transaction is stored before any of it is told. */
static void a_stranger_that_is_stored_first_is_not_passed_over(void **state)
{
    struct fixture *f = *state;

    add(f, 1, 1);
    store(f, 2, 0);
    store(f, 3, 1);
    assert_int_equal(arrays_add(&f->arrays, id_of(3), 1, NULL), 0);
    assert_int_equal(arrays_add(&f->arrays, id_of(2), 0, NULL), 0);
    check(f);
    assert_int_equal(get(f->db, "SELECT count(*) FROM array_piece"), 2);
}

static void whatever_comes_and_goes_pieces_hold_one_kind(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < STEPS; i++) {
        int n = 1 + pick(f, IDS);
        if (f->kinds[n] < 0) {
            /* Mostly as its neighbour. */
            int64_t kind = f->kinds[n - 1];
            add(f, n, kind < 0 || pick(f, 3) == 0 ? pick(f, KINDS) : kind);
        } else {
            drop(f, n);
        }
        if (pick(f, 50) == 0) {
            f->arrays.is_read = false; /* the store is opened again */
            f->arrays.newest = (struct job_id){{0, 0}};
        }
        check(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(jobs_that_follow_one_another_share_a_piece),
        CASE(a_stranger_that_is_stored_first_is_not_passed_over),
        CASE(whatever_comes_and_goes_pieces_hold_one_kind),
    };

    return RUN_TESTS(tests);
}
