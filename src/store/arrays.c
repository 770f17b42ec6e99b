#include "store/arrays.h"

#include "store/store_sqlite_file.h"

const char *const arrays_sql[ARRAYS_STATEMENTS] = {
    [ARRAYS_FIND] = ARRAY_PIECE_SELECT,
    [ARRAYS_OLDER] = "SELECT max(id) FROM job WHERE id >= ? AND id < ?",
    [ARRAYS_NEWER] = "SELECT min(id) FROM job WHERE id > ? AND id <= ?",
    [ARRAYS_INSERT] = "INSERT INTO array_piece VALUES (?, ?, ?)",
    [ARRAYS_END_AT] = "UPDATE array_piece SET last = ?2 WHERE first = ?1",
    [ARRAYS_DELETE] = "DELETE FROM array_piece WHERE first = ?",
    [ARRAYS_NEWEST] =
        "SELECT last FROM array_piece ORDER BY first DESC LIMIT 1",
};

struct piece {
    struct job_id first, last;
    int64_t hash;
};

/* A statement with up to two ids bound, which stay in `bytes`. */
struct bound {
    sqlite3_stmt *stmt;
    unsigned char bytes[2][STORE_ID_BYTES];
};

static sqlite3_stmt *bind(struct arrays *arrays, enum arrays_statement which,
                          struct job_id one, struct job_id other,
                          struct bound *bound)
{
    sqlite3_stmt *stmt = arrays->statements[which];
    int count = sqlite3_bind_parameter_count(stmt);

    sq_bind_blob(stmt, 1, store_id_put(one.v, bound->bytes[0]));
    if (count > 1) {
        sq_bind_blob(stmt, 2, store_id_put(other.v, bound->bytes[1]));
    }
    return stmt;
}

/* Run one that asks for an id: 1, or 0 if there is none. */
static int ask_id(sqlite3_stmt *stmt, struct job_id *ret_id, struct err *err)
{
    int rc = sq_step(stmt, err);

    *ret_id = (struct job_id){{0, 0}};
    if (rc == 1) {
        ret_id->v = store_id_column(stmt, 0);
        sqlite3_reset(stmt);
    }
    return rc < 0 ? rc : !key128_is_none(ret_id->v);
}

/* The last piece that begins at or before an id: 1, or 0. */
static int find(struct arrays *arrays, struct job_id id, struct piece *ret,
                struct err *err)
{
    struct bound bound;
    sqlite3_stmt *stmt = bind(arrays, ARRAYS_FIND, id, id, &bound);

    int rc = sq_step(stmt, err);
    *ret = (struct piece){.hash = 0};
    if (rc == 1) {
        *ret = (struct piece){{store_id_column(stmt, 0)},
                              {store_id_column(stmt, 1)},
                              sqlite3_column_int64(stmt, 2)};
        sqlite3_reset(stmt);
    }
    return rc;
}

static int insert(struct arrays *arrays, const struct piece *piece,
                  struct err *err)
{
    struct bound bound;
    sqlite3_stmt *stmt =
        bind(arrays, ARRAYS_INSERT, piece->first, piece->last, &bound);

    sq_bind_int(stmt, 3, piece->hash);
    if (key128_compare(piece->last.v, arrays->newest.v) > 0) {
        arrays->newest = piece->last;
    }
    return sq_run(stmt, err);
}

/* Have a piece end at another job. */
static int end_at(struct arrays *arrays, const struct piece *piece,
                  struct job_id last, struct err *err)
{
    struct bound bound;

    if (key128_compare(last.v, arrays->newest.v) > 0) {
        arrays->newest = last;
    }
    return sq_run(bind(arrays, ARRAYS_END_AT, piece->first, last, &bound), err);
}

static int delete(struct arrays *arrays, const struct piece *piece,
                  struct err *err)
{
    struct bound bound;

    return sq_run(
        bind(arrays, ARRAYS_DELETE, piece->first, piece->first, &bound), err);
}

/* Part a piece around a job of another kind, which lies in it. */
static int cut(struct arrays *arrays, const struct piece *piece,
               struct job_id id, struct err *err)
{
    struct bound bound;
    struct piece rest = {.last = piece->last, .hash = piece->hash};
    struct job_id last;

    int rc = ask_id(bind(arrays, ARRAYS_OLDER, piece->first, id, &bound), &last,
                    err);
    if (rc >= 0) {
        rc =
            rc ? end_at(arrays, piece, last, err) : delete (arrays, piece, err);
    }
    if (rc >= 0) {
        rc = ask_id(bind(arrays, ARRAYS_NEWER, id, piece->last, &bound),
                    &rest.first, err);
    }
    return rc <= 0 ? rc : insert(arrays, &rest, err);
}

/* Whether a job follows a piece with no other job between: 1, or 0. */
static int follows(struct arrays *arrays, const struct piece *piece,
                   struct job_id id, struct err *err)
{
    struct bound bound;
    struct job_id next;

    int rc =
        ask_id(bind(arrays, ARRAYS_NEWER, piece->last, id, &bound), &next, err);
    return rc <= 0 ? rc : key128_compare(next.v, id.v) == 0;
}

static int add_member(struct arrays *arrays, const struct piece *before,
                      struct job_id id, int64_t hash, struct err *err)
{
    struct piece alone = {id, id, hash};

    if (before && before->hash == hash) {
        int rc = follows(arrays, before, id, err);
        if (rc != 0) {
            return rc < 0 ? rc : end_at(arrays, before, id, err);
        }
    }
    return insert(arrays, &alone, err);
}

int arrays_add(struct arrays *arrays, struct job_id id, int64_t hash,
               struct err *err)
{
    struct piece piece;
    int rc;

    if (!arrays->is_read) {
        rc = ask_id(arrays->statements[ARRAYS_NEWEST], &arrays->newest, err);
        if (rc < 0) {
            return rc;
        }
        arrays->is_read = true;
    }
    if (hash == 0 && key128_compare(id.v, arrays->newest.v) > 0) {
        return 0;
    }
    rc = find(arrays, id, &piece, err);
    if (rc < 0) {
        return rc;
    }
    bool is_inside = rc && key128_compare(piece.last.v, id.v) >= 0;
    if (is_inside && piece.hash == hash) {
        return 0;
    }
    const struct piece *before = rc ? &piece : NULL;
    if (is_inside) {
        rc = cut(arrays, &piece, id, err);
        before = NULL;
    }
    return rc < 0 || hash == 0 ? (rc < 0 ? rc : 0)
                               : add_member(arrays, before, id, hash, err);
}

int arrays_remove(struct arrays *arrays, struct job_id id, struct err *err)
{
    struct bound bound;
    struct piece piece;
    struct job_id left;

    int rc = find(arrays, id, &piece, err);
    if (rc <= 0 || key128_compare(piece.last.v, id.v) < 0) {
        return rc < 0 ? rc : 0;
    }
    /* Each of the two leaves one end out. */
    rc = ask_id(bind(arrays, ARRAYS_OLDER, piece.first, piece.last, &bound),
                &left, err);
    if (rc == 0) {
        rc = ask_id(bind(arrays, ARRAYS_NEWER, piece.first, piece.last, &bound),
                    &left, err);
    }
    return rc != 0 ? (rc < 0 ? rc : 0) : delete (arrays, &piece, err);
}
